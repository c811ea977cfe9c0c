// PlacedLife: a life of which most lies apart from its store, and what is looked at of it.

import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { zstdDecompressSync } from "node:zlib"
import { assert } from "@effect/vitest"
import { bundleOfParts, type SegmentPlace } from "@reverie/ledger"
import { openSqliteStore, type SqliteStore } from "@reverie/store-sqlite"
import { anAddress, type MemorySegmentPlace, plainLife } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"

export const ada = anAddress("ada")
export const WORD = "kestrel-9713"

export type Store = SqliteStore["Service"]

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
  yield* plainLife(store, 150)
  const before = yield* readingsOf(store)
  yield* store.archive.archive(ada, upTo)
  return { store, before }
})
