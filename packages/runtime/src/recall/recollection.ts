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

/** Takes note of what a commit kept. */
export const noteKept = (recollection: Recollection, { records = [] }: Entry): void => {
  if (records.some(isMemory)) recollection.hasMemories = true
  if (records.some(({ kind }) => indexedKinds.has(kind))) recollection.isBehind = true
  const entities = records.filter(({ kind }) => kind === "entity")
  const { known } = recollection
  if (entities.length > 0 && known !== undefined && known !== "many") {
    recollection.known = profilesIn(entities, known)
  }
}
