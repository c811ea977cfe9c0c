// Edit: what a person writes into a profile, in the place of what is wrong, beside the rest, or nothing at all.
// Owns the three acts and taking each of them back. Leaves what dreams make of observations to `digest.ts`.
// W1  What a person writes is theirs: no dream replaces it or lets it go. What a dream learns instead stands beside it.
// W2  What stood there before is kept behind it, what is removed too, so that each act can be taken back, the last one first. Of what is
//     kept no more that is refused: nothing is lost by taking back.
// W3  It rests on an observation of its own, which names the act: so forgetting and retiring reach it as anything else.
// W4  What a person adds is everybody's; a correction is for those who could read what it corrects.
// W5  What poses as an instruction is refused: a profile stands in the prompt.

import { defined } from "@reverie/protocol"
import { trustOf } from "../fact.ts"
import { OF_NO_ONE } from "../indexing/messages.ts"
import { cleanLine } from "../integrity/clean-text.ts"
import { instructionIn } from "../integrity/instruction.ts"
import { goneAfter, withPast } from "./digest.ts"
import { bounded } from "./observe.ts"
import {
  type Attribute,
  type EntityProfile,
  gist,
  MAX_ATTRIBUTE_CHARS,
  MAX_ATTRIBUTES,
  MAX_EVIDENCE,
  newProfile,
  type Observation,
  profileNamed,
  type Profiles,
  threadOfObservation
} from "./profile.ts"

export interface ProfileWriting {
  /** The id of a profile, or a name that leads to one. */
  readonly entity: string
  /** The attribute that is meant; a new one when not said. */
  readonly attribute?: string
  /** What it says from now on; it is removed when not said. */
  readonly text?: string
  /** Takes the last act on the attribute back. */
  readonly undo?: boolean
  /** Who writes. */
  readonly by: string
  /** What names the act among sources. */
  readonly source: string
  readonly now: number
}

export type ProfileWritten =
  | { readonly success: true; readonly profile: EntityProfile; readonly told: string }
  | { readonly success: false; readonly error: string }

/** Attributes that a person removed, kept to be put back. */
const MAX_REMOVED = 10

const refused = (error: string): ProfileWritten => ({ success: false, error })

const POSES = "it poses as an instruction, and a profile stands in the prompt"

/** Why there is no room for another attribute: of what persons wrote none gives way. */
const crowdIn = ({ attributes }: EntityProfile): string | undefined =>
  attributes.filter(({ by }) => by !== undefined).length >= MAX_ATTRIBUTES
    ? `persons wrote ${MAX_ATTRIBUTES} attributes of it: remove one first`
    : undefined

const flawOf = (profile: EntityProfile, text: string, except?: string): string | undefined => {
  if (gist(text) === "") return "there is nothing to read in the text"
  if (text.length > MAX_ATTRIBUTE_CHARS) return `the text is longer than ${MAX_ATTRIBUTE_CHARS} characters`
  if (instructionIn(text) !== undefined) return POSES
  const same = profile.attributes.find((each) => gist(each.text) === gist(text))
  if (same !== undefined) return `${same.id} says that already`
  return except === undefined ? crowdIn(profile) : undefined
}

/** Whose what rests on these is, where all of them are of one. */
const sharedThread = ({ observations }: EntityProfile, evidence: ReadonlyArray<string>): string | undefined => {
  const byId = new Map(observations.map((each) => [each.id, threadOfObservation(each)]))
  const [first, ...others] = evidence.map((id) => byId.get(id))
  return others.every((each) => each === first) ? first : undefined
}

const actOf = ({ by, now, source }: ProfileWriting, text: string, thread: string | undefined): Observation => ({
  id: source,
  text,
  at: now,
  source,
  origin: { type: "person", name: by },
  trust: trustOf.person,
  digested: true,
  ...defined({ thread })
})

/** With these attributes. Over the bound one that stood there already gives way, never what this act brings. */
const withAttributes = (
  profile: EntityProfile,
  attributes: ReadonlyArray<Attribute>,
  acts: ReadonlyArray<Observation>,
  removed: ReadonlyArray<Attribute> = profile.removed ?? []
): EntityProfile => {
  const excess = attributes.length - MAX_ATTRIBUTES
  const standing = new Set(profile.attributes)
  const leaving = new Set(
    attributes
      .filter((each) => each.by === undefined && standing.has(each))
      .toSorted((a, b) => a.evidence.length - b.evidence.length || a.at - b.at)
      .slice(0, Math.max(0, excess))
  )
  const left = attributes.filter((each) => !leaving.has(each))
  const ids = new Set(left.map(({ id }) => id))
  const away = profile.attributes.filter(({ id }) => !ids.has(id))
  const { removed: _, ...rest } = profile
  return {
    ...rest,
    attributes: left,
    observations: bounded([...profile.observations, ...acts], [...left, ...removed]).kept,
    gone: goneAfter(profile, away),
    ...defined({ removed: removed.length === 0 ? undefined : removed.slice(-MAX_REMOVED) })
  }
}

const replacing = (all: ReadonlyArray<Attribute>, by: Attribute): ReadonlyArray<Attribute> =>
  all.map((each) => (each.id === by.id ? by : each))

const added = (profile: EntityProfile, writing: ProfileWriting, text: string): ProfileWritten => {
  const flaw = flawOf(profile, text)
  if (flaw !== undefined) return refused(flaw)
  const { by, now, source } = writing
  const id = `a${profile.made + 1}`
  const attribute: Attribute = { id, text, at: now, evidence: [source], trust: trustOf.person, superseded: [], by }
  const acts = [actOf(writing, text, OF_NO_ONE)]
  const after = withAttributes({ ...profile, made: profile.made + 1 }, [...profile.attributes, attribute], acts)
  return { success: true, profile: after, told: `written: ${profile.id}/${id}` }
}

const corrected = (profile: EntityProfile, old: Attribute, writing: ProfileWriting, text: string): ProfileWritten => {
  const flaw = flawOf(profile, text, old.id)
  if (flaw !== undefined) return refused(flaw)
  const { by, now, source } = writing
  const attribute: Attribute = {
    ...withPast(old),
    text,
    at: now,
    evidence: [...old.evidence, source].slice(-MAX_EVIDENCE),
    trust: trustOf.person,
    by
  }
  const acts = [actOf(writing, text, sharedThread(profile, old.evidence))]
  const after = withAttributes(profile, replacing(profile.attributes, attribute), acts)
  return { success: true, profile: after, told: `corrected: ${profile.id}/${old.id}` }
}

const removedFrom = (profile: EntityProfile, old: Attribute): ProfileWritten => {
  const attributes = profile.attributes.filter(({ id }) => id !== old.id)
  const after = withAttributes(profile, attributes, [], [...(profile.removed ?? []), old])
  return { success: true, profile: after, told: `removed: ${profile.id}/${old.id}` }
}

const putBack = (profile: EntityProfile, id: string): ProfileWritten => {
  const { attributes, removed = [] } = profile
  const old = removed.findLast((each) => each.id === id)
  if (old === undefined) return refused(`${profile.id} has no attribute ${id}, nor did a person remove one of late`)
  const crowd = crowdIn(profile)
  if (crowd !== undefined) return refused(crowd)
  const rest = removed.filter((each) => each !== old)
  const after = withAttributes(profile, [...attributes, old], [], rest)
  return { success: true, profile: after, told: `put back: ${profile.id}/${id}` }
}

const takenBack = (profile: EntityProfile, written: Attribute): ProfileWritten => {
  const { id, superseded } = written
  if (written.by === undefined) return refused(`no person wrote ${profile.id}/${id}: there is nothing to take back`)
  const before = superseded.at(-1)
  // What was added rests on that act alone; of anything else the earlier words were let go.
  if (before === undefined && written.evidence.length > 1) {
    return refused(`what ${profile.id}/${id} said before that is kept no more`)
  }
  const attributes =
    before === undefined
      ? profile.attributes.filter((each) => each !== written)
      : replacing(profile.attributes, { id, ...before, superseded: superseded.slice(0, -1) })
  const kept = new Set([...attributes, ...(profile.removed ?? [])].flatMap(({ evidence }) => evidence))
  // The acts themselves go with what was written, unless something else rests on them.
  const observations = profile.observations.filter(
    (each) => each.id !== each.source || kept.has(each.id) || !written.evidence.includes(each.id)
  )
  const after = withAttributes({ ...profile, observations }, attributes, [])
  return { success: true, profile: after, told: `taken back: ${profile.id}/${id}` }
}

/** Writes into a profile, as a person orders; or why nothing changes. */
export const profileWrittenByPerson = (profiles: Profiles, writing: ProfileWriting): ProfileWritten => {
  const { attribute: wanted, entity, now, undo } = writing
  const known = profiles.get(entity) ?? profileNamed(profiles, entity)
  const text = writing.text === undefined ? undefined : cleanLine(writing.text)
  if (wanted === undefined) {
    const profile = known ?? newProfile(entity, now)
    if (profile === undefined) return refused(`${JSON.stringify(entity)} is no name`)
    if (known === undefined && instructionIn(entity) !== undefined) return refused(POSES)
    return text === undefined ? refused("say an attribute, or what it is to say") : added(profile, writing, text)
  }
  if (known === undefined) return refused(`there is no profile of ${entity}`)
  const old = known.attributes.find(({ id }) => id === wanted)
  if (undo === true) return old === undefined ? putBack(known, wanted) : takenBack(known, old)
  if (old === undefined) return refused(`${known.id} has no attribute ${wanted}`)
  return text === undefined ? removedFrom(known, old) : corrected(known, old, writing, text)
}
