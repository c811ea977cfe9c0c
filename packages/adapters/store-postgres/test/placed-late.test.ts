// What comes to a place of segments late: when who put it has lost its transaction, and what it holds was forgotten meanwhile.

import { assert, it } from "@effect/vitest"
import { openPostgresStore } from "@reverie/store-postgres"
import { anAddress, MemorySegmentPlace, plainLife } from "@reverie/testkit"
import { postgresSays } from "@reverie/testkit/servers"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import { zstdDecompressSync } from "node:zlib"
import { aSchema } from "./stores.ts"

const postgres = sharePostgres({ fsync: false })
const url = (): string => postgres.server().url

const ada = anAddress("ada")
const WORD = "kestrel-9713"

const textsIn = (place: MemorySegmentPlace): string =>
  [...place.objects.values()].map((bytes) => zstdDecompressSync(bytes).toString()).join("\n")

postgres.describe("PostgreSQL", () => {
  it.effect("S6 what comes to the place after it was forgotten goes from there at once", () =>
    Effect.gen(function* () {
      const [schema, place] = [aSchema(), new MemorySegmentPlace()]
      const [begun, answered] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const late = {
        ...place.service,
        put: (key: string, bytes: Uint8Array) =>
          Effect.andThen(
            Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(answered)),
            place.service.put(key, bytes)
          )
      }
      const open = (segments: typeof late) =>
        openPostgresStore(Redacted.make(url()), { schema, connections: 3, segments })
      const stopped = yield* open(late)
      const store = yield* open(place.service)
      yield* plainLife(store, 100)
      const archiving = yield* Effect.forkChild(Effect.exit(stopped.archive.archive(ada, 90)))
      yield* Deferred.await(begun)
      // The server has given it up, as it does after minutes in which nothing is heard of it.
      yield* Effect.promise(() =>
        postgresSays(
          url(),
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'reverie' AND xact_start IS NOT NULL"
        )
      )
      yield* store.bundles.rewrite(
        [ada],
        (there) => JSON.parse(JSON.stringify(there).replaceAll(WORD, "(gone)")) as typeof there
      )
      yield* Deferred.succeed(answered, undefined)
      yield* Fiber.await(archiving)
      assert.notInclude(textsIn(place), WORD)
      assert.deepInclude(yield* store.archive.apart(), { missing: [], unknown: 0 })
    })
  )
})
