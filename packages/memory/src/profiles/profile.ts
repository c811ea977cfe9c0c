// EntityProfile: what an assistant knows of someone or something.
// Owns its shape as it is kept, its bounds, and who is meant by a name. Leaves hearing of it to `observe.ts`, making
// attributes of what was heard to `digest.ts`, showing it to `profile-text.ts`.
// E1  Observations are what was heard, as it was heard; attributes are what was made of them, and name their evidence.
// E2  At most MAX_ATTRIBUTES are kept, and of what is digested no more than MAX_OBSERVATIONS leave room for. What is not
//     digested is kept, however much it is.
// E3  A text that an attribute had before is kept with it, at most MAX_SUPERSEDED of them; every earlier profile still
//     stands in the ledger.
// E4  A profile that ever had an attribute is not taken away but emptied: what left it is named in `gone`, so that an index can follow. Only
//     where that is committed does it go, in the same commit: when the night that made it is taken back.
// E5  One that never had any, of what was named in passing and not again, goes: all that it heard stands in facts.

import * as Schema from "effect/Schema"
import type { RecordChange } from "@reverie/protocol"
import { cleanLine } from "../integrity/clean-text.ts"
import { type Fact, Origin } from "../fact.ts"
import { bareName, entityIdOf, Relationship, strangers } from "./name.ts"
import { entryId, keyOfId, type MemoryEntry, OF_NO_ONE } from "../indexing/messages.ts"
import type { IndexChange } from "../recall.ts"

export const MAX_OBSERVATIONS = 50
export const MAX_ATTRIBUTES = 30
export const MAX_SUPERSEDED = 5
export const MAX_EVIDENCE = 20
const MAX_ALIASES = 10
/** Longest texts, in UTF-16 units. */
export const MAX_NAME_CHARS = 100
export const MAX_OBSERVATION_CHARS = 500
export const MAX_ATTRIBUTE_CHARS = 300

export const entityTypes = ["person", "assistant", "place", "organisation", "thing", "unknown"] as const
export type EntityType = (typeof entityTypes)[number]

export const Observation = Schema.Struct({
  /** Of the fact, or of the record, that it was. */
  id: Schema.String,
  text: Schema.String,
  /** When it was so, in milliseconds since the epoch. */
  at: Schema.Finite,
  /** Where it stands: an entry id such as `f/fact_3_0`, or `observation/<key>`. */
  source: Schema.String,
  origin: Origin,
  trust: Schema.Finite,
  /** Attributes have been made of it. */
  digested: Schema.Boolean,
  /** Of what a person wrote into the profile: whose it is, empty where it is everybody's. */
  thread: Schema.optionalKey(Schema.String)
})
export type Observation = typeof Observation.Type

export const Superseded = Schema.Struct({
  text: Schema.String,
  at: Schema.Finite,
  trust: Schema.Finite,
  evidence: Schema.Array(Schema.String),
  /** Who wrote it, where a person did. */
  by: Schema.optionalKey(Schema.String)
})
export type Superseded = typeof Superseded.Type

export const Attribute = Schema.Struct({
  /** `a<n>`, never given twice within a profile. */
  id: Schema.String,
  text: Schema.String,
  /** When it was learnt in these words. */
  at: Schema.Finite,
  /** Ids of observations, the latest last. */
  evidence: Schema.Array(Schema.String),
  /** No more than its evidence has. */
  trust: Schema.Finite,
  /** What stood here before, the latest last. */
  superseded: Schema.Array(Superseded),
  /** Who wrote it, where a person did: no dream replaces it. */
  by: Schema.optionalKey(Schema.String)
})
export type Attribute = typeof Attribute.Type

/** As it is kept, under its id, as a record of the kind `entity`. */
export const EntityProfile = Schema.Struct({
  id: Schema.String,
  /** As it was first called. */
  name: Schema.String,
  type: Schema.Literals(entityTypes),
  /** Other names that lead to it. */
  aliases: Schema.Array(Schema.String),
  observations: Schema.Array(Observation),
  attributes: Schema.Array(Attribute),
  /** Attributes that a person removed, the latest last. */
  removed: Schema.optionalKey(Schema.Array(Attribute)),
  /** Ids of the attributes that left last. */
  gone: Schema.Array(Schema.String),
  /** How many attributes there have been. */
  made: Schema.Int,
  /** How many observations were digested, those that are kept no longer among them. */
  read: Schema.optionalKey(Schema.Int),
  /** That it went was taken back: it goes no more. */
  kept: Schema.optionalKey(Schema.Boolean),
  relationship: Relationship
})
export type EntityProfile = typeof EntityProfile.Type

/** By id. */
export type Profiles = ReadonlyMap<string, EntityProfile>

export const isEntityProfile = Schema.is(EntityProfile)

/** Whose conversation an observation belongs to; empty where it is everybody's, undefined where it is no person's. */
export const threadOfObservation = ({ origin, thread }: Observation): string | undefined =>
  thread ?? (origin.type === "person" ? origin.name : undefined)

/** As much of a profile as one person may read: what they said, what was made of that alone, and what is everybody's. */
export const toldBy = (profile: EntityProfile, person: string): EntityProfile => {
  const observations = profile.observations.filter((each) => {
    const thread = threadOfObservation(each)
    return thread === person || thread === OF_NO_ONE
  })
  const own = new Set(observations.map(({ id }) => id))
  const attributes = profile.attributes.filter(
    ({ evidence }) => evidence.length > 0 && evidence.every((id) => own.has(id))
  )
  return { ...profile, aliases: [], observations, attributes }
}

/** A profile that knows nothing yet; undefined for a name that says nothing. */
export const newProfile = (name: string, at: number, type: EntityType = "unknown"): EntityProfile | undefined => {
  const id = entityIdOf(name)
  if (id === undefined) return undefined
  return {
    id,
    name: cut(bareName(name), MAX_NAME_CHARS),
    type,
    aliases: [],
    observations: [],
    attributes: [],
    gone: [],
    made: 0,
    relationship: strangers(at)
  }
}

/** At most so many UTF-16 units, with a sign that something is missing, never half a character. */
export const cut = (text: string, maxChars: number): string => {
  if (text.length <= maxChars) return text
  return maxChars < 1 ? "" : `${text.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, "")}…`
}

/** Two texts with the same words are one, whatever their case, spaces and last stop. */
export const gist = (text: string): string =>
  cleanLine(text)
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\s.!;,]+$/u, "")

/** Whose profile a name leads to, by its own name or an alias. */
export const profileNamed = (profiles: Profiles, name: string): EntityProfile | undefined => {
  const id = entityIdOf(name)
  if (id === undefined) return undefined
  const own = profiles.get(id)
  if (own !== undefined) return own
  for (const profile of profiles.values()) {
    if (profile.aliases.some((alias) => entityIdOf(alias) === id)) return profile
  }
  return undefined
}

/** With another name that leads to it; the same profile when the name leads there already, or there is no room. */
export const withAlias = (profile: EntityProfile, name: string): EntityProfile => {
  const id = entityIdOf(name)
  const known = new Set([profile.id, ...profile.aliases.map(entityIdOf)])
  if (id === undefined || known.has(id) || profile.aliases.length >= MAX_ALIASES) return profile
  return { ...profile, aliases: [...profile.aliases, cut(bareName(name), MAX_NAME_CHARS)] }
}

/** What is not digested yet. */
export const waitingIn = ({ observations }: EntityProfile): ReadonlyArray<Observation> =>
  observations.filter(({ digested }) => !digested)

export type NewObservation = Omit<Observation, "digested">

const PASSING_MILLIS = 30 * 24 * 60 * 60_000
/** What was heard of so often is not named in passing. */
const HEARD_OFTEN = 3

/** True of one of whom nothing is known, and nothing was learnt for long; what it heard is read, and among these facts (E5). */
export const isPassing = (profile: EntityProfile, facts: ReadonlyMap<string, Fact>, now: number): boolean => {
  const { aliases, attributes, kept, made, observations, relationship, removed = [], type } = profile
  const heard = observations.flatMap(({ id }) => facts.get(id) ?? [])
  // What was said long ago may have been learnt last night.
  const last = Math.max(relationship.last_at, ...heard.map(({ learnt_at }) => learnt_at))
  return (
    kept !== true &&
    made === 0 &&
    type === "unknown" &&
    aliases.length + attributes.length + removed.length === 0 &&
    observations.length < HEARD_OFTEN &&
    relationship.interactions < HEARD_OFTEN &&
    observations.every(({ digested }) => digested) &&
    heard.length === observations.length &&
    now - last > PASSING_MILLIS
  )
}

// ProfileIndex: how a profile stands in the index of recall, apart from episodes.
// X1  An attribute is one entry, `e/<entity>/<attribute>`; what is not digested yet is one more, `e/<entity>/new`.
// X2  The changes of a profile bring the index from what was before to what is; without what was before, from anything
//     that the last profiles of this entity left there.

/** Of the entry that holds what is not digested yet. */
const NEW = "new"

const MAX_NEW_SHOWN = 10

/** Above a message: it was made of several, and thought about. */
const IMPORTANCE = 6

const idOf = (entity: string, part: string): string => entryId("profile", `${entity}/${part}`)

/** The entity that an id of an index entry is of; undefined when it is of none. */
export const entityOfId = (id: string): string | undefined =>
  id.startsWith("e/") ? keyOfId(id)?.split("/")[0] : undefined

const entriesOf = (profile: EntityProfile): ReadonlyMap<string, MemoryEntry> => {
  const { aliases, attributes, id: entity, name, type } = profile
  const common = {
    kind: "profile",
    entities: [name, ...aliases],
    tags: type === "unknown" ? [] : [type],
    importance: IMPORTANCE,
    readers: "owner"
  } as const
  const entries = attributes.map(({ at, id, text, trust }): MemoryEntry => ({
    ...common,
    id: idOf(entity, id),
    at,
    text,
    trust
  }))
  const news = waitingIn(profile)
    .toSorted((a, b) => a.at - b.at)
    .slice(-MAX_NEW_SHOWN)
  const last = news.at(-1)
  if (last !== undefined) {
    entries.push({
      ...common,
      id: idOf(entity, NEW),
      at: last.at,
      text: news.map(({ text }) => text).join("\n"),
      trust: Math.min(...news.map(({ trust }) => trust))
    })
  }
  return new Map(entries.map((entry) => [entry.id, entry]))
}

/** What a changed profile means for an index. Without `before`, everything is reported that could have to be. */
export const profileChanges = (before: EntityProfile | undefined, after: EntityProfile): ReadonlyArray<IndexChange> => {
  const entries = entriesOf(after)
  const known = before === undefined ? undefined : entriesOf(before)
  const stale = known?.keys() ?? [...after.gone, NEW].map((part) => idOf(after.id, part))
  return [
    ...[...stale].filter((id) => !entries.has(id)).map((id): IndexChange => ({ type: "remove", id })),
    ...[...entries.values()]
      .filter((entry) => JSON.stringify(known?.get(entry.id)) !== JSON.stringify(entry))
      .map((entry): IndexChange => ({ type: "put", entry }))
  ]
}

/** What a changed record of the kind `entity` means for an index; what is no profile means nothing. */
export const entityChanges = ({ value }: Pick<RecordChange, "value">): ReadonlyArray<IndexChange> =>
  isEntityProfile(value) ? profileChanges(undefined, value) : []
