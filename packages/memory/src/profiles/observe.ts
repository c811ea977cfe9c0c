// Observe: a new observation about a person or a thing.
// Owns what becomes an observation of whom. Leaves making attributes of it to `digest.ts`.
// O1  The same thing is observed once, whatever its id, its case, its spaces and its last stop. A fact that came again after it was no more,
//     "Bergen" after "Oslo" after "Bergen", is heard again, unless an attribute rests on what was observed then.
// O2  Over the bound the oldest that is digested gives way. What is not digested stays: it is kept until it was read.
// O3  What poses as an instruction to the model is not observed: a profile stands in the prompt.
// O4  Only facts that hold are heard; an assistant keeps no profile of itself (that is what its journal is for).
// O5  Each profile hears its news in the order of time, and at most MAX_WAITING of them wait in it to be digested: the
//     others stay where they are until there is room. One that is postponed hears all: nothing waits for it.

import { type Json, type RecordChange, sendingAssistant } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import { type Fact, type Origin, trustOf } from "../fact.ts"
import { entryId } from "../indexing/messages.ts"
import { instructionIn } from "../integrity/instruction.ts"
import { cleanLine } from "../integrity/clean-text.ts"
import { entityIdOf, met } from "./name.ts"
import {
  type Attribute,
  cut,
  type EntityProfile,
  type EntityType,
  entityTypes,
  gist,
  MAX_NAME_CHARS,
  MAX_OBSERVATION_CHARS,
  MAX_OBSERVATIONS,
  type NewObservation,
  newProfile,
  type Observation,
  profileNamed,
  type Profiles,
  waitingIn
} from "./profile.ts"

export interface Observed {
  readonly profile: EntityProfile
  /** False when it was known, says nothing, or poses as an instruction. */
  readonly added: boolean
  /** What had to give way. */
  readonly dropped: ReadonlyArray<Observation>
}

/** The one that has to go. */
const surplus = (observations: ReadonlyArray<Observation>, held: ReadonlySet<string>): Observation | undefined =>
  observations.filter(({ digested, id }) => digested && !held.has(id)).toSorted((a, b) => a.at - b.at)[0]

/** Within the bound; that on which a person's own words rest stays, also where they were removed and can be put back. */
export const bounded = (observations: ReadonlyArray<Observation>, attributes: ReadonlyArray<Attribute>) => {
  const held = new Set(attributes.flatMap(({ by, evidence }) => (by === undefined ? [] : evidence)))
  let kept = observations
  const dropped: Array<Observation> = []
  while (kept.length > MAX_OBSERVATIONS) {
    const gone = surplus(kept, held)
    if (gone === undefined) break
    dropped.push(gone)
    kept = kept.filter((each) => each !== gone)
  }
  return { kept, dropped }
}

/** Who speaks under this very name is a person, or an assistant. */
const typeBySpeaking = ({ aliases, id, name }: EntityProfile, origin: Origin): EntityType => {
  if (origin.type !== "person" && origin.type !== "assistant") return "unknown"
  const speaker = entityIdOf(sendingAssistant(origin.name) ?? origin.name)
  const isSpeaker = speaker === id || [name, ...aliases].some((each) => entityIdOf(each) === speaker)
  return isSpeaker ? origin.type : "unknown"
}

/** A type that is known stays; one that is not is learnt from what is said of it, or from its speaking for itself. */
const typed = (profile: EntityProfile, origin: Origin, type: EntityType): EntityProfile => {
  if (profile.type !== "unknown") return profile
  const learnt = type === "unknown" ? typeBySpeaking(profile, origin) : type
  return learnt === "unknown" ? profile : { ...profile, type: learnt }
}

const isKnownIn = ({ attributes, observations }: EntityProfile, { id, source, text }: NewObservation): boolean => {
  const resting = new Set(attributes.flatMap(({ evidence }) => evidence))
  // Two facts that hold never say the same: with another id it is one that holds anew.
  const isOver = (each: Observation): boolean =>
    each.digested && source.startsWith("f/") && each.source.startsWith("f/") && !resting.has(each.id)
  return observations.some((each) => each.id === id || (gist(each.text) === gist(text) && !isOver(each)))
}

export const observe = (
  profile: EntityProfile,
  observation: NewObservation,
  type: EntityType = "unknown"
): Observed => {
  const text = cut(cleanLine(observation.text), MAX_OBSERVATION_CHARS)
  if (gist(text) === "" || instructionIn(observation.text) !== undefined) return { profile, added: false, dropped: [] }
  const relationship = met(profile.relationship, observation.at)
  const known = typed(profile, observation.origin, type)
  const heard = relationship === profile.relationship ? known : { ...known, relationship }
  if (isKnownIn(profile, { ...observation, text })) return { profile: heard, added: false, dropped: [] }
  const { dropped, kept } = bounded(
    [...profile.observations, { ...observation, text, digested: false }],
    [...profile.attributes, ...(profile.removed ?? [])]
  )
  return { profile: { ...heard, observations: kept }, added: true, dropped }
}

export const factObservation = ({ at, id, origin, text, trust }: Fact): NewObservation => ({
  id,
  text,
  at,
  source: entryId("fact", id),
  origin,
  trust
})

/** Observations of one profile that wait at the most; two asks, so that there is room again after the first. */
export const MAX_WAITING = 40

/** What a night has to tell the profiles. */
export interface News {
  readonly facts: ReadonlyArray<Fact>
  readonly pending: ReadonlyArray<PendingObservation>
  /** Names of the assistant itself. */
  readonly self: ReadonlyArray<string>
}

export interface Gathered {
  /** All of them, the changed ones changed. */
  readonly profiles: Profiles
  /** Ids of the profiles that are not what they were. */
  readonly changed: ReadonlyArray<string>
  /** Ids of the facts that were heard: those that hold. */
  readonly heard: ReadonlyArray<string>
  /** Observations that became none: no one is named, or they pose as instructions. */
  readonly refused: ReadonlyArray<string>
}

/** Tells every profile what was heard of it, in the order of time. */
export const gather = (profiles: Profiles, { facts, pending, self }: News): Gathered => {
  const selves = new Set(self.map(entityIdOf))
  const after = new Map(profiles)
  const refused: Array<string> = []
  const tell = (name: string, observation: NewObservation, type?: EntityType): void => {
    if (selves.has(entityIdOf(name))) return
    const profile = profileNamed(after, name) ?? newProfile(name, observation.at, type)
    if (profile === undefined || instructionIn(observation.text) !== undefined) {
      refused.push(observation.id)
      return
    }
    after.set(profile.id, observe(profile, observation, type).profile)
  }
  const holding = facts.filter(({ state }) => state === "active")
  const told = [
    ...holding.map((fact) => ({ at: fact.at, tell: () => tellFact(fact) })),
    ...pending.map((each) => ({ at: each.at, tell: () => tell(each.entity, each.observation, each.type) }))
  ]
  const tellFact = (fact: Fact): void => {
    for (const name of new Set(fact.entities)) tell(name, factObservation(fact))
  }
  for (const each of told.toSorted((a, b) => a.at - b.at)) each.tell()
  return {
    profiles: after,
    changed: [...after.keys()].filter((id) => after.get(id) !== profiles.get(id)),
    heard: holding.map(({ id }) => id),
    refused: [...new Set(refused)]
  }
}

/** Ids of facts count by tick and within it: a longer number is the later one. */
const byLearning = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : 1)

interface Item {
  readonly at: number
  readonly id: string
  readonly names: ReadonlyArray<string>
  readonly news: Pick<News, "facts" | "pending">
}

const itemsOf = ({ facts, pending }: News): ReadonlyArray<Item> => [
  ...facts.map((fact) => ({ at: fact.at, id: fact.id, names: fact.entities, news: { facts: [fact], pending: [] } })),
  ...pending.map((each) => ({ at: each.at, id: each.key, names: [each.entity], news: { facts: [], pending: [each] } }))
]

/** The news that there is room for, at most `limit`: none of a profile's later ones before an earlier one (O5). */
export const nextNews = (profiles: Profiles, news: News, postponed: ReadonlySet<string>, limit: number): News => {
  const waiting = new Map([...profiles].map(([id, profile]) => [id, waitingIn(profile).length]))
  const ids = new Map<string, string | undefined>()
  const idOf = (name: string): string | undefined => {
    if (!ids.has(name)) ids.set(name, profileNamed(profiles, name)?.id ?? entityIdOf(name))
    return ids.get(name)
  }
  const selves = new Set(news.self.map(entityIdOf))
  const isTold = (id: string): boolean => !postponed.has(id) && !selves.has(id)
  const isFull = new Set<string>()
  const taken: Array<Item> = []
  for (const item of itemsOf(news).toSorted((a, b) => a.at - b.at || byLearning(a.id, b.id))) {
    if (taken.length >= limit) break
    const told = [...new Set(item.names.flatMap((name) => idOf(name) ?? []))].filter(isTold)
    if (told.some((id) => isFull.has(id) || (waiting.get(id) ?? 0) >= MAX_WAITING)) {
      for (const id of told) isFull.add(id)
      continue
    }
    for (const id of told) waiting.set(id, (waiting.get(id) ?? 0) + 1)
    taken.push(item)
  }
  return {
    facts: taken.flatMap(({ news: { facts } }) => facts),
    pending: taken.flatMap(({ news: { pending } }) => pending),
    self: news.self
  }
}

// PendingObservation: something noticed about someone while awake, until a dream makes it part of a profile.
// P1  Keys are unique without chance: `obs_{tick}_{index}`, the index counting within the tick.
// P2  At most MAX_PENDING wait. What waits is never dropped: what comes after them is refused, and the answer says so.
// P3  The same is noted of the same one once.

export const MAX_PENDING = 500

/** As it is kept. */
const Noted = Schema.Struct({
  entity: Schema.String,
  type: Schema.Literals(entityTypes),
  text: Schema.String,
  /** Milliseconds since the epoch. */
  at: Schema.Finite,
  /** The assistant that noticed it. */
  by: Schema.String
})
type Noted = typeof Noted.Type

const isNoted = Schema.is(Noted)

interface PendingObservation {
  /** Of the record. */
  readonly key: string
  readonly entity: string
  readonly type: EntityType
  readonly at: number
  readonly observation: NewObservation
}

type Records = ReadonlyMap<string, Json>

const orderOf = (key: string): readonly [tick: number, index: number] => {
  const [, tick = "0", index = "0"] = /^obs_(\d+)_(\d+)$/.exec(key) ?? []
  return [Number(tick), Number(index)]
}

const notedIn = (records: Records): ReadonlyArray<readonly [key: string, noted: Noted]> =>
  [...records]
    .flatMap(([key, value]) => (isNoted(value) ? [[key, value] as const] : []))
    .toSorted(([a], [b]) => orderOf(a)[0] - orderOf(b)[0] || orderOf(a)[1] - orderOf(b)[1])

/** Of the records of the kind `observation`, the oldest first; those that are none are not seen. */
export const pendingObservations = (records: Records): ReadonlyArray<PendingObservation> =>
  notedIn(records).map(([key, { at, by, entity, text, type }]) => ({
    key,
    entity,
    type,
    at,
    observation: {
      id: key,
      text,
      at,
      source: `observation/${key}`,
      origin: { type: "self", name: by },
      trust: trustOf.self
    }
  }))

interface NewNote {
  readonly entity: string
  readonly type?: EntityType
  readonly observation: string
}

interface NotedResult {
  readonly success: true
  /** Of the entity. */
  readonly entity_id: string
  /** Of the observation. */
  readonly id: string
  readonly pending: number
  /** It was noted already; nothing has changed. */
  readonly already_known?: true
}

interface NoteRefused {
  readonly success: false
  readonly error: string
}

const FULL = `${MAX_PENDING} observations wait for the next sleep already: this one was not noted, sleep first`

const nextKey = (records: Records, tick: number): string => {
  let next = 0
  for (const key of records.keys()) {
    const [ofTick, index] = orderOf(key)
    if (key.startsWith("obs_") && ofTick === tick) next = Math.max(next, index + 1)
  }
  return `obs_${tick}_${next}`
}

/** Adds an observation to a profile; gives the changes of records and the text for the assistant. */
export const noteObservation = (
  records: Records,
  { entity, observation, type = "unknown" }: NewNote,
  { by, now, tick }: { readonly by: string; readonly now: number; readonly tick: number }
): { readonly changes: ReadonlyArray<RecordChange>; readonly result: NotedResult | NoteRefused } => {
  const entity_id = entityIdOf(entity)
  if (entity_id === undefined) {
    return { changes: [], result: { success: false, error: "the entity needs a name with a letter or a digit in it" } }
  }
  const noted = notedIn(records)
  const text = cut(cleanLine(observation), MAX_OBSERVATION_CHARS)
  const known = noted.find(([, each]) => entityIdOf(each.entity) === entity_id && gist(each.text) === gist(text))
  if (known !== undefined) {
    return {
      changes: [],
      result: { success: true, entity_id, id: known[0], pending: noted.length, already_known: true }
    }
  }
  if (noted.length >= MAX_PENDING) return { changes: [], result: { success: false, error: FULL } }
  const id = nextKey(records, tick)
  const value: Noted = { entity: cut(cleanLine(entity), MAX_NAME_CHARS), type, text, at: now, by }
  return {
    changes: [{ kind: "observation", key: id, value }],
    result: { success: true, entity_id, id, pending: noted.length + 1 }
  }
}
