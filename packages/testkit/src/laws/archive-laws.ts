// Archive laws: the older part of a life is kept small or deleted, and the rest of the store stands as it stood (ledger, archive Z).
// Not held here: Z4, which takes a process that dies.

import * as assert from "node:assert/strict"
import { Archive, bundleOfParts, Bundles, Ledger } from "@reverie/ledger"
import type { Mailbox } from "@reverie/mailbox"
import type { Address } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { aMessage, anAddress, anEnvelope } from "../fixtures.ts"
import type { Law } from "../law.ts"
import { ada, bob, claimBy, commitOn, give, handling, pendingIds, pendingOf, release, send } from "./steps.ts"

type Ports = Archive | Bundles | Ledger | Mailbox

const WORD = "kestrel-9713"
const MESSAGES = 12

/** A life of a dozen messages, each handled in one commit that learns two facts, and of one that waits. */
const lived = Effect.fnUntraced(function* (address: Address, from = 1) {
  if (from === 1) yield* give(address)
  const { claim } = yield* claimBy("worker", address)
  for (let no = from + 1; no <= from + MESSAGES; no++) {
    const text = `message ${no} of the ${WORD}`
    yield* send(
      anEnvelope({
        id: `${address.assistant} ${no}`,
        to: address,
        event: { type: "message", text }
      })
    )
    const [first] = yield* pendingOf(address)
    assert.ok(first)
    yield* commitOn(claim, no - 1, {
      entry: {
        ...handling(first),
        messages: [aMessage(text)],
        records: [
          { kind: "fact", key: "newest", value: { text: `${WORD} ${no}` } },
          { kind: "fact", key: `of ${no}`, value: { no } }
        ],
        step: {
          id: `${no}/infer`,
          kind: "infer",
          name: "infer",
          ok: true,
          elapsedMs: 1,
          spent: [
            {
              model: "m",
              calls: 1,
              inputTokens: no,
              cachedTokens: 0,
              outputTokens: 1,
              reasoningTokens: 0,
              costMicros: 2,
              unpricedCalls: 0
            }
          ]
        }
      }
    })
  }
  yield* release(claim)
})

const waiting = (address: Address) => send(anEnvelope({ id: `${address.assistant} waits`, to: address }))

const readings = Effect.fnUntraced(function* (address: Address) {
  const ledger = yield* Ledger
  const bundles = yield* Bundles
  return {
    entries: yield* ledger.entries(address, 1, 1_000),
    recent: yield* ledger.recent(address, 1_000_000),
    record: yield* ledger.inspect(address),
    records: yield* ledger.records(address, ["fact"]),
    pending: yield* pendingIds(address),
    outbox: (yield* ledger.outbox(0, 1_000)).filter((row) => row.address.assistant === address.assistant),
    usage: yield* ledger.usage({ ...address, by: ["model", "purpose"], limit: 100 }),
    totals: yield* ledger.totals,
    bundle: bundleOfParts(yield* Stream.runCollect(bundles.pack(address)))
  }
})

type Readings = Effect.Success<ReturnType<typeof readings>>

/** What deleting leaves: numbers, places, what was settled and used, and what stands. */
const numbersOf = ({ entries, outbox, pending, record, records, totals, usage }: Readings) => ({
  entries: entries.map(({ entry, seq }) => [seq, entry.no, entry.cause, entry.tick, entry.settled]),
  outbox: outbox.map(({ entry, seq }) => [seq, entry.no]),
  pending,
  version: record?.version,
  cursors: record?.cursors,
  waiting: record?.waiting,
  records,
  totals,
  usage
})

const archive = (address: Address, upTo: number, least?: number) =>
  Archive.use((port) => port.archive(address, upTo, least))
const remove = (address: Address, upTo: number) => Archive.use((port) => port.remove(address, upTo))
const reached = (address: Address) => Archive.use((port) => port.reached(address))

const sendAgain = (address: Address, no: number) =>
  Effect.map(send(anEnvelope({ id: `${address.assistant} ${no}`, to: address })), ({ outcome }) => outcome)

const NOTHING = { entries: 0, envelopes: 0 }

const archiving: ReadonlyArray<Law<Ports>> = [
  {
    id: "Z1.reads",
    says: "what is archived reads as before, through every port",
    check: Effect.gen(function* () {
      yield* lived(ada)
      yield* waiting(ada)
      const before = yield* readings(ada)
      assert.deepEqual(yield* archive(ada, 9, 1), { entries: 9, envelopes: 8 })
      assert.deepEqual(yield* readings(ada), before)
      assert.deepEqual(yield* archive(ada, 1_000, 1), { entries: 4, envelopes: 4 })
      assert.deepEqual(yield* readings(ada), before)
    })
  },
  {
    id: "Z1.duplicate",
    says: "what was accepted before it was archived is not accepted a second time",
    check: Effect.gen(function* () {
      yield* lived(ada)
      yield* archive(ada, 9, 1)
      assert.equal(yield* sendAgain(ada, 5), "duplicate")
    })
  },
  {
    id: "Z1.on",
    says: "a life goes on behind what was archived and deleted",
    check: Effect.gen(function* () {
      yield* lived(ada)
      yield* archive(ada, 13, 1)
      yield* remove(ada, 13)
      const end = yield* Ledger.use((ledger) => ledger.outboxEnd)
      yield* lived(ada, MESSAGES + 1)
      const { entries, pending } = yield* readings(ada)
      assert.deepEqual(
        entries.map(({ entry }) => entry.no),
        Array.from({ length: 2 * MESSAGES + 1 }, (_, index) => index + 1)
      )
      assert.ok(entries.slice(MESSAGES + 1).every(({ seq }) => seq > end))
      assert.deepEqual(pending, [])
    })
  },
  {
    id: "Z1.least",
    says: "fewer entries than are asked for wait",
    check: Effect.gen(function* () {
      yield* lived(ada)
      assert.deepEqual(yield* archive(ada, 9, 10), NOTHING)
      assert.deepEqual(yield* reached(ada), { archived: 0, removed: 0, left: [] })
      assert.deepEqual(yield* archive(ada, 9, 9), { entries: 9, envelopes: 8 })
    })
  },
  {
    id: "Z3.twice",
    says: "what is done twice is done once, and how far it went can be asked",
    check: Effect.gen(function* () {
      yield* lived(ada)
      yield* archive(ada, 9, 1)
      assert.deepEqual(yield* archive(ada, 9, 1), NOTHING)
      assert.deepEqual(yield* reached(ada), { archived: 9, removed: 0, left: [] })
      assert.deepEqual(yield* remove(ada, 6), { entries: 6, envelopes: 5 })
      const once = yield* readings(ada)
      yield* TestClock.adjust("40 days")
      assert.deepEqual(yield* remove(ada, 6), NOTHING)
      assert.deepEqual(yield* readings(ada), once)
      assert.deepEqual(yield* reached(ada), { archived: 9, removed: 6, left: [] })
    })
  },
  {
    id: "Z5.compact",
    says: "compacting changes nothing that is read, and takes no more room afterwards",
    check: Effect.gen(function* () {
      yield* lived(ada)
      yield* archive(ada, 9, 1)
      const before = yield* readings(ada)
      for (const isTrial of [true, false]) {
        const { bytesAfter, bytesBefore } = yield* Archive.use((port) => port.compact(isTrial))
        assert.ok(bytesAfter <= bytesBefore && bytesBefore > 0, `${bytesBefore} bytes became ${bytesAfter}`)
        assert.deepEqual(yield* readings(ada), before)
      }
    })
  }
]

const deleting: ReadonlyArray<Law<Ports>> = [
  {
    id: "Z2.numbers",
    says: "what is deleted keeps its number, its place, what it settled and used, and what stands of its records",
    check: Effect.gen(function* () {
      yield* lived(ada)
      yield* waiting(ada)
      const before = yield* readings(ada)
      assert.deepEqual(yield* remove(ada, 9), { entries: 9, envelopes: 8 })
      assert.deepEqual(numbersOf(yield* readings(ada)), numbersOf(before))
    })
  },
  {
    id: "Z2.words",
    says: "the words of what is deleted are read nowhere any more, whether it was archived or not; in their place stands when it was",
    check: Effect.gen(function* () {
      yield* lived(ada)
      yield* archive(ada, 5, 1)
      yield* remove(ada, 9)
      const { bundle, entries, outbox, recent } = yield* readings(ada)
      const read = JSON.stringify([bundle, entries, outbox, recent])
      for (let no = 2; no <= 9; no++) assert.ok(!read.includes(`message ${no} of the ${WORD}`), `message ${no} is read`)
      for (let no = 2; no <= 9; no++) assert.ok(!read.includes(`${WORD} ${no}"`), `a former fact of ${no} is read`)
      assert.ok(read.includes(`message 10 of the ${WORD}`))
      for (const { entry } of entries.slice(1, 9)) {
        assert.ok(entry.deleted !== undefined, `entry ${entry.no} does not say that it was deleted`)
        assert.match(entry.messages[0]?.content ?? "", /^\[deleted by retention on \d{4}-\d\d-\d\d\]$/)
      }
    })
  },
  {
    id: "Z2.records",
    says: "a record that stands as the deleted entry left it stays in the entry; one that was changed since does not",
    check: Effect.gen(function* () {
      yield* lived(ada)
      yield* remove(ada, 9)
      const { entries } = yield* readings(ada)
      assert.deepEqual(
        entries.slice(1, 9).map(({ entry }) => entry.records?.map(({ key }) => key)),
        entries.slice(1, 9).map(({ entry }) => [`of ${entry.no}`])
      )
    })
  },
  {
    id: "Z2.duplicate",
    says: "what was accepted before it was deleted is not accepted a second time",
    check: Effect.gen(function* () {
      yield* lived(ada)
      yield* remove(ada, 9)
      assert.equal(yield* sendAgain(ada, 5), "duplicate")
    })
  },
  {
    id: "Z3.before",
    says: "nothing behind the number is touched, and no mail that waits",
    check: Effect.gen(function* () {
      yield* lived(ada)
      yield* waiting(ada)
      const before = yield* readings(ada)
      const mail = yield* pendingOf(ada)
      yield* remove(ada, 9)
      const { entries, outbox } = yield* readings(ada)
      assert.deepEqual([entries.slice(9), outbox.slice(9)], [before.entries.slice(9), before.outbox.slice(9)])
      assert.deepEqual(yield* pendingOf(ada), mail)
      assert.equal(mail.length, 1)
    })
  },
  {
    id: "Z3.apart",
    says: "another assistant keeps everything, one of the same name in another tenant among them; where no one is, nothing is done",
    check: Effect.gen(function* () {
      const namesake = anAddress("ada", "pier")
      const others = [bob, namesake]
      yield* lived(ada)
      yield* Effect.forEach(others, (other) => lived(other))
      const before = yield* Effect.forEach(others, readings)
      yield* archive(ada, 9, 1)
      yield* remove(ada, 9)
      const nowhere = anAddress("no-one")
      assert.deepEqual([yield* archive(nowhere, 9, 1), yield* remove(nowhere, 9)], [NOTHING, NOTHING])
      assert.deepEqual(yield* reached(nowhere), { archived: 0, removed: 0, left: [] })
      const apart = ({ outbox: _, totals: __, ...rest }: Readings) => rest
      assert.deepEqual((yield* Effect.forEach(others, readings)).map(apart), before.map(apart))
    })
  }
]

/** Laws of the older part of a life, over one store. */
export const archiveLaws: ReadonlyArray<Law<Ports>> = [...archiving, ...deleting]
