// Database: statements with a deadline, over a pool of connections that replaces what it loses.
// Owns connections, the deadline and the border to the client's errors. Leaves the statements to those who ask.
// D1  A statement answers or fails within the deadline, waiting for a connection included; one that comes late is
//     cancelled, and a connection that does not even answer to that is thrown away.
// D2  What runs here runs by the real clock, whatever clock its caller lives by.
// D3  A connection is held for one statement, or for one transaction of a migration, and never in between.

import * as PgPool from "@effect/sql-pg/PgPool"
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import { type TenantId, defined } from "@reverie/protocol"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { closed, late, PgFailure, pgFailure } from "./pg-failure.ts"

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

/** Runs by the context of the store; whoever waits is told at the deadline at the latest, whatever the client does. */
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

const transactionOn = <A, E>(
  connection: PgConnection,
  begin: string,
  run: (query: Query) => Effect.Effect<A, E>
): Effect.Effect<A, E | PgFailure> =>
  Effect.gen(function* () {
    yield* statement(connection, begin)
    const exit = yield* Effect.exit(run((sql, values) => statement(connection, sql, values)))
    if (Exit.isFailure(exit)) {
      yield* Effect.ignore(statement(connection, "ROLLBACK"))
      return yield* exit
    }
    yield* statement(connection, "COMMIT")
    return exit.value
  })

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
            transactionOn(connection, begin, run)
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
      transaction: (deadlineMillis, run) => inTransaction(deadlineMillis, "BEGIN", run),
      moment: (run) => inTransaction(options.deadlineMillis, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", run)
    }
    return database
  }).pipe(Effect.provideService(Clock.Clock, realClock))
