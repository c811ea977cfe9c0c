// Reading laws: what comes back, exactly and in order (ledger I7, I8, and those of the outbox beside them).

import * as assert from "node:assert/strict"
import { Ledger, type RecordFilter } from "@reverie/ledger"
import type { Mailbox } from "@reverie/mailbox"
import { type Address, type Message, type PlacedMessage, type RecordChange, recordKinds } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { aMessage, anAddress } from "../fixtures.ts"
import type { Law } from "../law.ts"
import { aMegabyte, ada, bob, claimBy, commitAll, commitOn, type CommitRequest, give, hostileTexts } from "./steps.ts"
import { outboxLaws } from "./outbox-laws.ts"

const textsOf = (found: ReadonlyArray<PlacedMessage>) => found.map(({ message }) => message)

const saying = (...messages: ReadonlyArray<Message>): CommitRequest => ({ entry: { messages } })

const history: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I7.exact",
    says: "messages come back as they were committed, whatever they hold",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* give(ada)
      const messages = [...hostileTexts, aMegabyte].map((text, index) =>
        aMessage(text, {
          role: (["system", "user", "assistant", "tool"] as const)[index % 4] ?? "user",
          at: 1_790_000_000_000 + index,
          tokens: index,
          ...(index % 3 === 0 ? { name: text.slice(0, 40), call: `1.1.${index}` } : {}),
          ...(index % 3 === 1 ? { calls: [{ id: `1.1.${index}`, tool: "look", arguments: { [text]: [text] } }] } : {})
        })
      )
      yield* commitAll(ada, [saying(...messages.slice(0, 4)), saying(), saying(...messages.slice(4))])
      assert.deepEqual(textsOf(yield* ledger.recent(ada, 1_000_000)), messages)
    })
  },
  {
    id: "I7.recent",
    says: "the newest messages are reported, oldest first, as many as fit, and always back to the newest user message",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* give(ada)
      const tokens = [5, 1, 9, 2, 2, 30, 4, 1]
      const turn = 5
      const messages = tokens.map((count, index) =>
        aMessage(`message ${index}`, { tokens: count, role: index === 1 || index === turn ? "user" : "assistant" })
      )
      yield* commitAll(ada, [saying(...messages.slice(0, 3)), saying(...messages.slice(3, 7)), saying(messages[7]!)])
      for (let bound = 0; bound <= 60; bound++) {
        let from = messages.length
        for (let sum = 0; from > 0; from--) {
          sum += tokens[from - 1] ?? 0
          if (sum > bound) break
        }
        assert.deepEqual(
          textsOf(yield* ledger.recent(ada, bound)),
          messages.slice(Math.min(from, turn)),
          `within ${bound} tokens`
        )
      }
    })
  },
  {
    id: "I7.place",
    says: "a message comes with its place in the ledger, and nothing comes from before the place that was named",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* give(ada)
      const said = (text: string) => aMessage(text, { role: "user", tokens: 1 })
      yield* commitAll(ada, [saying(said("a"), said("b")), saying(), saying(said("c"), said("d"), said("e"))])
      const all = yield* ledger.recent(ada, 100)
      const entries = yield* ledger.entries(ada, 1, 100)
      const placed = entries.flatMap(({ entry }) =>
        entry.messages.map((message, index) => ({ place: { no: entry.no, index }, message }))
      )
      assert.equal(placed.length, 5)
      assert.deepEqual(all, placed)
      for (const [index, { place }] of placed.entries()) {
        assert.deepEqual(yield* ledger.recent(ada, 100, place), placed.slice(index), JSON.stringify(place))
        assert.deepEqual(yield* ledger.recent(ada, 1, place), placed.slice(-1), JSON.stringify(place))
      }
      const beyond = { no: (placed.at(-1)?.place.no ?? 0) + 1, index: 0 }
      assert.deepEqual(yield* ledger.recent(ada, 100, beyond), [])
    })
  },
  {
    id: "I7.own",
    says: "an assistant's history holds its own messages only",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      const namesake = anAddress("ada", "quay")
      for (const address of [ada, bob, namesake]) yield* give(address)
      yield* commitAll(ada, [saying(aMessage("a-1"))])
      yield* commitAll(namesake, [saying(aMessage("n-1"))])
      yield* commitAll(bob, [saying(aMessage("b-1"))])
      yield* commitAll(ada, [saying(aMessage("a-2"))])
      const told = (address: Address) =>
        Effect.map(ledger.recent(address, 100), (found) => found.map(({ message }) => message.content))
      assert.deepEqual([yield* told(ada), yield* told(bob), yield* told(namesake)], [["a-1", "a-2"], ["b-1"], ["n-1"]])
    })
  }
]

const noteOf = (key: string, value: string | null): RecordChange => ({ kind: "journal", key, value })

const keeping = (...records: ReadonlyArray<RecordChange>): CommitRequest => ({ entry: { records } })

const kept: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I8.last",
    says: "a record is what the last commit that named it said, and gone when that said so",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* give(ada)
      yield* commitAll(ada, [
        keeping(noteOf("a", "first"), noteOf("b", "\u0000\ud800 hostile"), {
          kind: "goal",
          key: "a",
          value: { deep: [1, null] }
        }),
        keeping(noteOf("a", "second"), noteOf("c", "short-lived")),
        keeping(noteOf("c", null), noteOf("never", null))
      ])
      assert.deepEqual(yield* ledger.records(ada, ["journal"]), [
        noteOf("a", "second"),
        noteOf("b", "\u0000\ud800 hostile")
      ])
      assert.deepEqual(yield* ledger.records(ada, ["journal", "goal"]), [
        { kind: "goal", key: "a", value: { deep: [1, null] } },
        noteOf("a", "second"),
        noteOf("b", "\u0000\ud800 hostile")
      ])
      assert.deepEqual(yield* ledger.records(ada, []), [])
    })
  },
  {
    id: "I8.some",
    says: "of records some can be asked for: those under keys, whatever they hold, and at most so many of each kind",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* give(ada)
      const keys = ["a", "b", "c", "a%", "A", 'with "quotes"', "\u0000 and on"]
      const entities = keys.map((key): RecordChange => ({ kind: "entity", key, value: { key } }))
      yield* commitAll(ada, [keeping(...keys.map((key) => noteOf(key, key))), keeping(...entities)])
      const found = (filter: RecordFilter) =>
        Effect.map(ledger.records(ada, ["entity", "journal"], filter), (rows) =>
          rows.map(({ key, kind }) => `${kind} ${key}`).toSorted()
        )
      for (const key of keys) assert.deepEqual(yield* found({ keys: [key] }), [`entity ${key}`, `journal ${key}`])
      const both = ["entity a", "entity c", "journal a", "journal c"]
      assert.deepEqual(yield* found({ keys: ["c", "a", "a", "never"] }), both)
      assert.deepEqual(yield* found({ keys: [] }), [])
      const all = (yield* ledger.records(ada, ["entity", "journal"])).map(({ key, kind }) => `${kind} ${key}`)
      assert.equal(all.length, 2 * keys.length)
      for (const limit of [1, 3, 7, 50]) {
        const some = yield* found({ limit })
        assert.equal(some.length, 2 * Math.min(limit, keys.length))
        assert.equal(new Set(some.filter((each) => all.includes(each))).size, some.length)
        for (const kind of ["entity", "journal"]) {
          assert.equal(some.filter((each) => each.startsWith(kind)).length, Math.min(limit, keys.length))
        }
      }
      assert.equal((yield* found({ keys: ["a", "b", "c"], limit: 2 })).length, 4)
    })
  },
  {
    id: "I8.kinds",
    says: "a record of every kind is kept, and listed under its kind alone: a reminder, an episode of the journal and all others",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* give(ada)
      const ofKind = (kind: RecordChange["kind"]): RecordChange => ({ kind, key: "k", value: { of: kind, at: 7 } })
      yield* commitAll(ada, [keeping(...recordKinds.map(ofKind))])
      for (const kind of recordKinds) assert.deepEqual(yield* ledger.records(ada, [kind]), [ofKind(kind)])
      const told = new Map((yield* ledger.records(ada, recordKinds)).map((row) => [row.kind, row]))
      assert.deepEqual(told, new Map(recordKinds.map((kind) => [kind, ofKind(kind)])))
      yield* commitAll(ada, [
        keeping({ kind: "journal", key: "k", value: null }, { kind: "episode", key: "k", value: "later" }),
        keeping({ kind: "reminder", key: "k", value: null })
      ])
      assert.deepEqual(yield* ledger.records(ada, ["journal", "reminder", "episode"]), [
        { kind: "episode", key: "k", value: "later" }
      ])
      assert.equal((yield* ledger.records(ada, recordKinds)).length, recordKinds.length - 2)
    })
  },
  {
    id: "I8.own",
    says: "records belong to one assistant, and a fenced commit changes none",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      const namesake = anAddress("ada", "quay")
      for (const address of [ada, bob, namesake]) yield* give(address)
      yield* commitAll(ada, [keeping(noteOf("k", "ada"))])
      yield* commitAll(namesake, [keeping(noteOf("k", "quay"))])
      assert.deepEqual(yield* ledger.records(bob, ["journal"]), [])
      assert.deepEqual(yield* ledger.records(namesake, ["journal"]), [noteOf("k", "quay")])
      const stale = yield* claimBy("worker-1")
      yield* claimBy("worker-1")
      const refused = yield* Effect.result(commitOn(stale.claim, stale.version, keeping(noteOf("k", "stale"))))
      assert.ok(Result.isFailure(refused))
      assert.deepEqual(yield* ledger.records(ada, ["journal"]), [noteOf("k", "ada")])
    })
  }
]

export const readingLaws: ReadonlyArray<Law<Mailbox | Ledger>> = [...outboxLaws, ...history, ...kept]
