// Loro: the library that documents are made of, loaded when the first document is.
// Owns loading it, and the numbers under which it knows writers. Leaves what is done with it to `document.ts`.
// L1  Reading blocks, their texts included, never loads it: a process without changes of blocks does without its WASM.
// L2  A writer's number follows from names: nothing here is left to chance, and no two writers have the same one.

import { createHash } from "node:crypto"
import * as Effect from "effect/Effect"
import type * as Library from "loro-crdt"

export type Loro = typeof Library

export const loadLoro: Effect.Effect<Loro> = Effect.promise(() => import("loro-crdt"))

/** The number of a writer, as the library takes it. */
export const peerOf = (...names: ReadonlyArray<string>): `${number}` => {
  const digest = createHash("sha256").update(JSON.stringify(names)).digest()
  // The greatest number of 64 bits means nobody.
  return `${digest.readBigUInt64BE(0) >> 1n}` as `${number}`
}
