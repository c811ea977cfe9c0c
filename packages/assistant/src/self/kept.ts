// Kept: how the rules of self-management read records and say what they change.
// Owns reading by shape, the difference of two states, and the one form of time. Leaves what is kept to each rule.
// I1  A record that does not fit its shape is not seen, and no rule touches it.
// I2  Changes name exactly the records that differ: applied to what was before, they give what is after.
//
// All of it belongs to one assistant (F84): `project`, `session`, `journal` and `prompt` are what it has as a character,
// `goal` what it is working on. How it compacts is no record but a setting, which no rule here can write.

import type { Json, RecordChange, RecordKind } from "@reverie/protocol"

/** Records of one kind, by key. */
export type Records = ReadonlyMap<string, Json>

/** What a rule comes to: the state after it, and what the assistant is told. */
export interface Outcome<State, Result> {
  readonly state: State
  readonly result: Result
}

/** What the assistant is told when a rule says no. */
export interface Refusal {
  readonly success: false
  readonly error: string
}

export const refusal = (error: string): Refusal => ({ success: false, error })

/** The records that fit, in the order in which they are kept. */
export const fitting = <A>(records: Records, fits: (value: unknown) => value is A): ReadonlyMap<string, A> => {
  const found = new Map<string, A>()
  for (const [key, value] of records) if (fits(value)) found.set(key, value)
  return found
}

/** Values are told apart by identity: a rule that changes nothing gives back the same object. */
export const changesOf = <A extends Json>(
  kind: RecordKind,
  before: ReadonlyMap<string, A>,
  after: ReadonlyMap<string, A>
): ReadonlyArray<RecordChange> => {
  const changes: Array<RecordChange> = []
  for (const [key, value] of after) if (before.get(key) !== value) changes.push({ kind, key, value })
  for (const key of before.keys()) if (!after.has(key)) changes.push({ kind, key, value: null })
  return changes
}

/** `2025-12-06T10:00:00Z`: UTC, whole seconds. */
export const isoTime = (now: number): string => `${new Date(now).toISOString().slice(0, 19)}Z`

/** One line without doubled or outer spaces. */
export const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim()
