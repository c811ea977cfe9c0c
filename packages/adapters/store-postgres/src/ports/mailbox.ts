// Mailbox on PostgreSQL: acceptance, claims, what waits and who is due.
// Owns the words of these verbs as operations, and of their answers, and who is due. Leaves the rules to first/apply.ts.
// I1  A lease is judged by the database's clock, so that workers whose clocks differ agree on who holds an assistant.

import {
  ClaimHeld,
  type ClaimRequest,
  LeaseLost,
  type Mailbox,
  MailboxUnavailable,
  MAX_PENDING,
  StateUnreadable,
  UnknownAssistant
} from "@reverie/mailbox"
import {
  type AcceptedEnvelope,
  type Address,
  type Claim,
  defined,
  type Hold,
  keyText,
  laneOf,
  readEnvelope,
  readKeyText,
  readState,
  type UnreadableEnvelope
} from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { addressOf, columnOf, cursorsOf, laneAt, limited } from "./assistants.ts"
import type { Database, PgFailure } from "../database.ts"
import { type Answer, type Operation, spokenTo } from "../operation.ts"
import { readEach } from "../pages.ts"
import { Segments } from "./segments.ts"
import type { Time } from "../time.ts"
import type { Writer } from "../writer.ts"

// Due: who has something to do that no one holds, and when the next one will.
// I1  A look costs what it finds and what is held, never what sleeps.
// I2  Tenants take turns: the longest waiting of each, then the second of each, so that no one is hidden behind a tenant
//     with many. Told are they in the order of waiting.

// Goes from tenant to tenant along the index.
const TENANTS = `
  RECURSIVE tenants (tenant) AS (
    (SELECT tenant FROM wakes ORDER BY tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT w.tenant FROM wakes w WHERE w.tenant > t.tenant ORDER BY w.tenant LIMIT 1)
    FROM tenants t WHERE t.tenant IS NOT NULL
  )`

const free = (range: string): string => `
  (SELECT a.id, w.assistant, w.wake FROM wakes w JOIN assistants a ON a.key = w.assistant
   WHERE w.tenant = t.tenant AND ${range} AND a.lease_until <= clock.now
   ORDER BY w.wake, w.assistant LIMIT $2)`

// $1 the time, null for the database's; $2 how many of a tenant; $3 how many in all; $4 by when they are due.
const DUE = `
  WITH ${TENANTS}, clock (now, until) AS (
    SELECT t.now, greatest(t.now, $4::bigint) FROM (SELECT coalesce($1::bigint, now_millis())) t (now)
  ),
  found AS (
    SELECT t.tenant, d.id, d.assistant, wake_time(d.wake) AS since,
      row_number() OVER (PARTITION BY t.tenant ORDER BY wake_time(d.wake), d.assistant) AS turn
    FROM clock, tenants t CROSS JOIN LATERAL (
      ${free("w.wake < 0")} UNION ALL ${free("w.wake >= 0 AND w.wake <= clock.until")}
    ) d
  ),
  chosen AS (SELECT * FROM found ORDER BY turn, since, assistant LIMIT $3)
  SELECT tenant, id, turn::float8 AS turn FROM chosen ORDER BY since, assistant`

const HOW_MANY_TENANTS = `WITH ${TENANTS} SELECT count(tenant)::float8 AS tenants FROM tenants`

const NEXT = "SELECT next_due($1::bigint)::float8 AS next"

interface DueRow {
  readonly tenant: string
  readonly id: string
  readonly turn: number
}

const dueQueries = ({ query }: Database) => ({
  /** Who is due by `until`; by the present when that is later. */
  by: (until: number, now: number | undefined, limit: number): Effect.Effect<ReadonlyArray<Address>, PgFailure> =>
    Effect.gen(function* () {
      if (limit === 0) return []
      const [counted] = yield* query<{ readonly tenants: number }>(HOW_MANY_TENANTS)
      const share = Math.ceil(limit / Math.max(1, counted?.tenants ?? 1))
      const found = yield* query<DueRow>(DUE, [now ?? null, share, limit, until])
      // Where some had fewer than their share, others may have more.
      const isShort = found.length < limit && share < limit && found.some(({ turn }) => turn >= share)
      const all = isShort ? yield* query<DueRow>(DUE, [now ?? null, limit, limit, until]) : found
      return all.map(addressOf)
    }),
  next: (now: number | undefined): Effect.Effect<number | undefined, PgFailure> =>
    Effect.map(query<{ readonly next: number | null }>(NEXT, [now ?? null]), (rows) => rows[0]?.next ?? undefined)
})

const unavailable =
  (operation: string) =>
  ({ cause, kind, message }: PgFailure): MailboxUnavailable =>
    new MailboxUnavailable({ operation, message, cause, isPassing: kind === "passing", isDamaged: kind === "damaged" })

interface EnvelopeRow {
  readonly lane: number
  readonly seq: number
  readonly id: string
  readonly acceptedAt: number
  readonly body: string
}

const readRow = ({ acceptedAt, body, id, lane: column, seq }: EnvelopeRow): AcceptedEnvelope | UnreadableEnvelope => {
  const lane = laneAt(column)
  return Result.match(readEnvelope(body), {
    onSuccess: (envelope) => ({ ...envelope, lane, seq, acceptedAt }),
    // The id was valid when the row was written; it must come back unchanged to be dead-lettered by.
    onFailure: (unreadable) => ({ unreadable, id: readKeyText(id) as UnreadableEnvelope["id"], lane, seq })
  })
}

const readAll = (rows: ReadonlyArray<EnvelopeRow>) => readEach(rows, (row) => Result.succeed(readRow(row)))

/** Asks for one write; an answer that its kind of operation does not have is a bug. */
const asking =
  (writer: Writer, time: Time) =>
  <Is extends Answer["is"]>(
    verb: string,
    operation: Operation,
    bodies: ReadonlyArray<string>,
    ...known: ReadonlyArray<Is>
  ) =>
    Effect.flatMap(time.stamp, (stamp) => writer.write({ operation: { ...operation, ...stamp }, bodies })).pipe(
      Effect.mapError(unavailable(verb)),
      Effect.flatMap(({ answer, body }) =>
        (known as ReadonlyArray<string>).includes(answer.is)
          ? Effect.succeed({ answer: answer as Extract<Answer, { readonly is: Is }>, body })
          : Effect.die(new Error(`${verb} was answered ${answer.is}`))
      )
    )

type Ask = ReturnType<typeof asking>

const accepting = (ask: Ask): Pick<Mailbox["Service"], "accept"> => ({
  accept: (envelope, seq) => {
    const { event, id, to } = envelope
    const lane = columnOf(laneOf(event))
    const operation = { k: "accept", ...spokenTo(to), id: keyText(id), lane, ...defined({ seq }) } as const
    return Effect.flatMap(
      ask("accept", operation, [JSON.stringify(envelope)], "accepted", "duplicate", "unknown"),
      ({ answer }) =>
        answer.is === "accepted" || answer.is === "duplicate"
          ? Effect.succeed({ outcome: answer.is, envelope: id, to })
          : Effect.fail(new UnknownAssistant({ address: to }))
    )
  }
})

type Granted = Extract<Answer, { readonly is: "granted" }>

const claiming = (ask: Ask): Pick<Mailbox["Service"], "claim" | "renew" | "note" | "release" | "fence"> => {
  const held = ({ address, worker }: ClaimRequest, granted: Granted, state: Hold["state"]): Hold => ({
    claim: { address: { ...address }, worker, epoch: granted.epoch, leaseUntil: granted.until },
    state,
    version: granted.version,
    cursors: cursorsOf(granted),
    attempts: granted.attempts,
    ...defined({ note: granted.note === null ? undefined : granted.note })
  })
  return {
    claim: (request) =>
      Effect.gen(function* () {
        const { address, leaseMillis, worker } = request
        const operation = { k: "claim", ...spokenTo(address), worker, lease: Math.trunc(leaseMillis) } as const
        const { answer, body } = yield* ask("claim", operation, [], "granted", "held", "unknown")
        if (answer.is === "unknown") return yield* new UnknownAssistant({ address })
        if (answer.is === "held") {
          return yield* new ClaimHeld({ address, worker: answer.worker, leaseUntil: answer.until })
        }
        const state = readState(body ?? "")
        if (Result.isSuccess(state)) return held(request, answer, state.success)
        yield* ask("claim", { k: "unclaim", ...spokenTo(address), epoch: answer.epoch }, [], "released")
        return yield* new StateUnreadable({ address, problem: state.failure })
      }),
    renew: (claim, leaseMillis) =>
      Effect.gen(function* () {
        const { address, epoch, worker } = claim
        const operation = { k: "renew", ...spokenTo(address), worker, epoch, lease: Math.trunc(leaseMillis) } as const
        const { answer } = yield* ask("renew", operation, [], "renewed", "lost")
        if (answer.is === "renewed") return { ...claim, leaseUntil: answer.until }
        return yield* new LeaseLost({ address, heldEpoch: epoch, currentEpoch: answer.epoch })
      }),
    note: ({ address, epoch }, text) =>
      Effect.gen(function* () {
        const { answer } = yield* ask("note", { k: "note", ...spokenTo(address), epoch }, [text], "noted", "lost")
        if (answer.is === "lost") {
          return yield* new LeaseLost({ address, heldEpoch: epoch, currentEpoch: answer.epoch })
        }
      }),
    release: ({ address, epoch }: Claim) =>
      Effect.asVoid(ask("release", { k: "release", ...spokenTo(address), epoch }, [], "released")),
    fence: (address) =>
      Effect.flatMap(ask("fence", { k: "fence", ...spokenTo(address) }, [], "fenced", "unknown"), ({ answer }) =>
        answer.is === "fenced" ? Effect.void : Effect.fail(new UnknownAssistant({ address }))
      )
  }
}

const waiting = (column: number): string => `
  (SELECT lane, seq, id, accepted_at, body FROM envelopes
   WHERE assistant = key AND lane = ${column} AND seq > ${laneAt(column)} AND ${column} = ANY ($3) ORDER BY seq LIMIT $4)`

const PENDING = `
  SELECT lane, seq::float8 AS seq, e.id, accepted_at::float8 AS "acceptedAt", body
  FROM assistants a CROSS JOIN LATERAL (${[0, 1, 2].map(waiting).join(" UNION ALL ")}) e
  WHERE a.tenant = $1 AND a.id = $2 ORDER BY lane, seq`

const ACCEPTED = `
  SELECT lane, seq::float8 AS seq, e.id, accepted_at::float8 AS "acceptedAt", body
  FROM assistants a JOIN envelopes e ON e.assistant = a.key
  WHERE a.tenant = $1 AND a.id = $2 AND e.id = ANY ($3) ORDER BY array_position($3, e.id)`

type Looking = Pick<Mailbox["Service"], "accepted" | "pending" | "due" | "nextDue">

const looking = (database: Database, time: Time, segments: Segments): Looking => {
  const due = dueQueries(database)
  const now = Effect.map(time.stamp, ({ at }) => at)
  return {
    pending: ({ assistant, tenant }, lanes, limit) => {
      if (lanes.length === 0) return Effect.succeed([])
      const most = Math.min(limited(limit), MAX_PENDING)
      const rows = database.query<EnvelopeRow>(PENDING, [tenant, assistant, lanes.map(columnOf), most])
      return Effect.flatMap(Effect.mapError(rows, unavailable("pending")), readAll)
    },
    accepted: ({ assistant, tenant }, ids) => {
      if (ids.length === 0) return Effect.succeed([])
      const rows = segments.whole(
        database.query,
        database.query<EnvelopeRow>(ACCEPTED, [tenant, assistant, ids.map(keyText)])
      )
      return Effect.flatMap(Effect.mapError(rows, unavailable("accepted")), readAll)
    },
    due: (limit, until = 0) =>
      Effect.mapError(
        Effect.flatMap(now, (at) => due.by(until, at, limited(limit))),
        unavailable("due")
      ),
    nextDue: Effect.mapError(Effect.flatMap(now, due.next), unavailable("nextDue"))
  }
}

export const postgresMailbox = (
  database: Database,
  writer: Writer,
  time: Time,
  segments = new Segments()
): Mailbox["Service"] => {
  const ask = asking(writer, time)
  return { ...accepting(ask), ...claiming(ask), ...looking(database, time, segments) }
}
