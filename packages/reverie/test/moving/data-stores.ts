// DataStores: stores with lives in them, and the ways between them.
// Owns filling a data store, and packing and unpacking all of it. Leaves what is asserted to the tests.

import { Bundles, Ledger } from "@reverie/ledger"
import { TenantId } from "@reverie/protocol"
import { IN_MEMORY, openSqliteStore } from "@reverie/store-sqlite"
import { aMemoryDataStore, anAddress, type DataStore, furnish, inDataStore, live, playDay } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { exportLines } from "../../src/moving/export-fleet.ts"
import { judgeAll, type Run, writeAll } from "../../src/moving/bundle-stream.ts"
import { bundlesOfExport, type ExportSource } from "../../src/moving/import-fleet.ts"

const START_MILLIS = 1_790_000_000_000

/** Runs in virtual time. */
export const timeless = <A>(effect: Effect.Effect<A, unknown, Scope.Scope>): Promise<A> =>
  Effect.runPromise(
    Effect.andThen(TestClock.setTime(START_MILLIS), effect).pipe(Effect.scoped, Effect.provide(TestClock.layer()))
  )

export const aSqliteDataStore: Effect.Effect<DataStore, unknown, Scope.Scope> = openSqliteStore(IN_MEMORY)
export const anEmptyDataStore: Effect.Effect<DataStore> = Effect.sync(() => aMemoryDataStore())

/** Lives with everything in them, and what a random day of work leaves behind. */
export const inhabited = (dataStore: DataStore, seed: number): Effect.Effect<void, unknown> =>
  Effect.gen(function* () {
    yield* playDay(seed, dataStore)
    const tenant = TenantId.make(`day-${seed}`)
    const friends = [anAddress("dora", tenant), anAddress("eve", tenant)] as const
    yield* inDataStore(dataStore)(
      Effect.gen(function* () {
        yield* live(friends[1], friends[0])
        yield* live(friends[0], friends[1])
        yield* furnish(tenant)
      })
    )
  })

export const exported = (dataStore: DataStore, options: Parameters<typeof exportLines>[0] = {}) =>
  Effect.map(
    Effect.provideService(
      Effect.provideService(Stream.runCollect(exportLines(options)), Ledger, dataStore.ledger),
      Bundles,
      dataStore.bundles
    ),
    (lines) => lines.join("")
  )

export const sourceOf = (text: string | Uint8Array, chunkBytes = 4_096): ExportSource =>
  async function* () {
    const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.slice(at, at + chunkBytes)
  }

/** Everybody in a text moves into a data store. */
export const imported = (dataStore: DataStore, text: string) =>
  Effect.gen(function* () {
    const context = yield* Effect.context()
    const run: Run = (effect) =>
      Effect.runPromiseWith(context)(Effect.provideService(effect, Bundles, dataStore.bundles))
    const way = { run, bundles: () => bundlesOfExport(sourceOf(text)) }
    return yield* Effect.promise(async () => {
      const outcome = await judgeAll(way)
      await writeAll(way)
      return outcome
    })
  })
