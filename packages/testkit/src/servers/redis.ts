// RedisServer: a Redis for tests.
// Owns its command line, its prefix and clearing it. Leaves processes to own-server and finding to place.
// R1  Each start has a prefix that no other has; on a server of others exactly its keys are removed at the end.
// R2  It never drops a key to make room, as a queue needs it.

import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { reasonOf, ServerAbsent, ServerFailed } from "./errors.ts"
import { startKeeper } from "./keeper.ts"
import { startOwnServer } from "./own-server.ts"
import { placeOf, type Wanted } from "./place.ts"
import { openRedisWire, redisSays, type Reply } from "./redis-wire.ts"
import { atLatestAtEnd, noReins, type Origin, type Server } from "./server.ts"

export interface RedisOptions extends Wanted {
  /** Writes what it was told down, so that it is there after a kill. Else a restart begins with nothing. */
  readonly durable?: boolean
  /** More of the command line: `["--maxclients", "50"]`. */
  readonly args?: ReadonlyArray<string>
}

export interface RedisServer extends Server {
  /** For the keys of this start; a queue takes it as its prefix. */
  readonly prefix: string
  /** One command, on a connection of its own. */
  readonly send: (...words: ReadonlyArray<string>) => Promise<Reply>
}

let starts = 0
const newPrefix = (): string => `reverie-test-${process.pid}-${Date.now().toString(36)}-${++starts}`

const versionOf = async (url: string): Promise<string> =>
  /redis_version:(\S+)/.exec(String(await redisSays(url, "INFO", "server")))?.[1] ?? "of an unknown version"

const KEYS_A_TURN = "500"

const clear = async (url: string, prefix: string): Promise<void> => {
  const wire = await openRedisWire(url)
  try {
    let cursor = "0"
    do {
      const reply = await wire.send("SCAN", cursor, "MATCH", `${prefix}*`, "COUNT", KEYS_A_TURN)
      const [next, keys] = reply as readonly [string, ReadonlyArray<string>]
      if (keys.length > 0) await wire.send("UNLINK", ...keys)
      cursor = next
    } while (cursor !== "0")
  } finally {
    wire.close()
  }
}

/** A Redis that runs already, and that someone else ends: `release` is called after its keys are removed. */
export const redisAt = async (url: string, origin: Origin, release = (): Promise<void> => Promise.resolve()) => {
  const prefix = newPrefix()
  const send = (...words: ReadonlyArray<string>): Promise<Reply> => redisSays(url, ...words)
  const version = await versionOf(url).catch((cause: unknown) => {
    throw new ServerFailed({ server: `the Redis of ${origin}`, doing: "connect", reason: reasonOf(cause) })
  })
  const stop = atLatestAtEnd(async () => {
    try {
      await clear(url, prefix)
    } finally {
      await release()
    }
  })
  const server: RedisServer = { url, origin, version, isOwn: false, prefix, send, stop, ...noReins("Redis", origin) }
  return server
}

const flags = (port: number, directory: string, durable: boolean): ReadonlyArray<string> =>
  Object.entries({
    port: String(port),
    bind: "127.0.0.1",
    dir: directory,
    save: "",
    appendonly: durable ? "yes" : "no",
    appendfsync: "everysec",
    "maxmemory-policy": "noeviction"
  }).flatMap(([name, value]) => [`--${name}`, value])

const startOwn = async (program: string, { args = [], durable = false }: RedisOptions): Promise<RedisServer> => {
  const directory = await mkdtemp(join(tmpdir(), "reverie-redis-"))
  const keeper = startKeeper(directory, "TERM")
  const urlOf = (port: number): string => `redis://127.0.0.1:${port}`
  try {
    const own = await startOwnServer({
      server: "Redis",
      directory,
      keeper,
      command: (port) => [program, ...flags(port, directory, durable), ...args],
      // INFO is answered while it still reads what it had written down, PING is not.
      ready: (port) => redisSays(urlOf(port), "PING").then(() => versionOf(urlOf(port)))
    })
    const { fact: version, kill, pause, port, restart, resume } = own
    const url = urlOf(port)
    const send = (...words: ReadonlyArray<string>): Promise<Reply> => redisSays(url, ...words)
    const stop = keeper.end
    const prefix = newPrefix()
    return { url, origin: "machine", version, isOwn: true, prefix, send, stop, kill, pause, restart, resume }
  } catch (cause) {
    await keeper.end()
    throw cause
  }
}

/** Rejects with `ServerAbsent` where there is none, and with `ServerFailed` where there is one that will not do. */
export const startRedis = async (options: RedisOptions = {}): Promise<RedisServer> => {
  const place = placeOf("redis", options)
  switch (place.origin) {
    case "environment":
      return redisAt(place.url, place.origin)
    case "machine":
      return startOwn(place.program, options)
    case undefined:
      throw new ServerAbsent({ server: "Redis", reason: place.reason })
  }
}

export const redisServer = (
  options: RedisOptions = {}
): Effect.Effect<RedisServer, ServerAbsent | ServerFailed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: () => startRedis(options),
      catch: (cause) =>
        cause instanceof ServerAbsent || cause instanceof ServerFailed
          ? cause
          : new ServerFailed({ server: "Redis", doing: "start", reason: reasonOf(cause) })
    }),
    ({ stop }) => Effect.promise(stop)
  )
