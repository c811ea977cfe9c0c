import { Ledger, type Bundle, Bundles } from "@reverie/ledger"
import { openPostgresStore } from "@reverie/store-postgres"
import { aMemoryDataStore, anAddress, anEntry, aState, inDataStore } from "@reverie/testkit"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { assert, test } from "vitest"

const postgres = sharePostgres({ fsync: false })

const ENTRIES = 9_001

/** A life of more commits than one transaction has places for. */
const aLongLife = (name: string) =>
  inDataStore(aMemoryDataStore())(
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const address = anAddress(name)
      yield* ledger.create({ address, state: aState(), entry: anEntry() })
      const bundles = yield* Bundles
      const [head, created] = yield* Stream.runCollect(bundles.pack(address))
      assert.ok(head?.kind === "assistant" && created?.kind === "entry")
      const parts = Array.from({ length: ENTRIES }, (_, index) => ({
        ...created,
        entry: { ...created.entry, no: index + 1 }
      }))
      return { head: { ...head, version: ENTRIES }, parts } satisfies Bundle
    })
  )

postgres.describe("PostgreSQL", () => {
  test("P2 A4 a long life moves in beside one that goes on: places in the outbox stay apart and in order", async () => {
    const program = Effect.gen(function* () {
      const store = yield* openPostgresStore(Redacted.make(postgres.server().url), {
        schema: "long_lives",
        connections: 4
      })
      const { ledger, mailbox, bundles } = store
      const bob = anAddress("bob")
      yield* ledger.create({ address: bob, state: aState(), entry: anEntry() })
      const { claim } = yield* mailbox.claim({ address: bob, worker: "worker-1", leaseMillis: 60_000 })
      const lives = yield* Effect.forEach(["ada", "cleo"], aLongLife)
      const moving = Effect.forEach(lives, (life) => bundles.unpack(life), { concurrency: 2 })
      let isMoving = true
      const goesOn = Effect.gen(function* () {
        let last = 0
        let no = 1
        for (; isMoving || no < 5; no++) {
          const entry = anEntry({ no: no + 1, cause: { kind: "job", id: "1/infer" } })
          const position = yield* ledger.commit(claim, { entry, state: aState() })
          assert.isAbove(position, last)
          last = position
        }
        return no
      })
      const finished = Effect.tap(moving, () => Effect.sync(() => (isMoving = false)))
      const [outcomes, count] = yield* Effect.all([finished, goesOn], { concurrency: 2 })
      assert.deepStrictEqual(outcomes, ["unpacked", "unpacked"])
      const seen = new Map<string, number>()
      let after = 0
      for (;;) {
        const page = yield* ledger.outbox(after, 5_000)
        if (page.length === 0) break
        for (const { address, entry, seq } of page) {
          assert.isAbove(seq, after)
          after = seq
          assert.strictEqual(entry.no, (seen.get(address.assistant) ?? 0) + 1)
          seen.set(address.assistant, entry.no)
        }
      }
      assert.deepStrictEqual(Object.fromEntries(seen), { ada: ENTRIES, bob: count, cleo: ENTRIES })
    })
    await Effect.runPromise(Effect.scoped(program))
  }, 120_000)
})
