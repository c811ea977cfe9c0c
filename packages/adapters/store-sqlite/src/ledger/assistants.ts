// Assistants: the one row of each assistant.
// Owns its columns and the look-ups on it. Leaves the rules of claim and commit to mailbox.ts and ledger.ts.

import type { DatabaseSync } from "node:sqlite"
import { type Address, type AssistantId, type Cursors, type Lane, LANES, type TenantId } from "@reverie/protocol"
import { undamaged } from "../files/salvage.ts"
import { query } from "../sql.ts"

export interface AssistantRow extends Cursors {
  readonly key: number
  readonly wake: number
  readonly epoch: number
  readonly attempts: number
  readonly version: number
  /** The `seq` of the last ledger entry. */
  readonly last: number
  readonly receives: number
  readonly retired: number
  readonly tenant: string
  readonly id: string
}

/** What accepting an envelope asks of the row. */
export type DoorRow = Pick<AssistantRow, "key" | "wake" | "receives" | "retired">

export interface StateRow extends AssistantRow {
  readonly state: string
  readonly note: string | null
}

/** One whose row lies on a damaged page is known by name only. */
export type ListedRow = StateRow | (Pick<AssistantRow, "tenant" | "id"> & { readonly isDamaged: true })

const columns = "key, wake, epoch, attempts, version, control, reply, mail, last, receives, retired, tenant, id"

/** With the eighth bit set the column is one byte long, whatever is heard. */
const RECEIVES_BASE = 8

export const receivesColumn = (receives: ReadonlyArray<Lane>): number =>
  receives.reduce((mask, lane) => mask | (1 << LANES.indexOf(lane)), RECEIVES_BASE)

export const isHeard = (receives: number, lane: Lane): boolean => (receives & (1 << LANES.indexOf(lane))) !== 0

export const cursorsOf = ({ control, reply, mail }: Cursors): Cursors => ({ control, reply, mail })

// Only addresses that a Schema has let through are written.
export const addressOf = ({ tenant, id }: Pick<AssistantRow, "tenant" | "id">): Address => ({
  tenant: tenant as TenantId,
  assistant: id as AssistantId
})

export const assistantQueries = (database: DatabaseSync) => {
  const byAddress = query<AssistantRow & { readonly stateBytes: number }>(
    database,
    `SELECT ${columns}, octet_length(state) AS stateBytes FROM assistants WHERE tenant = ? AND id = ?`
  )
  const door = query<DoorRow>(
    database,
    "SELECT key, wake, receives, retired FROM assistants WHERE tenant = ? AND id = ?"
  )
  const withState = query<StateRow>(
    database,
    `SELECT ${columns}, note, state FROM assistants WHERE tenant = ? AND id = ?`
  )
  const after = query<StateRow>(
    database,
    `SELECT ${columns}, note, state FROM assistants WHERE (tenant, id) > (?, ?) ORDER BY tenant, id LIMIT ?`
  )
  // The index on addresses answers it alone, and its pages may be whole where a row's are not.
  const names = query<Pick<AssistantRow, "tenant" | "id">>(
    database,
    "SELECT tenant, id FROM assistants WHERE (tenant, id) > (?, ?) ORDER BY tenant, id LIMIT ?"
  )
  const listAfter = (tenant: string, id: string, limit: number): ReadonlyArray<ListedRow> =>
    undamaged(() => after.all(tenant, id, limit))?.value ??
    names
      .all(tenant, id, limit)
      .map((name) => undamaged(() => withState.one(name.tenant, name.id))?.value ?? { ...name, isDamaged: true })
  return {
    find: ({ tenant, assistant }: Address) => byAddress.one(tenant, assistant),
    findDoor: ({ tenant, assistant }: Address) => door.one(tenant, assistant),
    findWithState: ({ tenant, assistant }: Address) => withState.one(tenant, assistant),
    namesAfter: (address: Address | undefined, limit: number) =>
      names.all(address?.tenant ?? "", address?.assistant ?? "", limit),
    listAfter: (address: Address | undefined, limit: number) =>
      listAfter(address?.tenant ?? "", address?.assistant ?? "", limit)
  }
}
