// Recalled: what somebody asks of an assistant's memory, and what comes back.
// Owns the shape of both. Leaves finding to the runtime, and how an answer is worded to whoever asks.

import type { Hit, RecallScope, SearchKind } from "./recall.ts"
import type { MemoryKind } from "./entry.ts"

/** How a question may be asked. Every condition given must hold. */
export interface RecallOptions {
  /** auto, the default: hybrid where there is an embedder with vectors, else fts. */
  readonly mode?: SearchKind | "auto"
  /** "shared" when not said. */
  readonly scope?: RecallScope
  /** Most hits; 10 when not said. */
  readonly limit?: number
  /** All but profiles when not said. */
  readonly kinds?: ReadonlyArray<MemoryKind>
  /** Bounds of when it happened, inclusive, in milliseconds since the epoch. */
  readonly since?: number
  readonly until?: number
  readonly entities?: ReadonlyArray<string>
  readonly tags?: ReadonlyArray<string>
  readonly thread?: string
  readonly minTrust?: number
}

export const DEFAULT_RECALL_LIMIT = 10
export const MAX_RECALL_LIMIT = 100

export interface Recalled {
  /** The best first. */
  readonly hits: ReadonlyArray<Hit>
  /** How it was searched in fact. */
  readonly mode: SearchKind
  /** Why the answer may be poorer than usual, in one line; not there when it is not. */
  readonly degraded?: string
}
