import { assert, it } from "@effect/vitest"
import { aMessage, anAddress, anEntry, anEnvelope, anEnvelopeId, aState } from "@reverie/testkit"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import { aSchema, openAt, tablesAt } from "./stores.ts"

const postgres = sharePostgres({ fsync: false })
const address = anAddress()

/** A store with one assistant who had three messages, after someone has changed its rows. */
const tampered = (sql: string) =>
  Effect.gen(function* () {
    const schema = aSchema()
    const { url } = postgres.server()
    const store = yield* openAt(url, { schema })
    yield* store.ledger.create({ address, state: aState(), entry: anEntry({ messages: [aMessage("created")] }) })
    for (const id of ["m-1", "m-2\u0000", "m-3"]) yield* store.mailbox.accept(anEnvelope({ id, to: address }))
    const { query } = yield* tablesAt(url, schema)
    for (const each of sql.split(";")) yield* query(each)
    return { ...store, query }
  })

const claim = { address, worker: "worker-1", leaseMillis: 1_000 }
const newerThan = (version: number): string =>
  `it was written by a newer Reverie (version 9, this one reads up to ${version})`
const newer = newerThan(1)

postgres.describe("rows that can not be read", () => {
  it.effect("mailbox I3 an unreadable envelope keeps its place and its id, and can be dead-lettered", () =>
    Effect.gen(function* () {
      const { ledger, mailbox } = yield* tampered(`
        UPDATE envelopes SET body = '{"v":9}' WHERE seq = 1; UPDATE envelopes SET body = '{"v":1,"id":' WHERE seq = 2`)
      const [first, second, third] = yield* mailbox.pending(address, ["mail"], 10)
      assert.deepStrictEqual(first, { unreadable: newer, id: anEnvelopeId("m-1"), lane: "mail", seq: 1 })
      assert.strictEqual(second?.id, "m-2\u0000")
      assert.include(second !== undefined && "unreadable" in second ? second.unreadable : "", "broken JSON")
      assert.strictEqual(third !== undefined && "event" in third && third.event.type, "message")
      const held = yield* mailbox.claim(claim)
      const { id, lane, seq } = first ?? { id: anEnvelopeId("none"), lane: "mail", seq: 0 }
      const entry = anEntry({
        no: held.version + 1,
        cause: { kind: "dead-letter", lane, seq, id },
        settled: [{ id, outcome: "dead", reason: "unreadable" }]
      })
      yield* ledger.commit(held.claim, { entry, state: aState() })
      assert.deepStrictEqual(
        (yield* mailbox.pending(address, ["mail"], 1)).map((row) => row.seq),
        [2]
      )
      assert.deepStrictEqual(yield* ledger.totals, { accepted: 3, settled: 0, dead: 1, discarded: 0 })
    }).pipe(Effect.scoped)
  )

  it.effect(
    "I10 an entry of a newer version is an UnreadableRecord where it is read, and hides no one else's in the outbox",
    () =>
      Effect.gen(function* () {
        const { ledger } = yield* tampered(`UPDATE ledger SET body = '{"v":9}'`)
        const errors = [
          yield* Effect.flip(ledger.recent(address, 10)),
          yield* Effect.flip(ledger.entries(address, 1, 10))
        ]
        for (const error of errors) {
          assert.strictEqual(error._tag, "UnreadableRecord")
          assert.include(error.message, newer)
          assert.strictEqual(error._tag === "UnreadableRecord" && error.record, "entry 1 of harbor/ada")
        }
        const other = anAddress("bob")
        for (const each of [other, anAddress("cid")]) {
          yield* ledger.create({ address: each, state: aState(), entry: anEntry() })
        }
        assert.deepStrictEqual(
          (yield* ledger.outbox(0, 1)).map((row) => row.address),
          [other]
        )
        assert.strictEqual((yield* ledger.outbox(0, 10)).length, 2)
      }).pipe(Effect.scoped)
  )

  it.effect(
    "I10 a state of a newer version is refused by inspection and claim, counts no attempt, and hides no one in the list",
    () =>
      Effect.gen(function* () {
        const { ledger, mailbox, query } = yield* tampered(`UPDATE states SET body = '{"v":9}'`)
        assert.strictEqual((yield* Effect.flip(ledger.inspect(address)))._tag, "UnreadableRecord")
        for (const worker of ["worker-1", "worker-2", "worker-3"]) {
          const error = yield* Effect.flip(mailbox.claim({ ...claim, worker }))
          assert.strictEqual(error._tag, "StateUnreadable")
          assert.include(error.message, `the state of harbor/ada can not be read: ${newerThan(2)}`)
        }
        assert.deepStrictEqual(yield* mailbox.due(1), [address])
        // Someone who can read it finds it as it was.
        const [row] = yield* query<{ readonly attempts: number }>("SELECT attempts FROM assistants")
        assert.strictEqual(row?.attempts, 0)
        const other = anAddress("bob")
        yield* ledger.create({ address: other, state: aState(), entry: anEntry() })
        assert.deepStrictEqual(
          (yield* ledger.list(undefined, 1)).map((record) => record.address),
          [other]
        )
        assert.deepStrictEqual(yield* ledger.addresses(undefined, 10), [address, other])
      }).pipe(Effect.scoped)
  )

  it.effect("I3 an entry that was read is not sent again, and one that was changed since is read as it is", () =>
    Effect.gen(function* () {
      const { ledger, query } = yield* tampered("SELECT 1")
      const read = Effect.map(ledger.entries(address, 1, 10), (rows) => rows.map(({ entry }) => entry))
      const [first] = yield* read
      const [again] = yield* read
      assert.strictEqual(again, first)
      yield* query(`UPDATE ledger SET body = replace(body, 'created', 'rewritten')`)
      const [changed] = yield* read
      assert.strictEqual(first?.messages[0]?.content, "created")
      assert.strictEqual(changed?.messages[0]?.content, "rewritten")
      yield* query(`UPDATE ledger SET body = ''`)
      assert.strictEqual((yield* Effect.flip(read))._tag, "UnreadableRecord")
    }).pipe(Effect.scoped)
  )
})
