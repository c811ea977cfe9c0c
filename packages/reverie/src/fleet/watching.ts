// Watching: what an assistant does and has done, as a page shows it.
// Owns the readings of ticks, approvals, dreams, dead letters and use, as promises. Leaves plain records to records.ts.
// W1  A reading of one assistant reads as much of its life as it tells, however long that is.

import type { AssistantContext } from "@reverie/assistant"
import type { AssistantRecord, Ledger, OutboxRow } from "@reverie/ledger"
import type { Mailbox } from "@reverie/mailbox"
import type { AcceptedEnvelope, Address, EnvelopeId, RecordKind, RecordRow, TenantId } from "@reverie/protocol"
import { type DreamReport, isDreamReport } from "@reverie/runtime"
import type * as Effect from "effect/Effect"
import { type ApprovalAsked, asksIn, chainOf, type Requester } from "./approvals.ts"
import { deadLettersOf, type DeadLetterView, lettersBy } from "./dead-letters.ts"
import { entriesOfTick, type History, newestFirst } from "../views/history.ts"
import { contextIn } from "./sub-agents.ts"
import { priceFor, type TickView, tickViewOf } from "../timeline/tick-view.ts"
import { beginsTick, type Span, spansOf } from "../timeline/spans.ts"
import { type LastError, lastErrorIn, usageIn, type UsageView } from "../views/usage.ts"

// Ticks: the life of one assistant, the newest first, page by page.
// T1  Pages that follow one another tell every span once, whatever is committed in between.
// T2  A page reads what it tells and at most one span more, however long the life.

/** Entries without the beginning of a tick that are looked at in one piece: what is overheard may go on for years. */
const MAX_PIECE = 2_000

interface SpanPage {
  /** The newest first. */
  readonly spans: ReadonlyArray<Span>
  /** Where the next page begins: before the entry with this number; null when there is nothing before. */
  readonly next: number | null
}

const firstOf = ({ rows }: Span): number => rows[0]?.entry.no ?? 1

/** At most so many spans of entries before the given number. */
export const spansBefore = async (history: History, before: number, limit: number): Promise<SpanPage> => {
  const spans: Array<Span> = []
  const version = Math.min(history.version, before - 1)
  let piece: Array<OutboxRow> = []
  let [later] = before <= history.version ? await history.read(before, 1) : []
  for await (const row of newestFirst({ ...history, version })) {
    piece.push(row)
    const { entry } = row
    if (!beginsTick(entry) && entry.no > 1 && piece.length < MAX_PIECE) continue
    spans.push(...spansOf(piece.toReversed(), later?.entry).toReversed())
    if (spans.length >= limit) break
    later = row
    piece = []
  }
  const told = spans.slice(0, limit)
  const last = told.at(-1)
  return { spans: told, next: last === undefined || told.length < limit || firstOf(last) <= 1 ? null : firstOf(last) }
}

/** The envelope that began a span. */
const beganWith = ({ rows }: Span): EnvelopeId | undefined => {
  const cause = rows[0]?.entry.cause
  return cause?.kind === "envelope" ? cause.id : undefined
}

export type RunReading = <A, E>(reading: Effect.Effect<A, E, Ledger | Mailbox>) => Promise<A>

export interface TickPage {
  /** The newest first. */
  readonly ticks: ReadonlyArray<TickView>
  /** What `before` the next page has; null when this was the last. */
  readonly next: number | null
}

const PAGE = 500
const DEFAULT_TICKS = 50
const MAX_TICKS = 500
/** How much of a text is told in a list, and of a tick that is opened. */
const LISTED_CHARS = 500
const OPENED_CHARS = 100_000

/** Only a state in which a call was asked for holds one: everybody else is passed over unread. */
const mayAsk = ({ state }: AssistantRecord): boolean => JSON.stringify(state.snapshot).includes('"asking"')

export abstract class Watching {
  readonly tenant: TenantId
  readonly #run: RunReading

  constructor(run: RunReading, tenant: TenantId) {
    this.#run = run
    this.tenant = tenant
  }

  abstract address(id: string): Address
  abstract inspect(id: string): Promise<AssistantRecord | undefined>
  abstract list(after?: string, limit?: number): Promise<ReadonlyArray<AssistantRecord>>
  abstract entries(id: string, from?: number, limit?: number): Promise<ReadonlyArray<OutboxRow>>
  abstract records(id: string, kinds?: ReadonlyArray<RecordKind>): Promise<ReadonlyArray<RecordRow>>

  /**
   * What an assistant has done, the newest first: ticks, and between them dreams, compactions and orders. `before` is the
   * number of an entry, as `next` of the page before told it.
   */
  async ticks(
    id: string,
    { before, limit = DEFAULT_TICKS }: { readonly before?: number; readonly limit?: number } = {}
  ): Promise<TickPage> {
    const record = await this.inspect(id)
    const history = this.#historyOf(id, record)
    const most = Math.max(1, Math.min(limit, MAX_TICKS))
    const { next, spans } = await spansBefore(history, before ?? history.version + 1, most)
    return { ticks: await this.#views(id, record, spans, LISTED_CHARS), next }
  }

  /** One tick with its texts, each up to 100,000 characters; undefined when it has not begun. */
  async tick(id: string, tick: number): Promise<TickView | undefined> {
    const record = await this.inspect(id)
    const history = this.#historyOf(id, record)
    const rows = await entriesOfTick(history, tick)
    const last = rows.at(-1)?.entry.no
    const [later] = last === undefined ? [] : await history.read(last + 1, 1)
    const span = spansOf(rows, later?.entry).find(({ rows: [first] }) => first !== undefined && beginsTick(first.entry))
    if (span === undefined) return undefined
    const [view] = await this.#views(id, record, [span], OPENED_CHARS)
    return view
  }

  /** The approvals that an assistant asks for, with what exactly would run and who wanted it. */
  async approvals(id: string): Promise<ReadonlyArray<ApprovalAsked>> {
    const record = await this.inspect(id)
    const context = contextIn(record)
    if (record === undefined || context === undefined || !mayAsk(record)) return []
    const rows = await entriesOfTick(this.#historyOf(id, record), context.tick)
    return asksIn(record, context, rows, await this.#chain(id, context))
  }

  /** Every open approval of the tenant, the oldest first. */
  async allApprovals(): Promise<ReadonlyArray<ApprovalAsked>> {
    const all: Array<ApprovalAsked> = []
    let after: string | undefined
    while (true) {
      const page = await this.list(after, PAGE)
      for (const record of page) if (mayAsk(record)) all.push(...(await this.approvals(record.address.assistant)))
      after = page.at(-1)?.address.assistant
      if (page.length < PAGE) return all.toSorted((a, b) => a.askedAt - b.askedAt)
    }
  }

  /** Reports of an assistant's dreams, the newest first; one that can not be read is left out. */
  async dreams(id: string): Promise<ReadonlyArray<DreamReport>> {
    const rows = await this.records(id, ["dream"])
    return rows
      .flatMap(({ value }) => (isDreamReport(value) ? [value] : []))
      .toSorted((a, b) => b.ended_at - a.ended_at)
  }

  /** What of the tenant's was dead-lettered, the newest first, with what stood in it. */
  deadLetters(limit: number = 100): Promise<ReadonlyArray<DeadLetterView>> {
    return this.#run(deadLettersOf(this.tenant, limit))
  }

  /** What the model calls of an assistant have used since a moment, in milliseconds since the epoch; dreams are in it. */
  async usage(id: string, sinceMillis: number): Promise<UsageView> {
    const record = await this.inspect(id)
    const price = await this.#run(priceFor(contextIn(record)))
    return usageIn(newestFirst(this.#historyOf(id, record)), sinceMillis, price)
  }

  /** What went wrong last, as far back as is looked. */
  async lastError(id: string): Promise<LastError | undefined> {
    return lastErrorIn(newestFirst(this.#historyOf(id, await this.inspect(id))))
  }

  #historyOf(id: string, record: AssistantRecord | undefined): History {
    return { version: record?.version ?? 0, read: (from, limit) => this.entries(id, from, limit) }
  }

  #letters(id: string, ids: ReadonlyArray<EnvelopeId>): Promise<ReadonlyMap<string, AcceptedEnvelope>> {
    return this.#run(lettersBy(this.address(id), ids))
  }

  async #views(
    id: string,
    record: AssistantRecord | undefined,
    spans: ReadonlyArray<Span>,
    maxChars: number
  ): Promise<ReadonlyArray<TickView>> {
    const letters = await this.#letters(
      id,
      spans.flatMap((span) => beganWith(span) ?? [])
    )
    const price = await this.#run(priceFor(contextIn(record)))
    return spans.map((span) => tickViewOf(span, letters.get(beganWith(span) ?? ""), { maxChars, price }))
  }

  #chain(id: string, context: AssistantContext): Promise<ReadonlyArray<Requester>> {
    const history = async (each: string) => this.#historyOf(each, await this.inspect(each))
    return chainOf(
      {
        context: async (each) => contextIn(await this.inspect(each)),
        entriesOfTick: async (each, tick) => entriesOfTick(await history(each), tick),
        newest: (each) => this.#newestOf(each),
        letter: async (each, envelope) => (await this.#letters(each, [envelope as EnvelopeId])).get(envelope)
      },
      id,
      context
    )
  }

  async *#newestOf(id: string): AsyncGenerator<OutboxRow> {
    yield* newestFirst(this.#historyOf(id, await this.inspect(id)))
  }
}
