// Record: one thing an assistant keeps about itself and its work, apart from its history.
// Owns the closed list of kinds and the shape of a change. Leaves what a value holds to the room whose kind it is.
// I1  A record changes only as part of a commit, together with the result of whatever changed it.
// I2  The last change of a key is its value; every earlier one still stands in the ledger.

import type { Json } from "./json.ts"

export const recordKinds = [
  /** A project slot, by its key. */
  "project",
  /** A goal, by its id. */
  "goal",
  /** Session memory: facts, patterns and tasks, under fixed keys. */
  "session",
  /** The prompt the assistant writes for itself. */
  "prompt",
  /** A journal entry, by its id. */
  "journal",
  /** What has gathered towards the next reflection, and its last insights. */
  "reflection",
  /** What was overheard in a room, by its arrival. */
  "overheard",
  /** Which project is active, counters of tool calls, and other single facts. */
  "desk"
] as const
export type RecordKind = (typeof recordKinds)[number]

export interface RecordChange {
  readonly kind: RecordKind
  readonly key: string
  /** Null takes the record away. */
  readonly value: Json | null
}

export interface RecordRow {
  readonly kind: RecordKind
  readonly key: string
  readonly value: Json
}
