// PendingObservation: something noticed about somebody while awake, until a dream makes it part of a profile.
// Owns its shape as a record of the kind `observation`, its key and how many wait. Leaves persona protection to the tool
// that writes it, and what becomes of it to `observe.ts`.
// P1  Keys are unique without chance: `obs_{tick}_{index}`, the index counting within the tick.
// P2  At most MAX_PENDING wait; the oldest gives way and is named.
// P3  The same is noted of the same one once.

import { type Json, type RecordChange, defined } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import { trustOf } from "../fact.ts"
import { cleanLine } from "../integrity/clean-text.ts"
import { entityIdOf } from "./name.ts"

import {
  cut,
  type EntityType,
  entityTypes,
  gist,
  MAX_NAME_CHARS,
  MAX_OBSERVATION_CHARS,
  type NewObservation
} from "./profile.ts"

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

export interface PendingObservation {
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

export interface NewNote {
  readonly entity: string
  readonly type?: EntityType
  readonly observation: string
}

export interface NotedResult {
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

export interface NoteRefused {
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

/** Notes something about somebody; gives the changes of records and what the assistant is told. */
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
