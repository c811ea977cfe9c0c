// ToolRecords: the assistant's own records, as its session holds them.
// Owns the copy in memory. Leaves their meaning to `assistant`, their durability to the commit that carries a change.
// I1  Records of a kind are another map after each change, so that who rendered one knows whether to render again.
// I2  It holds what was committed plus what finished runs have changed and the next commits will carry, in this order.

import { type Journal, journalOf } from "@reverie/assistant"
import { ownKinds, type Json, type RecordChange, type RecordKind, type RecordRow } from "@reverie/protocol"

export type OwnRecords = Map<RecordKind, ReadonlyMap<string, Json>>

const isOwnKind: ReadonlySet<RecordKind> = new Set(ownKinds)

const EMPTY: ReadonlyMap<string, Json> = new Map()

export const applyRecords = (own: OwnRecords, changes: ReadonlyArray<RecordChange>): void => {
  const fresh = new Set<RecordKind>()
  for (const { key, kind, value } of changes) {
    // Memory and archive are read from the ledger when they are asked for.
    if (!isOwnKind.has(kind)) continue
    const before = own.get(kind) ?? EMPTY
    const records = fresh.has(kind) ? (before as Map<string, Json>) : new Map(before)
    fresh.add(kind)
    if (value === null) records.delete(key)
    else records.set(key, value)
    own.set(kind, records)
  }
}

export const openOwnRecords = (rows: ReadonlyArray<RecordRow>): OwnRecords => {
  const own: OwnRecords = new Map()
  applyRecords(own, rows)
  return own
}

export const recordsOf = (own: OwnRecords, kind: RecordKind): ReadonlyMap<string, Json> => own.get(kind) ?? EMPTY

export const journalOn = (own: OwnRecords): Journal => journalOf(recordsOf(own, "journal"), recordsOf(own, "state"))
