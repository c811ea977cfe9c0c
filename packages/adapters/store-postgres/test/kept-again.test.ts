// Bytes that are referred to again while another transaction deletes them, because nothing referred to them.

import { assert, it } from "@effect/vitest"
import { bundleOfParts, digestOf, keptAgain, type LoosePart } from "@reverie/ledger"
import { aMessage, anAddress, anEntry, anEnvelope, aState } from "@reverie/testkit"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { putEntryRows } from "../src/bundles/bundle-rows.ts"
import { putLife } from "../src/bundles/bundle-writer.ts"
import type { Database } from "../src/database.ts"
import { leaveBlobs } from "../src/ports/blobs.ts"
import { aSchema, openAt, tablesAt } from "./stores.ts"

const postgres = sharePostgres({ fsync: false })
const url = (): string => postgres.server().url

const ada = anAddress("ada")
const bytes = new TextEncoder().encode("a picture")
const digest = digestOf(bytes)
const part = { type: "image", mediaType: "image/png", digest, bytes: bytes.length } as const
const loose: ReadonlyArray<LoosePart> = [{ part, bytes }]
const letter = anEnvelope({ id: "again", to: ada, event: { type: "message", text: "look", parts: [part] } as never })

const opened = Effect.gen(function* () {
  const schema = aSchema()
  const store = yield* openAt(url(), { schema })
  yield* store.ledger.create({ address: ada, state: aState(), entry: anEntry() })
  yield* store.ledger.blobs.keep(ada.tenant, [bytes])
  const tables = yield* tablesAt(url(), schema)
  return { schema, store, tables }
})

const WAITS = "SELECT count(*)::float8 AS waiting FROM pg_locks WHERE NOT granted"

/** Until a transaction waits for another one, or something is over. */
const untilWaiting = Effect.fnUntraced(function* ({ query }: Pick<Database, "query">, isOver = () => false) {
  let waiting = 0
  while (waiting === 0 && !isOver()) waiting = (yield* query<{ readonly waiting: number }>(WAITS))[0]?.waiting ?? 0
})

postgres.describe("PostgreSQL", () => {
  it.effect("B7 what is referred to after its deletion was decided, and before that is over, is there", () =>
    Effect.gen(function* () {
      const { store, tables } = yield* opened
      const { blobs } = store.ledger
      yield* Effect.scoped(
        Effect.gen(function* () {
          const [begun, over] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
          const deleting = yield* tables
            .transaction(20_000, (query) =>
              Effect.gen(function* () {
                yield* leaveBlobs(query, ada.tenant, [digest])
                yield* Deferred.succeed(begun, undefined)
                yield* Deferred.await(over)
              })
            )
            .pipe(Effect.forkChild)
          yield* Deferred.await(begun)
          yield* store.mailbox.accept(letter)
          const again = yield* Effect.forkChild(keptAgain(blobs, ada.tenant, loose))
          yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
          yield* Deferred.succeed(over, undefined)
          yield* Fiber.join(deleting)
          yield* Fiber.join(again)
        })
      )
      assert.deepStrictEqual(yield* blobs.read(ada.tenant, digest), bytes)
    })
  )

  it.effect("B7 what is referred to while it is looked for is not deleted", () =>
    Effect.gen(function* () {
      const { schema, store, tables } = yield* opened
      const other = yield* tablesAt(url(), schema)
      const { blobs } = store.ledger
      const [held, over] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      // Makes the deletion wait when it has begun.
      const holding = yield* other
        .transaction(20_000, (query) =>
          Effect.gen(function* () {
            yield* query("SELECT 1 FROM blobs WHERE digest = $1 FOR KEY SHARE", [digest])
            yield* Deferred.succeed(held, undefined)
            yield* Deferred.await(over)
          })
        )
        .pipe(Effect.forkChild)
      yield* Deferred.await(held)
      const deleting = yield* Effect.forkChild(
        tables.transaction(20_000, (query) => leaveBlobs(query, ada.tenant, [digest]))
      )
      yield* untilWaiting(other)
      yield* store.mailbox.accept(letter)
      yield* keptAgain(blobs, ada.tenant, loose)
      yield* Deferred.succeed(over, undefined)
      yield* Fiber.join(holding)
      yield* Fiber.join(deleting)
      assert.deepStrictEqual(yield* blobs.read(ada.tenant, digest), bytes)
    })
  )

  it.effect("B7 a life that comes in with the same bytes has them", () =>
    Effect.gen(function* () {
      const elsewhere = yield* opened
      const eve = anAddress("eve")
      yield* elsewhere.store.ledger.create({
        address: eve,
        state: aState(),
        entry: anEntry({ messages: [{ ...aMessage("look"), parts: [part] as never }] })
      })
      const { head, parts } = bundleOfParts(yield* Stream.runCollect(elsewhere.store.bundles.pack(eve)))
      const { schema, store, tables } = yield* opened
      const other = yield* tablesAt(url(), schema)
      const [begun, over] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const moving = yield* tables
        .transaction(20_000, (query) =>
          Effect.gen(function* () {
            yield* putLife(query, head as never, parts, 0)
            yield* putEntryRows(query, ada.tenant, parts)
            yield* Deferred.succeed(begun, undefined)
            yield* Deferred.await(over)
          })
        )
        .pipe(Effect.forkChild)
      yield* Deferred.await(begun)
      const deleting = yield* Effect.forkChild(
        other.transaction(20_000, (query) => leaveBlobs(query, ada.tenant, [digest]))
      )
      yield* untilWaiting(other, () => deleting.pollUnsafe() !== undefined)
      yield* Deferred.succeed(over, undefined)
      yield* Fiber.join(moving)
      yield* Fiber.join(deleting)
      assert.deepStrictEqual(yield* store.ledger.blobs.read(ada.tenant, digest), bytes)
    })
  )
})
