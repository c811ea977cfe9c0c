// Documents: those that were read of late.
// Owns reading a document from its rows, keeping it in memory, and letting the one go that no one asked for longest (F93).
// C1  Never more than `capacity` documents are in memory; which ones changes nothing but time.
// C2  A document that is being changed is not among them: it comes back when its change is kept, or never.

import { defined, type TenantId } from "@reverie/protocol"
import * as Result from "effect/Result"
import type { BlockUnreadable } from "../../errors.ts"
import type { KeptBlock } from "../block-store.ts"
import { type Loro, StructuredDocument } from "./document.ts"
import type { BlockLooks } from "../rows.ts"

const DEFAULT_DOCUMENTS = 64

interface Held {
  readonly version: number
  readonly remade: number
  readonly document: StructuredDocument
}

export class Documents {
  readonly #capacity: number
  /** The one asked for longest ago comes first. */
  readonly #held = new Map<string, Held>()

  constructor(capacity: number = DEFAULT_DOCUMENTS) {
    this.#capacity = Math.max(0, Math.trunc(capacity))
  }

  get size(): number {
    return this.#held.size
  }

  /** Takes it out of the cache, or reads it: the caller owns it until it is put back. */
  take(
    loro: Loro,
    rows: BlockLooks,
    tenant: TenantId,
    { id, label, place, remade = 0, schema, snapshot, version }: KeptBlock
  ): Result.Result<StructuredDocument, BlockUnreadable> {
    const held = this.#held.get(id)
    this.#held.delete(id)
    if (held?.version === version && held.remade === remade) {
      held.document.schema = schema
      return Result.succeed(held.document)
    }
    held?.document.free()
    const whole = snapshot.version === 0 ? undefined : rows.snapshot(tenant, id)
    return StructuredDocument.load(loro, label, schema, {
      ...defined({ snapshot: whole }),
      place,
      patches: rows.patches(tenant, id, whole === undefined ? 0 : snapshot.version)
    })
  }

  /** `remade`: how often words were taken out of the block. */
  keep(id: string, version: number, document: StructuredDocument, remade: number = 0): void {
    this.#held.set(id, { version, remade, document })
    for (const [oldest, { document: idle }] of this.#held) {
      if (this.#held.size <= this.#capacity) return
      this.#held.delete(oldest)
      idle.free()
    }
  }

  drop(id: string): void {
    this.#held.get(id)?.document.free()
    this.#held.delete(id)
  }
}
