// Assistants: what of an assistant's row is read, and its flags as numbers.
// Owns these columns and addresses. Leaves every change of the row to first/apply.ts.

import { type Address, type AssistantId, type Cursors, type Lane, LANES, type TenantId } from "@reverie/protocol"

interface Named {
  readonly tenant: string
  readonly id: string
}

export interface AssistantRow extends Cursors, Named {
  readonly version: number
  readonly epoch: number
  readonly waiting: number
  readonly state: string
}

/** As numbers of JavaScript: each of them counts, and is far from where numbers stop being exact. */
export const assistantColumns = `tenant, id, version::float8 AS version, epoch::float8 AS epoch,
  control::float8 AS control, reply::float8 AS reply, mail::float8 AS mail,
  (last_control + last_reply + last_mail - control - reply - mail)::float8 AS waiting`

export const columnOf = (lane: Lane): number => LANES.indexOf(lane)

export const laneAt = (column: number): Lane => LANES[column] ?? "mail"

export const receivesColumn = (receives: ReadonlyArray<Lane>): number =>
  receives.reduce((mask, lane) => mask | (1 << columnOf(lane)), 0)

export const cursorsOf = ({ control, reply, mail }: Cursors): Cursors => ({ control, reply, mail })

// Only addresses that a Schema has let through are written.
export const addressOf = ({ tenant, id }: Named): Address => ({
  tenant: tenant as TenantId,
  assistant: id as AssistantId
})

/** As many rows as asked for, as a number PostgreSQL takes. */
export const limited = (limit: number): number => Math.trunc(Math.min(Math.max(limit, 0), Number.MAX_SAFE_INTEGER))
