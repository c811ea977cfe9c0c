// StoreBackend: the store as a place to work, in a data directory or a deployment.
// Owns asking the SDK. Leaves which store to find-reach.ts.
// S1  Only looking, it writes nothing and disturbs nobody. What it is told without a fleet file is durable, and heard by
//     whoever works there next.

import { defined } from "@reverie/protocol"
import {
  type BlockOperation,
  type BlockVersion,
  type Compaction,
  Fleet,
  forkTick,
  type Notice,
  Peek,
  type Records,
  type RecallOptions,
  viewOf
} from "reverie"
import { CommandFailed } from "../failure.ts"
import type { Host } from "../host.ts"
import type { Stop } from "../running/stop.ts"
import type {
  AskedApproval,
  Forked,
  ForkRequest,
  FrameRequest,
  ListRequest,
  OrderName,
  OrderRequest,
  Question,
  Backend,
  View
} from "./backend.ts"
import { timed } from "./timed.ts"

const LOOK_AGAIN_MILLIS = 2_000
const MOST_FOUND = 100

const keptKinds = ["journal", "fact", "entity", "passage", "dream", "compaction"] as const

interface Opened {
  readonly records: Records
  /** Only where something is changed. */
  readonly fleet?: Fleet
  readonly host?: Host
  readonly place: string
  readonly stop: Stop
  readonly close: () => Promise<void>
}

const isNoId = (error: unknown): boolean =>
  typeof error === "object" && error !== null && Reflect.get(error, "_tag") === "IdInvalid"

export class StoreBackend implements Backend {
  readonly kind = "store"
  readonly #opened: Opened

  private constructor(opened: Opened) {
    this.#opened = opened
  }

  /** Only looks. */
  static async looking(data: string | undefined, stop: Stop): Promise<StoreBackend> {
    const peek = await Peek.open(data)
    const place = data === undefined ? "the servers of the environment" : `data directory ${data}`
    return new StoreBackend({ records: peek, place, stop, close: async () => peek[Symbol.asyncDispose]() })
  }

  /** Takes orders and lets others follow them: no assistant works here. */
  static async ordering(data: string | undefined, stop: Stop): Promise<StoreBackend> {
    // What is not there is not made.
    await (await Peek.open(data))[Symbol.asyncDispose]()
    const nobody = { assistants: [], reception: "nobody" as never }
    const fleet = await Fleet.open({ fleet: nobody, role: "api", ...defined({ data }) })
    return new StoreBackend({ records: fleet, fleet, place: fleet.profile, stop, close: () => fleet.close() })
  }

  /** Works: what is told is followed as far as it comes by itself. */
  static over(host: Host, stop: Stop): StoreBackend {
    const { fleet } = host
    const close = () => host[Symbol.asyncDispose]()
    return new StoreBackend({ records: fleet, fleet, host, place: fleet.profile, stop, close })
  }

  get place(): string {
    return this.#opened.place
  }

  get isWorking(): boolean {
    return this.#opened.host !== undefined
  }

  get #records(): Records {
    return this.#opened.records
  }

  get #fleet(): Fleet {
    const { fleet } = this.#opened
    if (fleet === undefined) throw new CommandFailed("unexpected", "a look was asked to change something")
    return fleet
  }

  async page({ cursor, limit }: ListRequest) {
    const records = await this.#records.list(cursor, limit + 1)
    const items = records.slice(0, limit).map(viewOf)
    return { items, next: records.length > limit ? (items.at(-1)?.id ?? null) : null }
  }

  async beginning(start: string): Promise<ReadonlyArray<string>> {
    const ids = (await this.#records.views()).map(({ id }) => id)
    return start === "" ? ids.slice(0, MOST_FOUND) : ids.filter((id) => id.startsWith(start)).slice(0, MOST_FOUND)
  }

  async view(id: string): Promise<View | undefined> {
    try {
      const record = await this.#records.inspect(id)
      return record === undefined ? undefined : viewOf(record)
    } catch (error) {
      if (isNoId(error)) return undefined
      throw error
    }
  }

  totals() {
    return this.#records.totals()
  }

  async entries(id: string, from: number, limit: number) {
    return (await this.#records.entries(id, from, limit)).map(({ entry }) => entry)
  }

  contextReport(id: string, which: { readonly tick?: number; readonly iteration?: number }) {
    return this.#records.contextReport(id, which)
  }

  subAgentTree(id: string) {
    return this.#fleet.subAgents(id)
  }

  async kept(id: string) {
    const kept: Record<string, number> = Object.fromEntries(keptKinds.map((kind) => [kind, 0]))
    for (const { kind } of await this.#records.records(id, keptKinds)) kept[kind] = (kept[kind] ?? 0) + 1
    return kept
  }

  recall(id: string, question: string, options: RecallOptions) {
    return this.#records.recall(id, question, options)
  }

  facts(id: string) {
    return this.#records.facts(id)
  }

  profiles(id: string) {
    return this.#records.profiles(id)
  }

  dreams(id: string) {
    return this.#records.records(id, ["dream"])
  }

  async rebuild(id: string) {
    const [one] = await this.#records.rebuildMemory(id)
    return { entries: one?.entries ?? 0, memories: one?.memories ?? 0 }
  }

  async blocks(id: string) {
    const blocks = this.#fleet.blocks()
    const views = await blocks.list(id)
    return Promise.all(
      views.map(async (view) => {
        const { text, version } = await blocks.read(view.id)
        return { id: view.id, label: view.label, version, text }
      })
    )
  }

  block(block: string, version?: number) {
    return this.#fleet.blocks().read(block, version)
  }

  blockVersions(block: string, limit: number, before?: number): Promise<ReadonlyArray<BlockVersion>> {
    return this.#fleet.blocks().versions(block, { limit, ...defined({ before }) })
  }

  editBlock(block: string, operation: Readonly<Record<string, unknown>>, key?: string) {
    return this.#fleet.blocks().edit(block, operation as BlockOperation, key === undefined ? {} : { key })
  }

  undoBlock(block: string, key?: string) {
    return this.#fleet.blocks().undo(block, key === undefined ? {} : { key })
  }

  async deleteBlock(block: string, key?: string) {
    await this.#fleet.blocks().delete(block, key === undefined ? {} : { key })
  }

  compactions(id: string) {
    return this.#records.compactions(id)
  }

  async currentCompaction(id: string) {
    return (await this.#records.historyStart(id))?.compaction
  }

  async opened(id: string, compaction: Compaction) {
    return { compaction, messages: await this.#records.compacted(id, compaction) }
  }

  undoCompaction(id: string, compaction: string) {
    return this.#fleet.undoCompaction(id, compaction)
  }

  approvals(): Promise<ReadonlyArray<AskedApproval>> {
    return this.#records.allApprovals()
  }

  decide(
    id: string,
    approval: string,
    decision: "approved" | "denied",
    options: { readonly note?: string; readonly id?: string }
  ) {
    return this.#fleet.decide(id, approval, decision, options)
  }

  async queues() {
    const totals = await this.#records.totals()
    const waiting = (await this.#records.views()).reduce((sum, view) => sum + view.waiting, 0)
    return { backend: `the store (${this.place})`, queues: [{ name: "mailboxes", waiting }], totals }
  }

  async dead(limit: number) {
    const letters = await this.#records.deadLetters(limit)
    return letters.map(({ address, at, envelope, reason }) => ({ assistant: address.assistant, envelope, reason, at }))
  }

  redeliver(id: string, envelope: string) {
    return this.#fleet.redeliver(id, envelope)
  }

  discard(id: string, envelope: string) {
    return this.#fleet.discard(id, envelope)
  }

  async frames(id: string, { cursor, limit, to, untilState }: FrameRequest) {
    const { frames, next } = await this.#records.replayPage(id, {
      limit,
      ...defined({
        from: cursor === undefined ? undefined : Number(cursor),
        to,
        until: untilState === undefined ? undefined : { status: untilState }
      })
    })
    const items = frames.map(({ eventType, ...frame }) => ({ ...frame, event: eventType ?? "" }))
    return { items, next: next === undefined ? null : String(next) }
  }

  async verify(id: string) {
    const { commits, differences, equal, mismatches, modelCalls, toolCalls } = await this.#records.verify(id)
    const [mismatch] = mismatches
    const difference = mismatch?.what ?? (differences.length === 0 ? undefined : JSON.stringify(differences[0]))
    return {
      commits,
      equal,
      modelCalls,
      toolCalls,
      ...defined({ differsAt: mismatch === undefined ? undefined : mismatch.no, difference })
    }
  }

  async fork(id: string, { fleet, model, prompt, stubs = {}, tick }: ForkRequest): Promise<Forked> {
    if (fleet === undefined) throw new CommandFailed("no-fleet", "a fork needs the fleet: --fleet FILE is missing")
    if (model !== undefined && model !== "offline" && model !== "recorded") {
      throw new CommandFailed("usage", "--model is offline or recorded here; another model is named by OPENAI_MODEL")
    }
    const { loadFleet } = await import("../running/fleet-file.ts")
    const forked = await forkTick(this.#records, await loadFleet(fleet), {
      assistant: id,
      tick,
      stubs: Object.entries(stubs).map(([tool, content]) => ({ tool, content })),
      ...defined({ systemPrompt: prompt, model })
    })
    const differs = forked.differs.map((each) => `${each.what}: ${each.original} → ${each.forked}`)
    return { original: forked.original, forked: forked.forked, differs }
  }

  async create(id: string, definition?: string) {
    return this.#fleet.create(id, definition)
  }

  send(id: string, text: string, question: Question) {
    return this.#fleet.send(id, text, question)
  }

  order(id: string, order: OrderName, { forMillis, reason, id: key }: OrderRequest) {
    const options = key === undefined ? {} : { id: key }
    switch (order) {
      case "wake":
        return this.#fleet.wake(id, reason, options)
      case "sleep":
        return this.#fleet.sleep(id, { ...options, ...defined({ forMillis }) })
      case "compact":
        return this.#fleet.compact(id, options)
      case "halt":
        return this.#fleet.halt(id, reason ?? "halted by order", options)
      case "resume":
        return this.#fleet.resume(id, options)
      case "retire":
        return this.#fleet.retire(id, reason, options)
    }
  }

  orderAll(order: "halt" | "resume", reason?: string) {
    return order === "halt" ? this.#fleet.haltAll(reason ?? "halted by order") : this.#fleet.resumeAll()
  }

  ask(id: string, text: string, question: Question) {
    return this.#fleet.ask(id, text, question)
  }

  async rest() {
    if (this.isWorking) await this.#fleet.rest()
  }

  within<A>(work: Promise<A>, timeoutMillis?: number): Promise<A> {
    const { host, stop } = this.#opened
    return host === undefined ? timed(stop.orAsked(work), timeoutMillis) : host.within(work, timeoutMillis)
  }

  listen(listener: (notice: Notice) => void) {
    const { fleet } = this.#opened
    return fleet === undefined ? () => {} : fleet.on("*", listener)
  }

  async changed() {
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MILLIS))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.close()
  }
}
