// Database: statements on the schema of the index, over a pool of connections of its own.
// Owns opening the schema, the deadline, and the border to the client's errors. Leaves the statements to those who ask.
// D1  Opening waits for nothing: the first statement connects and makes sure of the tables, and after a failure the next one
//     does.
// D2  A statement answers or fails within the deadline by the real clock, whatever clock its caller lives by.
// D3  What the index holds is made from the ledger. So tables of an older format are dropped and made anew, empty, and so
//     are tables that are gone. Those of a newer one are left alone.
// D4  Neither a password nor the text of a statement is in an error.
// D5  A transaction that is given up, wherever it is, is over before anyone else has its connection.

import * as PgPool from "@effect/sql-pg/PgPool"
import { RecallUnavailable } from "@reverie/memory"
import { defined, type TenantId } from "@reverie/protocol"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { isSqlError } from "effect/sql/SqlError"
import { filled, type Nearness, nearnessIn } from "./nearest.ts"
import { type Ask, command, type Query, text, type Transaction, type Value } from "./statements.ts"
import { FORMAT, layout } from "./tables.ts"

// PgFailure: what PostgreSQL and the network say when they refuse, in a sentence a person can act on.

const sentences: Readonly<Record<string, string>> = {
  "28P01": "the password or the user is wrong; check the URL",
  "28000": "this user may not connect from here; check the URL and pg_hba.conf",
  "3D000": "there is no such database; create it (createdb), or name another one",
  "53100": "the server's disk is full; free some space",
  "53300": "the server has no free connection; raise max_connections",
  "25006": "the server takes no writes now: it is a standby, or about to change over",
  "42501": "this role may not do that; grant it CREATE on the database, or open the index once with a role that has it"
}

/** The schema, a table or a function is not there. */
const missing = new Set(["3F000", "42P01", "42883", "42704"])

const textAt = (value: unknown, key: string): string | undefined => {
  const found: unknown = Predicate.isObject(value) ? Reflect.get(value, key) : undefined
  return typeof found === "string" && found !== "" ? found : undefined
}

const causeOf = (error: unknown): unknown => {
  const reason: unknown = isSqlError(error) ? error.reason : error
  return Predicate.isObject(reason) ? Reflect.get(reason, "cause") : undefined
}

const codeOf = (error: unknown): string | undefined => textAt(causeOf(error), "code")

const unavailable =
  (operation: string) =>
  (error: unknown): RecallUnavailable => {
    if (error instanceof RecallUnavailable) return new RecallUnavailable({ operation, message: error.message })
    const code = codeOf(error)
    const words = textAt(causeOf(error), "message") ?? code ?? "PostgreSQL does not answer"
    const sentence = code === undefined ? undefined : sentences[code]
    const message = sentence === undefined ? words : `${sentence} (${words})`
    return new RecallUnavailable({ operation, message, cause: error })
  }

export interface RecallPostgresOptions {
  /** `postgres://...` */
  readonly url: Redacted.Redacted
  /** The PostgreSQL schema of the index, and nothing else; made when it is not there. */
  readonly schema: string
  /** Most connections of this process, besides two of the thread that searches for a busy one; 4 when not said. */
  readonly connections?: number
  /** How long a statement may take, waiting for a connection included; 10 seconds when not said. */
  readonly deadlineMillis?: number
  /** Only what these tenants said is found and written. Everybody's when not said. */
  readonly tenants?: ReadonlyArray<TenantId>
  /** False: the extension pgvector is left alone. Where it is, or may be made, it is used when not said. */
  readonly extension?: boolean
}

/** It stands between quotes in statements, as it is. */
const SCHEMA_NAME = /^[A-Za-z0-9_-]{1,63}$/
const DEFAULT_CONNECTIONS = 4
const DEFAULT_DEADLINE_MILLIS = 10_000

/** The clock of this machine, also where a test has put another one in its place. */
const realClock = Clock.Clock.defaultValue()

/** A plan goes along an index, whatever the statistics say of tables that were empty a moment ago. */
const plans = {
  enable_seqscan: "off",
  max_parallel_workers_per_gather: "0",
  plan_cache_mode: "force_generic_plan",
  jit: "off"
}

const poolOf = (options: RecallPostgresOptions, deadlineMillis: number) =>
  PgPool.make({
    url: options.url,
    maxConnections: options.connections ?? DEFAULT_CONNECTIONS,
    applicationName: "reverie recall",
    connectTimeout: deadlineMillis,
    startupParameters: {
      search_path: `"${options.schema}"`,
      statement_timeout: String(deadlineMillis),
      idle_in_transaction_session_timeout: String(deadlineMillis),
      // What a crash of the server loses here comes again from the ledger.
      synchronous_commit: "off",
      ...plans,
      ...defined({ "app.tenants": options.tenants?.join(",") })
    }
  })

type Pool = Effect.Success<ReturnType<typeof poolOf>>

/** Made only when it is needed: an error costs its stack. */
const unanswered = (message: string): Effect.Effect<never, RecallUnavailable> =>
  Effect.fail(new RecallUnavailable({ operation: "", message }))

/** Anyone who waits learns it at the deadline at the latest, whatever the client does. */
const within = <A>(
  services: Context.Context<never>,
  deadlineMillis: number,
  effect: Effect.Effect<A, unknown>
): Effect.Effect<A, unknown> =>
  Effect.callback((resume) => {
    const fiber = Effect.runForkWith(services)(effect)
    const timer = setTimeout(() => {
      resume(unanswered(`no answer within ${deadlineMillis} ms`))
      fiber.interruptUnsafe()
    }, deadlineMillis)
    fiber.addObserver((exit) => {
      clearTimeout(timer)
      const isEnded = Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
      resume(isEnded ? unanswered("the index is closed") : exit)
    })
    return Effect.sync(() => {
      clearTimeout(timer)
      fiber.interruptUnsafe()
    })
  })

// Layout: the tables of the schema, as this Reverie reads them.

// Asks the catalog itself: without the schema a table of the same name may be found elsewhere.
const IS_THERE = `
  SELECT coalesce(bool_or(c.relname = 'layout'), false) AS there, coalesce(bool_or(c.relname = 'vectors'), false) AS whole,
    EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1) AS named
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1`

interface There {
  readonly there: boolean
  readonly whole: boolean
  readonly named: boolean
}

const LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('reverie recall ' || $1, 0))"

interface Standing {
  /** Undefined when no index is there. */
  readonly format: number | undefined
  /** There is a schema of that name. */
  readonly isNamed: boolean
}

const standing = (ask: Ask, schema: string): Effect.Effect<Standing, unknown> =>
  Effect.gen(function* () {
    const [found] = (yield* ask(IS_THERE, [text(schema)])) as ReadonlyArray<There>
    if (found?.there !== true) return { format: undefined, isNamed: found?.named === true }
    const [row] = (yield* ask(`SELECT format FROM "${schema}".layout`)) as ReadonlyArray<{ format: number }>
    const format = row?.format ?? 0
    // Put back from a dump on a server without the extension, that table is missing: it can not be made with its column.
    return { format: found.whole ? format : Math.min(format, FORMAT - 1), isNamed: true }
  })

const known = (schema: string, { format }: Standing): Effect.Effect<void, RecallUnavailable> => {
  if (format === undefined || format <= FORMAT) return Effect.void
  const found = `the schema ${schema} has an index of format ${format}, this Reverie reads up to format ${FORMAT}`
  return Effect.fail(new RecallUnavailable({ operation: "open", message: `${found}; upgrade Reverie` }))
}

/** So long the end of a transaction that is given up is waited for; then its connection is thrown away. */
const END_MILLIS = 1_000

/** On a connection of its own. */
const transactionOf =
  (pool: Pool): Transaction =>
  (inside) =>
    Effect.scoped(
      Effect.gen(function* () {
        const connection = yield* pool.reserve
        const ask: Ask = (sql, values = []) => Effect.map(connection.query(sql, values, false), ({ rows }) => rows)
        const ended = ask("ROLLBACK").pipe(
          Effect.interruptible,
          Effect.timeout(END_MILLIS),
          Effect.catchCause(() => pool.invalidate(connection)),
          Effect.asVoid
        )
        yield* Effect.onExit(Effect.andThen(Effect.andThen(ask("BEGIN"), inside(ask)), ask("COMMIT")), (exit) =>
          Exit.isSuccess(exit) ? Effect.void : ended
        )
      })
    )

/** Makes the tables, where someone else has not done it in between. */
const make = (within: Transaction, schema: string): Effect.Effect<void, unknown> =>
  within((ask) =>
    Effect.gen(function* () {
      yield* ask(LOCK, [text(schema)])
      const now = yield* standing(ask, schema)
      yield* known(schema, now)
      if (now.format === FORMAT) return
      if (now.format !== undefined) yield* ask(`DROP SCHEMA "${schema}" CASCADE`)
      if (now.format !== undefined || !now.isNamed) yield* ask(`CREATE SCHEMA "${schema}"`)
      yield* ask(command(layout))
      yield* ask(`INSERT INTO layout (format) VALUES (${FORMAT})`)
    })
  )

/** The index as it was opened. */
export interface OpenIndex {
  readonly query: Query
  /** Whether nearest entries are found in the database. Opens the schema where that is not done yet. */
  readonly isNear: Effect.Effect<boolean, RecallUnavailable>
  /** The next statement opens the schema again: something of it may have changed. */
  readonly reopen: Effect.Effect<void>
}

const on =
  (pool: Pool): Ask =>
  (sql, values = []) =>
    pool.use((connection) => Effect.map(connection.query(sql, values), ({ rows }) => rows))

/** What is known of the schema since it was opened last. */
interface Known {
  isReady: boolean
  nearness: Nearness
}

/** Gives the pool once the schema is as this Reverie needs it. */
const openingOf = (options: RecallPostgresOptions, deadlineMillis: number, now: Known) =>
  Effect.gen(function* () {
    const { extension = true, schema } = options
    const scope = yield* Effect.scope
    const one = yield* Semaphore.make(1)
    let pool: Pool | undefined
    const pooled: Effect.Effect<Pool, unknown> = Effect.suspend(() =>
      pool === undefined
        ? Effect.tap(Effect.provideService(poolOf(options, deadlineMillis), Scope.Scope, scope), (made) =>
            Effect.sync(() => void (pool = made))
          )
        : Effect.succeed(pool)
    )
    const filling = (from: Pool) =>
      Effect.exit(filled(on(from))).pipe(
        Effect.map((exit) => {
          if (now.nearness === "filling") now.nearness = Exit.isSuccess(exit) ? "database" : "process"
        }),
        Effect.forkIn(scope)
      )
    const opened = one.withPermit(
      Effect.gen(function* () {
        const from = yield* pooled
        if (now.isReady) return from
        const found = yield* standing(on(from), schema)
        yield* known(schema, found)
        if (found.format !== FORMAT) yield* make(transactionOf(from), schema)
        const before = now.nearness
        now.nearness = extension ? yield* nearnessIn(on(from), transactionOf(from), schema) : "process"
        if (now.nearness === "filling" && before !== "filling") yield* filling(from)
        now.isReady = true
        return from
      })
    )
    return Effect.suspend(() => (now.isReady ? pooled : opened))
  })

/** The index in a schema, for as long as the scope lasts. */
export const openIndex = (options: RecallPostgresOptions): Effect.Effect<OpenIndex, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { deadlineMillis = DEFAULT_DEADLINE_MILLIS, schema } = options
    if (!SCHEMA_NAME.test(schema)) throw new Error(`${JSON.stringify(schema)} is no name of a schema for an index`)
    const services = yield* Effect.context()
    const now: Known = { isReady: false, nearness: "process" }
    const ready = yield* openingOf(options, deadlineMillis, now)
    const ask = (sql: string, values: ReadonlyArray<Value>) => Effect.flatMap(ready, (from) => on(from)(sql, values))
    const run = (
      sql: string,
      values: ReadonlyArray<Value>,
      again: boolean
    ): Effect.Effect<ReadonlyArray<unknown>, unknown> =>
      within(services, deadlineMillis, ask(sql, values)).pipe(
        Effect.catch((error) => {
          if (!missing.has(codeOf(error) ?? "")) return Effect.fail(error)
          now.isReady = false
          return again ? run(sql, values, false) : Effect.fail(error)
        })
      )
    const query: Query = <Row>(operation: string, sql: string, values: ReadonlyArray<Value> = []) =>
      Effect.mapBoth(run(sql, values, true), {
        onSuccess: (rows) => rows as ReadonlyArray<Row>,
        onFailure: unavailable(operation)
      })
    const isNear = Effect.suspend(() =>
      now.isReady
        ? Effect.succeed(now.nearness === "database")
        : Effect.mapBoth(within(services, deadlineMillis, ready), {
            onSuccess: () => now.nearness === "database",
            onFailure: unavailable("search")
          })
    )
    return { query, isNear, reopen: Effect.sync(() => void (now.isReady = false)) }
  }).pipe(Effect.provideService(Clock.Clock, realClock))
