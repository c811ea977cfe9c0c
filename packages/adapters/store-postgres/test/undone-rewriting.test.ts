// What is forgotten while others write: the server undoes one of two that wait for each other, and that one begins again.

import { assert, it } from "@effect/vitest"
import { anAddress, anEntry, anEnvelope, aState } from "@reverie/testkit"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { aSchema, openAt, tablesAt } from "./stores.ts"

const postgres = sharePostgres({ own: true, fsync: false })

postgres.describe("a rewriting", () => {
  it.live("I4 that waits in a circle and was undone by the server is begun again", () =>
    Effect.gen(function* () {
      const [url, schema, ada] = [postgres.server().url, aSchema(), anAddress("ada")]
      const { bundles, ledger, mailbox } = yield* openAt(url, { schema })
      yield* ledger.create({ address: ada, state: aState(), entry: anEntry() })
      const { claim } = yield* mailbox.claim({ address: ada, worker: "worker-1", leaseMillis: 60_000 })
      const sends = [anEnvelope({ id: "s-1", to: anAddress("bob") })]
      yield* ledger.commit(claim, { entry: anEntry({ no: 2, sends }), state: aState() })
      const other = yield* tablesAt(url, schema)
      const waits = other.query<{ readonly one: number }>(
        "SELECT 1 AS one FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
      )
      let begun = 0
      const rewritten = yield* other.transaction(20_000, (query) =>
        Effect.gen(function* () {
          // The one that looks for a circle first is undone, and this one looks late.
          yield* query("SET LOCAL deadlock_timeout = '1min'")
          yield* query("SELECT 1 AS one FROM sends FOR KEY SHARE")
          const rewriting = yield* Effect.forkDetach(
            bundles.rewrite([ada], (there) => {
              begun++
              return there
            })
          )
          while ((yield* waits).length === 0) yield* Effect.sleep(5)
          // It has the row of the assistant, and waits for that of the send. Now each waits for the other.
          yield* query("SELECT 1 AS one FROM assistants FOR UPDATE")
          return rewriting
        })
      )
      const [made] = yield* Fiber.join(rewritten)
      assert.strictEqual(made?.head.kind, "assistant")
      assert.strictEqual(begun, 2, "it was not undone")
      assert.lengthOf(yield* ledger.openSends(10), 1)
    }).pipe(Effect.scoped)
  )
})
