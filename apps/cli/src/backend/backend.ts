// Reach: where a command works: a running server, or the store itself.
// Owns the one interface that commands ask. Leaves which of the two it is to find-reach.ts, the asking to store-reach.ts and
// server-reach.ts.
// R1  A command does the same on both. What one of them can not do is said in one line, with exit 5, and not invented.
// R2  An order is durable when it answers, under its key: the same key again is the same order.

import type { ApprovalAsked } from "@reverie/server/api"
import type {
  AssistantView,
  BlockReading,
  BlockVersion,
  BudgetView,
  Compaction,
  ContextReport,
  EntityProfile,
  Entry,
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

/** One assistant, as both tell it. */
export type View = Pick<
  AssistantView,
  | "id"
  | "definition"
  | "state"
  | "ticks"
  | "waiting"
  | "jobs"
  | "timers"
  | "approvals"
  | "commits"
  | "haltReason"
  | "outage"
>

/** One in a list; a server tells its open work only to `view`. */
export type ListedView = Omit<View, "jobs" | "timers"> & Partial<Pick<View, "jobs" | "timers">>

export interface Page<Item> {
  readonly items: ReadonlyArray<Item>
  /** Where the next page begins; null when there is none. */
  readonly next: string | null
}

/** How an order was taken; durable either way. */
export interface Taken {
  readonly outcome: "accepted" | "duplicate"
  readonly envelope: string
}

export interface ListRequest {
  readonly limit: number
  readonly cursor?: string
}

/** A dead letter as both tell it. */
export interface DeadLettered {
  readonly assistant: string
  readonly envelope: string
  readonly reason: string
  readonly at: number
}

export interface QueueView {
  /** What carries the wake-ups, or that nobody who would know runs. */
  readonly backend: string
  readonly queues: ReadonlyArray<{
    readonly name: string
    readonly waiting: number
    readonly active?: number
    readonly delayed?: number
    readonly failed?: number
  }>
  readonly totals?: Totals
  /** Who works, where that is known. */
  readonly workers?: ReadonlyArray<{ readonly name: string; readonly role: string }>
}

export interface BlockSummary {
  readonly id: string
  readonly label: string
  readonly version: number
  readonly text: string
}

export type BlockChangeLine = Omit<BlockVersion, "isSystem">

export interface OpenedCompaction {
  readonly compaction: Compaction
  readonly messages: ReadonlyArray<PlacedMessage>
}

/** A call that waits for a person; the store alone tells less of where it came from. */
export type AskedApproval = Pick<ApprovalAsked, "assistant" | "approval" | "tool" | "call"> & Partial<ApprovalAsked>

/** An assistant and everybody below it. */
export interface SubAgentTree extends BudgetView {
  readonly id: string
  readonly state?: string
  readonly phase?: string
  readonly task?: string
  readonly subAgents: ReadonlyArray<SubAgentTree>
}

export interface FrameView {
  readonly no: number
  readonly tick: number
  readonly iteration: number
  readonly at: number
  readonly event: string
  readonly before: string
  readonly after: string
  readonly commands: ReadonlyArray<string>
  readonly hash: string
}

export interface FrameRequest extends ListRequest {
  /** The last commit that is told. */
  readonly to?: number
  readonly untilState?: string
}

export interface Verdict {
  readonly commits: number
  readonly equal: boolean
  readonly modelCalls: number
  readonly toolCalls: number
  readonly differsAt?: number
  readonly difference?: string
}

export interface ForkRequest {
  readonly tick: number
  readonly prompt?: string
  readonly model?: string
  readonly stubs?: Readonly<Record<string, string>>
  /** Of the store: the file that exports the fleet. */
  readonly fleet?: string
}

export interface Forked {
  /** What happened in the tick then, and now. */
  readonly original: object | Json
  readonly forked: object | Json
  readonly differs: ReadonlyArray<string>
}

export type OrderName = "wake" | "sleep" | "compact" | "halt" | "resume" | "retire"

export interface OrderRequest {
  readonly reason?: string
  readonly forMillis?: number
  readonly id?: string
}

export interface Question {
  readonly id?: string
  readonly from?: string
}

export interface Backend extends AsyncDisposable {
  readonly kind: "server" | "store"
  /** Where it is, in words, without any secret. */
  readonly place: string
  /** Whether what it is told is followed while it is open: somebody works there. */
  readonly isWorking: boolean

  readonly page: (request: ListRequest) => Promise<Page<ListedView>>
  /** Those whose ids begin so; at most a hundred. */
  readonly beginning: (start: string) => Promise<ReadonlyArray<string>>
  readonly view: (id: string) => Promise<View | undefined>
  /** Of the whole store, every tenant together; undefined where that is nobody's business. */
  readonly totals: () => Promise<Totals | undefined>
  /** Its entries from number `from` on. */
  readonly entries: (id: string, from: number, limit: number) => Promise<ReadonlyArray<Entry>>
  readonly contextReport: (
    id: string,
    which: { readonly tick?: number; readonly iteration?: number }
  ) => Promise<ContextReport | undefined>
  readonly subAgentTree: (id: string) => Promise<SubAgentTree | undefined>

  readonly kept: (id: string) => Promise<Readonly<Record<string, number>>>
  readonly recall: (id: string, question: string, options: RecallOptions) => Promise<Recalled>
  readonly facts: (id: string) => Promise<ReadonlyArray<Fact>>
  readonly profiles: (id: string) => Promise<ReadonlyArray<EntityProfile>>
  readonly dreams: (id: string) => Promise<ReadonlyArray<RecordRow>>
  readonly rebuild: (id: string) => Promise<{ readonly entries: number; readonly memories: number }>
  readonly blocks: (id: string) => Promise<ReadonlyArray<BlockSummary>>
  readonly block: (block: string, version?: number) => Promise<Pick<BlockReading, "version" | "text">>
  readonly blockVersions: (block: string, limit: number, before?: number) => Promise<ReadonlyArray<BlockChangeLine>>
  readonly editBlock: (
    block: string,
    operation: Readonly<Record<string, Json>>,
    key?: string
  ) => Promise<{ readonly version: number }>
  readonly undoBlock: (block: string, key?: string) => Promise<{ readonly version: number }>

  readonly deleteBlock: (block: string, key?: string) => Promise<void>

  readonly compactions: (id: string) => Promise<ReadonlyArray<Compaction>>
  /** The compaction whose marker stands at the beginning of what the model is shown. */
  readonly currentCompaction: (id: string) => Promise<string | undefined>
  /** One of them whole, with the messages that it took out of sight; in a list long texts may be cut. */
  readonly opened: (id: string, compaction: Compaction) => Promise<OpenedCompaction>
  readonly undoCompaction: (id: string, compaction: string) => Promise<Taken>

  readonly approvals: () => Promise<ReadonlyArray<AskedApproval>>
  readonly decide: (
    id: string,
    approval: string,
    decision: "approved" | "denied",
    options: { readonly note?: string; readonly id?: string }
  ) => Promise<Taken>

  readonly queues: () => Promise<QueueView>
  readonly dead: (limit: number) => Promise<ReadonlyArray<DeadLettered>>
  readonly redeliver: (id: string, envelope: string) => Promise<Taken>
  /** Discards a dead letter without sending it; `already` when somebody else was faster. */
  readonly discard: (id: string, envelope: string) => Promise<"discarded" | "already">

  readonly frames: (id: string, request: FrameRequest) => Promise<Page<FrameView>>
  readonly verify: (id: string) => Promise<Verdict>
  readonly fork: (id: string, request: ForkRequest) => Promise<Forked>

  readonly create: (id: string, definition?: string) => Promise<"created" | "exists">
  readonly send: (id: string, text: string, question: Question) => Promise<Taken>
  readonly order: (id: string, order: OrderName, request: OrderRequest) => Promise<Taken>
  /** Halts everybody, or lets everybody go on; answers how many were told. */
  readonly orderAll: (order: "halt" | "resume", reason?: string) => Promise<number>
  /** Says something and reads what comes back. */
  readonly ask: (id: string, text: string, question: Question) => AsyncIterable<Part>

  /** Resolves when the assistant has come to rest on what it was told, as far as it comes by itself. */
  readonly rest: (id: string) => Promise<void>
  /** The value, unless somebody asks to stop, what is reached ends, or time runs out. */
  readonly within: <A>(work: Promise<A>, timeoutMillis?: number) => Promise<A>
  /** Tells every notice from now on; answers how to stop. */
  readonly listen: (listener: (notice: Notice) => void) => () => void
  /** Resolves when something has changed, or it is worth looking again. */
  readonly changed: () => Promise<void>
}
