// Backend: where a command works: the HTTP contract of a fleet, at a running server or mounted in this process.
// Owns the one client of the contract, and the questions of commands in its terms. Leaves the way there, streams and
// lifecycle to the two transports (server.ts, in-process.ts), which of them it is to find-backend.ts.
// R1  A command does the same on both: requests and answers are those of the contract, whichever way they take.
// R2  An order is durable when it answers, under its key: the same key again is the same order.
// R3  A list is asked a page at a time, so that a large fleet is never held whole.
// R4  What a state is (busy, resting, for good) is answered by the other side, as its chart says it.

import type {
  Api,
  ApprovalAsked,
  BlockSummary as BlockSchema,
  ContextView,
  Frame,
  LedgerEntry,
  StoredAssistant,
  SubAgentNode
} from "@reverie/server/api"
import type { MountedGroup } from "@reverie/server/in-process"
import { defined, type ReminderRule } from "@reverie/protocol"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as HttpApiClient from "effect/http-api/HttpApiClient"
import type {
  BlockOperation,
  BlockVersion,
  Compaction,
  EntityProfile,
  Fact,
  Json,
  Notice,
  Part,
  PlacedMessage,
  Recalled,
  RecallOptions,
  RecordRow,
  Totals
} from "reverie"
import {
  entriesFrom,
  everyPage,
  type ForkRequest,
  type FrameRequest,
  type AssistantsRequest,
  type OrderName,
  type OrderRequest,
  orNothing,
  PAGE,
  type Page,
  type Question,
  type Taken,
  type Transport
} from "./transport.ts"

/** One assistant, as it is stored. */
export type View = StoredAssistant
/** One in a table; a fleet that this process hosts tells no more. */
export type ListedView = Omit<View, "activity" | "tags">
export type AskedApproval = ApprovalAsked
export type QueueView = Awaited<ReturnType<Backend["queues"]>>
export type DeadLettered = Awaited<ReturnType<Backend["dead"]>>[number]
export type BlockSummary = typeof BlockSchema.Type
export type ContextReport = ContextView
export type Entry = LedgerEntry
export type SubAgentTree = SubAgentNode
export type EntryPage = Awaited<ReturnType<Backend["entries"]>>
type UsageQuery = Parameters<Contract["assistants"]["usage"]>[0]["query"]
export type UsageSums = Awaited<ReturnType<Backend["usage"]>>

type Contract = Effect.Success<
  ReturnType<typeof HttpApiClient.make<"reverie", (typeof Api)["groups"][keyof (typeof Api)["groups"]]>>
>

const MOST_FOUND = 100
const MOST_NAMED = 10_000
const POLL_MILLIS = 150
const ID_FORM = /^[A-Za-z0-9._:@#+-]{1,128}$/

/** It stays as it is until something arrives. */
const isLasting = ({ activity, tags }: View): boolean =>
  activity === "awaitingApproval" || ["atRest", "halted", "retired"].some((tag) => tags.includes(tag))

const keyed = (key: string | undefined) => ({ headers: defined({ "idempotency-key": key }) })

export class Backend implements AsyncDisposable {
  readonly #transport: Transport
  readonly #clients = new Map<string, Promise<unknown>>()
  readonly assistants = <A, E>(call: (api: Contract["assistants"]) => Effect.Effect<A, E>) =>
    this.#ask("assistants", call)
  readonly memory = <A, E>(call: (api: Contract["memory"]) => Effect.Effect<A, E>) => this.#ask("memory", call)
  readonly night = <A, E>(call: (api: Contract["night"]) => Effect.Effect<A, E>) => this.#ask("night", call)
  readonly prompts = <A, E>(call: (api: Contract["prompts"]) => Effect.Effect<A, E>) => this.#ask("prompts", call)
  readonly kinds = (id: string) => this.#ask("context", (api) => api.kinds({ params: { id } }))
  readonly verify = (id: string) => this.#ask("replay", (api) => api.verify({ params: { id } }))
  readonly usage = (query: UsageQuery) => this.#ask("assistants", (api) => api.usage({ query }))

  constructor(transport: Transport) {
    this.#transport = transport
  }

  get kind(): Transport["kind"] {
    return this.#transport.kind
  }

  get place(): string {
    return this.#transport.place
  }

  get store(): Transport["store"] {
    return this.#transport.store
  }

  get isWorking(): boolean {
    return this.#transport.isWorking
  }

  /** Those after the cursor in the order of their ids, and the totals of the store where they may be told. */
  async page({ cursor, limit, ...filter }: AssistantsRequest): Promise<Page<View> & { readonly totals?: Totals }> {
    const items: Array<View> = []
    let after = cursor
    while (true) {
      const query = { limit: Math.min(PAGE, limit - items.length), ...defined({ cursor: after }), ...filter }
      const { items: found, next, ...rest } = await this.#ask("assistants", (api) => api.views({ query }))
      items.push(...found)
      after = next ?? undefined
      if (after === undefined || items.length >= limit) return { items, next, ...rest }
    }
  }

  /** Those whose ids begin so; at most a hundred. */
  async beginning(start: string): Promise<ReadonlyArray<string>> {
    if (start !== "" && !ID_FORM.test(start)) return []
    const query = { limit: MOST_FOUND, start }
    return (await this.#ask("assistants", (api) => api.views({ query }))).items.map(({ id }) => id)
  }

  async view(id: string): Promise<View | undefined> {
    if (!ID_FORM.test(id)) return undefined
    return orNothing(this.#ask("assistants", (api) => api.view({ params: { id } })))
  }

  /** Of the whole store, every tenant together; undefined where that is no one's business. */
  readonly totals = async (): Promise<Totals | undefined> => (await this.page({ limit: 1 })).totals

  /** Its entries from number `from` on, and which of these numbers cannot be read. */
  readonly entries = (id: string, from: number, limit: number) =>
    entriesFrom(from, limit, (query) => this.#ask("timeline", (api) => api.entries({ params: { id }, query })))

  contextReport(
    id: string,
    query: { readonly tick?: number; readonly iteration?: number }
  ): Promise<ContextReport | undefined> {
    return orNothing(this.#ask("context", (api) => api.report({ params: { id }, query })))
  }

  /** Its model calls, the newest first. */
  async contextPoints(id: string, { cursor, limit }: { readonly cursor?: string; readonly limit: number }) {
    const query = {
      limit: Math.min(limit, PAGE),
      ...defined({ before: cursor === undefined ? undefined : Number(cursor) })
    }
    const { items, next } = await this.#ask("context", (api) => api.points({ params: { id }, query }))
    return { items, next: next === null ? null : String(next) }
  }

  subAgentTree(id: string): Promise<SubAgentTree | undefined> {
    return orNothing(this.#ask("subAgentTree", (api) => api.tree({ params: { id } })))
  }

  async kept(id: string): Promise<Readonly<Record<string, number>>> {
    const memory = await this.#ask("memory", (api) => api.overview({ params: { id } }))
    const { compactions, dreams, facts, journal, passages, profiles } = memory
    return { journal, fact: facts, entity: profiles, passage: passages, dream: dreams, compaction: compactions }
  }

  async recall(id: string, q: string, options: RecallOptions): Promise<Recalled> {
    const { entities, kinds, limit = 10, minTrust, mode, scope, since, tags, until } = options
    const lists = { kinds: kinds?.join(","), entities: entities?.join(","), tags: tags?.join(",") }
    const query = { q, limit: Math.min(limit, PAGE), ...defined({ mode, scope, since, until, minTrust, ...lists }) }
    const { items, ...found } = await this.#ask("memory", (api) => api.recall({ params: { id }, query }))
    const hits = items.map(({ because: _, metadata, owner, score, why, ...entry }) => {
      return { owner, score, why, entry, ...defined({ metadata }) }
    })
    return { hits: hits as unknown as Recalled["hits"], ...found }
  }

  facts(id: string): Promise<ReadonlyArray<Fact>> {
    return everyPage((query) => this.#ask("memory", (api) => api.facts({ params: { id }, query })))
  }

  profiles(id: string): Promise<ReadonlyArray<EntityProfile>> {
    return everyPage((query) => this.#ask("memory", (api) => api.profiles({ params: { id }, query })))
  }

  async dreams(id: string): Promise<ReadonlyArray<RecordRow>> {
    const { items } = await this.#ask("night", (api) => api.dreams({ params: { id } }))
    return items.map((report) => ({ kind: "dream", key: report.id, value: report as unknown as Json }))
  }

  rebuild(id: string): Promise<{ readonly entries: number; readonly memories: number }> {
    return this.#ask("memory", (api) => api.rebuild({ params: { id } }))
  }

  async blocks(id: string): Promise<ReadonlyArray<BlockSummary>> {
    return (await this.#ask("memory", (api) => api.overview({ params: { id } }))).blocks
  }

  block(block: string, version?: number): Promise<{ readonly version: number; readonly text: string }> {
    return this.#ask("memory", (api) => api.block({ params: { block }, query: defined({ version }) }))
  }

  async blockVersions(
    block: string,
    limit: number,
    before?: number
  ): Promise<ReadonlyArray<Omit<BlockVersion, "isSystem">>> {
    const query = { limit: Math.min(limit, PAGE), ...defined({ before }) }
    return (await this.#ask("memory", (api) => api.blockVersions({ params: { block }, query }))).items
  }

  editBlock(
    block: string,
    operation: Extract<BlockOperation, { readonly op: "set_text" | "append_text" | "replace_text" }>,
    key?: string
  ): Promise<{ readonly version: number }> {
    const payload = { operation, ...defined({ key }) }
    return this.#ask("memory", (api) => api.editBlock({ params: { block }, payload }))
  }

  undoBlock(block: string, key?: string): Promise<{ readonly version: number }> {
    return this.#ask("memory", (api) => api.undoBlock({ params: { block }, ...keyed(key) }))
  }

  async deleteBlock(block: string, key?: string): Promise<void> {
    await this.#ask("memory", (api) => api.deleteBlock({ params: { block }, ...keyed(key) }))
  }

  /** The oldest first; those of a server have their long texts cut. */
  async compactions(id: string): Promise<ReadonlyArray<Compaction>> {
    const items = await everyPage((query) => this.#ask("night", (api) => api.compactions({ params: { id }, query })))
    return items.map(({ record }) => record).toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
  }

  /** The compaction at the beginning of what the model is shown, and the undo that holds the history. */
  async historyNow(id: string) {
    const { current, hold } = await this.#ask("night", (api) =>
      api.compactions({ params: { id }, query: { limit: 1 } })
    )
    return { current: current ?? undefined, hold: hold ?? undefined }
  }

  /** One of them whole, with the messages that it took out of sight. */
  async opened(id: string, { id: compaction }: Compaction) {
    const found = await this.#ask("night", (api) => api.compaction({ params: { id, compaction } }))
    const { messages, outcome } = found
    return { compaction: found.compaction.record, messages: messages as ReadonlyArray<PlacedMessage>, outcome }
  }

  undoCompaction(id: string, compaction: string): Promise<Taken> {
    return this.#ask("night", (api) => api.undoCompaction({ params: { id, compaction } }))
  }

  releaseHistory(id: string, key?: string): Promise<Taken> {
    return this.#ask("night", (api) => api.releaseHistory({ params: { id }, ...keyed(key) }))
  }

  window(id: string) {
    return this.#ask("night", (api) => api.window({ params: { id } }))
  }

  async reminders(id: string) {
    return (await this.#ask("messages", (api) => api.reminders({ params: { id } }))).items
  }

  setReminder(id: string, reminder: string, payload: ReminderRule, key?: string): Promise<Taken> {
    return this.#ask("messages", (api) => api.setReminder({ params: { id, reminder }, payload, ...keyed(key) }))
  }

  cancelReminder(id: string, reminder: string, key?: string): Promise<Taken> {
    return this.#ask("messages", (api) => api.cancelReminder({ params: { id, reminder }, ...keyed(key) }))
  }

  async approvals(): Promise<ReadonlyArray<AskedApproval>> {
    return (await this.#ask("approvals", (api) => api.open())).items
  }

  decide(id: string, approval: string, decision: "approved" | "denied", { note }: { readonly note?: string }) {
    const payload = { decision, ...defined({ note }) }
    return this.#ask("approvals", (api) => api.decide({ params: { id, approval }, payload }))
  }

  queues() {
    return this.#ask("queues", (api) => api.queues({ query: {} }))
  }

  async dead(limit: number) {
    return (await this.#ask("queues", (api) => api.dead({ query: { limit: Math.min(limit, PAGE) } }))).items
  }

  retry(id: string, envelope: string): Promise<Taken> {
    return this.#ask("queues", (api) => api.retry({ params: { id }, payload: { envelope } }))
  }

  /** Discards a dead letter without sending it; `already` when someone else was faster. */
  async discard(id: string, envelope: string): Promise<"discarded" | "already"> {
    return (await this.#ask("queues", (api) => api.discard({ params: { id }, payload: { envelope } }))).outcome
  }

  async frames(id: string, { cursor, limit, to, untilState }: FrameRequest): Promise<Page<Frame>> {
    const from = cursor === undefined ? undefined : Number(cursor)
    const query = { limit: Math.min(limit, PAGE), ...defined({ from, to, untilState }) }
    const { items, next } = await this.#ask("replay", (api) => api.frames({ params: { id }, query }))
    return { items, next: next === null ? null : String(next) }
  }

  fork(id: string, payload: ForkRequest) {
    return this.#ask("replay", (api) => api.fork({ params: { id }, payload }))
  }

  async create(id: string, definition?: string): Promise<"created" | "exists"> {
    return (await this.#ask("assistants", (api) => api.create({ payload: { id, ...defined({ definition }) } }))).outcome
  }

  send(id: string, text: string, question: Question): Promise<Taken> {
    return this.#ask("messages", (api) => api.send({ params: { id }, headers: {}, payload: { text, ...question } }))
  }

  order(id: string, order: OrderName, request: OrderRequest): Promise<Taken> {
    return this.#ask("assistants", (api) => api.order({ params: { id }, payload: { order, ...request } }))
  }

  /** Halts everybody, or lets go on those who are named; answers how many were told. */
  async orderAll(
    order: "halt" | "resume",
    { ids, reason }: { readonly ids: ReadonlyArray<string> | undefined; readonly reason: string | undefined }
  ): Promise<number> {
    const give = async (some: ReadonlyArray<string> | undefined) => {
      const payload = { order, ...defined({ ids: some, reason }) }
      return (await this.#ask("assistants", (api) => api.orderAll({ payload }))).told
    }
    if (ids === undefined) return give(undefined)
    let told = 0
    for (let at = 0; at < ids.length; at += MOST_NAMED) told += await give(ids.slice(at, at + MOST_NAMED))
    return told
  }

  ask(id: string, text: string, question: Question): AsyncIterable<Part> {
    return this.#transport.ask(id, text, question, () => this.send(id, text, question))
  }

  /** Resolves when the assistant has come to rest on what it was told, as far as it comes by itself. */
  async rest(id: string): Promise<void> {
    if (this.#transport.rest !== undefined) return this.#transport.rest()
    while (!(await this.#isAtRest(id))) await new Promise((resolve) => setTimeout(resolve, POLL_MILLIS))
  }

  /** The value, unless someone asks to stop, what is reached ends, or time runs out. */
  within<A>(work: Promise<A>, timeoutMs?: number): Promise<A> {
    return this.#transport.within(work, timeoutMs)
  }

  /** Tells every notice from now on; answers how to stop. */
  listen(listener: (notice: Notice) => void): () => void {
    return this.#transport.listen(listener)
  }

  changed(): Promise<void> {
    return this.#transport.changed()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#transport.close()
  }

  /** Nothing of it is in hand, and nothing waits in a lane that it receives. */
  async #isAtRest(id: string): Promise<boolean> {
    const view = await this.view(id)
    if (view === undefined) return true
    const { activity, commits, jobs, receives, waiting } = view
    if (!isLasting(view) || (jobs.length > 0 && activity !== "halted")) return false
    if (waiting === 0) return true
    const { items } = await this.#ask("assistants", (api) => api.mailbox({ params: { id }, query: { limit: PAGE } }))
    if (items.some(({ lane }) => receives.includes(lane))) return false
    // What was heard between the two answers waits no more, and is in hand.
    return (await this.view(id))?.commits === commits
  }

  async #ask<Group extends MountedGroup, A, E>(
    group: Group,
    request: (api: Contract[Group]) => Effect.Effect<A, E>
  ): Promise<A> {
    const client = this.#clients.get(group) ?? this.#transport.clientOf(group)
    this.#clients.set(group, client)
    const exit = await Effect.runPromiseExit(request((await client) as Contract[Group]))
    if (Exit.isSuccess(exit)) return exit.value
    throw this.#transport.explained(Cause.squash(exit.cause))
  }
}
