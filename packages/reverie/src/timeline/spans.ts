// Spans: the entries of one life, cut into what a person would call one thing.
// Owns where a tick, a dream, a compaction and an order begin and end. Leaves what is shown of each to tick-view.ts.
// S1  Whether an entry begins a tick is decided by that entry alone, so a life can be cut from its end.
// S2  What happens while a tick is in hand belongs to it, orders and compactions too.
// S3  Spans do not overlap, and follow one another as their entries do.

import { isTagged } from "@reverie/assistant"
import type { OutboxRow } from "@reverie/ledger"
import { type Entry, isJsonObject, type Json } from "@reverie/protocol"

/** What a stretch of the history is: a tick, a dream, a compaction or an order. */
export type SpanKind = "tick" | "dream" | "compaction" | "order"

export interface Span {
  readonly kind: SpanKind
  /** In their order; never empty. */
  readonly rows: ReadonlyArray<OutboxRow>
  /** When a night was over, whatever ended it. */
  readonly awokeAt?: number
}

interface Growing {
  readonly kind: SpanKind
  readonly rows: Array<OutboxRow>
  awokeAt?: number
}

const typeOf = (event: Json): Json | undefined => (isJsonObject(event) ? event["type"] : undefined)

const beginners: ReadonlySet<unknown> = new Set(["message", "timer", "sleep"])
const orders: ReadonlySet<unknown> = new Set(["halt", "resume", "retire", "delegate"])

export const beginsTick = ({ cause, event, settled = [] }: Entry): boolean =>
  cause.kind === "envelope" &&
  cause.lane === "mail" &&
  beginners.has(typeOf(event)) &&
  !settled.some(({ id, outcome }) => id === cause.id && outcome === "ignored")

/** Begins a compaction of its own, whatever went before. */
const isCompactionOrder = ({ event }: Entry): boolean => typeOf(event) === "compact"

const isOrder = ({ cause, event }: Entry): boolean => cause.kind === "envelope" && orders.has(typeOf(event))

const isAsleep = ({ status }: Entry): boolean => isTagged(status, "maintaining")

/** The kind of span that an entry outside a tick begins, or goes on with; undefined when it belongs to what was before. */
const kindOutside = (entry: Entry): SpanKind | undefined => {
  if (isOrder(entry)) return "order"
  if (entry.step?.kind === "compact" || isCompactionOrder(entry)) return "compaction"
  return entry.step?.kind === "dream" ? "dream" : undefined
}

class Cutter {
  readonly spans: Array<Growing> = []
  #inTick = false
  #night: Growing | undefined

  take(row: OutboxRow): void {
    const { entry } = row
    this.awake(entry)
    if (beginsTick(entry)) {
      const isNight = entry.tickEnd?.outcome === "slept"
      this.#begin(isNight ? "dream" : "tick", row)
      this.#inTick = entry.tickEnd === undefined
      return
    }
    const last = this.spans.at(-1)
    if (this.#inTick) {
      last?.rows.push(row)
      this.#inTick = entry.tickEnd === undefined
      return
    }
    const kind = kindOutside(entry)
    if (kind === undefined) {
      if (last?.kind === "dream") last.rows.push(row)
    } else if (kind === last?.kind && kind !== "order" && !isCompactionOrder(entry)) last.rows.push(row)
    else this.#begin(kind, row)
  }

  /** Notes the end of the night when this entry is after it. */
  awake(entry: Entry): void {
    if (this.#night === undefined || isAsleep(entry)) return
    this.#night.awokeAt = entry.at
    this.#night = undefined
  }

  #begin(kind: SpanKind, row: OutboxRow): void {
    const span: Growing = { kind, rows: [row] }
    this.spans.push(span)
    if (kind === "dream") this.#night = span
  }
}

/** The spans of entries that follow one another, the oldest first. `later` is the entry after the last of them. */
export const spansOf = (rows: ReadonlyArray<OutboxRow>, later?: Entry): ReadonlyArray<Span> => {
  const cutter = new Cutter()
  for (const row of rows) cutter.take(row)
  if (later !== undefined) cutter.awake(later)
  return cutter.spans
}
