// Observe: a new observation about a person or a thing.
// Owns what becomes an observation of whom. Leaves making attributes of it to `digest.ts`.
// O1  The same thing is observed once, whatever its id, its case, its spaces and its last stop.
// O2  Over the bound the oldest that is digested gives way, then the oldest; whatever came last stays.
// O3  What poses as an instruction to the model is not observed: a profile stands in the prompt.
// O4  Only facts that hold are heard; an assistant keeps no profile of itself (that is what its journal is for).

import { defined, type Json, type RecordChange, sendingAssistant } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import { type Fact, type Origin, trustOf } from "../fact.ts"
import { entryId } from "../indexing/messages.ts"
import { instructionIn } from "../integrity/instruction.ts"
import { cleanLine } from "../integrity/clean-text.ts"
import { entityIdOf, met } from "./name.ts"
import {
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
  type Profiles
} from "./profile.ts"

export interface Observed {
  readonly profile: EntityProfile
  /** False when it was known, says nothing, or poses as an instruction. */
  readonly added: boolean
  /** What had to give way. */
  readonly dropped: ReadonlyArray<Observation>
}

/** The one that has to go, among all but the last. */
const surplus = (observations: ReadonlyArray<Observation>): Observation | undefined => {
  const byAge = observations.slice(0, -1).toSorted((a, b) => a.at - b.at)
  return byAge.find(({ digested }) => digested) ?? byAge[0]
}

const bounded = (observations: ReadonlyArray<Observation>) => {
  let kept = observations
  const dropped: Array<Observation> = []
  while (kept.length > MAX_OBSERVATIONS) {
    const gone = surplus(kept)
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
  const isKnown = profile.observations.some((each) => each.id === observation.id || gist(each.text) === gist(text))
  if (isKnown) return { profile: heard, added: false, dropped: [] }
  const { dropped, kept } = bounded([...profile.observations, { ...observation, text, digested: false }])
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

// PendingObservation: something noticed about someone while awake, until a dream makes it part of a profile.
// P1  Keys are unique without chance: `obs_{tick}_{index}`, the index counting within the tick.
// P2  At most MAX_PENDING wait; the oldest gives way and is named.
// P3  The same is noted of the same one once.

export const MAX_PENDING = 100

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
  /** What had to give way. */
  readonly dropped?: string
}

interface NoteRefused {
  readonly success: false
  readonly error: string
}

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
  const id = nextKey(records, tick)
  const value: Noted = { entity: cut(cleanLine(entity), MAX_NAME_CHARS), type, text, at: now, by }
  const dropped = noted.length >= MAX_PENDING ? noted[0]?.[0] : undefined
  return {
    changes: [
      { kind: "observation", key: id, value },
      ...(dropped === undefined ? [] : [{ kind: "observation", key: dropped, value: null } as const])
    ],
    result: {
      success: true,
      entity_id,
      id,
      pending: noted.length + (dropped === undefined ? 1 : 0),
      ...defined({ dropped })
    }
  }
}
