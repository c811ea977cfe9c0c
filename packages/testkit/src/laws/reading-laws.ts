// Reading laws: what comes back, exactly and in order (ledger I4, I5, I7).

import * as assert from "node:assert/strict"
import { type AssistantRecord, Ledger, type OutboxRow } from "@reverie/ledger"
import type { Mailbox } from "@reverie/mailbox"
import {
  type Address,
  addressKey,
  type Entry,
  type Message,
  type PlacedMessage,
  type RecordChange
} from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { aMessage, anAddress, anEnvelope, anEnvelopeId } from "../fixtures.ts"
import type { Law } from "../law.ts"
import { aMegabyte, ada, bob, claimBy, commitOn, type CommitWish, give, hostileTexts, send } from "./steps.ts"

/** Commits one entry for each wish, under one claim. */
const commitAll = (address: Address, wishes: ReadonlyArray<CommitWish>) =>
  Effect.gen(function* () {
    const { claim, version } = yield* claimBy("worker-1", address)
    return yield* Effect.forEach(wishes, (wish, index) => commitOn(claim, version + index, wish))
  })

const textsOf = (found: ReadonlyArray<PlacedMessage>) => found.map(({ message }) => message)

const saying = (...messages: ReadonlyArray<Message>): CommitWish => ({ entry: { messages } })

const sending = (...ids: ReadonlyArray<string>): CommitWish => ({
  entry: { sends: ids.map((id) => anEnvelope({ id, to: bob })) }
})

/** Reads page after page until one is empty. Ends in any case: a wrong store may turn in a circle. */
const pageThrough = <A, E, R>(size: number, read: (last: A | undefined) => Effect.Effect<ReadonlyArray<A>, E, R>) =>
  Effect.gen(function* () {
    const all: Array<A> = []
    for (let pages = 0; pages < 100; pages++) {
      const page = yield* read(all.at(-1))
      assert.ok(page.length <= size, "a page is longer than its limit")
      if (page.length === 0) break
      all.push(...page)
    }
    return all
  })

const place = ({ address, entry }: OutboxRow): string => `${address.assistant} ${entry.no}`

/** An entry in which every optional field is used. */
const fullEntry: Partial<Entry> = {
  at: 1_790_000_000_123,
  tick: 3,
  iteration: 2,
  cause: { kind: "job", id: "7/infer" },
  event: { type: "xstate.done.actor.infer", output: { text: "\u0000\ud800", list: [1, -0.5, 1e300, true, null] } },
  status: "awake.acting",
  messages: [
    aMessage("x", { calls: [{ id: "3.2.0", tool: "look", arguments: { at: ["\udc00"] }, malformed: "why" }] })
  ],
  step: {
    id: "7/infer",
    kind: "infer",
    name: "infer",
    ok: true,
    elapsedMillis: 12,
    usage: { inputTokens: 10, outputTokens: 2, cachedInputTokens: 4, source: "provider" },
    detail: { model: "m", finish: "stop", nested: { a: [] } }
  },
  settled: [{ id: anEnvelopeId("m-1"), outcome: "handled", reason: "because" }],
  tickEnd: { envelope: anEnvelopeId("m-1"), outcome: "answered", iterations: 2, reply: "done \ud800" },
  emitted: [{ type: "approval-asked", approval: "a-1", expiresAt: 5 }],
  sends: [anEnvelope({ id: "s-1", to: bob, hops: 2, traceparent: "00-1-2-01" })]
}

const outbox: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I4.order",
    says: "a commit answers its place in the outbox, and the entry stands there as soon as it has returned",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* give(bob)
      yield* give(ada)
      const { claim: forAda } = yield* claimBy("worker-1", ada)
      const { claim: forBob } = yield* claimBy("worker-2", bob)
      const order = ["bob 1", "ada 1"]
      let last = (yield* ledger.outbox(0, 10)).at(-1)?.seq ?? 0
      for (let version = 1; version <= 3; version++) {
        for (const claim of version % 2 === 0 ? [forAda, forBob] : [forBob, forAda]) {
          const seq = yield* commitOn(claim, version)
          assert.ok(seq > last, `place ${seq} after place ${last}`)
          const tail = yield* ledger.outbox(last, 10)
          order.push(`${claim.address.assistant} ${version + 1}`)
          assert.deepEqual([tail.map(place), tail[0]?.seq], [[order.at(-1)], seq])
          last = seq
        }
      }
      const first = yield* ledger.outbox(0, 100)
      assert.deepEqual(first.map(place), order)
      assert.deepEqual(yield* ledger.outbox(0, 100), first)
      assert.deepEqual(yield* ledger.outbox(last, 10), [])
    })
  },
  {
    id: "I4.end",
    says: "the end of the outbox is the place of its newest entry",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      assert.equal(yield* ledger.outboxEnd, 0)
      yield* give(ada)
      yield* give(bob)
      const { claim } = yield* claimBy("worker-1", ada)
      const seq = yield* commitOn(claim, 1)
      assert.equal(yield* ledger.outboxEnd, seq)
      assert.deepEqual(yield* ledger.outbox(yield* ledger.outboxEnd, 10), [])
    })
  },
  {
    id: "I4.race",
    says: "commits of many assistants at once each get a place of their own",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      const everyone = Array.from({ length: 12 }, (_, index) => anAddress(`a-${index}`))
      yield* Effect.forEach(everyone, (address) => give(address))
      const seqs = yield* Effect.forEach(everyone, (address) => commitAll(address, [{}, {}]), {
        concurrency: "unbounded"
      })
      const rows = yield* ledger.outbox(0, 100)
      const places = rows.map(({ seq }) => seq)
      assert.deepEqual(
        places,
        [...new Set(places)].toSorted((a, b) => a - b)
      )
      assert.equal(rows.length, 36)
      for (const [index, address] of everyone.entries()) {
        const own = rows.filter((row) => addressKey(row.address) === addressKey(address))
        assert.deepEqual(
          own.map(({ seq, entry }) => [seq, entry.no]),
          [
            [own[0]?.seq, 1],
            [seqs[index]?.[0], 2],
            [seqs[index]?.[1], 3]
          ]
        )
      }
    })
  },
  {
    id: "I4.pages",
    says: "outbox and entries can be read page by page without gap or repetition",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* give(ada)
      yield* give(bob)
      for (let round = 0; round < 4; round++) {
        yield* commitAll(ada, [{}, {}])
        yield* commitAll(bob, [{}])
      }
      const all = yield* ledger.outbox(0, 100)
      assert.equal(all.length, 14)
      assert.deepEqual(
        yield* pageThrough<OutboxRow, unknown, never>(3, (last) => ledger.outbox(last?.seq ?? 0, 3)),
        all
      )
      const own = all.filter(({ address }) => address.assistant === "ada")
      assert.deepEqual(yield* ledger.entries(ada, 1, 100), own)
      assert.deepEqual(yield* ledger.entries(ada, 4, 3), own.slice(3, 6))
      assert.deepEqual(yield* ledger.entries(ada, 0, 2), own.slice(0, 2))
      assert.deepEqual(yield* ledger.entries(ada, 10, 5), [])
    })
  },
  {
    id: "I4.exact",
    says: "an entry comes back as it was committed, to the last optional field",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* give(ada)
      yield* commitAll(ada, [{}, { entry: fullEntry }])
      const [, plain, full] = yield* ledger.outbox(0, 10)
      assert.deepEqual(full?.entry, { ...plain?.entry, no: 3, ...fullEntry })
      assert.deepEqual((yield* ledger.entries(ada, 3, 1))[0], full)
    })
  },
  {
    id: "I4.list",
    says: "assistants are listed by tenant and name, page by page, each as it would be inspected",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      const everyone = [
        anAddress("x", "a"),
        anAddress("z", "a"),
        anAddress("x", "a-b"),
        anAddress("A", "b"),
        anAddress("a", "b"),
        anAddress("a-1", "b"),
        anAddress("a.1", "b")
      ]
      yield* Effect.forEach(everyone.toReversed(), (address) => give(address))
      yield* send(anEnvelope({ id: "m", to: anAddress("x", "a-b") }))
      yield* commitAll(anAddress("z", "a"), [{}])
      const all = yield* ledger.list(undefined, 100)
      assert.deepEqual(
        all.map(({ address }) => ({ ...address })),
        everyone
      )
      assert.deepEqual(all, yield* Effect.forEach(everyone, (address) => ledger.inspect(address)))
      for (const size of [1, 2, 3]) {
        const paged = yield* pageThrough<AssistantRecord, unknown, never>(size, (last) =>
          ledger.list(last?.address, size)
        )
        assert.deepEqual(paged, all)
      }
      assert.deepEqual(
        (yield* ledger.list(anAddress("aa", "b"), 100)).map(({ address }) => addressKey(address)),
        []
      )
    })
  }
]

const openIds = (limit = 100) =>
  Ledger.use((ledger) => Effect.map(ledger.openSends(limit), (sends) => sends.map(({ envelope }) => envelope.id)))

const sends: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I5.open",
    says: "sends are open in the order of their commits, again and again, until they are settled",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* give(ada)
      yield* give(bob)
      assert.deepEqual(yield* openIds(), [])
      yield* commitAll(ada, [sending("s-1", "s-2"), {}, sending("s-3")])
      yield* commitAll(bob, [sending("s-1")])
      assert.deepEqual(yield* openIds(), ["s-1", "s-2", "s-3", "s-1"])
      assert.deepEqual(yield* openIds(), ["s-1", "s-2", "s-3", "s-1"])
      assert.deepEqual(yield* openIds(2), ["s-1", "s-2"])
      const [first, second, third, fourth] = yield* ledger.openSends(100)
      assert.ok(first && second && third && fourth, "sends are missing")
      assert.deepEqual(first.envelope, anEnvelope({ id: "s-1", to: bob }))
      yield* ledger.settleSends([second.seq, fourth.seq])
      assert.deepEqual(yield* openIds(), ["s-1", "s-3"])
      yield* ledger.settleSends([])
      yield* ledger.settleSends([second.seq, first.seq])
      assert.deepEqual(yield* openIds(), ["s-3"])
      yield* commitAll(ada, [sending("s-4")])
      assert.deepEqual(yield* openIds(), ["s-3", "s-4"])
      const { epoch, version } = (yield* ledger.inspect(ada)) ?? { epoch: 0, version: 0 }
      assert.deepEqual([epoch > 0, version], [true, 5])
    })
  },
  {
    id: "I5.anywhere",
    says: "a send is kept whether or not anybody lives at its address",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* give(ada)
      yield* commitAll(ada, [{ entry: { sends: [anEnvelope({ id: "s-1", to: anAddress("nobody") })] } }])
      assert.deepEqual(yield* openIds(), ["s-1"])
      assert.equal(yield* ledger.inspect(anAddress("nobody")), undefined)
    })
  }
]

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
    says: "the newest messages are told, oldest first, as many as fit, and always back to the newest user message",
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

const keeping = (...records: ReadonlyArray<RecordChange>): CommitWish => ({ entry: { records } })

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

export const readingLaws: ReadonlyArray<Law<Mailbox | Ledger>> = [...outbox, ...sends, ...history, ...kept]
