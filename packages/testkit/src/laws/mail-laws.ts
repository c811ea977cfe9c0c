// Mail laws: what is accepted, and how it waits (mailbox I2, I3, I6, I7, I11).

import * as assert from "node:assert/strict"
import { Ledger, type OpenSend } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import type { Address, Envelope, EnvelopeId } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { anAddress, anEnvelope } from "../fixtures.ts"
import type { Law } from "../law.ts"
import {
  aMegabyte,
  ada,
  bob,
  claimBy,
  commitAll,
  commitOn,
  give,
  handleNext,
  hostileTexts,
  inLane,
  pendingIds,
  pendingOf,
  send,
  sendAll,
  startingWith
} from "./steps.ts"

const outcomeOf = (envelope: Envelope) => Effect.map(send(envelope), ({ outcome }) => outcome)

const totals = Ledger.use((ledger) => ledger.totals)

/** Asserts that an address takes nothing. */
const refusedAt = (to: Address) =>
  Effect.gen(function* () {
    const outcome = yield* Effect.result(send(anEnvelope({ id: "knock", to })))
    assert.ok(Result.isFailure(outcome), "an envelope was accepted where no one lives")
    assert.equal(outcome.failure._tag, "UnknownAssistant")
    assert.deepEqual(yield* pendingIds(to), [])
  })

const acceptedOnce: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I2.repeat",
    says: "a repeated envelope is a duplicate: the first one stays, nothing is added",
    check: Effect.gen(function* () {
      yield* give(ada)
      const first = anEnvelope({ id: "a", to: ada, event: { type: "message", text: "first" } })
      const receipt = yield* send(first)
      assert.deepEqual([receipt.outcome, receipt.envelope, { ...receipt.to }], ["accepted", "a", ada])
      const second = { ...first, event: { type: "message" as const, text: "second" } }
      const again = yield* send(second)
      assert.deepEqual([again.outcome, again.envelope, { ...again.to }], ["duplicate", "a", ada])
      assert.equal(yield* outcomeOf(inLane.control("a")), "duplicate")
      const waiting = yield* pendingOf(ada)
      assert.equal(waiting.length, 1)
      assert.deepEqual(waiting[0], { ...waiting[0], ...first })
      assert.equal((yield* totals).accepted, 1)
    })
  },
  {
    id: "I2.race",
    says: "of many senders of one envelope at once exactly one learns that it was accepted",
    check: Effect.gen(function* () {
      yield* give(ada)
      const outcomes = yield* Effect.forEach(
        Array.from({ length: 16 }, () => anEnvelope({ id: "a", to: ada })),
        outcomeOf,
        { concurrency: "unbounded" }
      )
      assert.equal(outcomes.filter((outcome) => outcome === "accepted").length, 1)
      assert.deepEqual(yield* pendingIds(ada), ["a"])
    })
  },
  {
    id: "I2.handled",
    says: "an envelope that was handled long ago is still known",
    check: Effect.gen(function* () {
      yield* give(ada)
      yield* sendAll(ada, ["a", "b"])
      yield* handleNext(ada)
      yield* handleNext(ada)
      yield* TestClock.adjust("400 days")
      assert.equal(yield* outcomeOf(anEnvelope({ id: "a", to: ada })), "duplicate")
      assert.deepEqual(yield* pendingIds(ada), [])
    })
  },
  {
    id: "I2.scope",
    says: "one id sent to two assistants is two envelopes",
    check: Effect.gen(function* () {
      const everyone = [ada, bob, anAddress("ada", "quay")]
      yield* Effect.forEach(everyone, (address) => give(address))
      for (const to of everyone) assert.equal(yield* outcomeOf(anEnvelope({ id: "a", to })), "accepted")
      for (const to of everyone) assert.deepEqual(yield* pendingIds(to), ["a"])
    })
  },
  {
    id: "I2.alike",
    says: "ids that only look alike are different envelopes",
    check: Effect.gen(function* () {
      yield* give(ada)
      const ids = [
        "a",
        "A",
        " a",
        "a ",
        "a\u0000",
        "a\u0000b",
        "\u00e9",
        "e\u0301",
        "\ud800",
        "\ud801",
        "%",
        "_",
        "1",
        "01"
      ]
      for (const id of ids) assert.equal(yield* outcomeOf(anEnvelope({ id, to: ada })), "accepted", JSON.stringify(id))
      assert.deepEqual(yield* pendingIds(ada), ids)
    })
  }
]

const kept: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I3.order",
    says: "each lane waits in the order of acceptance, control before reply before mail",
    check: Effect.gen(function* () {
      yield* give(ada)
      for (const envelope of [
        inLane.mail("m-9"),
        inLane.reply("r-9"),
        inLane.control("c-9"),
        inLane.mail("m-1"),
        inLane.control("c-1"),
        inLane.reply("r-1"),
        inLane.mail("m-5")
      ]) {
        yield* send(envelope)
      }
      const order = ["c-9", "c-1", "r-9", "r-1", "m-9", "m-1", "m-5"]
      assert.deepEqual(yield* pendingIds(ada), order)
      assert.deepEqual(yield* pendingIds(ada, ["mail", "reply", "control"]), order)
      const mail = (yield* pendingOf(ada, ["mail"])).map(({ seq }) => seq)
      assert.deepEqual(
        mail,
        [...new Set(mail)].toSorted((a, b) => a - b)
      )
      yield* handleNext(ada)
      yield* send(inLane.control("c-0"))
      assert.deepEqual(yield* pendingIds(ada, ["control"]), ["c-1", "c-0"])
    })
  },
  {
    id: "I3.lanes",
    says: "only the lanes asked for are reported, and at most `limit` of each",
    check: Effect.gen(function* () {
      yield* give(ada)
      yield* sendAll(ada, ["m-1", "m-2", "m-3"])
      yield* send(inLane.reply("r-1"))
      assert.deepEqual(yield* pendingIds(ada, ["mail"]), ["m-1", "m-2", "m-3"])
      assert.deepEqual(yield* pendingIds(ada, ["control", "reply"]), ["r-1"])
      assert.deepEqual(yield* pendingIds(ada, []), [])
      assert.deepEqual(yield* pendingIds(ada, ["reply", "mail"], 2), ["r-1", "m-1", "m-2"])
      const lanes = (yield* pendingOf(ada)).map(({ lane }) => lane)
      assert.deepEqual(lanes, ["reply", "mail", "mail", "mail"])
    })
  },
  {
    id: "I3.cursor",
    says: "a commit moves the cursor past its own envelope, and no other commit moves it",
    check: Effect.gen(function* () {
      yield* give(ada)
      yield* sendAll(ada, ["m-1", "m-2"])
      for (const id of ["r-1", "r-2"]) yield* send(inLane.reply(id))
      const { claim } = yield* claimBy("worker-1")
      assert.deepEqual(yield* pendingIds(ada), ["r-1", "r-2", "m-1", "m-2"])
      const [r1, , m1, m2] = yield* pendingOf(ada)
      assert.ok(r1 && m1 && m2, "envelopes are missing")
      yield* commitOn(claim, 1, { entry: startingWith(m1) })
      assert.deepEqual(yield* pendingIds(ada), ["r-1", "r-2", "m-2"])
      yield* commitOn(claim, 2, { entry: { settled: [{ id: m1.id, outcome: "handled" }] } })
      yield* commitOn(claim, 3, { entry: { cause: { kind: "timer", name: "tea" } } })
      assert.deepEqual(yield* pendingIds(ada), ["r-1", "r-2", "m-2"])
      yield* commitOn(claim, 4, { entry: { cause: { kind: "dead-letter", lane: "reply", seq: r1.seq, id: r1.id } } })
      assert.deepEqual(yield* pendingIds(ada), ["r-2", "m-2"])
      yield* commitOn(claim, 5, { entry: startingWith(m2) })
      assert.deepEqual(yield* pendingIds(ada), ["r-2"])
    })
  },
  {
    id: "I3.exact",
    says: "an envelope waits exactly as it was sent, with the time of its acceptance",
    check: Effect.gen(function* () {
      yield* give(ada)
      const sent = [...hostileTexts, aMegabyte].map((text, index) =>
        anEnvelope({
          id: `e-${index}`,
          to: ada,
          from: `person:${text.slice(0, 64)}`,
          event: { type: "message", text, channel: text.slice(0, 64) },
          hops: index,
          traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        })
      )
      for (const envelope of sent) {
        yield* TestClock.adjust(7)
        yield* send(envelope)
      }
      const now = yield* Clock.currentTimeMillis
      const waiting = yield* pendingOf(ada)
      assert.deepEqual(
        waiting,
        sent.map((envelope, index) => ({
          ...envelope,
          lane: "mail",
          seq: waiting[index]?.seq,
          acceptedAt: now - (sent.length - 1 - index) * 7
        }))
      )
    })
  }
]

const acceptedIds = (address: Address, ...ids: ReadonlyArray<string>) =>
  Effect.map(
    Mailbox.use((mailbox) => mailbox.accepted(address, ids as ReadonlyArray<unknown> as ReadonlyArray<EnvelopeId>)),
    (rows) => rows.map(({ id }) => String(id))
  )

const readAgain: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I9.again",
    says: "what was accepted is read again under its id as it waited, and after it was handled",
    check: Effect.gen(function* () {
      yield* give(ada)
      yield* send(inLane.control("c-1"))
      yield* sendAll(ada, ["m-1", "m-2"])
      const waiting = yield* pendingOf(ada)
      const ids = waiting.map(({ id }) => id)
      assert.equal(ids.length, 3)
      const mailbox = yield* Mailbox
      assert.deepEqual(yield* mailbox.accepted(ada, ids), waiting)
      for (const _ of ids) yield* handleNext(ada)
      assert.deepEqual(yield* pendingIds(ada), [])
      assert.deepEqual(yield* mailbox.accepted(ada, ids), waiting)
      assert.deepEqual(yield* acceptedIds(ada, "m-2", "never", "c-1"), ["m-2", "c-1"])
      assert.deepEqual(yield* acceptedIds(ada), [])
    })
  },
  {
    id: "I9.apart",
    says: "what another assistant was sent is not read, though it has the same id",
    check: Effect.gen(function* () {
      const namesake = anAddress("ada", "quay")
      yield* Effect.forEach([ada, bob, namesake], (address) => give(address))
      yield* sendAll(bob, ["a"])
      yield* sendAll(namesake, ["a"])
      assert.deepEqual(yield* acceptedIds(ada, "a"), [])
      assert.deepEqual(yield* acceptedIds(anAddress("nobody"), "a"), [])
      const [found] = yield* Mailbox.use((mailbox) => mailbox.accepted(namesake, ["a" as EnvelopeId]))
      assert.ok(found !== undefined && "to" in found)
      assert.deepEqual({ ...found.to }, namesake)
    })
  }
]

const addressed: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I6.mail",
    says: "what one assistant is sent waits for no other, not even for its namesake of another tenant",
    check: Effect.gen(function* () {
      const namesake = anAddress("ada", "quay")
      const others = [bob, namesake, anAddress("Ada"), anAddress("ad"), anAddress("harbor", "ada")]
      yield* Effect.forEach([ada, ...others], (address) => give(address))
      yield* sendAll(ada, ["a", "b"])
      yield* sendAll(namesake, ["n"])
      assert.deepEqual(yield* pendingIds(ada), ["a", "b"])
      assert.deepEqual(yield* pendingIds(namesake), ["n"])
      for (const other of others) if (other !== namesake) assert.deepEqual(yield* pendingIds(other), [])
      yield* handleNext(namesake)
      assert.deepEqual(yield* pendingIds(ada), ["a", "b"])
    })
  },
  {
    id: "I7.planned",
    says: "where no one was created nothing is accepted and nothing can be claimed",
    check: Effect.gen(function* () {
      yield* give(ada)
      yield* refusedAt(bob)
      yield* refusedAt(anAddress("ada", "quay"))
      const claimed = yield* Effect.result(claimBy("worker-1", bob))
      assert.ok(Result.isFailure(claimed), "an assistant that was never created was claimed")
      assert.equal(claimed.failure._tag, "UnknownAssistant")
      assert.equal((yield* totals).accepted, 0)
      yield* give(bob)
      assert.deepEqual(yield* pendingIds(bob), [])
      assert.equal(yield* outcomeOf(anEnvelope({ id: "knock", to: bob })), "accepted")
    })
  },
  {
    id: "I7.retired",
    says: "a retired assistant is sent nothing more",
    check: Effect.gen(function* () {
      yield* give(ada)
      const { claim, version } = yield* claimBy("worker-1")
      yield* commitOn(claim, version, { state: { status: "retired", receives: [] }, entry: { status: "retired" } })
      yield* refusedAt(ada)
      assert.equal((yield* totals).accepted, 0)
    })
  }
]

const sent: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "I11.open",
    says: "what an assistant sent is accepted while its send is open, and no more when it is settled",
    check: Effect.gen(function* () {
      const { openSends, settleSends } = yield* Ledger
      const { accept } = yield* Mailbox
      yield* give(ada)
      yield* give(bob)
      const envelopes = ["s-1", "s-2", "s-3"].map((id) => anEnvelope({ id, to: bob }))
      yield* commitAll(ada, [{ entry: { sends: envelopes } }])
      const [first, second, third] = yield* openSends(10)
      assert.ok(first && second && third, "sends are missing")
      const outcomeFrom = ({ envelope, seq }: OpenSend) => Effect.map(accept(envelope, seq), ({ outcome }) => outcome)
      assert.equal(yield* outcomeFrom(first), "accepted")
      assert.equal(yield* outcomeFrom(first), "duplicate")
      yield* settleSends([first.seq, second.seq])
      assert.equal(yield* outcomeFrom(first), "duplicate")
      assert.equal(yield* outcomeFrom(second), "duplicate")
      assert.equal(yield* outcomeFrom(third), "accepted")
      assert.deepEqual(yield* pendingIds(bob), ["s-1", "s-3"])
      assert.equal((yield* totals).accepted, 2)
      // The same envelope is accepted where it comes by another way.
      assert.equal(yield* outcomeOf(second.envelope), "accepted")
      assert.deepEqual(yield* pendingIds(bob), ["s-1", "s-3", "s-2"])
    })
  }
]

export const mailLaws: ReadonlyArray<Law<Mailbox | Ledger>> = [
  ...acceptedOnce,
  ...kept,
  ...readAgain,
  ...addressed,
  ...sent
]
