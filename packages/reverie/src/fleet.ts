// Fleet: all assistants of one deployment, as a user's program holds them.
// Owns sending, listening, orders to one assistant, waiting and closing. Leaves opening to opening/open-fleet.ts, each group of
// members (`fleet.memory`, `fleet.deadLetters`, ...) to a file of fleet/, and the work to the runtime.
// I1  `send` resolves after the message is durable, never before.
// I2  What happens inside reaches the user as promises, async iterables and typed errors; no Effect shows.
// I3  Closing lets go of every claim and closes the store; what was open goes on with the next start.
// I4  What it does and shows belongs to its tenant alone, but for `idle`, `outbox` and `monitor`, which say so.

import { reach, type Team } from "@reverie/assistant"
import { Model } from "@reverie/model"
import {
  type AssistantId,
  defined,
  type Event,
  type Notice,
  type NoticeType,
  type Receipt,
  type TenantId
} from "@reverie/protocol"
import type * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { untilRest } from "./checks/metrics.ts"
import { type AnswerOf, asked, type Parts, wholeAnswer } from "./ask.ts"
import { arriveWhole, documentAsked, envelopeOf, type FormOption, targetIn, withParts } from "./letter.ts"
import { bringToLife, definitionNamed } from "./creation.ts"
import type { AskOptions, FleetDefinition, FleetOptions, IdleOptions, SendOptions } from "./fleet-options.ts"
import { type DefinitionView, definitionViewOf } from "./views/definition-view.ts"
import { loaded } from "./opening/loaded.ts"
import { type FleetClosed, TargetAmbiguous } from "./errors.ts"
import { freshId, type Opened, opened, tenantOf } from "./opening/open-fleet.ts"
import type { Services } from "./opening/deployment.ts"
import { sharedFleet } from "./opening/shared-fleets.ts"
import { warmed } from "./opening/warming.ts"
import { type FleetDeadLetters, openDeadLetters } from "./fleet/dead-letters.ts"
import {
  decisionKey,
  decisionOf,
  type DecisionOptions,
  type FleetCompactions,
  haltAll,
  openCompactions,
  openMemories,
  type OrderOptions,
  type Post,
  resumeAll,
  type SleepOptions,
  type StopOptions,
  stopTick
} from "./fleet/ordering.ts"
import { type Forgettable, type ForgetOptions, type ForgetReceipt, forgotten } from "./forgetting/forgetting.ts"
import { acceptJudged, judgeOptions } from "./checks/judging.ts"
import { type FleetReadings, Readings } from "./fleet/records.ts"
import { type FleetReminders, openReminders } from "./fleet/reminders.ts"
import { type FleetReplay, openReplay } from "./fleet/replay.ts"
import { type FleetSubAgents, openSubAgents } from "./fleet/sub-agents.ts"
import type { VacuumOptions, VacuumReport } from "./opening/vacuuming.ts"
import { type FleetMonitor, type FleetOutbox, openMonitor, openOutbox } from "./fleet/watching.ts"

/** Every member rejects with FleetClosed after `close`, and when the store has failed. */
export class Fleet implements FleetReadings, AsyncDisposable {
  /** The id of the assistant that gets what is addressed to none in particular. */
  readonly defaultAssistant: AssistantId
  /** Resolves when the fleet has ended: with nothing after `close`, with the reason when its store failed. */
  readonly ended: Promise<FleetClosed | undefined>
  readonly #opened: Opened
  readonly #read: Readings
  /** What closing it does; nothing where another fleet was opened. */
  readonly #release: ((graceMs: number) => Promise<void>) | undefined
  readonly #isExact: boolean
  readonly #post: Post = (...sent) => this.post(...sent)
  readonly #run = <A, E>(effect: Effect.Effect<A, E, Services>): Promise<A> => this.#opened.openFleet.run(effect)
  /** What model calls have used, by assistant, hour, model or purpose; of one assistant, or of all of this tenant. */
  readonly usage: FleetReadings["usage"] = (question) => this.#read.usage(question)

  private constructor(opened: Opened, tenant: TenantId, release?: (graceMs: number) => Promise<void>, isExact = false) {
    this.#opened = opened
    this.#read = new Readings((effect) => opened.openFleet.run(effect), tenant, { freshKey: freshId })
    this.#release = release
    this.#isExact = isExact
    this.defaultAssistant = opened.definition.defaultAssistant
    this.ended = opened.openFleet.ended
  }

  /**
   * Opens the store, creates every assistant of the definition that is not there yet, and starts to work. A program that opens
   * a fleet must `close` it: until then the process lives on.
   * @throws FleetDefinitionInvalid, StoreBusy, StoreUnopenable, StoreFormatNewer, StoreShortened, StoreUnreachable
   * @example const fleet = await Fleet.open({ data: ".reverie/hello", fleet: harbor })
   */
  static async open(options: FleetOptions): Promise<Fleet> {
    const found = await opened(options)
    return new Fleet(found, tenantOf(options.tenant), (graceMs) => found.openFleet.close(graceMs))
  }

  /**
   * The one open fleet of a directory (or deployment) in this process; opens it where none is. Each caller closes what it
   * received, and the last one closes the store. Safe under hot reload: another definition object replaces the fleet, whose
   * holders then get FleetClosed. Other options count when it opens.
   * @example const fleet = await Fleet.shared({ data: ".reverie", fleet: harbor })
   */
  static shared(options: FleetOptions): Promise<Fleet> {
    return sharedFleet(options, async () => {
      const fleet = await Fleet.open(options)
      return { fleet, handle: (release) => new Fleet(fleet.#opened, tenantOf(options.tenant), release) }
    })
  }

  /** The tenant whose assistants these are. */
  get tenant(): TenantId {
    return this.#read.tenant
  }

  /**
   * The same fleet for another tenant, which need not have anything in it yet; only the fleet that was opened can be closed.
   * `exact`: targets are ids, letter by letter; otherwise names, teams and roles as well. @throws FleetDefinitionInvalid when the id can be none
   */
  forTenant(tenant: string, { exact = false }: { readonly exact?: boolean } = {}): Fleet {
    return new Fleet(this.#opened, tenantOf(tenant), undefined, exact)
  }

  /**
   * Creates an assistant of this tenant from the definition of that name; from the one with the same id when none is given.
   * Resolves when it is durable. One that exists goes on as before. @throws IdInvalid, DefinitionUnknown
   */
  async create(id: string, definition: string = id): Promise<"created" | "exists"> {
    const { assistant } = this.#read.core.address(id)
    const { definition: fleet, profile } = this.#opened
    const found = definitionNamed(fleet, definition)
    return this.#run(
      bringToLife({ tenant: this.tenant, id: assistant, keepHours: profile.keepHours, definition: found })
    )
  }

  /** What it was opened with. */
  get definition(): FleetDefinition {
    return this.#opened.definition
  }

  /** What assistants can be created from. */
  readonly definitions = (): ReadonlyArray<DefinitionView> => this.definition.assistants.map(definitionViewOf)

  /** The teams of this fleet: who is in them, and how they come to their answers. */
  readonly teams = (): ReadonlyArray<Team> => this.#opened.teams

  /** What is stored of an assistant; undefined when there is none. Rejects with IdInvalid. */
  readonly inspect: FleetReadings["inspect"] = (id) => this.#read.inspect(id)

  /** At most `limit` assistants (100 when left out) in the order of their ids, after the given one. Rejects with IdInvalid. */
  readonly list: FleetReadings["list"] = (after, limit) => this.#read.list(after, limit)

  /** The bytes of a part that a message refers to, by its digest; undefined when this tenant keeps none under it. */
  readonly blob: FleetReadings["blob"] = (digest) => this.#read.blob(digest)

  /** Every assistant of the tenant as a person wants to see it, in the order of their ids. */
  get views(): FleetReadings["views"] {
    return this.#read.views
  }

  /**
   * Sends any event; resolves when it is durable. `send`, `approve`, `halt` and the like are made of it.
   * @throws EnvelopeInvalid, TargetAmbiguous, UnknownAssistant, IdReused, ApprovalUnknown, MemoryUnknown, MemoryRefused, DefinitionMissing
   */
  async post(to: string, event: Event, options: SendOptions = {}): Promise<Receipt> {
    judgeOptions(options)
    const { loose, said } = withParts(event, options.parts)
    const assistant = this.#isExact ? to : targetIn(this.#opened.directory, to)
    const { from = "user", id = decisionKey(assistant, event) ?? (await this.#run(freshId)), traceparent } = options
    const letter = { id, tenant: this.tenant, to: assistant, from, event: said, traceparent }
    const envelope = Result.getOrThrow(envelopeOf(letter))
    const judging = { ...this.#opened, core: this.#read.core, loose }
    return acceptJudged(judging, envelope, () => this.#run(arriveWhole(envelope, loose)))
  }

  /**
   * Sends a message to an assistant, by its id or name, or to a team as `group:<team>`; resolves when it and its parts are
   * durable. The text has at most 1,000,000 characters. A name or `role:<role>` that several have is refused.
   * @throws EnvelopeInvalid, TargetAmbiguous, UnknownAssistant, IdReused, DefinitionMissing
   * @example const { outcome } = await fleet.send("desk", "The Aurora is late.", { id: "mail-17" })
   */
  async send(to: string, text: string, options: SendOptions = {}): Promise<Receipt> {
    const { blocks = [], context, output } = options
    const wanted = { blocks: blocks.length === 0 ? undefined : blocks, context, output: documentAsked(output) }
    return this.post(to, { type: "message", text, ...defined(wanted) }, options)
  }

  /** Sends a message to every assistant that the target means, e.g. `role:observer`. @throws TargetAmbiguous */
  async sendAll(target: string, text: string, options: SendOptions = {}): Promise<ReadonlyArray<Receipt>> {
    const reached = reach(this.#opened.directory, target)
    if ("refused" in reached) throw new TargetAmbiguous({ message: reached.reason, candidates: reached.candidates })
    return Promise.all(reached.ids.map((id) => this.send(id, text, options)))
  }

  /**
   * Sends a message and reads what comes back, part by part, until `done`, `stopped`, `failed` or `halted`; with `after` what is
   * behind that place, and only the end when `id` was answered before. Who stops reading stops listening.
   * @throws whatever `send` throws, AnswerLate after `timeoutMs`, and the reason of `signal`, while it is read
   * @example
   * for await (const part of fleet.ask("desk", "Which berth is free?")) {
   *   if (part.type === "text") process.stdout.write(part.text)
   *   if (part.type === "approval") await fleet.approve("desk", part.approval)
   * }
   */
  ask<const Form extends FormOption = undefined>(
    to: string,
    text: string,
    options: AskOptions<Form> = {}
  ): Parts<Form> {
    const { directory, hub, onBroken, openFleet, teams } = this.#opened
    const id = options.id === undefined ? this.#run(freshId) : Promise.resolve(options.id)
    return asked<Form>({
      id,
      options,
      onBroken,
      target: () => (this.#isExact ? to : targetIn(directory, to)),
      send: (assistant, id) => this.send(assistant, text, { ...options, id }),
      isTeam: (assistant) => teams.some((team) => team.id === assistant),
      ...this.#read.core,
      listen: (listener) => hub.listen(listener),
      onEnd: (listener) => openFleet.onEnd(listener)
    })
  }

  /**
   * The whole answer to one message: its text, or with `output` what that form makes of it.
   * @throws AnswerFailed when it failed, ran out of steps or budget, does not fit, or the assistant is halted, and whatever `ask` throws
   * @example const reply = await fleet.answer("desk", "Which berth is free?")
   */
  answer<const Form extends FormOption = undefined>(
    to: string,
    text: string,
    options: AskOptions<Form> = {}
  ): Promise<AnswerOf<Form>> {
    return wholeAnswer<Form>(to, this.ask<Form>(to, text, options), options.output)
  }

  /**
   * Listens to notices of this tenant, of one type or all (`*`), from now on. Returns how to stop.
   * @example const stop = fleet.on("approval-asked", ({ approval, tool }) => console.log(`${tool} waits: ${approval}`))
   */
  on<Type extends NoticeType>(
    type: Type,
    listener: (notice: Extract<Notice, { readonly type: Type }>) => void
  ): () => void
  on(type: "*", listener: (notice: Notice) => void): () => void
  on(type: string, listener: (notice: never) => void): () => void {
    const heard = (notice: Notice) => notice.address.tenant === this.tenant && listener(notice as never)
    return type === "*" ? this.#opened.hub.listen(heard) : this.#opened.hub.listen(heard, type as NoticeType)
  }

  /**
   * Lets a tool call run that waits for a person: exactly the call that was shown, once. The model reads the note. @throws ApprovalUnknown, UnknownAssistant, EnvelopeInvalid
   * @example await fleet.approve("desk", part.approval, { note: "The captain agrees." })
   */
  approve(to: string, approval: string, { note, ...options }: DecisionOptions = {}): Promise<Receipt> {
    return this.#order(to, decisionOf(approval, "approved", note), options)
  }

  /** Refuses a tool call that waits for a person; the model reads the note. @throws ApprovalUnknown, UnknownAssistant */
  deny(to: string, approval: string, { note, ...options }: DecisionOptions = {}): Promise<Receipt> {
    return this.#order(to, decisionOf(approval, "denied", note), options)
  }

  /** Stops an assistant where it stands, with its tick in hand: its tools are aborted. @throws UnknownAssistant */
  halt(to: string, reason: string, options: OrderOptions = {}): Promise<Receipt> {
    return this.#order(to, { type: "halt", reason }, options)
  }

  /** Ends the tick in progress: its model call and tools are interrupted, and the next message is heard. @throws UnknownAssistant */
  stop(to: string, options: StopOptions = {}): Promise<Receipt> {
    return stopTick(this.#post, this.inspect, to, options)
  }

  /** Lets a halted assistant go on with the same tick. @throws UnknownAssistant */
  resume(to: string, options: OrderOptions = {}): Promise<Receipt> {
    return this.#order(to, { type: "resume" }, options)
  }

  /** Halts every assistant of the tenant: none of them writes anything any more. Resolves with their number. */
  async haltAll(reason: string): Promise<number> {
    return this.#run(haltAll(this.tenant, await this.#run(freshId), reason))
  }

  /** Lets every halted assistant of the tenant go on, for whatever reason it was halted. Resolves with their number. */
  async resumeAll(): Promise<number> {
    return this.#run(resumeAll(this.tenant, await this.#run(freshId)))
  }

  /** Sends it to sleep. The order waits behind the mail that came before it. @throws UnknownAssistant */
  sleep(to: string, { forMs, until, ...options }: SleepOptions = {}): Promise<Receipt> {
    return this.#order(to, { type: "sleep", ...defined({ forMs, until }) }, options)
  }

  /** Wakes a sleeper; means nothing to one that is awake. @throws UnknownAssistant */
  wake(to: string, reason?: string, options: OrderOptions = {}): Promise<Receipt> {
    return this.#order(to, { type: "wake", ...defined({ reason }) }, options)
  }

  /** Ends it for good, and every sub-agent below it. What still waits is dead-lettered. @throws UnknownAssistant */
  retire(to: string, reason?: string, options: OrderOptions = {}): Promise<Receipt> {
    return this.#order(to, { type: "retire", ...defined({ reason }) }, options)
  }

  /** Erases for good: an assistant, all of the tenant, what contains a text, or what was said by whom or when. @throws IdInvalid, EnvelopeInvalid, BundleRefused */
  forget(what: Forgettable, options: ForgetOptions = {}): Promise<ForgetReceipt> {
    return forgotten(this.#run, this.#read.core, what, options, this.#opened.hub)
  }

  /** Puts away what is due by `retention` in this tenant, and gives back its room: see VacuumReport. */
  async vacuum(options: VacuumOptions = {}): Promise<VacuumReport> {
    const { vacuumed } = await import("./opening/vacuuming.ts")
    return this.#run(vacuumed(this.tenant, this.definition.assistants, options))
  }

  /** Tool calls that wait for a person; `approve` and `deny` decide them. */
  get approvals(): FleetReadings["approvals"] {
    return this.#read.approvals
  }

  /** What assistants remember; passages can be deleted. */
  get memory(): ReturnType<typeof openMemories> {
    return openMemories(this.#read.memory, this.#post)
  }

  /** What assistants have done: ticks, ledger entries, use, errors, and the mail that waits. */
  get history(): FleetReadings["history"] {
    return this.#read.history
  }

  /** The memory blocks of this tenant. */
  get blocks(): FleetReadings["blocks"] {
    return this.#read.blocks
  }

  /** The prompt registry of this tenant: templates, and components that stand in every prompt of its assistants. */
  get prompts(): FleetReadings["prompts"] {
    return this.#read.prompts
  }

  /** Messages that could not be handled, and what becomes of them. */
  get deadLetters(): FleetDeadLetters {
    return openDeadLetters(this.#read.core, this.#post)
  }

  /** The tree of sub-agents, and tasks that a program hands on or ends. */
  get subAgents(): FleetSubAgents {
    return openSubAgents(this.#read.core, (effect) => this.#run(effect), this.#post)
  }

  /** How histories were compacted, and orders to do or undo it. */
  get compactions(): FleetCompactions {
    return openCompactions(this.#read.core, this.#post, this.#opened.definition.assistants)
  }

  /** Times that assistants are to be reminded of something: set, listed, cancelled. */
  get reminders(): FleetReminders {
    return openReminders(this.#read.core, this.#post)
  }

  /** Assistants gone through again from their ledger, and single ticks with changes. */
  get replay(): FleetReplay {
    return openReplay(this.#read.replay, this.#opened.definition, () => this.#run(Model))
  }

  /** The ledger of all assistants, of every tenant, and what is committed to it. */
  get outbox(): FleetOutbox {
    return openOutbox(this.#read.outbox, this.#opened.hub)
  }

  /** Figures of this process and of the whole store. */
  get monitor(): FleetMonitor {
    return openMonitor(this.#read.monitor, this.#opened.profile, (effect) => this.#run(effect), this.tenant)
  }

  /** What it stands on, in words, without any password. */
  get profile(): string {
    return this.#opened.profile.says
  }

  /** Loads what the first message would otherwise wait for. Nothing needs to wait for it. */
  readonly warm = (): Promise<void> => this.#run(warmed)

  /** Resolves when no assistant of the store has anything to do; `patienceMs`: nor will have by itself within so many milliseconds. */
  idle({ patienceMs = 0 }: IdleOptions = {}): Promise<void> {
    return this.#opened.openFleet.endingWith(this.#run(untilRest(patienceMs)))
  }

  /** Stops working and closes the store; of a fleet that `forTenant` returned, nothing. `graceMs`: what runs may end before, so long. */
  async close({ graceMs = 0 }: { readonly graceMs?: number } = {}): Promise<void> {
    await this.#release?.(graceMs)
  }

  /** Closes it at the end of an `await using` block. */
  readonly [Symbol.asyncDispose] = (): Promise<void> => this.close()

  #order(to: string, event: Event, options: OrderOptions): Promise<Receipt> {
    return this.post(to, event, { from: "person", ...options })
  }
}

loaded.Fleet = Fleet
