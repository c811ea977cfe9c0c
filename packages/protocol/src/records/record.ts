// Record: one thing an assistant keeps about itself and its work, apart from its history.
// Owns the closed list of kinds and the shape of a change. Leaves what a value holds to the room whose kind it is.
// Its own records are in memory while an assistant works; memory and archive are read when they are asked for.
// I1  A record changes only as part of a commit, together with the result of whatever changed it.
// I2  The last change of a key is its value; every earlier one still stands in the ledger.

import type { Json } from "../json.ts"

export const ownKinds = [
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
  "ambientMessages",
  /** What was noticed about someone or something, until a dream has made it part of a profile, by its id. */
  "observation",
  /** Which project is active, counters of tool calls, and other single facts. */
  "state",
  /** A task that was handed to a sub-agent, until that has reported, by the call that handed it on. */
  "assignment",
  /** Whom it wrote to and when, and to whom it owes an answer. */
  "replies",
  /** What was shown beside an event and stays there while the event stands in the window, by the place of the event. */
  "shown",
  /** A reminder, by its id: its rule, when it is next due, and what became of its times. */
  "reminder",
  /** What a person wrote to a decision about a call, until that is answered, by the call. */
  "decision",
  /** Of a team: a question it works on, by its envelope, and whose turn it is. */
  "team"
] as const

const memoryKinds = [
  /** A fact, by its id. */
  "fact",
  /** What is known of someone or something, by the id of that entity. */
  "entity",
  /** A text put away to be searched for, by its id. */
  "passage",
  /** An entry of the journal that a dream has read and that is no longer at hand, by its id. */
  "episode"
] as const

const archiveKinds = [
  /** What one night's dream did, by its id. */
  "dream",
  /** One compaction of the history, with what stood before and after, by its id. */
  "compaction",
  /** What a replay goes on from, by the number of the commit after which it stood so. */
  "checkpoint"
] as const

export const recordKinds = [...ownKinds, ...memoryKinds, ...archiveKinds] as const
/** The kinds of what an assistant keeps. */
export type RecordKind = (typeof recordKinds)[number]

export interface RecordChange {
  readonly kind: RecordKind
  readonly key: string
  /** Null takes the record away. */
  readonly value: Json | null
}

/** One record of an assistant. */
export interface RecordRow {
  /** What it is about, e.g. `goal` or `reminder`. */
  readonly kind: RecordKind
  /** Its name among those of its kind. */
  readonly key: string
  /** What is kept. */
  readonly value: Json
}
