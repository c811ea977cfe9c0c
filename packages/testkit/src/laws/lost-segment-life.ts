// LostSegmentLife: a life in two segments and some rows, one of which is lost afterwards.

import * as assert from "node:assert/strict"
import { zstdDecompressSync } from "node:zlib"
import type { Archive, SegmentPlace } from "@reverie/ledger"
import { LANES } from "@reverie/protocol"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { DataStore } from "../data-store.ts"
import { aMessage, anAddress, anEntry, anEnvelope } from "../fixtures.ts"
import { MemorySegmentPlace } from "../memory-segment-place.ts"
import { plainLife } from "../plain-life.ts"

export type Opened = Pick<DataStore, "bundles" | "ledger" | "mailbox"> & { readonly archive: Archive["Service"] }

/** One store, opened again and again, with its segments in a place or none. */
export class ApartStore extends Context.Service<
  ApartStore,
  { readonly open: (place?: SegmentPlace["Service"]) => Effect.Effect<Opened, unknown, Scope.Scope> }
>()("@reverie/testkit/apart-store") {}

export const ada = anAddress("ada")
export const WORD = "kestrel-9713"
export const ENTRIES = 1_000

export const readings = Effect.fnUntraced(function* ({ ledger, mailbox }: Opened) {
  return {
    entries: yield* ledger.entries(ada, 1, ENTRIES),
    outbox: yield* ledger.outbox(0, ENTRIES),
    totals: yield* ledger.totals,
    record: yield* ledger.inspect(ada),
    waiting: yield* mailbox.pending(ada, LANES, 10)
  }
})

export const FIRST = 20
export const SECOND = 40
export const LAST = 45
/** The entries of the second segment. */
export const SPAN = { from: FIRST + 1, to: SECOND }

/** A life in two segments and some rows; in both of them is the word, and in mail that waits. */
export const lived = Effect.fnUntraced(function* (attached: ReadonlyArray<string> = []) {
  const { open } = yield* ApartStore
  const place = new MemorySegmentPlace()
  const before = yield* Effect.scoped(
    Effect.gen(function* () {
      const store = yield* open(place.service)
      const digests = yield* store.ledger.blobs.keep(
        ada.tenant,
        attached.map((text) => new TextEncoder().encode(text))
      )
      yield* plainLife(store, 29)
      const { claim } = yield* store.mailbox.claim({ address: ada, worker: "w", leaseMillis: 60_000 })
      yield* store.mailbox.accept(anEnvelope({ id: "m31", to: ada, event: { type: "message", text: WORD } }))
      const [first] = yield* store.mailbox.pending(ada, ["mail"], 1)
      assert.ok(first)
      const parts = digests.map((digest) => ({ type: "file", mediaType: "text/plain", digest, bytes: 9 })) as never
      const entry = anEntry({
        no: 31,
        epoch: claim.epoch,
        cause: { kind: "envelope", lane: "mail", seq: first.seq, id: first.id },
        messages: [{ ...aMessage(WORD), ...(digests.length > 0 && { parts }) }],
        settled: [{ id: first.id, outcome: "handled" }]
      })
      const { state } = (yield* store.ledger.inspect(ada)) ?? assert.fail()
      yield* store.ledger.commit(claim, { entry, state })
      yield* store.mailbox.release(claim)
      yield* plainLife(store, LAST - 31, { from: 31 })
      yield* store.mailbox.accept(
        anEnvelope({ id: "waits", to: ada, event: { type: "message", text: `later ${WORD}` } })
      )
      yield* store.archive.archive(ada, FIRST, 1)
      yield* store.archive.archive(ada, SECOND, 1)
      return yield* readings(store)
    })
  )
  const [first = "", second = ""] = [...place.objects.keys()]
  const bytes = place.objects.get(second) ?? new Uint8Array()
  assert.strictEqual(place.objects.size, 2)
  return { before, bytes, first, open, place, second }
})

export const textIn = (place: MemorySegmentPlace): string =>
  [...place.objects.values()].map((bytes) => zstdDecompressSync(bytes).toString()).join("\n")

export const damaged = (bytes: Uint8Array): Uint8Array =>
  Uint8Array.from(bytes, (byte, index) => (index === 40 ? byte ^ 1 : byte))
