// Records: what is stored of assistants, for whoever only reads.
// Owns the readings as promises. Leaves what a page shows of a life to watching.ts, writing to the fleet.
// R1  A reading changes nothing and waits for nobody's claim.
// R2  A reading tells of this tenant only; `outbox`, `outboxEnd` and `tally` are of the whole store, and say so.

import { type Compaction, type HistoryStart, historyStartOf } from "@reverie/context"
import type { EntityProfile, Fact, Passage, Recalled, RecallOptions } from "@reverie/memory"
import { type AssistantRecord, Ledger, type OutboxRow, type Totals } from "@reverie/ledger"
import {
  type Address,
  AssistantId,
  type Notice,
  noticesOf,
  type PlacedMessage,
  type RecordKind,
  recordKinds,
  type RecordRow,
  type TenantId
} from "@reverie/protocol"
import {
  readCompactions,
  readPast,
  recallFor,
  type ReplayFrame,
  type ReplayRange,
  type ReplayVerdict
} from "@reverie/runtime"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type ContextReport, contextReportOf } from "../views/context-report.ts"
import { ID_FORM } from "../define-assistant.ts"
import { IdInvalid } from "../errors.ts"
import { type TickSource, tickSourceOf } from "../forking/tick-source.ts"
import { entriesOfTick, type History, newestFirst } from "../views/history.ts"
import { type WaitingDeadLetter, waitingFor } from "../views/mail-view.ts"
import { factsIn, passagesIn, profilesIn, rebuilt, type Rebuilt } from "./memories.ts"
import { type FramePage, framePageOf, replayOf, verdictOf } from "./replay.ts"
import { tenantPage } from "../views/tenant-page.ts"
import { type AssistantView, viewOf } from "../views/view.ts"
import { type SubAgentsView, subAgentTreeOf } from "./sub-agents.ts"
import { type RunReading, Watching } from "./watching.ts"

const PAGE = 500

const decodeId = Schema.decodeUnknownOption(AssistantId)

export type { RunReading }

export interface ContextQuestion {
  /** The newest one that has a report when not said. */
  readonly tick?: number
  /** The last one of the tick when not said. */
  readonly iteration?: number
}

/** Notices, and how far was read for them. */
export interface NoticePage {
  readonly notices: ReadonlyArray<Notice>
  readonly next: number
}

export class Records extends Watching {
  readonly #run: RunReading

  constructor(run: RunReading, tenant: TenantId) {
    super(run, tenant)
    this.#run = run
  }

  /** What is stored of an assistant; undefined when there is none. */
  inspect(id: string): Promise<AssistantRecord | undefined> {
    return this.#run(Ledger.use((ledger) => ledger.inspect(this.address(id))))
  }

  /** The assistants of the tenant in the order of their ids, after the given one. */
  async list(after?: string, limit: number = 100): Promise<ReadonlyArray<AssistantRecord>> {
    const last = after === undefined ? undefined : this.address(after).assistant
    return this.#run(tenantPage(this.tenant, last, limit))
  }

  /** Every assistant of the tenant, as a person wants to see it, in the order of their ids. */
  async views(): Promise<ReadonlyArray<AssistantView>> {
    const views: Array<AssistantView> = []
    let after: string | undefined
    while (true) {
      const page = await this.list(after, PAGE)
      views.push(...page.map(viewOf))
      after = page.at(-1)?.address.assistant
      if (page.length < PAGE) return views
    }
  }

  entries(id: string, from: number = 1, limit: number = 100): Promise<ReadonlyArray<OutboxRow>> {
    return this.#run(Ledger.use((ledger) => ledger.entries(this.address(id), from, limit)))
  }

  /** The entries of an assistant, the newest first, read as far as they are asked for. */
  async *newest(id: string): AsyncGenerator<OutboxRow> {
    yield* newestFirst(await this.#history(id))
  }

  /** What an assistant keeps about itself and its work; everything when no kinds are named. */
  records(id: string, kinds: ReadonlyArray<RecordKind> = recordKinds): Promise<ReadonlyArray<RecordRow>> {
    return this.#run(Ledger.use((ledger) => ledger.records(this.address(id), kinds)))
  }

  /** What an assistant remembers of a question. Without an index, or while it does not answer, only the newest of it. */
  recall(id: string, question: string, options: RecallOptions = {}): Promise<Recalled> {
    return this.#run(recallFor(this.address(id), question, options))
  }

  /** Makes the index of an assistant anew from its ledger; of every assistant when none is named. */
  async rebuildMemory(id?: string): Promise<ReadonlyArray<Rebuilt>> {
    const ids = id === undefined ? (await this.views()).map((view) => view.id) : [id]
    const all: Array<Rebuilt> = []
    for (const each of ids) all.push(await this.#run(rebuilt(this.address(each))))
    return all
  }

  /** Semantic memory: every fact, those that hold no longer among them. */
  async facts(id: string): Promise<ReadonlyArray<Fact>> {
    return factsIn(await this.records(id, ["fact"]))
  }

  /** What is known of those an assistant deals with. */
  async profiles(id: string): Promise<ReadonlyArray<EntityProfile>> {
    return profilesIn(await this.records(id, ["entity"]))
  }

  /** What was put away to be searched for. */
  async passages(id: string): Promise<ReadonlyArray<Passage>> {
    return passagesIn(await this.records(id, ["passage"]))
  }

  /** Every compaction of an assistant's history, the oldest first, those that were taken back among them. */
  async compactions(id: string): Promise<ReadonlyArray<Compaction>> {
    const found = await this.#run(readCompactions(this.address(id)))
    return found.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
  }

  /** Where the history that an assistant's model is shown begins; undefined when nothing is compacted. */
  async historyStart(id: string): Promise<HistoryStart | undefined> {
    const rows = await this.records(id, ["state"])
    return historyStartOf(new Map(rows.map(({ key, value }) => [key, value])))
  }

  /** The messages that a compaction took out of sight, as they were committed. */
  compacted(id: string, { range }: Pick<Compaction, "range">): Promise<ReadonlyArray<PlacedMessage>> {
    return this.#run(readPast(this.address(id), range.from, Infinity, range.to))
  }

  /** What the model was shown with one call of an assistant; undefined when there is no such call. */
  async contextReport(id: string, { iteration, tick }: ContextQuestion = {}): Promise<ContextReport | undefined> {
    if (tick === undefined) {
      const newest = await this.#newestReport(id)
      if (newest === undefined || iteration === undefined || newest.iteration === iteration) return newest
      return this.contextReport(id, { tick: newest.tick, iteration })
    }
    const rows = await entriesOfTick(await this.#history(id), tick)
    const reports = rows.flatMap(({ entry }) => contextReportOf(entry) ?? [])
    return reports.findLast((report) => iteration === undefined || report.iteration === iteration)
  }

  /** An assistant told again from its entries, a frame a commit; nothing is called, sent or written. */
  replay(id: string, range: ReplayRange = {}): AsyncIterable<ReplayFrame> {
    return replayOf(this, id, range)
  }

  /** One page of a replay. */
  replayPage(id: string, range: ReplayRange & { readonly limit?: number } = {}): Promise<FramePage> {
    return framePageOf(this, id, range)
  }

  /** Replays an assistant to its newest commit and holds it against what the store keeps. */
  verify(id: string): Promise<ReplayVerdict> {
    return verdictOf(this, id)
  }

  /** Everything that a tick began from, for whoever tries it again: `forkTick`, `promptOfTick`, `fixtureOfTick`. */
  tickSource(id: string, tick: number): Promise<TickSource> {
    return tickSourceOf(this, (reading) => this.#run(reading), id, tick)
  }

  /** What waits for an assistant, control before reply before mail, the oldest first; at most 64 of a lane. */
  mailbox(id: string, limit: number = 100): Promise<ReadonlyArray<WaitingDeadLetter>> {
    return this.#run(waitingFor(this.address(id), limit))
  }

  /** Entries of every tenant after a position, in the one order of the store; for whoever passes them on to the right one. */
  outbox(after: number, limit: number): Promise<ReadonlyArray<OutboxRow>> {
    return this.#run(Ledger.use((ledger) => ledger.outbox(after, limit)))
  }

  /** The position of the newest entry of the store. */
  outboxEnd(): Promise<number> {
    return this.#run(Ledger.use((ledger) => ledger.outboxEnd))
  }

  /**
   * The notices of the tenant in at most so many entries of the store after a position; `next` is how far was read, whoever
   * the entries belong to. There is no more for now when it is `after`.
   */
  async notices(after: number, limit: number): Promise<NoticePage> {
    const rows = await this.outbox(after, limit)
    const own = rows.filter(({ address }) => address.tenant === this.tenant)
    const notices = own.flatMap(({ address, entry, seq }) => noticesOf(address, seq, entry))
    return { notices, next: rows.at(-1)?.seq ?? after }
  }

  /** An assistant with its budget and everybody below it; undefined when there is no such assistant. */
  subAgents(id: string): Promise<SubAgentsView | undefined> {
    return subAgentTreeOf(id, (each) => this.inspect(each))
  }

  /** Totals of the whole store, every tenant together. */
  totals(): Promise<Totals> {
    return this.#run(Ledger.use((ledger) => ledger.totals))
  }

  address(id: string): Address {
    const decoded = decodeId(id)
    if (Option.isSome(decoded)) return { tenant: this.tenant, assistant: decoded.value }
    throw new IdInvalid({ id, message: `${JSON.stringify(id)} is the id of no assistant: it has ${ID_FORM}` })
  }

  async #newestReport(id: string): Promise<ContextReport | undefined> {
    for await (const { entry } of this.newest(id)) {
      const report = contextReportOf(entry)
      if (report !== undefined) return report
    }
    return undefined
  }

  async #history(id: string): Promise<History> {
    const version = (await this.inspect(id))?.version ?? 0
    return { version, read: (from, limit) => this.entries(id, from, limit) }
  }
}
