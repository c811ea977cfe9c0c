// Store: one schema of a PostgreSQL database, opened as mailbox, ledger, allowance, prompt store and store of blocks.
// Owns opening and closing. Leaves the shape of the tables to format.ts.
// S1  Opening answers with the whole store or with a typed error in one line, in which there is no password.
// S2  Closing writes what was asked for before it, then ends all connections.
// S3  A store that is opened for some tenants is refused to a role that row-level security does not hold.
// S4  A store that everybody has moved out of, or is about to, is not opened for work, unless it is forced.

import {
  PromptConflict,
  type PromptKind,
  type PromptRow,
  PromptStore,
  PromptStoreUnavailable,
  readPromptRow
} from "@reverie/context"
import { Allowance, Archive, Bundles, Ledger, type SegmentPlace } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import { BlockStore } from "@reverie/memory"
import { defined, type TenantId } from "@reverie/protocol"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import * as Result from "effect/Result"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import { postgresArchive } from "./ports/archive.ts"
import { Segments } from "./ports/segments.ts"
import { postgresAllowance } from "./ports/allowance.ts"
import { postgresBlocks } from "./ports/blocks.ts"
import { type Database, openDatabase, PgFailure, type Rows } from "./database.ts"
import {
  type DatabaseFormatNewer,
  type DatabaseUnreleased,
  StoreLeft,
  StoreUnguarded,
  StoreUnreachable
} from "./errors.ts"
import { migrate, type Place } from "./format.ts"
import { postgresLedger } from "./ports/ledger.ts"
import { postgresMailbox } from "./ports/mailbox.ts"
import { markIn, postgresBundles } from "./bundles/bundles.ts"
import { Time, type TimeSource } from "./time.ts"
import { Writer, type WriterStats } from "./writer.ts"
import { limited } from "./ports/assistants.ts"

type StoreError = StoreUnreachable | DatabaseFormatNewer | DatabaseUnreleased | StoreLeft | StoreUnguarded

// Prompts on PostgreSQL: the versions of what tenants write for their prompts.
// I1  A look at what is current goes from key to key along the primary key, newest version first: it costs what is
//     found and what was taken away, never the length of a history.

const unavailable =
  (operation: string) =>
  ({ cause, kind, message }: PgFailure): PromptStoreUnavailable =>
    new PromptStoreUnavailable({ operation, message, cause, isPassing: kind === "passing" })

const columns = "key, version::float8 AS version, at::float8 AS at, restores::float8 AS restores, body"

const CURRENT = `
  WITH RECURSIVE keys (key) AS (
    (SELECT key FROM prompts WHERE tenant = $1 AND kind = $2 ORDER BY key LIMIT 1)
    UNION ALL
    SELECT (SELECT p.key FROM prompts p WHERE p.tenant = $1 AND p.kind = $2 AND p.key > k.key ORDER BY p.key LIMIT 1)
    FROM keys k WHERE k.key IS NOT NULL
  )
  SELECT newest.* FROM keys k CROSS JOIN LATERAL (
    SELECT ${columns} FROM prompts p
    WHERE p.tenant = $1 AND p.kind = $2 AND p.key = k.key ORDER BY p.version DESC LIMIT 1
  ) newest WHERE newest.body IS NOT NULL ORDER BY key`

const HISTORY = `
  SELECT ${columns} FROM prompts WHERE tenant = $1 AND kind = $2 AND key = $3 AND version < $4
  ORDER BY prompts.version DESC LIMIT $5`

const APPEND =
  "SELECT place::float8 AS place, current::float8 AS current FROM append_prompts($1, $2, $3::jsonb, $4::text[])"

export const postgresPrompts = ({ query }: Database, time: Time): PromptStore["Service"] => {
  const versions = (operation: string, kind: PromptKind, rows: Rows<PromptRow>) =>
    Effect.flatMap(Effect.mapError(rows, unavailable(operation)), (found) =>
      Effect.fromResult(Result.all(found.map((row) => readPromptRow(kind, row))))
    )
  return {
    append: (tenant, changes) =>
      Effect.gen(function* () {
        const lines = changes.map(({ expected, key, kind, restores = null }) => [kind, key, expected, restores])
        const bodies = changes.map(({ body }) => (body === null ? null : JSON.stringify(body)))
        const texts = yield* Effect.orDie(Effect.fromResult(PgTypes.array(bodies, PgTypes.OID.text)))
        const { at = null } = yield* time.stamp
        const asked = query<{ readonly place: number; readonly current: number }>(APPEND, [
          tenant,
          at,
          JSON.stringify(lines),
          texts
        ])
        const [conflict] = yield* Effect.mapError(asked, unavailable("append"))
        const refused = conflict === undefined ? undefined : changes[conflict.place - 1]
        if (conflict === undefined || refused === undefined) return
        const { expected, key, kind } = refused
        return yield* new PromptConflict({ kind, key, expected, current: conflict.current })
      }),
    current: (tenant, kind) => versions("current", kind, query(CURRENT, [tenant, kind])),
    history: (tenant, { key, kind }, { before = Number.MAX_SAFE_INTEGER, limit }) =>
      versions("history", kind, query(HISTORY, [tenant, kind, key, limited(before), limited(limit)]))
  }
}

export interface StoreOptions {
  /** The PostgreSQL schema that holds the tables; "reverie" when not said. Made when it is not there. */
  readonly schema?: string
  /** Most connections of this process; 8 when not said. */
  readonly connections?: number
  /** How long a statement may take, waiting for a connection included; 10 seconds when not said. */
  readonly deadlineMillis?: number
  /** Whose clock judges leases and due times: the database's, or, for tests, the Effect clock of the caller. */
  readonly clock?: TimeSource
  /** Only the rows of these tenants are seen and written. Everybody's when not said. */
  readonly tenants?: ReadonlyArray<TenantId>
  /** Where compressed segments lie; in the database when left out. */
  readonly segments?: SegmentPlace["Service"]
  /** Opens for work though everybody has moved out, or is about to. */
  readonly despiteMove?: boolean
}

export class PostgresStore extends Context.Service<
  PostgresStore,
  {
    readonly mailbox: Mailbox["Service"]
    readonly ledger: Ledger["Service"]
    readonly allowance: Allowance["Service"]
    readonly prompts: PromptStore["Service"]
    readonly blocks: BlockStore["Service"]
    readonly bundles: Bundles["Service"]
    readonly archive: Archive["Service"]
    /** How many other processes are connected to this database, as far as this role may see; exact with one connection. */
    readonly beside: Effect.Effect<number, StoreUnreachable>
    /** What has been written since the opening. */
    readonly stats: Effect.Effect<WriterStats>
    /** What is known here of the database's clock. */
    readonly time: Time
    /** Asks for the database's time. */
    readonly askTime: Effect.Effect<void, StoreUnreachable>
  }
>()("@reverie/store-postgres/PostgresStore") {}

const DEFAULT_SCHEMA = "reverie"
/** It stands between quotes in statements, as it is. */
const SCHEMA_NAME = /^[A-Za-z0-9_-]{1,63}$/
const DEFAULT_CONNECTIONS = 8
const SWEEP_MILLIS = 5_000
const DEFAULT_DEADLINE_MILLIS = 10_000

/** A URL as it may be printed: the user, the host and the database. */
const placeOf = (url: Redacted.Redacted): string => {
  const text = Redacted.value(url)
  if (!URL.canParse(text)) return "the PostgreSQL database (its URL can not be read)"
  const { host, pathname, protocol, username } = new URL(text)
  return `${protocol}//${username === "" ? "" : `${username}@`}${host}${pathname}`
}

const unreachable =
  (place: string) =>
  ({ cause, kind, message }: PgFailure): StoreUnreachable =>
    new StoreUnreachable({ place, reason: message, isPassing: kind === "passing", cause })

const GUARDED = `
  SELECT rolname AS role, rolsuper OR rolbypassrls AS "isUnguarded" FROM pg_roles WHERE rolname = current_user`

const guarded = (database: Database, place: string): Effect.Effect<void, PgFailure | StoreUnguarded> =>
  Effect.flatMap(
    database.query<{ readonly role: string; readonly isUnguarded: boolean }>(GUARDED),
    ([found]): Effect.Effect<void, StoreUnguarded> =>
      found === undefined || found.isUnguarded
        ? Effect.fail(new StoreUnguarded({ place, role: found?.role ?? "unknown" }))
        : Effect.void
  )

/** No one works in a data store that was left: what happened in the new one since would be contradicted here. */
const unmoved = (database: Database, place: string): Effect.Effect<void, PgFailure | StoreLeft> =>
  Effect.flatMap(markIn(database.query), (mark) =>
    mark === undefined ? Effect.void : Effect.fail(new StoreLeft({ place, state: mark.state, to: mark.place }))
  )

const BESIDE = `
  SELECT count(*)::integer AS others FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'reverie' AND pid <> pg_backend_pid()`

const NOW = "SELECT now_millis()::float8 AS now"

const askingTime = (database: Database, time: Time): Effect.Effect<void, PgFailure> =>
  Effect.gen(function* () {
    const begun = performance.now()
    const [row] = yield* database.query<{ readonly now: number }>(NOW)
    if (row !== undefined) time.learn(row.now, begun, performance.now())
  })

/** Opens a store for as long as the scope lasts. */
export const openPostgresStore = (
  url: Redacted.Redacted,
  options: StoreOptions = {}
): Effect.Effect<PostgresStore["Service"], StoreError, Scope.Scope> => {
  const { clock = "database", schema = DEFAULT_SCHEMA, tenants } = options
  const place: Place = { place: placeOf(url), schema }
  const failed = unreachable(place.place)
  const opening = Effect.gen(function* () {
    if (!SCHEMA_NAME.test(schema)) {
      const said = `a schema is called by letters, digits, _ and -, at most 63, not by ${JSON.stringify(schema)}`
      return yield* Effect.fail(new PgFailure("other", said))
    }
    // The client would tell of it with the URL, and so with the password in it.
    if (!URL.canParse(Redacted.value(url))) {
      return yield* Effect.fail(new PgFailure("other", "give it as postgres://user:password@host:port/database"))
    }
    const deadlineMillis = options.deadlineMillis ?? DEFAULT_DEADLINE_MILLIS
    const database = yield* openDatabase(url, {
      schema,
      connections: options.connections ?? DEFAULT_CONNECTIONS,
      deadlineMillis,
      ...defined({ tenants })
    })
    if (tenants !== undefined) yield* guarded(database, place.place)
    yield* migrate(database, place)
    if (options.despiteMove !== true) yield* unmoved(database, place.place)
    const time = new Time(clock)
    yield* askingTime(database, time)
    const writer = yield* Effect.acquireRelease(
      Effect.sync(() => new Writer(database, time.learn)),
      (open) => open.close
    )
    const apart = options.segments
    const segments = new Segments(
      apart === undefined ? undefined : { place: apart, query: database.query, isAlone: options.connections === 1 }
    )
    // A process that ended while it forgot has left some; a place that does not answer holds up nothing.
    yield* segments.sweep.pipe(Effect.timeout(SWEEP_MILLIS), Effect.ignore)
    return PostgresStore.of({
      mailbox: postgresMailbox(database, writer, time, segments),
      ledger: postgresLedger(database, writer, time, segments),
      allowance: postgresAllowance(database, time),
      prompts: postgresPrompts(database, time),
      blocks: postgresBlocks(database, () => time.millisAt(performance.now()) + deadlineMillis),
      bundles: postgresBundles(database, time, segments),
      archive: postgresArchive(database, segments),
      beside: Effect.mapBoth(database.query<{ readonly others: number }>(BESIDE), {
        onSuccess: ([row]) => row?.others ?? 0,
        onFailure: failed
      }),
      stats: Effect.sync(() => writer.stats),
      time,
      askTime: Effect.mapError(askingTime(database, time), failed)
    })
  })
  return Effect.mapError(opening, (error) => (error instanceof PgFailure ? failed(error) : error))
}

/** The ports of a store in a database, and the store itself. */
export const storePostgresLayer = (
  url: Redacted.Redacted,
  options: StoreOptions = {}
): Layer.Layer<
  Mailbox | Ledger | Allowance | Archive | PromptStore | BlockStore | Bundles | PostgresStore,
  StoreError
> =>
  Layer.effectContext(
    Effect.map(openPostgresStore(url, options), (store) =>
      Context.make(PostgresStore, store).pipe(
        Context.add(Mailbox, store.mailbox),
        Context.add(Ledger, store.ledger),
        Context.add(Allowance, store.allowance),
        Context.add(PromptStore, store.prompts),
        Context.add(BlockStore, store.blocks),
        Context.add(Bundles, store.bundles),
        Context.add(Archive, store.archive)
      )
    )
  )

// DatabaseClock: an Effect clock that tells the time of the database.
// C1  Whatever the clock of this machine says, due times and leases are seen as every other worker sees them, within
//     half of the time a statement takes.
// C2  Every write brings a sample; where none is written for REFRESH_MILLIS, one is asked for. While the database does not
//     answer, the last estimate goes on.
// C3  How long a sleep takes is measured by this machine.

const REFRESH_MILLIS = 10_000

const NANOS_PER_MILLI = 1_000_000n

/** The clock of the store's database, over the clock that is there. */
export const databaseClockLayer: Layer.Layer<never, never, PostgresStore> = Layer.effect(
  Clock.Clock,
  Effect.gen(function* () {
    const { askTime, time } = yield* PostgresStore
    const local = yield* Clock.Clock
    const refreshing = Effect.gen(function* () {
      yield* local.sleep(Duration.millis(REFRESH_MILLIS))
      if (time.ageMillisAt(performance.now()) >= REFRESH_MILLIS) yield* Effect.ignore(askTime)
    })
    yield* Effect.forkScoped(Effect.forever(refreshing))
    const millis = (): number => time.millisAt(performance.now())
    const nanos = (): bigint => BigInt(millis()) * NANOS_PER_MILLI
    return {
      currentTimeMillisUnsafe: millis,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: () => local.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: local.monotonicTimeNanos,
      sleep: (duration) => local.sleep(duration)
    }
  })
)
