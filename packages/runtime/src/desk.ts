// Desk: the assistant's own records, as its session holds them.
// Owns the copy in memory. Leaves their meaning to `assistant`, their durability to the commit that carries a change.
// I1  Records of a kind are another map after each change, so that who rendered one knows whether to render again.
// I2  It holds what was committed plus what finished runs have changed and the next commits will carry, in this order.

import { type Journal, journalOf } from "@reverie/assistant"
import { deskKinds, type Json, type RecordChange, type RecordKind, type RecordRow } from "@reverie/protocol"

export type DeskState = Map<RecordKind, ReadonlyMap<string, Json>>

const isOnDesk: ReadonlySet<RecordKind> = new Set(deskKinds)

const EMPTY: ReadonlyMap<string, Json> = new Map()

export const changeDesk = (desk: DeskState, changes: ReadonlyArray<RecordChange>): void => {
  const fresh = new Set<RecordKind>()
  for (const { key, kind, value } of changes) {
    // Memory and archive are read from the ledger when they are asked for.
    if (!isOnDesk.has(kind)) continue
    const before = desk.get(kind) ?? EMPTY
    const records = fresh.has(kind) ? (before as Map<string, Json>) : new Map(before)
    fresh.add(kind)
    if (value === null) records.delete(key)
    else records.set(key, value)
    desk.set(kind, records)
  }
}

export const openDeskState = (rows: ReadonlyArray<RecordRow>): DeskState => {
  const desk: DeskState = new Map()
  changeDesk(desk, rows)
  return desk
}

export const onDesk = (desk: DeskState, kind: RecordKind): ReadonlyMap<string, Json> => desk.get(kind) ?? EMPTY

export const journalOn = (desk: DeskState): Journal => journalOf(onDesk(desk, "journal"), onDesk(desk, "desk"))
