import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, it } from "@effect/vitest"
import { openSqliteStore } from "@reverie/store-sqlite"
import { versioned } from "@reverie/protocol"
import { aMessage, anAddress, anEntry, anEnvelope, anEnvelopeId, aState } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { describe, test } from "vitest"
import { aDirectory } from "./directories.ts"

const address = anAddress()

/** A store with one assistant who had three messages, after someone has changed its rows. */
const tampered = (sql: string) =>
  Effect.gen(function* () {
    const directory = aDirectory()
    yield* Effect.scoped(
      Effect.gen(function* () {
        const { ledger, mailbox } = yield* openSqliteStore(directory)
        yield* ledger.create({ address, state: aState(), entry: anEntry({ messages: [aMessage("created")] }) })
        for (const id of ["m-1", "m-2\u0000", "m-3"]) yield* mailbox.accept(anEnvelope({ id, to: address }))
      })
    )
    const database = new DatabaseSync(join(directory, "reverie.db"))
    database.exec(sql)
    database.close()
    return yield* openSqliteStore(directory)
  })

describe("versions", () => {
  const read = versioned(3, {
    1: ({ name, ...rest }) => ({ ...rest, title: name ?? "" }),
    2: (older) => ({ ...older, size: 1 })
  })

  test("stored T3 an older version is raised step by step", () => {
    assert.deepStrictEqual(read('{"v":1,"name":"x"}'), Result.succeed({ v: 3, title: "x", size: 1 }))
    assert.deepStrictEqual(read('{"v":2,"title":"x"}'), Result.succeed({ v: 3, title: "x", size: 1 }))
    assert.deepStrictEqual(read('{"v":3,"title":"x","size":9}'), Result.succeed({ v: 3, title: "x", size: 9 }))
  })

  test("stored T2 what can not be read is a sentence", () => {
    for (const [text, sentence] of [
      ['{"v":4}', "it was written by a newer Reverie (version 4, this one reads up to 3)"],
      ['{"v":0}', "nothing reads version 0 any more"],
      ['{"name":"x"}', "it has no version"],
      ["[]", "it has no version"],
      ["null", "it has no version"]
    ] as const) {
      assert.deepStrictEqual(read(text), Result.fail(sentence))
    }
    const broken = read('{"v":')
    assert.match(Result.isFailure(broken) ? broken.failure : "", /^broken JSON: /)
  })
})

describe("rows that can not be read", () => {
  it.effect("mailbox I3 an unreadable envelope keeps its place and its id, and blocks nothing behind it", () =>
    Effect.gen(function* () {
      const { mailbox } = yield* tampered(`
        UPDATE envelopes SET body = '{"v":9}' WHERE seq = 1;
        UPDATE envelopes SET body = '{"v":1,"id":' WHERE seq = 2`)
      const [first, second, third] = yield* mailbox.pending(address, ["mail"], 10)
      assert.deepStrictEqual(first, {
        unreadable: "it was written by a newer Reverie (version 9, this one reads up to 1)",
        id: anEnvelopeId("m-1"),
        lane: "mail",
        seq: 1
      })
      assert.strictEqual(second?.id, "m-2\u0000")
      assert.include(second !== undefined && "unreadable" in second ? second.unreadable : "", "broken JSON")
      assert.strictEqual(third !== undefined && "event" in third && third.event.type, "message")
    })
  )

  it.effect("mailbox I3 an envelope of another shape is unreadable, and can be dead-lettered", () =>
    Effect.gen(function* () {
      const { ledger, mailbox } = yield* tampered(
        `UPDATE envelopes SET body = json_set(body, '$.event.type', 'dance') WHERE seq = 1`
      )
      const { claim, version } = yield* mailbox.claim({ address, worker: "worker-1", leaseMillis: 1_000 })
      const [first] = yield* mailbox.pending(address, ["mail"], 1)
      assert.isTrue(first !== undefined && "unreadable" in first)
      if (first === undefined) return
      const { id, lane, seq } = first
      const entry = anEntry({
        no: version + 1,
        epoch: claim.epoch,
        cause: { kind: "dead-letter", lane, seq, id },
        settled: [{ id, outcome: "dead", reason: "unreadable" }]
      })
      yield* ledger.commit(claim, { entry, state: aState() })
      assert.deepStrictEqual(
        (yield* mailbox.pending(address, ["mail"], 1)).map((row) => row.seq),
        [2]
      )
      assert.deepStrictEqual(yield* ledger.totals, { accepted: 3, settled: 0, dead: 1, discarded: 0 })
    })
  )

  it.effect(
    "I10 an entry of a newer version is an UnreadableRecord where it is read, and hides no one else's in the outbox",
    () =>
      Effect.gen(function* () {
        const { ledger } = yield* tampered(`UPDATE ledger SET body = json_set(body, '$.v', 2)`)
        const errors = [
          yield* Effect.flip(ledger.recent(address, 10)),
          yield* Effect.flip(ledger.entries(address, 1, 10))
        ]
        for (const error of errors) {
          assert.strictEqual(error._tag, "UnreadableRecord")
          assert.include(error.message, "it was written by a newer Reverie (version 2, this one reads up to 1)")
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
      })
  )

  it.effect(
    "I10 a state of a newer version is refused by inspection and claim, counts no attempt, and hides no one in the list",
    () =>
      Effect.gen(function* () {
        const { ledger, mailbox, stats } = yield* tampered(`UPDATE assistants SET state = json_set(state, '$.v', 3)`)
        assert.strictEqual((yield* Effect.flip(ledger.inspect(address)))._tag, "UnreadableRecord")
        const error = yield* Effect.flip(mailbox.claim({ address, worker: "worker-1", leaseMillis: 1_000 }))
        assert.strictEqual(error._tag, "StateUnreadable")
        assert.include(error.message, "the state of harbor/ada can not be read: it was written by a newer Reverie")
        assert.strictEqual((yield* stats).walFrames, 0)
        const other = anAddress("bob")
        yield* ledger.create({ address: other, state: aState(), entry: anEntry() })
        assert.deepStrictEqual(
          (yield* ledger.list(undefined, 1)).map((record) => record.address),
          [other]
        )
        assert.deepStrictEqual(yield* ledger.addresses(undefined, 10), [address, other])
      })
  )
})
