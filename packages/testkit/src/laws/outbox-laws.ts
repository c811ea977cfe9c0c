// Outbox laws: one order of all entries, and sends that stay open until they are settled (ledger I4, I5).

import * as assert from "node:assert/strict"
import { type AssistantRecord, Ledger, MAX_PAGE_CHARS, type OutboxRow } from "@reverie/ledger"
import type { Mailbox } from "@reverie/mailbox"
import { type Address, addressKey, type AssistantId, type Entry } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { aMessage, anAddress, anEnvelope, anEnvelopeId } from "../fixtures.ts"
import type { Law } from "../law.ts"
import {
  ada,
  bob,
  claimBy,
  commitAll,
  commitOn,
  type CommitRequest,
  give,
  pageThrough,
  send,
  witness
} from "./steps.ts"

const sending = (...ids: ReadonlyArray<string>): CommitRequest => ({
  entry: { sends: ids.map((id) => anEnvelope({ id, to: bob })) }
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
    elapsedMs: 12,
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
    id: "I4.long",
    says: "a page of long entries is shorter and never empty, and all of them can be read page by page",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* give(ada)
      const lengths = [0.6, 0.6, 1.2, 0.1].map((share) => share * MAX_PAGE_CHARS)
      yield* commitAll(
        ada,
        lengths.map((length) => ({ entry: { messages: [aMessage("x".repeat(length))] } }))
      )
      const numbersOf = (rows: ReadonlyArray<OutboxRow>) => rows.map(({ entry }) => entry.no)
      const pages: Array<ReadonlyArray<number>> = []
      for (let after = 0, isMore = true; isMore && pages.length < 10;) {
        const page = yield* ledger.outbox(after, 100)
        isMore = page.length > 0
        if (isMore) pages.push(numbersOf(page))
        after = page.at(-1)?.seq ?? after
      }
      assert.deepEqual(pages, [[1, 2, 3], [4], [5]])
      assert.deepEqual(numbersOf(yield* ledger.entries(ada, 1, 100)), [1, 2, 3, 4, 5])
      assert.deepEqual(numbersOf(yield* ledger.entries(ada, 2, 3)), [2, 3, 4])
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
      // Before every name of a tenant: where its assistants begin.
      const beginning = { ...anAddress("x", "b"), assistant: "" as AssistantId }
      assert.deepEqual(yield* ledger.list(beginning, 2), all.slice(3, 5))
    })
  },
  {
    id: "I10.addresses",
    says: "addresses are reported in order, page by page, from a place on, without looking into anybody's state",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      const everyone = [anAddress("x", "a"), anAddress("x", "a-b"), anAddress("A", "b"), anAddress("a-1", "b")]
      yield* Effect.forEach(everyone.toReversed(), (address) => give(address))
      const plain = (found: ReadonlyArray<Address>) => found.map((address) => ({ ...address }))
      assert.deepEqual(plain(yield* ledger.addresses(undefined, 100)), everyone)
      assert.deepEqual(plain(yield* ledger.addresses(everyone[1], 1)), everyone.slice(2, 3))
      assert.deepEqual(yield* ledger.addresses(everyone[3], 10), [])
    })
  }
]

const probing: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I11.probe",
    says: "a probe succeeds on a store that writes, also many at once, and leaves nothing behind",
    check: Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* give(ada)
      yield* commitAll(ada, [sending("m-1", "m-2")])
      const before = yield* witness(ada, bob)
      yield* Effect.all(
        Array.from({ length: 5 }, () => ledger.probe),
        { concurrency: "unbounded" }
      )
      assert.deepEqual(yield* witness(ada, bob), before)
      const [seq] = yield* commitAll(ada, [sending("m-3")])
      assert.equal(yield* ledger.outboxEnd, seq)
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

export const outboxLaws: ReadonlyArray<Law<Mailbox | Ledger>> = [...outbox, ...sends, ...probing]
