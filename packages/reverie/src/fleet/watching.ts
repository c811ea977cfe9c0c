// Watching: what assistants do and have done, as a page shows it: `fleet.history`, `fleet.outbox`, `fleet.monitor`.
// W1  A reading of one assistant reads as much of its life as it tells, however long that is.

import {
  Allowance,
  type AllowanceView,
  type AssistantRecord,
  Ledger,
  type LimitChanges,
  NOTHING_SPENT,
  type OutboxRow,
  type TenantLimits,
  type Totals
} from "@reverie/ledger"
import { SqliteStore, type WriterStats } from "@reverie/store-sqlite"
import { defined, type EnvelopeId, type Notice, noticesOf, type TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Limits, rowsOfTick } from "@reverie/runtime"
import { measured } from "../checks/metrics.ts"
import { BudgetRefused } from "../errors.ts"
import { flawOfLimits } from "../fleet-options.ts"
import { type Readiness, readiness } from "../checks/readiness.ts"
import type { Profile, Services } from "../opening/deployment.ts"
import { type ContextReport, contextReportOf } from "../views/context-report.ts"
import { type RetrievedMemory, retrievedOf } from "../views/retrieved.ts"
import { type LastError, lastErrorIn, usageSince, type UsageView } from "../views/usage.ts"
import { type WaitingDeadLetter, waitingFor } from "../views/mail-view.ts"
import { type TickView, tickViewOf } from "../timeline/tick-view.ts"
import { beginsTick, type Span, spansOf } from "../timeline/spans.ts"
import { lettersBy } from "./dead-letters.ts"
import { type Core, type History, newestFirst } from "./entry-source.ts"
import { letGoOn } from "./ordering.ts"
import { onRewritten } from "../forgetting/forgetting.ts"

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

/** One page of what an assistant has done. */
export interface TickPage {
  /** The newest first. */
  readonly ticks: ReadonlyArray<TickView>
  /** What `before` the next page has; null when this was the last. */
  readonly next: number | null
}

/** Which model call of an assistant is meant. */
export interface ContextQuestion {
  /** The newest one that has a report when left out. */
  readonly tick?: number
  /** The last one of the tick when left out. */
  readonly iteration?: number
}

/** `fleet.history`: what assistants have done. Each rejects with IdInvalid when the id can be none. */
export interface FleetHistory {
  /**
   * What an assistant has done, the newest first: ticks, and between them dreams, compactions and orders; 50 when no `limit`
   * is given, at most 500. `before` is the number of an entry, as `next` of the page before gave it.
   * @example const { ticks } = await fleet.history.ticks("desk", { limit: 10 })
   */
  readonly ticks: (id: string, page?: { readonly before?: number; readonly limit?: number }) => Promise<TickPage>
  /** One tick with its texts, each up to 100,000 characters; undefined when it has not begun. */
  readonly tick: (id: string, tick: number) => Promise<TickView | undefined>
  /** The ledger entries of an assistant from a number on (1 when left out), at most `limit` (100 when left out). */
  readonly entries: (id: string, from?: number, limit?: number) => Promise<ReadonlyArray<OutboxRow>>
  /** The ledger entries of an assistant, the newest first, read as far as they are asked for. */
  readonly newest: (id: string) => AsyncGenerator<OutboxRow>
  /** What waits for an assistant: control, then replies, then mail, the oldest first; at most 64 of a lane. */
  readonly mailbox: (id: string, limit?: number) => Promise<ReadonlyArray<WaitingDeadLetter>>
  /** What its model calls have used from the hour of a moment on, in milliseconds since the epoch; dreams are in it. */
  readonly usage: (id: string, sinceMillis: number) => Promise<UsageView>
  /** What went wrong last; undefined when nothing did lately. */
  readonly lastError: (id: string) => Promise<LastError | undefined>
  /** What the model was shown with one call, part by part, in tokens; undefined when there is no such call. */
  readonly contextReport: (id: string, question?: ContextQuestion) => Promise<ContextReport | undefined>
  /**
   * The memories that were retrieved with that call, each with its text as it stands now and how well it fit; empty when there is no
   * such call. Rejects with IdInvalid.
   * @example const memories = await fleet.history.retrieved("desk", { tick: 4 })
   */
  readonly retrieved: (id: string, question?: ContextQuestion) => Promise<ReadonlyArray<RetrievedMemory>>
}

/** Notices, and how far was read for them. */
export interface NoticePage {
  /** In the order of their commits. */
  readonly notices: ReadonlyArray<Notice>
  /** For the next page: its `after`. */
  readonly next: number
}

/** The readings of `fleet.outbox`. */
export interface OutboxReadings {
  /** Entries of every tenant after a position, in the one order of the store. */
  readonly read: (after: number, limit: number) => Promise<ReadonlyArray<OutboxRow>>
  /** The position of the newest entry of the store. */
  readonly end: () => Promise<number>
  /**
   * The notices of the tenant in at most so many entries of the store after a position; `next` is how far was read. There is
   * no more for now when it is `after`.
   * @example const { notices, next } = await fleet.outbox.notices(0, 100)
   */
  readonly notices: (after: number, limit: number) => Promise<NoticePage>
}

/** `fleet.outbox`: the ledger of all assistants, and what is committed to it. */
export interface FleetOutbox extends OutboxReadings {
  /** Listens to the notices of every tenant of the store; the caller keeps tenants apart. Returns how to stop. */
  readonly onEvery: (listener: (notice: Notice) => void) => () => void
  /**
   * Calls back when lives were rewritten in this process, of any tenant, because something was forgotten for good: anyone who keeps
   * what was read lets go of it. Returns how to stop.
   */
  readonly onRewritten: (listener: () => void) => () => void
}

export const openOutbox = (
  readings: OutboxReadings,
  hub: { readonly listen: FleetOutbox["onEvery"] }
): FleetOutbox => ({
  ...readings,
  onEvery: (listener) => hub.listen(listener),
  onRewritten: onRewritten(hub)
})

/** The readings of `fleet.monitor`. */
export interface MonitorReadings {
  /** Totals of the whole store, every tenant together. */
  readonly totals: () => Promise<Totals>
  /** What this tenant may use of models, and what it has used and reserved in the minute and the day (UTC) at hand. */
  readonly limits: () => Promise<LimitsView>
}

/** For `fleet.monitor.setLimits`: whole numbers of at least 0. What is not named stays; null takes back what was set. */
export type LimitsRequest = LimitChanges

/** The limits of a tenant, and how far they are used up. Without limits nothing is counted. */
export interface LimitsView extends AllowanceView {
  /** What holds: what was set (`set`), else what the program says (`defined`); empty where nothing is limited. */
  readonly limits: TenantLimits
  /** As the program says in `tenants`. */
  readonly defined: TenantLimits
}

/** `fleet.monitor`: figures of this process and of the whole store. No assistant is named in them. */
export interface FleetMonitor extends MonitorReadings {
  /**
   * Sets limits of this tenant, in the place of those of the program (`tenants`), from the next call of a model on, in every process of
   * the deployment and after a restart; null takes one back. Assistants whose calls wait for a limit that was raised, or taken back, try
   * again at once, wherever they are worked on. Rejects with BudgetRefused.
   * @example await fleet.monitor.setLimits({ costMicrosPerDay: 5_000_000, callsPerMinute: null })
   */
  readonly setLimits: (limits: LimitsRequest) => Promise<LimitsView>
  /** Whether anything can be accepted and worked on, of any tenant. Rejects where the store does not answer or write. */
  readonly readiness: () => Promise<Readiness>
  /**
   * What this process and its servers have measured, in the text format of Prometheus.
   * @example const text = await fleet.monitor.metrics()
   */
  readonly metrics: () => Promise<string>
  /** The other processes that work on the same store, by name; undefined when the queue can not say. */
  readonly otherWorkers: () => Promise<ReadonlyArray<string> | undefined>
  /** What has been written to the embedded store since it was opened; undefined on servers. */
  readonly writes: () => Promise<WriterStats | undefined>
}

const DEFAULT_TICKS = 50
const MAX_TICKS = 500
/** How much of a text is shown in a list, and of a tick that is opened. */
const LISTED_CHARS = 500
const OPENED_CHARS = 100_000

const historyOf = ({ entries }: Core, id: string, record: AssistantRecord | undefined): History => ({
  version: record?.version ?? 0,
  read: (from, limit) => entries(id, from, limit)
})

const contextReportsIn = (core: Core): FleetHistory["contextReport"] => {
  const newestReport = async (id: string): Promise<ContextReport | undefined> => {
    for await (const { entry } of core.newest(id)) {
      const report = contextReportOf(entry)
      if (report !== undefined) return report
    }
    return undefined
  }

  const contextReport: FleetHistory["contextReport"] = async (id, { iteration, tick } = {}) => {
    if (tick === undefined) {
      const report = await newestReport(id)
      if (report === undefined || iteration === undefined || report.iteration === iteration) return report
      return contextReport(id, { tick: report.tick, iteration })
    }
    const rows = await core.run(rowsOfTick(core.address(id), tick))
    const reports = rows.flatMap(({ entry }) => contextReportOf(entry) ?? [])
    return reports.findLast((report) => iteration === undefined || report.iteration === iteration)
  }

  return contextReport
}

export const historyIn = (core: Core): FleetHistory => {
  const { address, entries, inspect, newest, run } = core

  const views = async (id: string, spans: ReadonlyArray<Span>, maxChars: number): Promise<ReadonlyArray<TickView>> => {
    const ids = spans.flatMap((span) => beganWith(span) ?? [])
    const letters = await run(lettersBy(address(id), ids))
    return spans.map((span) => tickViewOf(span, letters.get(beganWith(span) ?? ""), { maxChars }))
  }

  const contextReport = contextReportsIn(core)

  return {
    ticks: async (id, { before, limit = DEFAULT_TICKS } = {}) => {
      const record = await inspect(id)
      const history = historyOf(core, id, record)
      const most = Math.max(1, Math.min(limit, MAX_TICKS))
      const { next, spans } = await spansBefore(history, before ?? history.version + 1, most)
      return { ticks: await views(id, spans, LISTED_CHARS), next }
    },
    tick: async (id, tick) => {
      const rows = await run(rowsOfTick(address(id), tick))
      const last = rows.at(-1)?.entry.no
      const [later] = last === undefined ? [] : await entries(id, last + 1, 1)
      const span = spansOf(rows, later?.entry).find(
        ({ rows: [first] }) => first !== undefined && beginsTick(first.entry)
      )
      if (span === undefined) return undefined
      const [view] = await views(id, [span], OPENED_CHARS)
      return view
    },
    entries,
    newest,
    mailbox: async (id, limit = 100) => run(waitingFor(address(id), limit)),
    usage: async (id, sinceMillis) => {
      const { assistant, tenant } = address(id)
      return run(usageSince(tenant, assistant, sinceMillis))
    },
    lastError: async (id) => lastErrorIn(newestFirst(historyOf(core, id, await inspect(id)))),
    contextReport,
    retrieved: async (id, question) => {
      const report = await contextReport(id, question)
      return report === undefined ? [] : retrievedOf(core, id, report)
    }
  }
}

export const outboxIn = ({ run, tenant }: Core): OutboxReadings => {
  const read: OutboxReadings["read"] = (after, limit) => run(Ledger.use((ledger) => ledger.outbox(after, limit)))
  return {
    read,
    end: () => run(Ledger.use((ledger) => ledger.outboxEnd)),
    notices: async (after, limit) => {
      const rows = await read(after, limit)
      const own = rows.filter(({ address }) => address.tenant === tenant)
      const notices = own.flatMap(({ address, entry, seq }) => noticesOf(address, seq, entry))
      return { notices, next: rows.at(-1)?.seq ?? after }
    }
  }
}

const limitsOf = Effect.fnUntraced(function* (tenant: TenantId) {
  const { of } = yield* Limits
  const allowance = Option.getOrUndefined(yield* Effect.serviceOption(Allowance))
  const unused: AllowanceView = { inMinute: NOTHING_SPENT, inDay: NOTHING_SPENT, underWay: 0, set: {} }
  const view = allowance === undefined ? unused : yield* allowance.look(tenant)
  const said = of(tenant) ?? {}
  return { limits: { ...said, ...view.set }, defined: said, ...view } satisfies LimitsView
})

/** Whether a limit that was named leaves no less room than before. The same one again tries once more. */
const mayGoOn = (request: LimitsRequest, before: TenantLimits, after: TenantLimits): boolean =>
  (Object.keys(defined(request)) as ReadonlyArray<keyof TenantLimits>).some(
    (name) => (after[name] ?? Infinity) >= (before[name] ?? Infinity)
  )

const setLimits = Effect.fnUntraced(function* (tenant: TenantId, request: LimitsRequest) {
  const flaw = flawOfLimits(request)
  if (flaw !== undefined) return yield* new BudgetRefused({ message: flaw })
  const allowance = Option.getOrUndefined(yield* Effect.serviceOption(Allowance))
  if (allowance === undefined) return yield* new BudgetRefused({ message: "the store keeps no account of tenants" })
  const before = yield* limitsOf(tenant)
  yield* allowance.limit(tenant, request)
  const after = yield* limitsOf(tenant)
  if (mayGoOn(request, before.limits, after.limits)) yield* letGoOn(tenant)
  return after
})

export const monitorIn = ({ run, tenant }: Core): MonitorReadings => ({
  totals: () => run(Ledger.use((ledger) => ledger.totals)),
  limits: () => run(limitsOf(tenant))
})

type RunWork = <A, E>(effect: Effect.Effect<A, E, Services>) => Promise<A>

export const openMonitor = (
  readings: MonitorReadings,
  profile: Profile,
  run: RunWork,
  tenant: TenantId
): FleetMonitor => ({
  setLimits: (limits) => run(setLimits(tenant, limits)),
  ...readings,
  readiness: () => run(readiness),
  metrics: () => run(Effect.zipWith(measured, profile.measured, (own, ofServers) => own + ofServers)),
  otherWorkers: () => run(profile.otherWorkers),
  writes: () =>
    run(
      Effect.flatMap(Effect.serviceOption(SqliteStore), (store) =>
        Option.isNone(store) ? Effect.undefined : store.value.stats
      )
    )
})
