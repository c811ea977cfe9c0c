// Assistants: the rows of an assistant: its own, and its envelopes. Its ledger entries are in entries.ts.
// Owns their columns and the look-ups on them. Leaves the rules of claim and commit to mailbox.ts and ledger.ts.

import type { DatabaseSync } from "node:sqlite"
import {
  type Address,
  type AssistantId,
  type AssistantState,
  type Cursors,
  type Envelope,
  type EnvelopeId,
  keyText,
  type Lane,
  laneOf,
  LANES,
  readState,
  type TenantId
} from "@reverie/protocol"
import { LedgerUnavailable, unopenedReason } from "@reverie/ledger"
import * as Result from "effect/Result"
import { undamaged } from "../files/salvage.ts"
import { change, query, sealedOverhead, type SqliteFailure } from "../sql.ts"
import { segmentsOf } from "./segments.ts"

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

export type DoorRow = Pick<AssistantRow, "key" | "wake" | "receives" | "retired">

export interface StateRow extends AssistantRow {
  readonly state: string
  readonly note: string | null
}

/** One whose row lies on a damaged page is known by name only. */
export type ListedRow = StateRow | (Pick<AssistantRow, "tenant" | "id"> & { readonly isDamaged: true })

/** Asked for by its address several times in each tick, and so without what the address and the door say. */
type FoundRow = Omit<AssistantRow, "receives" | "retired" | "tenant" | "id"> & { readonly stateBytes: number }
const found = "key, wake, epoch, attempts, version, control, reply, mail, last"
const columns = `${found}, receives, retired, tenant, id`

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

/** The state of a row; why it can not be read. */
export const stateOf = ({ state }: Pick<StateRow, "state">): Result.Result<AssistantState, string> =>
  Result.mapError(readState(state), (problem) => unopenedReason(state) ?? problem)

export const assistantQueries = (database: DatabaseSync) => {
  const byAddress = query<FoundRow>(
    database,
    `SELECT ${found}, octet_length(state) - ${sealedOverhead(database)} AS stateBytes FROM assistants WHERE tenant = ? AND id = ?`
  )
  const door = query<DoorRow>(
    database,
    "SELECT key, wake, receives, retired FROM assistants WHERE tenant = ? AND id = ?"
  )
  const whole = `SELECT ${columns}, note, state FROM assistants WHERE`
  const withState = query<StateRow>(database, `${whole} tenant = ? AND id = ?`)
  const after = query<StateRow>(database, `${whole} (tenant, id) > (?, ?) ORDER BY tenant, id LIMIT ?`)
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

// Records: the length of a row that is written over again and again.

const STEP_BYTES = 64
/** A row keeps up to this much padding before it is made shorter. */
const MOST_PADDING_BYTES = 4_096

/**
 * JSON text that is as many bytes long as the text it replaces, when it fits: a row that keeps its length is written over
 * in place, and JSON does not mind the spaces behind it.
 */
export const padded = (json: string, presentBytes: number): string => {
  const bytes = Buffer.byteLength(json)
  const spare = presentBytes - bytes
  const padding = spare >= 0 && spare <= MOST_PADDING_BYTES ? spare : Math.ceil(bytes / STEP_BYTES) * STEP_BYTES - bytes
  return json + " ".repeat(padding)
}

// Leases: who holds which assistant until when.
// I1  Leases live in memory: only the owner of the directory grants them, and with it they end.

interface Lease {
  readonly worker: string
  /** Milliseconds since the epoch. */
  readonly until: number
}

const SWEEP_FROM = 1_024

export class Leases {
  readonly #byKey = new Map<number, Lease>()
  #sweepAt = SWEEP_FROM

  live(key: number, now: number): Lease | undefined {
    const lease = this.#byKey.get(key)
    return lease !== undefined && lease.until > now ? lease : undefined
  }

  /** Grants a lease; the answer takes it back. */
  grant(key: number, lease: Lease, now: number): () => void {
    const before = this.#byKey.get(key)
    if (this.#byKey.size >= this.#sweepAt) this.#sweep(now)
    this.#byKey.set(key, lease)
    return () => {
      if (before === undefined) this.#byKey.delete(key)
      else this.#byKey.set(key, before)
    }
  }

  end(key: number): void {
    this.#byKey.delete(key)
  }

  /** How many assistants may be held: never fewer than are. */
  get count(): number {
    return this.#byKey.size
  }

  #sweep(now: number): void {
    for (const [key, { until }] of this.#byKey) if (until <= now) this.#byKey.delete(key)
    this.#sweepAt = Math.max(SWEEP_FROM, this.#byKey.size * 2)
  }
}

// Envelopes: the rows of everything that was ever accepted.

export interface EnvelopeRow {
  readonly seq: number
  readonly id: string
  readonly acceptedAt: number
  readonly body: string
}

const columnOf = (lane: Lane): number => LANES.indexOf(lane)

export const envelopeQueries = (database: DatabaseSync) => {
  const insert = change(
    database,
    "INSERT OR IGNORE INTO envelopes (assistant, lane, id, accepted_at, body) VALUES (?, ?, ?, ?, ?)"
  )
  const beyond = "FROM envelopes WHERE assistant = ? AND lane = ? AND seq > ?"
  const first = query<{ readonly acceptedAt: number }>(
    database,
    `SELECT accepted_at AS acceptedAt ${beyond} ORDER BY seq LIMIT 1`
  )
  // One row for the heads of all lanes, and one for what is next: a list costs several times as much, also an empty one.
  // No numbered parameters: Node 22.13 counts the arguments and not the parameters, and refuses the second use of `?1`.
  const headOf = (lane: Lane): string =>
    `(SELECT seq FROM envelopes WHERE assistant = ? AND lane = ${columnOf(lane)} AND seq > ? ORDER BY seq LIMIT 1) AS ${lane}`
  const heads = query<Readonly<Record<Lane, number | null>>>(database, `SELECT ${LANES.map(headOf).join(", ")}`)
  const next = query<{ readonly seq: number }>(database, `SELECT seq ${beyond} ORDER BY seq LIMIT 1`)
  const further = query<{ readonly seq: number }>(database, `SELECT seq ${beyond} ORDER BY seq LIMIT ?`)
  const seqsFrom = (assistant: number, lane: Lane, head: number, limit: number): ReadonlyArray<number> => {
    const second = limit > 1 ? next.one(assistant, columnOf(lane), head)?.seq : undefined
    if (second === undefined) return [head]
    const more = limit > 2 ? further.all(assistant, columnOf(lane), second, limit - 2) : []
    return [head, second, ...more.map(({ seq }) => seq)]
  }
  const bySeq = query<EnvelopeRow>(
    database,
    "SELECT seq, assistant, id, accepted_at AS acceptedAt, body FROM envelopes WHERE seq = ?"
  )
  const named = query<EnvelopeRow & { readonly lane: number }>(
    database,
    "SELECT seq, assistant, id, lane, accepted_at AS acceptedAt, body FROM envelopes WHERE assistant = ? AND id = ?"
  )
  // One statement for all lanes: it is asked of every assistant of a list.
  const countOf = (lane: Lane): string =>
    `(SELECT count(*) FROM envelopes WHERE assistant = ? AND lane = ${columnOf(lane)} AND seq > ?)`
  const count = query<{ readonly waiting: number }>(database, `SELECT ${LANES.map(countOf).join(" + ")} AS waiting`)
  const newest = query<{ readonly seq: number }>(database, "SELECT max(seq) AS seq FROM envelopes")
  const segments = segmentsOf(database)
  return {
    /** False when the envelope was there before. */
    insert: (assistant: number, envelope: Envelope, body: string, now: number): boolean =>
      insert(assistant, columnOf(laneOf(envelope.event)), keyText(envelope.id), now, body).rows === 1,
    firstAcceptedAt: (assistant: number, lane: Lane, cursor: number): number | undefined =>
      first.one(assistant, columnOf(lane), cursor)?.acceptedAt,
    /** Where at most `limit` envelopes of each of these lanes wait, lane by lane, the oldest first. */
    waiting: (assistant: number, cursors: Cursors, lanes: ReadonlyArray<Lane>, limit: number) => {
      const found = heads.one(...LANES.flatMap((lane) => [assistant, cursors[lane]]))
      return LANES.flatMap((lane) => {
        const head = found?.[lane] ?? null
        if (head === null || limit < 1 || !lanes.includes(lane)) return []
        return seqsFrom(assistant, lane, head, limit).map((seq) => ({ lane, seq }))
      })
    },
    rowAt: (seq: number): EnvelopeRow | undefined => bySeq.one(seq),
    /** As it stands in the row. */
    keptOf: (assistant: number, id: EnvelopeId): EnvelopeRow | undefined => named.one(assistant, keyText(id)),
    /** As it stands in the row, with its lane. */
    rowOf: (assistant: number, id: EnvelopeId): { readonly row: EnvelopeRow; readonly lane: Lane } | undefined => {
      const found = named.one(assistant, keyText(id))
      const lane = LANES[found?.lane ?? -1]
      return found === undefined || lane === undefined ? undefined : { row: found, lane }
    },
    /** The text of a row. */
    textOf: (body: string) => segments.textLater(body),
    waitingCount: (assistant: number, cursors: Cursors): number =>
      count.one(...LANES.flatMap((lane) => [assistant, cursors[lane]]))?.waiting ?? 0,
    /** No row is ever deleted, so the last number is their count. */
    accepted: (): number => newest.one()?.seq ?? 0
  }
}

export const ledgerUnavailable =
  (operation: string) =>
  ({ cause, kind, message }: SqliteFailure): LedgerUnavailable =>
    new LedgerUnavailable({
      operation,
      message,
      cause,
      isDamaged: kind === "damaged",
      ...(kind === "passing" && { isPassing: true })
    })
