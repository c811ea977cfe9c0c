// Assistants: the one row of each assistant.
// Owns its columns and the look-ups on it. Leaves the rules of claim and commit to mailbox.ts and ledger.ts.

import type { DatabaseSync } from "node:sqlite"
import { type Address, type AssistantId, type Cursors, type Lane, LANES, type TenantId } from "@reverie/protocol"
import { query } from "./sql.ts"

export interface AssistantRow extends Cursors {
  readonly key: number
  readonly wake: number
  readonly epoch: number
  readonly attempts: number
  readonly version: number
  /** The `seq` of the last ledger entry. */
  readonly last: number
  readonly hears: number
  readonly retired: number
  readonly tenant: string
  readonly id: string
}

/** What accepting an envelope asks of the row. */
export type DoorRow = Pick<AssistantRow, "key" | "wake" | "hears" | "retired">

export interface StateRow extends AssistantRow {
  readonly state: string
}

const columns = "key, wake, epoch, attempts, version, control, reply, mail, last, hears, retired, tenant, id"

/** With the eighth bit set the column is one byte long, whatever is heard. */
const HEARS_BASE = 8

export const hearsColumn = (hears: ReadonlyArray<Lane>): number =>
  hears.reduce((mask, lane) => mask | (1 << LANES.indexOf(lane)), HEARS_BASE)

export const isHeard = (hears: number, lane: Lane): boolean => (hears & (1 << LANES.indexOf(lane))) !== 0

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
  const door = query<DoorRow>(database, "SELECT key, wake, hears, retired FROM assistants WHERE tenant = ? AND id = ?")
  const withState = query<StateRow>(database, `SELECT ${columns}, state FROM assistants WHERE tenant = ? AND id = ?`)
  const after = query<StateRow>(
    database,
    `SELECT ${columns}, state FROM assistants WHERE (tenant, id) > (?, ?) ORDER BY tenant, id LIMIT ?`
  )
  return {
    find: ({ tenant, assistant }: Address) => byAddress.one(tenant, assistant),
    findDoor: ({ tenant, assistant }: Address) => door.one(tenant, assistant),
    findWithState: ({ tenant, assistant }: Address) => withState.one(tenant, assistant),
    listAfter: (address: Address | undefined, limit: number) =>
      after.all(address?.tenant ?? "", address?.assistant ?? "", limit)
  }
}
