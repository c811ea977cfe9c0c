// Database: statements with a deadline, over a pool of connections that replaces what it loses.
// Owns connections, the deadline and the border to the client's errors. Leaves the statements to those who ask.
// D1  A statement answers or fails within the deadline, waiting for a connection included; one that comes late is
//     cancelled, and a connection that does not even answer to that is thrown away.
// D2  What runs here runs by the real clock, whatever clock its caller lives by.
// D3  A connection is held for one statement, or for one transaction, and never in between.
// D4  A transaction that is given up, wherever it is, is over before anyone else has its connection: what came after would be in it, and
//     undone with it after it was answered, or would see its moment.

import * as PgPool from "@effect/sql-pg/PgPool"
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import { defined, type TenantId } from "@reverie/protocol"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Predicate from "effect/Predicate"
import { isSqlError } from "effect/sql/SqlError"

// PgFailure: what PostgreSQL and the network say when they refuse, in a sentence a person can act on.
// P1  Passing is what ends by itself and concerns no statement: a lost connection, a restart, a deadline. The same call
//     may be made again, and whether the lost one was carried out is not known.
// P2  Neither a password nor the text of a statement is in a sentence.

/** retry: undone as a whole, for the sake of others; the same statement may run again at once. */
type Kind = "passing" | "retry" | "denied" | "full" | "damaged" | "closed" | "other"

export class PgFailure {
  readonly kind: Kind
  /** What is the matter and what helps. */
  readonly message: string
  readonly cause: unknown

  constructor(kind: Kind, message: string, cause?: unknown) {
    this.kind = kind
    this.message = message
    this.cause = cause
  }
}

const kindByCode: Readonly<Record<string, Kind>> = {
  "22012": "passing",
  "40001": "retry",
  "40P01": "retry",
  "53300": "passing",
  "57014": "passing",
  "57P01": "passing",
  "57P02": "passing",
  "57P03": "passing",
  "57P05": "passing",
  "25006": "passing",
  "53100": "full",
  "53200": "passing",
  "42501": "denied",
  XX001: "damaged",
  XX002: "damaged"
}

const sentences: Readonly<Record<string, string>> = {
  // Nothing else divides.
  "22012": "it came later than it was waited for, and was undone",
  "28P01": "the password or the user is wrong; check the URL",
  "28000": "this user may not connect from here; check the URL and pg_hba.conf",
  "3D000": "there is no such database; create it (createdb), or name another one",
  "53300": "the server has no free connection; raise max_connections or lower `connections`",
  "53100": "the server's disk is full; free some space",
  "25006": "the server takes no writes now: it is a standby, or about to change over",
  "42501": "this role may not do that; grant it what the README of store-postgres names",
  "42P01": "the tables are not there; open the store once with a role that may create them",
  XX001: "a page of the database is damaged",
  XX002: "an index of the database is damaged; REINDEX makes it again",
  "57P01": "the server is shutting down",
  "57P03": "the server is starting up"
}

export const closed = new PgFailure("closed", "the store is closed")

const late = (deadlineMillis: number): PgFailure => new PgFailure("passing", `no answer within ${deadlineMillis} ms`)

const textAt = (value: unknown, key: string): string | undefined => {
  const found: unknown = Predicate.isObject(value) ? Reflect.get(value, key) : undefined
  return typeof found === "string" ? found : undefined
}

const isTextEmpty = (text: string | undefined): boolean => text === undefined || text === ""

/** The failure that an error of the client stands for. */
export const pgFailure = (error: unknown): PgFailure => {
  const reason = isSqlError(error) ? error.reason : error
  const cause = Predicate.isObject(reason) ? Reflect.get(reason, "cause") : undefined
  const code = textAt(cause, "code")
  const said = textAt(cause, "message")
  const words = isTextEmpty(said) ? (code ?? "unknown") : (said ?? "")
  const sentence = code === undefined ? undefined : sentences[code]
  const message = sentence === undefined ? words : `${sentence} (${words})`
  const isConnection = Predicate.isTagged(reason, "ConnectionError") || code?.startsWith("08") === true
  const kind = (code === undefined ? undefined : kindByCode[code]) ?? (isConnection ? "passing" : "other")
  return new PgFailure(kind, message, error)
}

export interface DatabaseOptions {
  /** The PostgreSQL schema that holds the tables. */
  readonly schema: string
  readonly connections: number
  readonly deadlineMillis: number
  readonly tenants?: ReadonlyArray<TenantId>
}

/** Rows by the names of their columns. The caller vouches for their shape. */
export type Rows<Row> = Effect.Effect<ReadonlyArray<Row>, PgFailure>

export type Query = <Row>(sql: string, values?: ReadonlyArray<unknown>) => Rows<Row>

export interface Database {
  readonly query: Query
  /** Several statements in one transaction on one connection, which may take longer than a statement. */
  readonly transaction: <A, E>(
    deadlineMillis: number,
    run: (query: Query) => Effect.Effect<A, E>
  ) => Effect.Effect<A, E | PgFailure>
  /** Several statements that only look, and see the same moment. */
  readonly moment: <A, E>(run: (query: Query) => Effect.Effect<A, E>) => Effect.Effect<A, E | PgFailure>
  /** A statement that the server takes outside of transactions alone, and that may take longer than others. */
  readonly alone: (deadlineMillis: number, sql: string) => Effect.Effect<void, PgFailure>
}

/** The clock of this machine, also where a test has put another one in its place. */
const realClock = Clock.Clock.defaultValue()

const MAX_MESSAGE_BYTES = 1024 * 1024 * 1024

/** Every statement goes along an index, whatever the statistics say of tables that were empty a moment ago. */
const plans = {
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  max_parallel_workers_per_gather: "0",
  plan_cache_mode: "force_generic_plan",
  jit: "off"
}

const poolOf = (url: Redacted.Redacted, { connections, deadlineMillis, schema, tenants }: DatabaseOptions) =>
  PgPool.make({
    url,
    maxConnections: connections,
    applicationName: "reverie",
    connectTimeout: deadlineMillis,
    maxMessageSize: MAX_MESSAGE_BYTES,
    startupParameters: {
      search_path: `"${schema}"`,
      statement_timeout: String(deadlineMillis),
      idle_in_transaction_session_timeout: String(deadlineMillis),
      synchronous_commit: "on",
      ...plans,
      ...defined({ "app.tenants": tenants === undefined ? undefined : tenants.join(",") })
    }
  })

/** Runs by the context of the store; anyone who waits learns it at the deadline at the latest, whatever the client does. */
const within = <A, E>(
  services: Context.Context<never>,
  deadlineMillis: number,
  effect: Effect.Effect<A, E>
): Effect.Effect<A, E | PgFailure> =>
  Effect.callback((resume) => {
    const fiber = Effect.runForkWith(services)(effect)
    const timer = setTimeout(() => {
      resume(Effect.fail(late(deadlineMillis)))
      fiber.interruptUnsafe()
    }, deadlineMillis)
    fiber.addObserver((exit) => {
      clearTimeout(timer)
      // The pool ends what waits for it when it is closed.
      const isEnded = Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
      resume(isEnded ? Effect.fail(closed) : exit)
    })
    return Effect.sync(() => {
      clearTimeout(timer)
      fiber.interruptUnsafe()
    })
  })

const statement = <Row>(connection: PgConnection, sql: string, values: ReadonlyArray<unknown> = []): Rows<Row> =>
  Effect.mapBoth(connection.query(sql, values), {
    onSuccess: ({ rows }) => rows as ReadonlyArray<unknown> as ReadonlyArray<Row>,
    onFailure: pgFailure
  })

/** So long a connection is waited for that is to be as it was. */
const END_MILLIS = 1_000

/** Says the last word on a connection. Without an answer it is thrown away, and the server ends what is left. */
const endedBy = (pool: PgPool.PgPool, connection: PgConnection, sql: string): Effect.Effect<void> =>
  statement(connection, sql).pipe(
    Effect.interruptible,
    Effect.timeout(END_MILLIS),
    Effect.catchCause(() => pool.invalidate(connection)),
    Effect.asVoid
  )

const transactionOn = <A, E>(
  pool: PgPool.PgPool,
  connection: PgConnection,
  begin: string,
  run: (query: Query) => Effect.Effect<A, E>
): Effect.Effect<A, E | PgFailure> =>
  Effect.gen(function* () {
    yield* statement(connection, begin)
    const value = yield* run((sql, values) => statement(connection, sql, values))
    yield* statement(connection, "COMMIT")
    return value
  }).pipe(Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : endedBy(pool, connection, "ROLLBACK"))))

const aloneOn = (
  pool: PgPool.PgPool,
  connection: PgConnection,
  deadlineMillis: number,
  sql: string
): Effect.Effect<void, PgFailure> =>
  Effect.gen(function* () {
    yield* statement(connection, `SET statement_timeout = ${deadlineMillis}`)
    yield* statement(connection, sql)
  }).pipe(Effect.ensuring(endedBy(pool, connection, "RESET statement_timeout")))

/** Connects with the first statement, not before. */
export const openDatabase = (
  url: Redacted.Redacted,
  options: DatabaseOptions
): Effect.Effect<Database, PgFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const pool = yield* Effect.mapError(poolOf(url, options), pgFailure)
    const services = yield* Effect.context()
    const inTransaction = <A, E>(
      deadlineMillis: number,
      begin: string,
      run: (query: Query) => Effect.Effect<A, E>
    ): Effect.Effect<A, E | PgFailure> =>
      within(
        services,
        deadlineMillis,
        Effect.scoped(
          Effect.flatMap(Effect.mapError(pool.reserve, pgFailure), (connection) =>
            transactionOn(pool, connection, begin, run)
          )
        )
      )
    const database: Database = {
      query: (sql, values) =>
        within(
          services,
          options.deadlineMillis,
          Effect.mapError(
            pool.use((connection) => statement(connection, sql, values)),
            (error) => (error instanceof PgFailure ? error : pgFailure(error))
          )
        ),
      alone: (deadlineMillis, sql) =>
        within(
          services,
          deadlineMillis,
          Effect.scoped(
            Effect.flatMap(Effect.mapError(pool.reserve, pgFailure), (connection) =>
              aloneOn(pool, connection, deadlineMillis, sql)
            )
          )
        ),
      transaction: (deadlineMillis, run) => inTransaction(deadlineMillis, "BEGIN", run),
      moment: (run) => inTransaction(options.deadlineMillis, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", run)
    }
    return database
  }).pipe(Effect.provideService(Clock.Clock, realClock))
