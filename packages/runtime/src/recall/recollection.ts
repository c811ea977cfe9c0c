// Recollection: what has come to an assistant's mind for the tick at hand.
// Owns its shape in memory. Leaves calling to mind to recollect.ts. Losing it costs asking again.

import type { Content } from "@reverie/context"
import { type EntityProfile, type IndexPosition, isEntityProfile } from "@reverie/memory"
import type { Entry, Json, MessagePlace, RecordChange, RecordKind } from "@reverie/protocol"

export interface Recollection {
  /** The tick that it is of. */
  tick: number
  memories: Content
  /** Of those it deals with. */
  profiles: Content
  ids: ReadonlyArray<string>
  /** Where the index stood when it was last held against the ledger; undefined before that, and while it does not answer. */
  indexed: IndexPosition | undefined
  /** Something was kept since that an index finds. */
  isBehind: boolean
  /** The newest entries that were committed under the claim at hand, without a gap: an index need not read them again. */
  newest: ReadonlyArray<Entry>
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
  ids: [],
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
const indexedKinds: ReadonlySet<RecordKind> = new Set([...keptMemories, "journal"])

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

/** Entries that are held for the index, and the characters and records of one: what is more is read again. */
const MAX_HELD = 32
const MAX_HELD_CHARS = 4_000
const MAX_HELD_RECORDS = 8

const isShort = (value: unknown): boolean => (JSON.stringify(value)?.length ?? 0) <= MAX_HELD_CHARS

/** Whether an entry is small enough to be held: 32 of them are at most a few hundred thousand characters. */
const isHeld = ({ messages, records = [] }: Entry): boolean =>
  messages.length <= MAX_HELD_RECORDS &&
  messages.every(({ content }) => content.length <= MAX_HELD_CHARS) &&
  records.length <= MAX_HELD_RECORDS &&
  records.every(({ value }) => isShort(value))

/** What an index that is brought up to date need not find out again. */
export const knownOf = ({ indexed, newest }: Recollection) => ({ trusted: indexed, newest })

/** Takes note of what a commit kept. */
export const noteKept = (recollection: Recollection, entry: Entry): void => {
  const { records = [] } = entry
  recollection.newest = isHeld(entry) ? [...recollection.newest, entry].slice(-MAX_HELD) : []
  if (records.some(isMemory)) recollection.hasMemories = true
  if (records.some(({ kind }) => indexedKinds.has(kind))) recollection.isBehind = true
  const entities = records.filter(({ kind }) => kind === "entity")
  const { known } = recollection
  if (entities.length > 0 && known !== undefined && known !== "many") {
    recollection.known = profilesIn(entities, known)
  }
}
