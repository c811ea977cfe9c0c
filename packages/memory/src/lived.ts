// Lived: something the assistant lived through, as memory reads it: a message or a journal entry.
// Owns the shape that both are brought to. Leaves bringing them to it to the runtime.

import type { Origin } from "./fact.ts"

export interface Lived {
  /** Entry id: `m/12/0` or `j/entry_3_0`. */
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Who said it, or "journal". */
  readonly speaker: string
  readonly text: string
  readonly origin: Origin
  /** How far it is believed; the origin's own trust when not said. */
  readonly trust?: number
  /** What it was given by hand or by a heuristic, 1 to 10. */
  readonly importance: number
}
