// Ledger on PostgreSQL: creations, commits and what they leave behind.
// Owns the words of these verbs as operations, and of their answers. Leaves the rules to first/apply.ts,
// reading back to chronicle.ts, register.ts and kept.ts.
// I1  Everything of an entry that becomes text does so before the transaction begins.

import { CommitFenced, type Discarded, type Ledger, type OpenSend, Readable, UnreadableRecord } from "@reverie/ledger"
import {
  type AssistantState,
  type Cause,
  type Entry,
  type EnvelopeId,
  keyText,
  readEnvelope,
  defined
} from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { columnOf, receivesColumn, limited } from "./assistants.ts"
import { ledgerUnavailable, postgresEntryHistory } from "./entry-history.ts"
import type { Database } from "./database.ts"
import { postgresKept } from "./kept.ts"
import { type Filed, type Operation, spokenTo } from "./operation.ts"
import { bounded, lengthOf } from "./pages.ts"
import { type DeadLetterBody, postgresRegister } from "./register.ts"
import type { Time } from "./time.ts"
import type { Writer } from "./writer.ts"

/** Entry, state, sends, dead letters, records: in this order `apply` finds them. */
const filed = (
  entry: Entry,
  state: AssistantState
): { readonly facts: Filed; readonly bodies: ReadonlyArray<string> } => {
  const settled = entry.settled ?? []
  const letters = settled
    .filter(({ outcome }) => outcome === "dead")
    .map(({ id, reason = "" }) => JSON.stringify({ envelope: id, reason, at: entry.at } satisfies DeadLetterBody))
  const sends = (entry.sends ?? []).map((envelope) => JSON.stringify(envelope))
  const bodies = [JSON.stringify(entry), JSON.stringify(state), ...sends, ...letters]
  const records = (entry.records ?? []).map(({ key, kind, value }) => {
    const body = value === null ? null : bodies.push(JSON.stringify(value)) - 1
    return [kind, keyText(key), body] as const
  })
  const timers = state.timers.map(({ dueAt }) => dueAt)
  const facts: Filed = {
    no: entry.no,
    receives: receivesColumn(state.receives),
    retired: state.status === "retired",
    jobs: state.jobs.length > 0,
    ...defined({ timer: timers.length === 0 ? undefined : Math.trunc(Math.min(...timers)) }),
    sends: sends.length,
    letters: letters.length,
    ...defined({ records: records.length === 0 ? undefined : records }),
    settled: settled.length - letters.length
  }
  return { facts, bodies }
}

const moved = (cause: Cause): { readonly lane?: number; readonly seq?: number } =>
  cause.kind === "envelope" || cause.kind === "dead-letter" ? { lane: columnOf(cause.lane), seq: cause.seq } : {}

const writing = (writer: Writer, time: Time): Pick<Ledger["Service"], "create" | "commit"> => {
  const ask = (verb: string, operation: Operation, bodies: ReadonlyArray<string>) =>
    Effect.flatMap(time.stamp, (stamp) => writer.write({ operation: { ...operation, ...stamp }, bodies })).pipe(
      Effect.mapBoth({ onSuccess: ({ answer }) => answer, onFailure: ledgerUnavailable(verb) })
    )
  return {
    create: ({ address, entry, state }) =>
      Effect.gen(function* () {
        const { bodies, facts } = filed(entry, state)
        const { is } = yield* ask("create", { k: "creation", ...spokenTo(address), ...facts }, bodies)
        return is === "created" || is === "exists" ? is : yield* Effect.die(new Error(`creation was answered ${is}`))
      }),
    commit: ({ address, epoch }, { entry, state }) =>
      Effect.gen(function* () {
        const { bodies, facts } = filed(entry, state)
        const operation = { k: "commit", ...spokenTo(address), epoch, ...moved(entry.cause), ...facts } as const
        const answer = yield* ask("commit", operation, bodies)
        if (answer.is === "written") return answer.position
        if (answer.is !== "stale") return yield* Effect.die(new Error(`commit was answered ${answer.is}`))
        return yield* new CommitFenced({
          address,
          heldEpoch: epoch,
          currentEpoch: answer.epoch,
          expectedVersion: entry.no - 1,
          currentVersion: answer.version
        })
      })
  }
}

interface SendRow {
  readonly seq: number
  readonly body: string
}

const OPEN_SENDS = bounded(
  "SELECT seq::float8 AS seq, body FROM sends WHERE sends.seq > $1 ORDER BY sends.seq LIMIT $2"
)

const toSend = ({ body, seq }: SendRow): Result.Result<OpenSend, UnreadableRecord> =>
  Result.mapBoth(readEnvelope(body), {
    onSuccess: (envelope) => ({ seq, envelope }),
    onFailure: (message) => new UnreadableRecord({ record: `send ${seq}`, message })
  })

type Sending = Pick<Ledger["Service"], "openSends" | "settleSends">

const sending = (database: Database, writer: Writer, readable: Readable): Sending => ({
  openSends: (limit) =>
    readable.page({
      limit: limited(limit),
      fetch: (last: SendRow | undefined, wanted) =>
        Effect.mapError(database.query<SendRow>(OPEN_SENDS, [last?.seq ?? 0, wanted]), ledgerUnavailable("openSends")),
      lengthOf,
      decode: toSend
    }),
  settleSends: (seqs) =>
    seqs.length === 0
      ? Effect.void
      : Effect.mapBoth(writer.write({ operation: { k: "settle", t: "", a: "", seqs }, bodies: [] }), {
          onSuccess: () => undefined,
          onFailure: ledgerUnavailable("settleSends")
        })
})

/** The body of a letter begins with its id; who comes second finds the mark of the first. */
const DISCARD = `
  WITH found AS (
    SELECT d.seq, d.discarded FROM dead_letters d JOIN assistants a ON a.key = d.assistant
    WHERE a.tenant = $1 AND a.id = $2 AND starts_with(d.body, $3::text) FOR UPDATE OF d
  ), laid AS (
    UPDATE dead_letters d SET discarded = true FROM found WHERE d.seq = found.seq AND NOT found.discarded
  )
  SELECT discarded FROM found`

const beginningOf = (envelope: EnvelopeId): string => `${JSON.stringify({ envelope }).slice(0, -1)},`

const discarding = ({ query }: Database): Pick<Ledger["Service"], "discard"> => ({
  discard: ({ assistant, tenant }, envelope) =>
    Effect.mapBoth(query<{ readonly discarded: boolean }>(DISCARD, [tenant, assistant, beginningOf(envelope)]), {
      onSuccess: ([row]): Discarded => (row === undefined ? "unknown" : row.discarded ? "already" : "discarded"),
      onFailure: ledgerUnavailable("discard")
    })
})

// A row version is written; a server that only reads, or has no room, refuses it.
const PROBE = "UPDATE store SET raised = raised"

const probing = ({ query }: Database): Pick<Ledger["Service"], "probe"> => ({
  probe: Effect.mapBoth(query(PROBE), { onSuccess: () => undefined, onFailure: ledgerUnavailable("probe") })
})

export const postgresLedger = (database: Database, writer: Writer, time: Time): Ledger["Service"] => {
  const readable = new Readable()
  return {
    ...writing(writer, time),
    ...sending(database, writer, readable),
    ...discarding(database),
    ...probing(database),
    ...postgresEntryHistory(database, readable),
    ...postgresRegister(database, readable),
    ...postgresKept(database)
  }
}
