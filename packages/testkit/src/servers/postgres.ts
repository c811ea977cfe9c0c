// PostgresServer: a PostgreSQL for tests.
// Owns its command line and its databases. Leaves the cluster on disk to cluster, processes to own-server.
// G1  Each start has a database of its own, empty, dropped at the end; `freshDatabase` makes more of them.
// G2  It writes as it would in earnest, so that a benchmark measures it, unless `fsync: false` says that only laws are
//     judged. Either way a kill of the server loses nothing that was committed.

import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { openCluster } from "./cluster.ts"
import { reasonOf, ServerAbsent, ServerFailed } from "./errors.ts"
import { startOwnServer } from "./own-server.ts"
import { placeOf, type Wanted } from "./place.ts"
import { PostgresRefusal, postgresSays } from "./postgres-wire.ts"
import { atLatestAtEnd, noReins, once, type Origin, type Reins, type Server } from "./server.ts"

export interface PostgresOptions extends Wanted {
  /** False for tests that kill no machine: nothing waits for the disk. */
  readonly fsync?: boolean
  /** More settings by name: `{ max_connections: "20" }`. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface Database {
  readonly url: string
  readonly drop: () => Promise<void>
}

export interface PostgresServer extends Server {
  /** Another empty database on the same server; it is dropped with the server at the latest. */
  readonly freshDatabase: () => Promise<Database>
}

let databases = 0
const newName = (): string => `reverie_test_${process.pid}_${Date.now().toString(36)}_${++databases}`

const named = (url: string, database: string): string => {
  const made = new URL(url)
  made.pathname = `/${database}`
  return made.href
}

/** Makes databases beside the one of `url`, and drops those that are left. */
const databasesOf = (url: string) => {
  const open = new Set<Database>()
  const make = async (): Promise<Database> => {
    const name = newName()
    await postgresSays(url, `create database ${name}`)
    const database: Database = {
      url: named(url, name),
      drop: once(async () => {
        open.delete(database)
        await postgresSays(url, `drop database if exists ${name} with (force)`)
      })
    }
    open.add(database)
    return database
  }
  const dropAll = async (): Promise<void> => {
    for (const { drop } of open) await drop()
  }
  return { make, dropAll }
}

const versionOf = async (url: string): Promise<string> => {
  const [row] = await postgresSays(url, "show server_version")
  return row?.[0] ?? "of an unknown version"
}

interface Running {
  readonly url: string
  readonly origin: Origin
  readonly version: string
  readonly isOwn: boolean
  readonly reins: Reins
  readonly release: () => Promise<void>
}

const withDatabase = async ({ isOwn, origin, reins, release, url, version }: Running): Promise<PostgresServer> => {
  const { dropAll, make } = databasesOf(url)
  const first = await make()
  // A server of our own takes its databases with it, and may be dead or paused by now.
  const leave = async (): Promise<void> => {
    try {
      await dropAll()
    } finally {
      await release()
    }
  }
  const stop = isOwn ? release : atLatestAtEnd(leave)
  return { url: first.url, origin, version, isOwn, freshDatabase: make, stop, ...reins }
}

/** A PostgreSQL that runs already, and that someone else ends: `release` is called after our databases are dropped. */
export const postgresAt = async (
  url: string,
  origin: Origin,
  release = (): Promise<void> => Promise.resolve()
): Promise<PostgresServer> => {
  try {
    const reins = noReins("PostgreSQL", origin)
    return await withDatabase({ url, origin, version: await versionOf(url), isOwn: false, reins, release })
  } catch (cause) {
    const doing = cause instanceof PostgresRefusal ? "make a database of its own" : "connect"
    throw new ServerFailed({ server: `the PostgreSQL of ${origin}`, doing, reason: reasonOf(cause) })
  }
}

/** A commit is still handed to the system before it is answered: a kill of the server loses none, only one of the machine. */
const inHaste = { fsync: "off", full_page_writes: "off" }

const startOwn = async (program: string, { fsync = true, settings }: PostgresOptions): Promise<PostgresServer> => {
  const { directory, keeper, superuser, user } = await openCluster(program)
  const all = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    // In files of its directory, which go with it, instead of the machine's /dev/shm.
    dynamic_shared_memory_type: "mmap",
    max_connections: "200",
    ...(fsync ? {} : inHaste),
    ...settings
  }
  const flags = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])
  const urlOf = (port: number): string => `postgres://${superuser}@127.0.0.1:${port}/postgres`
  try {
    const { fact, port, ...reins } = await startOwnServer({
      server: "PostgreSQL",
      directory,
      keeper,
      user,
      command: (port) => [program, "-D", `${directory}/data`, "-p", String(port), ...flags],
      ready: (port) => versionOf(urlOf(port))
    })
    const release = keeper.end
    return await withDatabase({ url: urlOf(port), origin: "machine", version: fact, isOwn: true, reins, release })
  } catch (cause) {
    await keeper.end()
    throw cause
  }
}

/** Rejects with `ServerAbsent` where there is none, and with `ServerFailed` where there is one that will not do. */
export const startPostgres = async (options: PostgresOptions = {}): Promise<PostgresServer> => {
  const place = placeOf("postgres", options)
  switch (place.origin) {
    case "environment":
      return postgresAt(place.url, place.origin)
    case "machine":
      return startOwn(place.program, options)
    case undefined:
      throw new ServerAbsent({ server: "PostgreSQL", reason: place.reason })
  }
}

export const postgresServer = (
  options: PostgresOptions = {}
): Effect.Effect<PostgresServer, ServerAbsent | ServerFailed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: () => startPostgres(options),
      catch: (cause) =>
        cause instanceof ServerAbsent || cause instanceof ServerFailed
          ? cause
          : new ServerFailed({ server: "PostgreSQL", doing: "start", reason: reasonOf(cause) })
    }),
    ({ stop }) => Effect.promise(stop)
  )
