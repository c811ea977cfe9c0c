// ServerBackend: a running server as a place to work.
// Owns asking it through the contract. Leaves the wire to client.ts, its streams to server-feed.ts, where it is to
// find-reach.ts.
// S1  A list is asked a page at a time, so that a large fleet is never held whole.
// S2  What the contract has no question for is refused in one line.

import { defined } from "@reverie/protocol"
import type { AssistantDetail, AssistantRow } from "@reverie/server/api"
import type {
  BlockOperation,
  BlockReading,
  Compaction,
  ContextReport,
  Entry,
  Hit,
  Json,
  Notice,
  PlacedMessage,
  Recalled,
  RecallOptions,
  RecordRow
} from "reverie"
import { CommandFailed } from "../failure.ts"
import type { Stop } from "../running/stop.ts"
import type { Client } from "./client.ts"
import type {
  AskedApproval,
  SubAgentTree,
  ForkRequest,
  FrameRequest,
  ListedView,
  ListRequest,
  OrderName,
  OrderRequest,
  Page,
  Question,
  Backend,
  View
} from "./backend.ts"
import { ServerFeed } from "./server-feed.ts"
import { timed } from "./timed.ts"

const PAGE = 500
const POLL_MILLIS = 150

const listedOf = (row: AssistantRow, approvals: ReadonlyArray<AskedApproval>): ListedView => ({
  id: row.id,
  definition: row.definition,
  state: row.state,
  ticks: row.ticks,
  waiting: row.waiting,
  commits: row.commits,
  approvals: approvals
    .filter(({ assistant }) => assistant === row.id)
    .map(({ approval, call, tool }) => ({ approval, tool, call })),
  ...defined({ haltReason: row.haltReason, outage: row.outage })
})

const viewOf = (detail: AssistantDetail): View => ({
  ...listedOf(detail, []),
  jobs: detail.jobs,
  timers: detail.timers,
  approvals: detail.approvalsAsked
})

/** States that last until something arrives. */
const lasting = new Set(["awake.idle", "awake.awaitingApproval", "dreaming.resting", "halted", "retired"])

const isTagged = (error: unknown, ...tags: ReadonlyArray<string>): boolean =>
  typeof error === "object" && error !== null && tags.includes(String(Reflect.get(error, "_tag")))

const ID_FORM = /^[A-Za-z0-9._:@#+-]{1,128}$/

/** All of a list, a page at a time. */
const everyPage = async <Item>(
  ask: (query: { readonly limit: number; readonly cursor?: string }) => Promise<Page<Item>>
): Promise<ReadonlyArray<Item>> => {
  const all: Array<Item> = []
  let cursor: string | undefined
  do {
    const { items, next } = await ask({ limit: PAGE, ...defined({ cursor }) })
    all.push(...items)
    cursor = next ?? undefined
  } while (cursor !== undefined)
  return all
}

const notThere = (what: string): CommandFailed =>
  new CommandFailed("not-possible", `${what} is not offered by a server`, {
    hint: "run it where the data is, with --data DIR"
  })

export class ServerBackend implements Backend {
  readonly kind = "server"
  readonly isWorking = true
  readonly place: string
  readonly #client: Client
  readonly #feed: ServerFeed
  readonly #stop: Stop

  private constructor(url: string, token: string | undefined, client: Client, stop: Stop) {
    this.place = `server ${url}`
    this.#client = client
    this.#feed = new ServerFeed(url, token)
    this.#stop = stop
  }

  static async open(url: string, token: string | undefined, stop: Stop): Promise<ServerBackend> {
    const { openClient } = await import("./client.ts")
    return new ServerBackend(url, token, await openClient(url, token), stop)
  }

  get #ask(): Client["ask"] {
    return this.#client.ask
  }

  async page({ cursor, limit }: ListRequest) {
    const query = { limit: Math.min(limit, PAGE), ...defined({ cursor }) }
    const { items, next } = await this.#ask((api) => api.assistants.list({ query }))
    const asked = items.some(({ approvals }) => approvals > 0) ? await this.approvals() : []
    return { items: items.map((row) => listedOf(row, asked)), next }
  }

  async beginning(start: string): Promise<ReadonlyArray<string>> {
    const query = { q: start, limit: PAGE }
    const { items } = await this.#ask((api) => api.assistants.list({ query }))
    return items.map(({ id }) => id).filter((id) => id.startsWith(start))
  }

  async view(id: string): Promise<View | undefined> {
    if (!ID_FORM.test(id)) return undefined
    try {
      return viewOf(await this.#ask((api) => api.assistants.inspect({ params: { id } })))
    } catch (error) {
      if (isTagged(error, "NotFound")) return undefined
      throw error
    }
  }

  async totals() {
    return (await this.#ask((api) => api.queues.queues())).totals
  }

  async entries(id: string, from: number, limit: number): Promise<ReadonlyArray<Entry>> {
    const entries: Array<Entry> = []
    while (entries.length < limit) {
      const query = { from: from + entries.length, limit: Math.min(PAGE, limit - entries.length) }
      const { items, next } = await this.#ask((api) => api.timeline.entries({ params: { id }, query }))
      entries.push(...(items as unknown as ReadonlyArray<Entry>))
      if (next === null || items.length === 0) break
    }
    return entries
  }

  async contextReport(id: string, which: { readonly tick?: number; readonly iteration?: number }) {
    try {
      const report = await this.#ask((api) => api.context.report({ params: { id }, query: which }))
      return report as unknown as ContextReport
    } catch (error) {
      if (isTagged(error, "NotFound")) return undefined
      throw error
    }
  }

  async subAgentTree(id: string): Promise<SubAgentTree | undefined> {
    return this.#ask((api) => api.subAgentTree.tree({ params: { id } }))
  }

  async kept(id: string) {
    const params = { id }
    const memory = await this.#ask((api) => api.memory.overview({ params }))
    const compaction = (await this.compactions(id)).length
    const dream = (await this.dreams(id)).length
    const { facts, journal, passages, profiles } = memory
    return { journal, fact: facts, entity: profiles, passage: passages, dream, compaction }
  }

  async recall(id: string, question: string, { kinds, limit = 10, mode, scope }: RecallOptions): Promise<Recalled> {
    if (kinds !== undefined) throw notThere("--kind")
    const query = {
      q: question,
      limit,
      ...defined({ mode, scope })
    }
    const { degraded, items } = await this.#ask((api) => api.memory.recall({ params: { id }, query }))
    const hits = items.map(({ at, id: memory, kind, owner, score, text, trust, why }) => ({
      owner,
      score,
      why,
      entry: { id: memory, kind, at, text, ...defined({ trust }) }
    }))
    const answer = { hits: hits as unknown as ReadonlyArray<Hit>, mode: (mode ?? "auto") as Recalled["mode"] }
    return degraded === undefined ? answer : { ...answer, degraded }
  }

  facts(id: string) {
    return everyPage((query) => this.#ask((api) => api.memory.facts({ params: { id }, query })))
  }

  profiles(id: string) {
    return everyPage((query) => this.#ask((api) => api.memory.profiles({ params: { id }, query })))
  }

  async dreams(id: string): Promise<ReadonlyArray<RecordRow>> {
    const { items } = await this.#ask((api) => api.night.dreams({ params: { id } }))
    return items.map((value, index) => {
      const key: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "id") : undefined
      return { kind: "dream", key: typeof key === "string" ? key : `dream ${index + 1}`, value } as RecordRow
    })
  }

  rebuild(): Promise<never> {
    return Promise.reject(notThere("making an index anew"))
  }

  async blocks(id: string) {
    return (await this.#ask((api) => api.memory.overview({ params: { id } }))).blocks
  }

  async block(block: string, version?: number): Promise<Pick<BlockReading, "version" | "text">> {
    const query = version === undefined ? {} : { version }
    return this.#ask((api) => api.memory.block({ params: { block }, query }))
  }

  async blockVersions(block: string, limit: number, before?: number) {
    const query = { limit, ...defined({ before }) }
    return (await this.#ask((api) => api.memory.blockVersions({ params: { block }, query }))).items
  }

  editBlock(block: string, operation: Readonly<Record<string, Json>>, key?: string) {
    const payload = { operation: operation as unknown as BlockOperation, ...defined({ key }) }
    return this.#ask((api) => api.memory.editBlock({ params: { block }, payload }))
  }

  undoBlock(block: string) {
    return this.#ask((api) => api.memory.undoBlock({ params: { block } }))
  }

  deleteBlock(): Promise<never> {
    return Promise.reject(notThere("deleting a block"))
  }

  async compactions(id: string): Promise<ReadonlyArray<Compaction>> {
    const items = await everyPage((query) => this.#ask((api) => api.night.compactions({ params: { id }, query })))
    return items.map(({ record }) => record as unknown as Compaction).toSorted((a, b) => a.at - b.at)
  }

  /** The newest that was not taken back: each begins where the one before it stood. */
  async currentCompaction(id: string) {
    return (await this.compactions(id)).findLast(({ undone_at }) => undone_at === undefined)?.id
  }

  async opened(id: string, { id: compaction }: Compaction) {
    const params = { id, compaction }
    const { compaction: view, compacted } = await this.#ask((api) => api.night.compaction({ params }))
    const messages = compacted.map(({ index, no, ...message }) => ({ place: { no, index }, message }))
    return {
      compaction: view.record as unknown as Compaction,
      messages: messages as unknown as ReadonlyArray<PlacedMessage>
    }
  }

  undoCompaction(id: string, compaction: string) {
    return this.#ask((api) => api.night.undoCompaction({ params: { id, compaction } }))
  }

  async approvals(): Promise<ReadonlyArray<AskedApproval>> {
    return (await this.#ask((api) => api.approvals.open())).items
  }

  decide(id: string, approval: string, decision: "approved" | "denied", { note }: { readonly note?: string }) {
    const payload = { decision, ...defined({ note }) }
    return this.#ask((api) => api.approvals.decide({ params: { id, approval }, payload }))
  }

  queues() {
    return this.#ask((api) => api.queues.queues())
  }

  async dead(limit: number) {
    return (await this.#ask((api) => api.queues.dead({ query: { limit: Math.min(limit, PAGE) } }))).items
  }

  redeliver(id: string, envelope: string) {
    return this.#ask((api) => api.queues.redeliver({ params: { id }, payload: { envelope } }))
  }

  async discard(id: string, envelope: string) {
    return (await this.#ask((api) => api.queues.discard({ params: { id }, payload: { envelope } }))).outcome
  }

  async frames(id: string, { cursor, limit, to, untilState }: FrameRequest) {
    const query = {
      limit: Math.min(limit, PAGE),
      ...defined({ from: cursor === undefined ? undefined : Number(cursor), untilState })
    }
    const { items, next } = await this.#ask((api) => api.replay.frames({ params: { id }, query }))
    const within = to === undefined ? items : items.filter(({ no }) => no <= to)
    return { items: within, next: next === null || within.length < items.length ? null : String(next) }
  }

  verify(id: string) {
    return this.#ask((api) => api.replay.verify({ params: { id } }))
  }

  fork(id: string, { fleet: _, ...payload }: ForkRequest) {
    return this.#ask((api) => api.replay.fork({ params: { id }, payload }))
  }

  async create(id: string, definition?: string) {
    const payload = { id, ...defined({ definition }) }
    return (await this.#ask((api) => api.assistants.create({ payload }))).outcome
  }

  send(id: string, text: string, question: Question) {
    return this.#ask((api) => api.messages.send({ params: { id }, headers: {}, payload: { text, ...question } }))
  }

  order(id: string, order: OrderName, request: OrderRequest) {
    return this.#ask((api) => api.assistants.order({ params: { id }, payload: { order, ...request } }))
  }

  async orderAll(order: "halt" | "resume", reason?: string) {
    const payload = { order, ...defined({ reason }) }
    return (await this.#ask((api) => api.assistants.orderAll({ payload }))).told
  }

  async *ask(id: string, text: string, question: Question) {
    const { envelope } = await this.send(id, text, question)
    yield* this.#feed.answers(id, envelope)
  }

  async rest(id: string) {
    while (!this.#stop.isAsked && !(await this.#isAtRest(id))) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MILLIS))
    }
  }

  #inspected(id: string) {
    return this.#ask((api) => api.assistants.inspect({ params: { id } }))
  }

  /** Nothing of it is in hand, and nothing waits in a lane that it receives. */
  async #isAtRest(id: string): Promise<boolean> {
    const { commits, receives, jobs, state, waiting } = await this.#inspected(id)
    if (!lasting.has(state) || (jobs.length > 0 && state !== "halted")) return false
    if (waiting === 0) return true
    const query = { limit: PAGE }
    const { items } = await this.#ask((api) => api.assistants.mailbox({ params: { id }, query }))
    if (items.some(({ lane }) => receives.includes(lane))) return false
    // What was heard between the two answers waits no more, and is in hand.
    return (await this.#inspected(id)).commits === commits
  }

  within<A>(work: Promise<A>, timeoutMillis?: number): Promise<A> {
    return timed(this.#stop.orAsked(work), timeoutMillis)
  }

  listen(listener: (notice: Notice) => void) {
    return this.#feed.listen(listener)
  }

  changed() {
    return this.#feed.changed()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#feed.close()
    await this.#client.close()
  }
}
