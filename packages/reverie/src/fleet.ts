// Fleet: all assistants of one deployment, in the hands of a user's program.
// Owns opening, sending, listening, waiting and closing. Leaves reading to records.ts, orders to ordering.ts, living to the
// runtime.
// I1  `send` resolves after the message is durable, never before.
// I2  What happens inside reaches the user as promises, async iterables and typed errors; no Effect shows.
// I4  Of what it does and tells, nothing belongs to another tenant but what says so: `rest`, `metrics`, `written`, `tally`,
//     `otherWorkers`.
// I3  Closing lets go of every claim and closes the store; what was open goes on with the next start.

import { type Directory, reach, type Team } from "@reverie/assistant"
import { Model } from "@reverie/model"
import {
  type AssistantId,
  DEFAULT_TENANT,
  defined,
  type EnvelopeId,
  type Event,
  type Notice,
  type NoticeType,
  type Receipt,
  TenantId
} from "@reverie/protocol"
import {
  arrive,
  DEFAULT_WORKER,
  Definitions,
  Faults,
  FleetDirectory,
  HostFailures,
  NoticeHub,
  runWorker
} from "@reverie/runtime"
import { runPlaceLayer } from "@reverie/run-place"
import { SqliteStore, type WriterStats } from "@reverie/store-sqlite"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as References from "effect/References"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { measured, untilRest } from "./checks/metrics.ts"
import { endOf, envelopeOf, type Part, partsOf } from "./ask.ts"
import { type Blocks, blocksOf } from "./fleet/blocks.ts"
import { bringToLife } from "./creation.ts"
import { ID_FORM } from "./define-assistant.ts"
import { type FleetDefinition, type FleetOptions, flawOfTerms, type SendOptions, weightIn } from "./fleet-options.ts"
import { type DefinitionView, definitionViewOf } from "./views/definition-view.ts"
import { directoryOf } from "./fleet/directory.ts"
import { loaded } from "./doors.ts"
import { DefinitionUnknown, FleetClosed, FleetDefinitionInvalid, TargetAmbiguous } from "./errors.ts"
import type { Fork, ForkRequest, PromptQuestion, TickPrompt } from "./forking/index.ts"
import { limitsLayer, OpenFleet } from "./opening/open-fleet.ts"
import type { Profile, Services } from "./opening/deployment.ts"
import { groundOf } from "./opening/ground.ts"
import { profileOf } from "./opening/profile.ts"
import { sharedFleet } from "./opening/shared-fleets.ts"
import { assertModules, warmed } from "./opening/warming.ts"
import { Ordering } from "./fleet/ordering.ts"
import { type Prompts, promptsOf } from "./fleet/prompts.ts"
import { type Readiness, readiness } from "./checks/readiness.ts"
import { tracingLayer } from "./opening/tracing.ts"

/** 128 random bits, from the Random service. */
const freshId = Effect.gen(function* () {
  let id = ""
  for (let part = 0; part < 4; part++) id += ((yield* Random.nextInt) >>> 0).toString(16).padStart(8, "0")
  return id
})

const decodeTenant = Schema.decodeUnknownOption(TenantId)

const tenantOf = (tenant: string = DEFAULT_TENANT): TenantId =>
  Option.getOrElse(decodeTenant(tenant), () => {
    const subject = `tenant ${JSON.stringify(tenant)}`
    throw new FleetDefinitionInvalid({ subject, message: `${subject}: its id must have ${ID_FORM}` })
  })

/** What every tenant of an open fleet has in common. */
interface Opened {
  readonly openFleet: OpenFleet<Services>
  readonly hub: NoticeHub["Service"]
  readonly profile: Profile
  readonly definition: FleetDefinition
  readonly directory: Directory
  readonly teams: ReadonlyArray<Team>
}

export class Fleet extends Ordering implements AsyncDisposable {
  /** Who gets what is addressed to nobody. */
  readonly reception: AssistantId
  /** Resolves when the fleet has ended: with nothing after `close`, with the reason when its store failed. */
  readonly ended: Promise<FleetClosed | undefined>
  readonly #opened: Opened
  /** What closing it does; nothing where another fleet was opened. */
  readonly #release: (() => Promise<void>) | undefined
  readonly #isExact: boolean

  private constructor(opened: Opened, tenant: TenantId, release?: () => Promise<void>, isExact = false) {
    super((effect) => opened.openFleet.run(effect), tenant, freshId)
    this.#opened = opened
    this.#release = release
    this.#isExact = isExact
    this.reception = opened.definition.reception
    this.ended = opened.openFleet.ended
  }

  /**
   * The same fleet for another tenant, who need not have anything in it yet. Closing what is answered closes nothing: the
   * fleet that was opened does. `exact`: whoever is written to is named by id, letter by letter, as in every reading;
   * otherwise by name, team or role as well.
   */
  of(tenant: string, { exact = false }: { readonly exact?: boolean } = {}): Fleet {
    return new Fleet(this.#opened, tenantOf(tenant), undefined, exact)
  }

  /** Opens the store, brings every assistant of the definition to life, and starts to work. */
  static async open(options: FleetOptions): Promise<Fleet> {
    const { faults, fleet, onTrouble, role = "all" } = options
    const tenant = tenantOf(options.tenant)
    const profile = await Effect.runPromise(profileOf(options))
    const byName = new Map(fleet.assistants.map((assistant) => [assistant.name, assistant]))
    const terms = { ...fleet, ...options }
    const flaw = flawOfTerms(terms)
    if (flaw !== undefined) throw new FleetDefinitionInvalid({ subject: "fleet", message: `fleet: ${flaw}` })
    assertModules(fleet.assistants)
    const layer = Layer.mergeAll(
      profile.ports,
      Layer.succeed(Definitions, { find: (name) => byName.get(name) }),
      Layer.succeed(FleetDirectory, directoryOf(fleet)),
      faults === undefined ? Layer.empty : Layer.succeed(Faults, faults),
      // Standard output belongs to the program.
      Layer.succeed(References.LogToStderr, true),
      onTrouble === undefined ? Layer.empty : Layer.succeed(HostFailures, onTrouble),
      // Who only takes in runs no tools.
      role === "api" ? Layer.empty : runPlaceLayer,
      limitsLayer(terms),
      tracingLayer(options)
    )
    const runtime = ManagedRuntime.make(groundOf(options)(layer))
    try {
      const hub = await runtime.runPromise(
        Effect.gen(function* () {
          for (const definition of fleet.assistants) {
            yield* bringToLife({ tenant, id: definition.id, definition, keepHours: profile.keepHours })
          }
          const hub = yield* NoticeHub
          if (options.onNotice !== undefined) hub.listen(options.onNotice)
          return hub
        })
      )
      const worker = `worker-${await runtime.runPromise(freshId)}`
      const settings = {
        worker,
        tenantWeight: weightIn(terms),
        ...DEFAULT_WORKER,
        ...profile.worker,
        ...options.worker
      }
      const working = profile.sustained(role === "api" ? Effect.never : runWorker(settings))
      const openFleet = new OpenFleet(runtime, runtime.runFork(working))
      const directory = directoryOf(fleet)
      const teams = fleet.assistants.flatMap(({ team }) => team ?? [])
      const opened = { openFleet, hub, profile, definition: fleet, directory, teams }
      return new Fleet(opened, tenant, () => openFleet.close())
    } catch (failure) {
      await runtime.dispose()
      throw failure
    }
  }

  /**
   * The one open fleet of a directory (or deployment) in this process; opens it where none is. Each caller closes what it
   * received, and the last one closes the store. Safe under hot reload: another definition object replaces the fleet, whose
   * holders then get FleetClosed. Other options count when it opens. Rejects as `open` does.
   * @example const fleet = await Fleet.shared({ data: ".reverie", fleet: harbor })
   */
  static shared(options: FleetOptions): Promise<Fleet> {
    return sharedFleet(options, async () => {
      const fleet = await Fleet.open(options)
      return { fleet, handle: (release) => new Fleet(fleet.#opened, tenantOf(options.tenant), release) }
    })
  }

  /**
   * Brings an assistant of this tenant to life, from the definition of that name; from the one with the same id when none
   * is said. Resolves when it is durable. Who lives there already goes on as before.
   */
  async create(id: string, definition: string = id): Promise<"created" | "exists"> {
    const { assistant } = this.address(id)
    const { assistants } = this.#opened.definition
    const found = assistants.find(({ name }) => name === definition)
    if (found !== undefined) {
      const { keepHours } = this.#opened.profile
      return this.#run(bringToLife({ tenant: this.tenant, id: assistant, definition: found, keepHours }))
    }
    const known = assistants.map(({ name }) => name)
    const message = `there is no definition ${JSON.stringify(definition)}; the fleet has ${known.join(", ")}`
    throw new DefinitionUnknown({ definition, known, message })
  }

  /** What it was opened with. */
  get definition(): FleetDefinition {
    return this.#opened.definition
  }

  /** What assistants can be created from. */
  definitions(): ReadonlyArray<DefinitionView> {
    return this.#opened.definition.assistants.map(definitionViewOf)
  }

  /** Sends an event; resolves when it is durable. */
  async post(to: string, event: Event, options: SendOptions = {}): Promise<Receipt> {
    const id = options.id ?? (await this.#run(freshId))
    const assistant = this.#meant(to)
    const { from = "user", traceparent } = options
    const envelope = envelopeOf({ id, tenant: this.tenant, to: assistant, from, event, traceparent })
    if (Result.isFailure(envelope)) throw envelope.failure
    return this.#run(arrive(envelope.success))
  }

  /**
   * Says something to an assistant, by its id or name, or to a team as `group:<team>`; resolves when it is durable. A name
   * or `role:<role>` that several have is refused with the candidates.
   */
  send(to: string, text: string, options: SendOptions = {}): Promise<Receipt> {
    const { blocks = [] } = options
    return this.post(
      to,
      { type: "message", text, ...defined({ blocks: blocks.length === 0 ? undefined : blocks }) },
      options
    )
  }

  /** Says something to everybody that the target means, e.g. `role:observer`. */
  async sendAll(target: string, text: string, options: SendOptions = {}): Promise<ReadonlyArray<Receipt>> {
    const reached = reach(this.#opened.directory, target)
    if ("refused" in reached) throw new TargetAmbiguous({ message: reached.reason, candidates: reached.candidates })
    return Promise.all(reached.ids.map((id) => this.send(id, text, options)))
  }

  /** The teams of this fleet: who is in them, and how they come to their answers. */
  teams(): ReadonlyArray<Team> {
    return this.#opened.teams
  }

  /** The assistant that a target means. What the definition does not know may still be in the store, under its id. */
  #meant(target: string): string {
    if (this.#isExact) return target
    const reached = reach(this.#opened.directory, target)
    if ("refused" in reached) {
      if (reached.refused === "unknown") return target
      throw new TargetAmbiguous({ message: reached.reason, candidates: reached.candidates })
    }
    const [only, ...others] = reached.ids
    if (only !== undefined && others.length === 0) return only
    const message = `"${target}" means ${reached.ids.length}: write to one of them, or to all with sendAll`
    throw new TargetAmbiguous({ message, candidates: reached.ids })
  }

  /** Says something and reads what comes back, piece by piece; only the end when it was said and answered before. */
  ask(to: string, text: string, options: SendOptions = {}): AsyncIterable<Part> {
    const prepared = options.id === undefined ? this.#run(freshId) : Promise.resolve(options.id)
    // Whoever never reads must not hear of it as an unhandled rejection.
    prepared.catch(() => {})
    const listen = (listener: (notice: Notice) => void) => this.#opened.hub.listen(listener)
    const question = () => {
      const assistant = this.#meant(to)
      const isTeam = this.#opened.teams.some(({ id }) => id === assistant)
      const isAbout = ({ address }: Notice) => address.assistant === assistant && address.tenant === this.tenant
      const begin = async (id: EnvelopeId): Promise<Part | undefined> => {
        const { outcome } = await this.send(assistant, text, { ...options, id })
        const end = outcome === "duplicate" ? await endOf(this.newest(assistant), id, isTeam) : undefined
        if (end !== undefined) return end
        // Halted before, it tells nothing of it now.
        return (await this.inspect(assistant))?.state.status === "halted" ? { type: "halted" } : undefined
      }
      return { isAbout, isTeam, begin }
    }
    const onEnd = (listener: (reason: FleetClosed) => void) => this.#opened.openFleet.onEnd(listener)
    return {
      async *[Symbol.asyncIterator]() {
        const envelope = (await prepared) as EnvelopeId
        const { begin, isAbout, isTeam } = question()
        yield* partsOf({ listen, onEnd, isAbout, isTeam, envelope, begin: () => begin(envelope) })
      }
    }
  }

  /** The whole answer to one message. Rejects when it failed or the assistant is halted. */
  async answer(to: string, text: string, options: SendOptions = {}): Promise<string> {
    for await (const part of this.ask(to, text, options)) {
      if (part.type === "done") return part.reply
      if (part.type === "failed") throw new FleetClosed({ message: `${to} could not answer: ${part.reason}` })
      if (part.type === "halted") throw new FleetClosed({ message: `${to} is halted` })
    }
    throw new FleetClosed({ message: `${to} gave no answer` })
  }

  /** Listens to notices of this tenant, of one type or all (`*`). Answers how to stop. */
  on<Type extends NoticeType>(
    type: Type,
    listener: (notice: Extract<Notice, { readonly type: Type }>) => void
  ): () => void
  on(type: "*", listener: (notice: Notice) => void): () => void
  on(type: string, listener: (notice: never) => void): () => void {
    return this.#opened.hub.listen((notice) => {
      if (notice.address.tenant !== this.tenant) return
      if (type === "*" || notice.type === type) listener(notice as never)
    })
  }

  /** Listens to the notices of every tenant of the store, for whoever passes them on to the right one. Answers how to stop. */
  onEvery(listener: (notice: Notice) => void): () => void {
    return this.#opened.hub.listen(listener)
  }

  /** The very words that a model of this tenant was shown with one call; undefined when there was none. */
  async promptOf(question: PromptQuestion & { readonly iteration?: number }): Promise<TickPrompt | undefined> {
    const { promptOfTick } = await import("./forking/exact-prompt.ts")
    return promptOfTick(this, this.#opened.definition, question)
  }

  /** Lives through a tick once more beside the fleet, with its own model when none is said: see `forkTick`. */
  async fork(request: ForkRequest): Promise<Fork> {
    const { forkTick } = await import("./forking/fork.ts")
    return forkTick(this, this.#opened.definition, { ...request, model: request.model ?? (await this.#run(Model)) })
  }

  /** The memory blocks of this tenant. */
  blocks(): Blocks {
    return blocksOf(this.tenant, (effect) => this.#run(effect), freshId)
  }

  /** The prompt registry of this tenant: templates, and components that stand in every prompt of its assistants. */
  prompts(): Promise<Prompts> {
    return promptsOf(this.tenant, (effect) => this.#run(effect))
  }

  /** What has been written to the embedded store since it was opened; undefined on servers. */
  written(): Promise<WriterStats | undefined> {
    return this.#run(
      Effect.flatMap(Effect.serviceOption(SqliteStore), (store) =>
        Option.isNone(store) ? Effect.undefined : store.value.stats
      )
    )
  }

  /** What it stands on, in words, without any password. */
  get profile(): string {
    return this.#opened.profile.says
  }

  /** Loads what the first message would otherwise wait for. Nothing needs to wait for it. */
  warm(): Promise<void> {
    return this.#run(warmed)
  }

  /** Whether anything can be accepted and worked on, of any tenant. Rejects where the store does not answer or write. */
  readiness(): Promise<Readiness> {
    return this.#run(readiness)
  }

  /** What this process and its servers have measured, in the text format of Prometheus. No assistant is named in it. */
  metrics(): Promise<string> {
    return this.#run(Effect.zipWith(measured, this.#opened.profile.measured, (own, ofServers) => own + ofServers))
  }

  /** The other processes that work on the same store, by name; undefined when the queue can not say. */
  otherWorkers(): Promise<ReadonlyArray<string> | undefined> {
    return this.#run(this.#opened.profile.otherWorkers)
  }

  /**
   * Resolves when no assistant has anything to do; rejects when the fleet ends before that. With patience, what happens by
   * itself within so many milliseconds (an approval that expires, a short sleep) is waited for too.
   */
  rest(patienceMillis: number = 0): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = this.#opened.openFleet.onEnd(reject)
      void this.#run(untilRest(patienceMillis)).then(resolve, reject).finally(stop)
    })
  }

  /** Stops working and closes the store; of a fleet that `of` answered, nothing. */
  async close(): Promise<void> {
    await this.#release?.()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #run<A, E>(effect: Effect.Effect<A, E, Services>): Promise<A> {
    return this.#opened.openFleet.run(effect)
  }
}

loaded.Fleet = Fleet
