// SharedServers: one server for all tests of a file. Imported as `@reverie/testkit/shared-servers`, apart from the rest,
// because only a test run has vitest.
// Owns starting before the first test and stopping after the last. Leaves the server to redis and postgres.
// T1  Where the server is not there, its tests are skipped under a title that ends with `[redis]` or `[postgres]`, or
//     with `[own redis]` where it must be one that may be killed, or with `[pgvector]` where the server lacks this extension.
//     By that a check knows why, and the reason is said.
// T2  Each file has a server of its own, or on a server of others a prefix or a database of its own.

import { afterAll, beforeAll, describe } from "vitest"
import { hasPgvector } from "./extension.ts"
import { placeOf, type ServerName, type Wanted } from "./place.ts"
import { type PostgresOptions, type PostgresServer, startPostgres } from "./postgres.ts"
import { type RedisOptions, type RedisServer, startRedis } from "./redis.ts"
import type { Server } from "./server.ts"

export interface Shared<S extends Server> {
  readonly isThere: boolean
  /** The running server. Only for what happens in a test, or in a hook inside of `describe`. */
  readonly server: () => S
  /** A group of tests that need it, skipped where it is not there. */
  readonly describe: (title: string, tests: () => void) => void
}

const START_MILLIS = 120_000

/** What tests need, as it stands at the end of their title; why it is not there, undefined where it is. */
interface Need {
  readonly name: string
  readonly lack: string | undefined
}

const needOf = (name: ServerName, wanted: Wanted = {}): Need => {
  const place = placeOf(name, wanted)
  const lack = place.origin === undefined ? place.reason : undefined
  return { name: wanted.own === true ? `own ${name}` : name, lack }
}

const share = <S extends Server>({ lack, name: need }: Need, start: () => Promise<S>): Shared<S> => {
  const isThere = lack === undefined
  let running: S | undefined
  if (isThere) {
    beforeAll(async () => {
      running = await start()
    }, START_MILLIS)
    afterAll(async () => {
      await running?.stop()
    }, START_MILLIS)
  } else console.warn(`skipped without ${need}: ${lack}`)
  return {
    isThere,
    server: () => {
      if (running === undefined)
        throw new Error(`the server of ${need} runs only while tests run; ask for it in a test`)
      return running
    },
    describe: (title, tests) =>
      describe.skipIf(!isThere)(`${title} [${need}]`, () => {
        tests()
      })
  }
}

/** Call it at the top of a test file, or in a `describe`. */
export const shareRedis = (options?: RedisOptions): Shared<RedisServer> =>
  share(needOf("redis", options), () => startRedis(options))

export const sharePostgres = (options?: PostgresOptions): Shared<PostgresServer> =>
  share(needOf("postgres", options), () => startPostgres(options))

/** A PostgreSQL whose databases can have the extension pgvector; it is made in none of them yet. */
export const sharePgvector = async (options?: PostgresOptions): Promise<Shared<PostgresServer>> => {
  const lack = (await hasPgvector(options)) ? undefined : "no PostgreSQL that has the extension vector is here"
  return share({ name: "pgvector", lack }, () => startPostgres(options))
}
