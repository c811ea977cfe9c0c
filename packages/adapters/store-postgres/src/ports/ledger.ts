// Ledger on PostgreSQL: creations, commits and what they leave behind.
// Owns the words of these verbs as operations, and of their answers. Leaves the rules to first/apply.ts,
// reading back to entry-history.ts.
// I1  Everything of an entry that becomes text does so before the transaction begins.

import {
  type AssistantRecord,
  CommitFenced,
  type DeadLetter,
  type Discarded,
  type Ledger,
  type OpenSend,
  Readable,
  type RecordFilter,
  type Totals,
  UnreadableRecord
} from "@reverie/ledger"
import {
  entryText,
  type Address,
  addressKey,
  type AssistantState,
  type Cause,
  defined,
  type Entry,
  type EnvelopeId,
  keyText,
  parseJson,
  readEnvelope,
  readKeyText,
  readState,
  stateText,
  type RecordKind,
  type RecordRow
} from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import {
  addressOf,
  assistantColumns,
  type AssistantRow,
  columnOf,
  cursorsOf,
  limited,
  receivesColumn
} from "./assistants.ts"
import { postgresUsage, usageRows } from "./allowance.ts"
import { postgresBlobs } from "./blobs.ts"
import { ledgerUnavailable, postgresEntryHistory } from "./entry-history.ts"
import type { Database } from "../database.ts"
import { type Filed, type Operation, spokenTo } from "../operation.ts"
import { bounded, lengthOf } from "../pages.ts"
import { Segments } from "./segments.ts"
import type { Time } from "../time.ts"
import type { Writer } from "../writer.ts"

// Register: the assistants as they stand, the dead letters and the totals, for anyone who looks in from outside.
// G1  Totals are sums over the assistants: no counter that all would have to write.

interface DeadLetterRow {
  readonly tenant: string
  readonly id: string
  readonly body: string
}

/** What a dead letter's row holds as JSON. */
type DeadLetterBody = Omit<DeadLetter, "address">

const toDeadLetter = (row: DeadLetterRow): DeadLetter => ({
  address: addressOf(row),
  ...(JSON.parse(row.body) as { readonly envelope: EnvelopeId; readonly reason: string; readonly at: number })
})

const recordOf = (row: AssistantRow): Result.Result<AssistantRecord, UnreadableRecord> => {
  const address = addressOf(row)
  const { epoch, version, waiting } = row
  return Result.mapBoth(readState(row.state), {
    onSuccess: (state) => ({ address, state, version, epoch, cursors: cursorsOf(row), waiting }),
    onFailure: (message) => new UnreadableRecord({ record: `state of ${addressKey(address)}`, message })
  })
}

const WITH_STATE = `
  SELECT ${assistantColumns}, (SELECT body FROM states WHERE assistant = key) AS state FROM assistants`

const INSPECT = `${WITH_STATE} WHERE tenant = $1 AND id = $2`
const NAMES = "SELECT tenant, id FROM assistants WHERE (tenant, id) > ($1, $2) ORDER BY tenant, id LIMIT $3"
const LIST = `${WITH_STATE} WHERE (tenant, id) > ($1, $2) ORDER BY tenant, id LIMIT $3`

/** Of one tenant, or of all where it is null. */
const deadLettersIn = (order: "ASC" | "DESC"): string => `
  SELECT a.tenant, a.id, d.body FROM dead_letters d JOIN assistants a ON a.key = d.assistant
  WHERE NOT d.discarded AND d.tenant = coalesce($1::text, d.tenant) ORDER BY d.seq ${order} LIMIT $2`

const TOTALS = "SELECT accepted, settled, dead, discarded FROM totals()"

const postgresRegister = (
  { query }: Database,
  readable: Readable
): Pick<Ledger["Service"], "addresses" | "inspect" | "list" | "deadLetters" | "totals"> => ({
  inspect: ({ assistant, tenant }) =>
    Effect.flatMap(
      Effect.mapError(query<AssistantRow>(INSPECT, [tenant, assistant]), ledgerUnavailable("inspect")),
      ([row]): Effect.Effect<AssistantRecord | undefined, UnreadableRecord> =>
        row === undefined ? Effect.succeed(undefined) : Effect.fromResult(recordOf(row))
    ),
  list: (after, limit) =>
    readable.page({
      limit: limited(limit),
      fetch: (last: AssistantRow | undefined, wanted) => {
        const from = last === undefined ? after : addressOf(last)
        const rows = query<AssistantRow>(LIST, [from?.tenant ?? "", from?.assistant ?? "", wanted])
        return Effect.mapError(rows, ledgerUnavailable("list"))
      },
      decode: recordOf
    }),
  addresses: (after, limit) =>
    Effect.mapBoth(
      query<Pick<AssistantRow, "tenant" | "id">>(NAMES, [after?.tenant ?? "", after?.assistant ?? "", limited(limit)]),
      { onSuccess: (rows) => rows.map(addressOf), onFailure: ledgerUnavailable("addresses") }
    ),
  deadLetters: (limit, { newestFirst = false, tenant = null } = {}) =>
    Effect.mapBoth(query<DeadLetterRow>(deadLettersIn(newestFirst ? "DESC" : "ASC"), [tenant, limited(limit)]), {
      onSuccess: (rows) => rows.map(toDeadLetter),
      onFailure: ledgerUnavailable("deadLetters")
    }),
  totals: Effect.mapBoth(query<Totals>(TOTALS), {
    onSuccess: ([totals]) => totals ?? { accepted: 0, settled: 0, dead: 0, discarded: 0 },
    onFailure: ledgerUnavailable("totals")
  })
})

// Kept: what assistants keep about themselves, read back.

interface KeptRow {
  readonly kind: RecordKind
  readonly key: string
  readonly body: string
}

const RECORDS = `
  SELECT r.kind, r.key, r.body FROM records r JOIN assistants a ON a.key = r.assistant
  WHERE a.tenant = $1 AND a.id = $2 AND r.kind = ANY ($3)`

// Of each kind as many rows as are wanted are read, whatever else is kept.
const SOME_RECORDS = (keys: string): string => `
  SELECT r.kind, r.key, r.body
  FROM assistants a CROSS JOIN (SELECT DISTINCT unnest($3::text[]) AS kind) k
  CROSS JOIN LATERAL (
    SELECT kind, key, body FROM records WHERE assistant = a.key AND kind = k.kind ${keys} LIMIT $4
  ) r
  WHERE a.tenant = $1 AND a.id = $2`

const FIRST_RECORDS = SOME_RECORDS("")
const NAMED_RECORDS = SOME_RECORDS("AND key = ANY ($5)")

/** As many as there are. */
const NO_LIMIT = null

const byKindAndKey = (one: KeptRow, other: KeptRow): number =>
  one.kind === other.kind ? (one.key < other.key ? -1 : 1) : one.kind < other.kind ? -1 : 1

const read = (
  database: Database,
  { assistant, tenant }: Address,
  kinds: ReadonlyArray<RecordKind>,
  { keys, limit }: RecordFilter
) => {
  const most = limit === undefined ? NO_LIMIT : limited(limit)
  if (keys !== undefined) {
    return database.query<KeptRow>(NAMED_RECORDS, [tenant, assistant, kinds, most, keys.map(keyText)])
  }
  return limit === undefined
    ? database.query<KeptRow>(RECORDS, [tenant, assistant, kinds])
    : database.query<KeptRow>(FIRST_RECORDS, [tenant, assistant, kinds, most])
}

const postgresKept = (database: Database): Pick<Ledger["Service"], "records"> => ({
  records: (address, kinds, filter = {}) => {
    if (kinds.length === 0 || filter.keys?.length === 0) return Effect.succeed([])
    const toRecord = ({ body, key, kind }: KeptRow): Result.Result<RecordRow, UnreadableRecord> =>
      Result.mapBoth(parseJson(body), {
        onSuccess: (value) => ({ kind, key, value }),
        onFailure: (message) => new UnreadableRecord({ record: `${kind} ${key} of ${addressKey(address)}`, message })
      })
    return Effect.flatMap(
      Effect.mapError(read(database, address, kinds, filter), ledgerUnavailable("records")),
      (rows) => {
        const named = rows.map((row) => ({ ...row, key: readKeyText(row.key) }))
        return Effect.fromResult(Result.all(named.toSorted(byKindAndKey).map(toRecord)))
      }
    )
  }
})

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
  const bodies = [entryText(entry), stateText(state), ...sends, ...letters]
  const records = (entry.records ?? []).map(({ key, kind, value }) => {
    const body = value === null ? null : bodies.push(JSON.stringify(value)) - 1
    return [kind, keyText(key), body] as const
  })
  const timers = state.timers.map(({ dueAt }) => dueAt)
  const usage = usageRows(entry)
  const facts: Filed = {
    no: entry.no,
    receives: receivesColumn(state.receives),
    retired: state.status === "retired",
    jobs: state.jobs.length > 0,
    ...defined({ timer: timers.length === 0 ? undefined : Math.trunc(Math.min(...timers)) }),
    sends: sends.length,
    letters: letters.length,
    ...defined({ usage: usage.length === 0 ? undefined : usage, records: records.length === 0 ? undefined : records }),
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

export const postgresLedger = (
  database: Database,
  writer: Writer,
  time: Time,
  segments = new Segments()
): Ledger["Service"] => {
  const readable = new Readable()
  return {
    ...writing(writer, time),
    ...sending(database, writer, readable),
    ...discarding(database),
    ...probing(database),
    ...postgresEntryHistory(database, readable, segments),
    ...postgresRegister(database, readable),
    ...postgresKept(database),
    ...postgresUsage(database),
    blobs: postgresBlobs(database)
  }
}
