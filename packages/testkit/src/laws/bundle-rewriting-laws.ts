// Bundle rewriting laws: what is taken out of a life is gone, and the rest of the store stands as it stood (ledger, bundles R9).

import * as assert from "node:assert/strict"
import { type Bundle, type BundlePart, type BundlePlace, Bundles, digestOf, Ledger } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import { type Address, type Json, LANES } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { anAddress, anEnvelope } from "../fixtures.ts"
import type { DataStores } from "../data-store.ts"
import type { Law } from "../law.ts"
import {
  blobsOf,
  everything,
  furnish,
  harbor,
  mover,
  namesake,
  neighbour,
  packed,
  packedTenant,
  refusedAs,
  toldOf,
  toldOfTenant,
  twoDataStores,
  unpack
} from "./bundle-steps.ts"
import { claimBy, commitOn, dueNow, release, send } from "./steps.ts"

const rewrite = (change: (there: Bundle) => Bundle, ...places: ReadonlyArray<BundlePlace>) =>
  Bundles.use((bundles) => bundles.rewrite(places, change))

const HIDDEN = "(gone)"

/** Every text that holds the word becomes another one. */
const hiding =
  (word: string) =>
  (value: Json): Json => {
    if (typeof value === "string") return value.includes(word) ? HIDDEN : value
    if (Array.isArray(value)) return (value as ReadonlyArray<Json>).map(hiding(word))
    if (value === null || typeof value !== "object") return value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, hiding(word)(member)]))
  }

const without =
  (word: string) =>
  ({ head, parts }: Bundle): Bundle => ({
    head,
    parts: parts.map((part) => hiding(word)(part as unknown as Json) as unknown as BundlePart)
  })

/** A life of one entry that keeps nothing. */
const emptied = ({ head, parts }: Bundle): Bundle => {
  if (head.kind === "tenant") return { head, parts: [] }
  const first = parts.find(({ kind }) => kind === "entry")
  assert.ok(first)
  const state = { ...head.state, snapshot: {}, jobs: [], timers: [], receives: LANES, status: "retired" }
  return { head: { ...head, version: 1, handled: { control: 0, reply: 0, mail: 0 }, state }, parts: [first] }
}

const numbersOf = (address: Address) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger
    const record = yield* ledger.inspect(address)
    return {
      entries: (yield* ledger.entries(address, 1, 1_000)).map(({ entry, seq }) => [seq, entry.no]),
      end: yield* ledger.outboxEnd,
      cursors: record?.cursors,
      waiting: record?.waiting,
      version: record?.version,
      pending: yield* Effect.forEach(LANES, (lane) =>
        Mailbox.use((mailbox) => Effect.map(mailbox.pending(address, [lane], 64), (rows) => rows.map(({ seq }) => seq)))
      ),
      usage: yield* ledger.usage({ ...address, by: ["hour", "model", "purpose"], limit: 1_000 }),
      totals: yield* ledger.totals
    }
  })

const WORD = "second"

const inPlace: ReadonlyArray<Law<DataStores>> = [
  {
    id: "R9.change",
    says: "a rewritten life reads as the change made it, and its numbers and places are those of before",
    check: Effect.gen(function* () {
      const { old } = yield* twoDataStores
      const before = yield* old(packed(mover))
      const numbers = yield* old(numbersOf(mover))
      const [made] = yield* old(rewrite(without("done"), mover))
      assert.notDeepEqual(made?.parts, before.parts)
      assert.deepEqual(yield* old(numbersOf(mover)), numbers)
      const after = yield* old(packed(mover))
      assert.deepEqual(after.parts, made?.parts)
    })
  },
  {
    id: "R9.nothing",
    says: "a change that changes nothing leaves everything as it was, but for the epoch",
    check: Effect.gen(function* () {
      const { old } = yield* twoDataStores
      yield* old(furnish(harbor))
      const before = yield* old(everything(mover, neighbour, namesake))
      const numbers = yield* old(numbersOf(mover))
      yield* old(rewrite((there) => there, mover, { tenant: harbor }))
      assert.deepEqual(yield* old(everything(mover, neighbour, namesake)), before)
      assert.deepEqual(yield* old(numbersOf(mover)), numbers)
    })
  },
  {
    id: "R9.fenced",
    says: "a claim of before writes nothing after it, and the one who was held is due and claimed anew",
    check: Effect.gen(function* () {
      const { claim, old } = yield* twoDataStores
      yield* old(rewrite((there) => there, mover))
      const outcome = yield* Effect.result(old(commitOn(claim, 5)))
      assert.ok(Result.isFailure(outcome), "a claim of before wrote")
      assert.equal(outcome.failure._tag, "CommitFenced")
      assert.ok((yield* old(dueNow())).some(({ assistant, tenant }) => assistant === "ada" && tenant === "harbor"))
      const hold = yield* old(claimBy("worker-2", mover))
      assert.ok(hold.claim.epoch > claim.epoch, `epoch ${hold.claim.epoch} after ${claim.epoch}`)
      yield* old(commitOn(hold.claim, 5))
    })
  }
]

const emptying: ReadonlyArray<Law<DataStores>> = [
  {
    id: "R9.empty",
    says: "of an emptied life nothing is read any more but its entry and its sums of use; nothing of it waits",
    check: Effect.gen(function* () {
      const { claim, old } = yield* twoDataStores
      yield* old(release(claim))
      const before = yield* old(toldOf(mover))
      const [made] = yield* old(rewrite(emptied, mover))
      assert.equal(made?.parts.length, 1)
      const after = yield* old(toldOf(mover))
      assert.deepEqual(after.usage, before.usage)
      assert.deepEqual(after.entries, before.entries.slice(0, 1))
      assert.deepEqual(after.outbox, before.outbox.slice(0, 1))
      const left = [after.records, after.sends, after.deadLetters, after.pending.flat(), after.blocks, after.recent]
      assert.deepEqual(left, [[], [], [], [], [], []])
      assert.deepEqual(after.blobs, [undefined, undefined])
      const waiting = yield* old(
        Effect.map(
          Ledger.use((ledger) => ledger.inspect(neighbour)),
          (other) => other?.waiting
        )
      )
      const others = yield* old(
        Effect.map(
          Ledger.use((ledger) => ledger.inspect(namesake)),
          (other) => other?.waiting
        )
      )
      const { accepted, dead, settled } = yield* old(Ledger.use((ledger) => ledger.totals))
      assert.equal(accepted - settled - dead, (waiting ?? 0) + (others ?? 0))
      assert.deepEqual((yield* old(packed(mover))).parts, made?.parts)
    })
  },
  {
    id: "R9.on",
    says: "the store goes on after the newest of all was emptied: what is accepted and committed then comes behind what was",
    check: Effect.gen(function* () {
      const { old } = yield* twoDataStores
      const end = yield* old(Ledger.use((ledger) => ledger.outboxEnd))
      const { accepted } = yield* old(Ledger.use((ledger) => ledger.totals))
      yield* old(rewrite(emptied, mover))
      const { accepted: kept, dead, settled } = yield* old(Ledger.use((ledger) => ledger.totals))
      assert.ok(kept <= accepted)
      yield* old(send(anEnvelope({ id: "after", to: neighbour })))
      const totals = yield* old(Ledger.use((ledger) => ledger.totals))
      assert.deepEqual([totals.accepted, totals.settled, totals.dead], [kept + 1, settled, dead])
      const rows = yield* old(Ledger.use((ledger) => ledger.outbox(0, 10_000)))
      assert.ok(rows.every(({ seq }) => seq <= end))
      yield* old(rewrite((there) => there, neighbour))
      const { claim } = yield* old(claimBy("worker-2", neighbour))
      const version = (yield* old(Ledger.use((ledger) => ledger.inspect(neighbour))))?.version ?? 0
      assert.ok((yield* old(commitOn(claim, version))) > end, "a commit came before what was")
      assert.ok(rows.every(({ address }) => address.assistant !== ""))
    })
  },
  {
    id: "R9.tenant",
    says: "what a tenant has besides its assistants goes with them, all at once, and nothing of another tenant",
    check: Effect.gen(function* () {
      const { old } = yield* twoDataStores
      yield* old(furnish(harbor))
      const before = yield* old(toldOf(namesake))
      yield* old(rewrite(emptied, mover, neighbour, { tenant: harbor }))
      assert.deepEqual((yield* old(packedTenant(harbor))).parts, [])
      const { components, gone, greeting, templates } = yield* old(toldOfTenant(harbor))
      assert.deepEqual([components, gone, greeting, templates], [[], [], [], []])
      assert.deepEqual(yield* old(toldOf(namesake)), before)
    })
  }
]

const whole: ReadonlyArray<Law<DataStores>> = [
  {
    id: "R9.apart",
    says: "another assistant keeps everything, bytes that both refer to among it",
    check: Effect.gen(function* () {
      const { old } = yield* twoDataStores
      const [shared] = blobsOf(mover)
      assert.ok(shared)
      const part = {
        type: "file",
        digest: digestOf(shared),
        mediaType: "application/pdf",
        bytes: shared.length
      } as const
      const letter = anEnvelope({ id: "the same", to: neighbour, event: { type: "message", text: "", parts: [part] } })
      yield* old(send(letter))
      const before = yield* old(Effect.forEach([neighbour, namesake], toldOf))
      yield* old(rewrite(emptied, mover))
      assert.deepEqual(yield* old(Effect.forEach([neighbour, namesake], toldOf)), before)
      const read = (bytes: Uint8Array) => Ledger.use((ledger) => ledger.blobs.read(harbor, digestOf(bytes)))
      assert.deepEqual(yield* old(read(shared)), shared)
      assert.equal(yield* old(read(blobsOf(mover)[1] ?? shared)), undefined)
    })
  },
  {
    id: "R9.broken",
    says: "what is no whole bundle, grows or becomes another is refused; of several then none is changed",
    check: Effect.gen(function* () {
      const { old } = yield* twoDataStores
      const before = yield* old(everything(mover, neighbour))
      const only = (address: Address, change: (there: Bundle) => Bundle) => (there: Bundle) =>
        there.head.kind === "assistant" && there.head.address.assistant === address.assistant
          ? change(there)
          : emptied(there)
      const changes: ReadonlyArray<(there: Bundle) => Bundle> = [
        ({ head, parts }) => ({ head, parts: parts.filter(({ kind }) => kind !== "entry") }),
        ({ head, parts }) => ({ head, parts: [...parts, ...parts.filter(({ kind }) => kind === "dead-letter")] }),
        ({ head, parts }) => ({ head: { ...head, address: neighbour } as Bundle["head"], parts })
      ]
      for (const change of changes) {
        refusedAs(yield* Effect.result(old(rewrite(only(mover, change), neighbour, mover))), "broken")
      }
      refusedAs(yield* Effect.result(old(rewrite(emptied, mover, anAddress("nobody", "harbor")))), "unknown")
      assert.deepEqual(yield* old(everything(mover, neighbour)), before)
    })
  },
  {
    id: "R9.moves",
    says: "who was rewritten moves to another data store as it stands",
    check: Effect.gen(function* () {
      const { fresh, old } = yield* twoDataStores
      yield* old(rewrite(without(WORD), mover))
      const bundle = yield* old(packed(mover))
      assert.equal(yield* fresh(unpack(bundle)), "unpacked")
      assert.deepEqual((yield* fresh(packed(mover))).parts, bundle.parts)
    })
  }
]

export const bundleRewritingLaws: ReadonlyArray<Law<DataStores>> = [...inPlace, ...emptying, ...whole]
