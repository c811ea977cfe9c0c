import { assert, it } from "@effect/vitest"
import type { Claim } from "@reverie/protocol"
import { anAddress, anEntry, aState } from "@reverie/testkit"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { Database } from "../src/database.ts"
import { pack, spokenTo } from "../src/operation.ts"
import { aSchema, openAt, tablesAt } from "./stores.ts"

const postgres = sharePostgres({ fsync: false })
const url = (): string => postgres.server().url

const ada = anAddress("ada")
const bob = anAddress("bob")

type Store = Effect.Success<ReturnType<typeof openAt>>

const claimed = ({ ledger, mailbox }: Store, address = ada) =>
  Effect.gen(function* () {
    yield* ledger.create({ address, state: aState(), entry: anEntry() })
    return (yield* mailbox.claim({ address, worker: "worker-1", leaseMillis: 60_000 })).claim
  })

const aCommit = (no: number) => ({ entry: anEntry({ no, cause: { kind: "job", id: "1/x" } }), state: aState() })

/** A commit whose transaction stays open until it is let go. */
const slowly = (
  { transaction }: Database,
  { address, epoch }: Claim,
  begun: Deferred.Deferred<void>,
  go: Deferred.Deferred<void>
) => {
  const { entry, state } = aCommit(2)
  const facts = { no: 2, receives: 7, retired: false, jobs: false, sends: 0, letters: 0, settled: 0 }
  const operation = { k: "commit", ...spokenTo(address), epoch, ...facts } as const
  const { bodies, operations } = pack([{ operation, bodies: [JSON.stringify(entry), JSON.stringify(state)] }], false)
  return transaction(60_000, (query) =>
    Effect.gen(function* () {
      yield* query("SELECT * FROM apply($1::jsonb, $2::text[])", [operations, bodies])
      yield* Deferred.succeed(begun, undefined)
      yield* Deferred.await(go)
    })
  )
}

postgres.describe("outbox", () => {
  it.live("I2 A4 a reader never passes an entry that is committed later than a younger one", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      const store = yield* openAt(url(), { schema })
      const { ledger } = store
      const forAda = yield* claimed(store, ada)
      const forBob = yield* claimed(store, bob)
      const start = yield* ledger.outboxEnd
      const begun = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const slow = yield* Effect.forkChild(slowly(yield* tablesAt(url(), schema), forAda, begun, go), {
        startImmediately: true
      })
      yield* Deferred.await(begun)
      const younger = yield* ledger.commit(forBob, aCommit(2))
      assert.deepStrictEqual(yield* ledger.outbox(start, 10), [])
      assert.strictEqual(yield* ledger.outboxEnd, start)
      assert.strictEqual((yield* ledger.entries(bob, 2, 10)).length, 1)
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(slow)
      const rows = yield* ledger.outbox(start, 10)
      assert.deepStrictEqual(
        rows.map(({ address }) => address.assistant),
        ["ada", "bob"]
      )
      assert.strictEqual(rows[1]?.seq, younger)
      assert.strictEqual(yield* ledger.outboxEnd, younger)
    }).pipe(Effect.scoped)
  )

  it.live("I2 a full page of what is sure is reported at once", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      const store = yield* openAt(url(), { schema })
      const forAda = yield* claimed(store, ada)
      yield* claimed(store, bob)
      const begun = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const slow = yield* Effect.forkChild(slowly(yield* tablesAt(url(), schema), forAda, begun, go), {
        startImmediately: true
      })
      yield* Deferred.await(begun)
      assert.strictEqual((yield* store.ledger.outbox(0, 2)).length, 2)
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(slow)
    }).pipe(Effect.scoped)
  )

  it.effect("A4 a transaction that came too late to an assistant begins again, and positions grow", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      const store = yield* openAt(url(), { schema })
      const claim = yield* claimed(store)
      const { query } = yield* tablesAt(url(), schema)
      // As if a later transaction had written the entry before: a few ids of transactions from now.
      yield* query("UPDATE assistants SET position = (pg_current_xact_id()::text::bigint + 5) * 4096")
      const [row] = yield* query<{ readonly position: number }>("SELECT position::float8 AS position FROM assistants")
      const seq = yield* store.ledger.commit(claim, aCommit(2))
      assert.isAbove(seq, row?.position ?? Infinity)
      assert.isAbove((yield* store.stats).undone, 0)
    }).pipe(Effect.scoped)
  )

  it.effect(
    "V3 in a database that was restored where transactions count lower, positions go on above what is there",
    () =>
      Effect.gen(function* () {
        const schema = aSchema()
        const HIGHER = 4096 * 50_000_000
        const before = yield* openAt(url(), { schema })
        const claim = yield* claimed(before)
        yield* before.ledger.commit(claim, aCommit(2))
        const { query } = yield* tablesAt(url(), schema)
        yield* query(`UPDATE ledger SET position = position + ${HIGHER}`)
        yield* query(`UPDATE assistants SET position = position + ${HIGHER}`)
        const stores = yield* Effect.forEach([1, 2, 3], () => openAt(url(), { schema, connections: 2 }), {
          concurrency: "unbounded"
        })
        const [after] = stores
        if (after === undefined) return
        const rows = yield* after.ledger.outbox(0, 10)
        assert.strictEqual(rows.length, 2)
        const seq = yield* after.ledger.commit(claim, aCommit(3))
        assert.isAbove(seq, rows[1]?.seq ?? Infinity)
        assert.isTrue(Number.isSafeInteger(seq))
        assert.deepStrictEqual(
          (yield* after.ledger.outbox(rows[1]?.seq ?? 0, 10)).map((row) => [row.seq, row.entry.no]),
          [[seq, 3]]
        )
      }).pipe(Effect.scoped)
  )
})
