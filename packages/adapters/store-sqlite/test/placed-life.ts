// PlacedLife: a life of which most lies apart from its store, and what is looked at of it.

import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { zstdDecompressSync } from "node:zlib"
import { assert } from "@effect/vitest"
import { bundleOfParts, type SegmentPlace } from "@reverie/ledger"
import { openSqliteStore, type SqliteStore } from "@reverie/store-sqlite"
import { aMessage, anAddress, anEntry, anEnvelope, aState, type MemorySegmentPlace } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"

export const ada = anAddress("ada")
export const WORD = "kestrel-9713"

export type Store = SqliteStore["Service"]

export const lived = Effect.fnUntraced(function* ({ ledger, mailbox }: Store, messages: number, from = 1) {
  if (from === 1) yield* ledger.create({ address: ada, state: aState(), entry: anEntry() })
  const { claim } = yield* mailbox.claim({ address: ada, worker: "w", leaseMillis: 60_000 })
  for (let no = from + 1; no <= from + messages; no++) {
    const text = no === 9 ? `it was the ${WORD}` : `message ${no}`
    yield* mailbox.accept(anEnvelope({ id: `m${no}`, to: ada, event: { type: "message", text } }))
    const [first] = yield* mailbox.pending(ada, ["mail"], 1)
    assert.ok(first)
    const entry = anEntry({
      no,
      epoch: claim.epoch,
      cause: { kind: "envelope", lane: "mail", seq: first.seq, id: first.id },
      messages: [aMessage(text)],
      settled: [{ id: first.id, outcome: "handled" }]
    })
    yield* ledger.commit(claim, { entry, state: aState() })
  }
  yield* mailbox.release(claim)
})

export const readingsOf = Effect.fnUntraced(function* ({ bundles, ledger }: Store) {
  return {
    entries: yield* ledger.entries(ada, 1, 1_000),
    outbox: yield* ledger.outbox(0, 1_000),
    recent: yield* ledger.recent(ada, 1_000_000),
    bundle: bundleOfParts(yield* Stream.runCollect(bundles.pack(ada)))
  }
})

export const failureOf = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.result(effect), (outcome) => {
    assert.ok(Result.isFailure(outcome), "it did not fail")
    return outcome.failure as { readonly _tag: string; readonly message: string; readonly recovery?: string }
  })

export const keysNoted = (data: string): ReadonlyArray<string> => {
  const database = new DatabaseSync(join(data, "reverie.db"), { readOnly: true })
  const rows = database.prepare("SELECT key FROM segment_keys").all()
  database.close()
  return rows.map(({ key }) => String(key))
}

export const textIn = (place: MemorySegmentPlace): string =>
  [...place.objects.values()].map((bytes) => zstdDecompressSync(bytes).toString()).join("\n")

/** A life of which most lies apart. */
export const settled = Effect.fnUntraced(function* (data: string, place: SegmentPlace["Service"], upTo = 140) {
  const store = yield* openSqliteStore(data, { segments: place })
  yield* lived(store, 150)
  const before = yield* readingsOf(store)
  yield* store.archive.archive(ada, upTo)
  return { store, before }
})
