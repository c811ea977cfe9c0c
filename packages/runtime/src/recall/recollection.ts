// Recollection: what has come to an assistant's mind for the tick at hand, and what its index need not read again.
// Owns both as they stand in memory. Leaves asking to recollect.ts, indexing to indexer.ts.

import { type EntityProfile, type IndexPosition, isEntityProfile, type MemoryLine } from "@reverie/memory"
import type { Entry, Json, MessagePlace, RecordChange, RecordKind } from "@reverie/protocol"
import type { Content } from "@reverie/context"

export interface Recollection {
  /** The tick that it is of. */
  tick: number
  memories: Content
  /** Of those it deals with. */
  profiles: Content
  /** The same one by one, by their ids. */
  profileLines: ReadonlyMap<string, MemoryLine>
  ids: ReadonlyArray<string>
  /** How well those that were searched for fit what was said. */
  scores: { readonly [id: string]: number }
  /** Where the index stood when it was last held against the ledger; undefined before that, and while it does not answer. */
  indexed: IndexPosition | undefined
  /** Something was kept since that an index finds. */
  isBehind: boolean
  /** The newest entries that were committed under the claim at hand, without a gap: an index need not read them again. */
  newest: Array<Entry>
  /** Where the history begins, once that is known. */
  begin: MessagePlace | undefined
  /** Whether a fact or a passage is kept, once that is known. */
  hasMemories: boolean | undefined
  /** The profiles that are kept, by their keys, once they were read; "many" where they are too many for that. */
  known: ReadonlyMap<string, EntityProfile> | "many" | undefined
}

export const openRecollection = (): Recollection => ({
  tick: -1,
  memories: "",
  profiles: "",
  profileLines: new Map(),
  ids: [],
  scores: {},
  indexed: undefined,
  isBehind: true,
  newest: [],
  begin: undefined,
  hasMemories: undefined,
  known: undefined
})

/** Records that make it worth asking, wherever the window begins. */
export const keptMemories = ["fact", "passage"] as const

/** Records that an index finds. */
const indexedKinds: ReadonlySet<RecordKind> = new Set([...keptMemories, "journal", "episode"])

const isMemory = ({ kind, value }: RecordChange): boolean =>
  value !== null && keptMemories.some((each) => each === kind)

/** The profiles among records of the kind `entity`, by their keys. */
export const profilesIn = (
  rows: Iterable<{ readonly key: string; readonly value: Json | null }>,
  known: ReadonlyMap<string, EntityProfile> = new Map()
): ReadonlyMap<string, EntityProfile> => {
  const profiles = new Map(known)
  for (const { key, value } of rows) {
    if (isEntityProfile(value)) profiles.set(key, value)
    else profiles.delete(key)
  }
  return profiles
}

/** Entries that a busy assistant's index may be behind by: it is brought up to date before questions and at rest. */
export const UNINDEXED_ENTRIES = 64
/** Entries that are held for the index, and the characters and records of one: what is more is read again. */
const MAX_HELD = 96
const MAX_HELD_CHARS = 4_000
const MAX_HELD_RECORDS = 8

/** Near enough the characters of its text, which is not made: it is asked of every record of every commit. */
const roomOf = (value: Json | null): number => {
  if (typeof value === "string") return value.length
  return typeof value === "object" ? Object.values(value ?? {}).reduce((sum: number, each) => sum + roomOf(each), 0) : 4
}

/** Whether an entry is small enough to be held: most are a few hundred characters. */
const isHeld = ({ messages, records = [] }: Entry): boolean =>
  messages.length <= MAX_HELD_RECORDS &&
  messages.every(({ content }) => content.length <= MAX_HELD_CHARS) &&
  records.length <= MAX_HELD_RECORDS &&
  records.every(({ value }) => roomOf(value) <= MAX_HELD_CHARS)

/** What an index that is brought up to date need not find out again. */
export const knownOf = ({ indexed, newest }: Recollection) => ({ trusted: indexed, newest })

/** Takes note of what a commit kept. */
export const noteKept = (recollection: Recollection, entry: Entry): void => {
  const { records = [] } = entry
  const { newest } = recollection
  if (!isHeld(entry)) recollection.newest = []
  else if (newest.push(entry) > MAX_HELD) newest.shift()
  if (records.some(isMemory)) recollection.hasMemories = true
  if (records.some(({ kind }) => indexedKinds.has(kind))) recollection.isBehind = true
  const entities = records.filter(({ kind }) => kind === "entity")
  const { known } = recollection
  if (entities.length > 0 && known !== undefined && known !== "many") {
    recollection.known = profilesIn(entities, known)
  }
}
