// Row: an entry of a memory as the index keeps it and finds it.
// Owns the shapes. Leaves reading and writing to entries.ts.

import type { AttachedFact, MemoryEntry } from "@reverie/memory"
import type { Address } from "@reverie/protocol"

/** An entry as it is kept; `context` and `facts` are JSON too. */
export interface EntryRow {
  readonly key: number
  readonly doc: number
  readonly entry: string
  readonly context: string | null
  readonly facts: string | null
}

/** An entry with the facts attached to it. */
export interface Kept {
  readonly entry: MemoryEntry
  readonly facts: ReadonlyArray<AttachedFact>
}

export interface FoundEntry extends Kept {
  readonly key: number
  readonly owner: Address
}

/** Whose entries: the owner and the key of its group. */
export interface Owner {
  readonly address: Address
  readonly key: number
}
