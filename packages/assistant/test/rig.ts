// Rig: one assistant, driven the way the runtime drives it.
// Owns the jobs and timers that commands opened. Leaves what to hear, and what to expect, to the test.
// R1  Every step starts from a snapshot that went through JSON, unless the test asks for the hot path: nothing survives
//     that is not persisted.
// R2  A job ends once; its result is heard only while it is open.

import type { Command, Json, ToolCategory } from "@reverie/protocol"
import * as Result from "effect/Result"
import {
  creation,
  type CallRequest,
  contextOf,
  decide,
  type Decision,
  type Decoded,
  receives,
  type InferFailure,
  type Input,
  isIgnored,
  jobDone,
  jobFailed,
  type MachineEvent,
  type OutageSeen,
  persist,
  restore,
  type Settings,
  type Signals,
  statusOf
} from "../src/index.ts"

export const CALM: Signals = { tokenRatio: 0, mailWaiting: false }

export const at = (tokenRatio: number): Signals => ({ tokenRatio, mailWaiting: false })

type Mail = { readonly signals?: Signals; readonly settings?: Partial<Settings> }

const mail = (envelope: string, { settings, signals }: Mail) => ({
  envelope,
  hops: 0,
  signals: signals ?? CALM,
  ...(settings === undefined ? {} : { settings })
})

export const message = (envelope: string, more: Mail = {}): MachineEvent => ({
  type: "message",
  ...mail(envelope, more)
})

export const timer = (envelope: string, more: Mail = {}): MachineEvent => ({
  type: "timer",
  name: "morning",
  ...mail(envelope, more)
})

export const sleep = (
  envelope: string,
  more: Mail & { readonly forMs?: number; readonly at?: number } = {}
): MachineEvent => ({
  type: "sleep",
  ...mail(envelope, more),
  ...(more.forMs === undefined ? {} : { forMs: more.forMs }),
  ...(more.at === undefined ? {} : { at: more.at })
})

/** An order to compact the history. */
export const compact = (at?: number): MachineEvent => ({ type: "compact", ...(at === undefined ? {} : { at }) })

/** What a model asked for: the first call of a category is named after it, and its approval after its place. */
export const asking = (...categories: ReadonlyArray<ToolCategory>): { readonly calls: ReadonlyArray<CallRequest> } => ({
  calls: categories.map((category, index) => ({
    tool: category,
    category,
    ...(category === "dangerous" ? { approval: `approval-${index}` } : {})
  }))
})

export const ANSWER = asking()
/** An answer that has not the form it must have. */
export const MISSHAPEN = { ...ANSWER, misshapen: true as const }
export const REFUSED = { ...ANSWER, refused: true as const }
export const DONE = { ok: true, pending: false }
export const BROKEN = { ok: false, pending: false }
export const PENDING = { ok: true, pending: true }

/** A step of a dream or of a compaction that did its work. */
export const worked = (signals: Signals = CALM) => ({ skipped: false, signals })
export const skipped = (signals: Signals = CALM) => ({ skipped: true, signals })
/** Another step of the same is to follow. */
export const unfinished = (signals: Signals = CALM) => ({ ...worked(signals), more: true })

export const failure = (recovery: InferFailure["recovery"], more: Partial<InferFailure> = {}): InferFailure => ({
  recovery,
  reason: `the model says ${recovery}`,
  ...more
})

/** A failure of the model's server, seen at a time. */
export const away = (at = 1_000, more: Partial<OutageSeen> = {}, failed: Partial<InferFailure> = {}): InferFailure => ({
  recovery: "retry",
  reason: "ModelUnavailable: ECONNREFUSED",
  outage: { server: "127.0.0.1:9", at, spread: 0, ...more },
  ...failed
})

/** A snapshot as the store gives it back. */
export const stored = (decoded: Decoded): Json => JSON.parse(JSON.stringify(persist(decoded))) as Json

/** Restores or throws: for snapshots that must fit. */
export const restored = (snapshot: Json): Decoded => Result.getOrThrow(restore(snapshot))

export interface OpenWork {
  readonly src: string
  readonly input: Json
}

export class Rig {
  decoded: Decoded
  /** The commands of the last step. */
  commands: ReadonlyArray<Command> = []
  ignored = false
  readonly jobs = new Map<string, OpenWork>()
  readonly timers = new Map<string, { readonly delayMillis: number; readonly event: Input }>()

  private readonly throughStore: boolean

  constructor(settings: Partial<Settings> = {}, { throughStore = true } = {}) {
    this.throughStore = throughStore
    const created = creation(settings)
    this.decoded = created.next
    this.take(created)
  }

  get status(): string {
    return statusOf(this.decoded)
  }

  get context() {
    return contextOf(this.decoded)
  }

  get receives() {
    return receives(this.decoded)
  }

  /** One event, in whatever lane it came. */
  hear(event: Input): this {
    const before = this.throughStore ? restored(stored(this.decoded)) : this.decoded
    const decision = decide(before, event)
    this.ignored = isIgnored(before, decision)
    this.take(decision)
    return this
  }

  /** An open job ends with a result. */
  ends(name: string, output: unknown): this {
    this.close(name)
    return this.hear(jobDone(name, output))
  }

  fails(name: string, error: unknown): this {
    this.close(name)
    return this.hear(jobFailed(name, error))
  }

  /** The one timer that is set comes due. */
  due(): this {
    const [name, timer] = [...this.timers][0] ?? []
    if (name === undefined || timer === undefined) throw new Error(`no timer is set in ${this.status}`)
    this.timers.delete(name)
    return this.hear(timer.event)
  }

  /** The parameters of the actions of this name in the last step. */
  actions(type: string): ReadonlyArray<Json> {
    return this.commands.flatMap((command) =>
      command._tag === "Action" && command.type === type ? [command.params] : []
    )
  }

  emitted(): ReadonlyArray<Json> {
    return this.commands.flatMap((command) => (command._tag === "Emit" ? [command.event] : []))
  }

  /** The refusals of the last step, as `index: reason`. */
  refusals(): ReadonlyArray<string> {
    return this.actions("refuseCalls").flatMap((params) =>
      (
        params as unknown as { readonly refusals: ReadonlyArray<{ readonly index: number; readonly reason: string }> }
      ).refusals.map(({ index, reason }) => `${index}: ${reason}`)
    )
  }

  /** Strikes off the job or timer whose end this event is. */
  ended(event: Input): this {
    for (const [name, timer] of this.timers) if (timer.event === event) this.timers.delete(name)
    this.jobs.delete(event.type.replace(/^xstate\.(done|error)\.actor\./, ""))
    return this
  }

  private close(name: string): void {
    if (!this.jobs.delete(name)) throw new Error(`the job ${name} is not open in ${this.status}`)
  }

  private take(decision: Decision): void {
    this.decoded = decision.next
    this.commands = decision.commands
    for (const command of decision.commands) {
      if (command._tag === "StartJob") this.jobs.set(command.name, { src: command.src, input: command.input })
      else if (command._tag === "StopJob") this.jobs.delete(command.name)
      else if (command._tag === "CancelTimer") this.timers.delete(command.name)
      else if (command._tag === "SetTimer") {
        this.timers.set(command.name, { delayMillis: command.delayMillis, event: command.event as unknown as Input })
      }
    }
  }
}
