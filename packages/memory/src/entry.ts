// MemoryEntry: one thing that can be recalled, as an index holds it.
// Owns its shape and the names under which what an assistant kept is found again. Leaves keeping it to the ledger, and
// finding it to `recall.ts`.
// E1  An entry's id follows from where it is kept, so that indexing the same thing twice is indexing it once.
// E2  Nothing in an index is the only copy of anything.

import type { AssistantId, MessagePlace } from "@reverie/protocol"

export const memoryKinds = [
  /** A message of the history: what others said, and what tools answered. */
  "message",
  /** What the assistant itself said: mostly what it has from others. */
  "answer",
  /** A journal entry. */
  "episode",
  /** Semantic memory: a fact with its sources. */
  "fact",
  /** Archival memory: a text that was put away to be searched for. */
  "passage",
  /** What is known of somebody or something; recalled only when asked for by this kind. */
  "profile",
  /** A memory block that is searchable. */
  "block"
] as const
export type MemoryKind = (typeof memoryKinds)[number]

/** What a question is answered from when it names no kinds: profiles are looked up apart from episodes. */
export const episodicKinds: ReadonlyArray<MemoryKind> = ["message", "answer", "episode", "fact", "passage", "block"]

/** Besides its owner: nobody, those who are named, or every assistant of the tenant. */
export type Readers = "owner" | "fleet" | ReadonlyArray<AssistantId>

export interface MemoryEntry {
  /** Unique within its owner: see `entryId`. */
  readonly id: string
  readonly kind: MemoryKind
  /** When it happened or was learnt, in milliseconds since the epoch. */
  readonly at: number
  readonly text: string
  /** Who said it. Searched with the text. */
  readonly speaker?: string
  /** What was said around it: searched with less weight, never shown. */
  readonly context?: string
  /** The conversation it belongs to. */
  readonly thread?: string
  /** Names of whom and what it is about. */
  readonly entities: ReadonlyArray<string>
  readonly tags: ReadonlyArray<string>
  /** How far its source is believed, 0 to 1. */
  readonly trust: number
  /** 1 to 10. */
  readonly importance: number
  readonly readers: Readers
}

export type { MessagePlace } from "@reverie/protocol"

const prefixes = { message: "m", answer: "m", episode: "j", fact: "f", passage: "p", profile: "e", block: "b" } as const

export const messageId = ({ index, no }: MessagePlace): string => `m/${no}/${index}`

/** The id of what is kept under a key of its kind. */
export const entryId = (kind: Exclude<MemoryKind, "message" | "answer">, key: string): string =>
  `${prefixes[kind]}/${key}`

/** The place of the message that an id names; undefined when it names something else. */
export const placeOfId = (id: string): MessagePlace | undefined => {
  const [, no, index] = /^m\/(\d+)\/(\d+)$/.exec(id) ?? []
  return no === undefined || index === undefined ? undefined : { no: Number(no), index: Number(index) }
}

/** The entry of the ledger that a message of this id stands in; undefined where it is no message. */
export const entryNoOfId = (id: string): number | undefined =>
  id.startsWith("m/") ? Number.parseInt(id.slice(2), 10) : undefined

/** The key under which the thing is kept that an id names; undefined for a message and for no id at all. */
export const keyOfId = (id: string): string | undefined => (/^[jfpeb]\//.test(id) ? id.slice(2) : undefined)
