// Rig: workers over a disk, in a time that only the test moves.
// Owns starting, stepping and crashing. Leaves what is sent, said and asserted to the test.
// R1  A crash is total: the life is never stepped again, and nothing of it but the disk goes into the next one.
// R2  The same seed steps fibers in the same order, so a failing test fails again.

import { BlockStore, Recall } from "@reverie/memory"
import type { Model } from "@reverie/model"
import { Embedder, Model as ModelPort, Tokens } from "@reverie/model"
import { Allowance, Ledger } from "@reverie/ledger"
import { Mailbox, WakeQueue } from "@reverie/mailbox"
import {
  type Address,
  type Entry,
  type Event,
  type Json,
  type Message,
  type Notice,
  type NoticeType,
  type Receipt
} from "@reverie/protocol"
import {
  arrive,
  creationOf,
  type Definition,
  Definitions,
  Ending,
  Faults,
  FleetDirectory,
  type HostFailure,
  HostFailures,
  isAtRest,
  Limits,
  NoticeHub,
  runWorker,
  type WorkerSettings
} from "@reverie/runtime"
import {
  anAddress,
  anEnvelope,
  inTurn,
  type Line,
  MemoryDisk,
  memoryStore,
  type ScriptedModel,
  type Script,
  scriptedModel,
  someTokens,
  type Store
} from "@reverie/testkit"
import { fateOf, VirtualTime } from "@reverie/testkit/world"
import type { Directory, Settings, Team } from "@reverie/assistant"
import { noop, type Tool, toolkitOf } from "@reverie/tools"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Queue from "effect/Queue"
import * as Scheduler from "effect/Scheduler"

type Services = Mailbox | Ledger | WakeQueue | ModelPort | Tokens | Definitions | NoticeHub

export interface LifeOptions {
  /** What survived the life before. */
  readonly disk?: MemoryDisk
  readonly seed?: number
  readonly startAt?: number
  readonly model?: Script | Line | Model["Service"]
  readonly tools?: ReadonlyArray<Tool>
  readonly settings?: Partial<Settings>
  readonly definition?: Partial<Definition>
  /** "harbor" when not said. */
  readonly tenant?: string
  /** Created before anything else; "ada" when not said. */
  readonly assistants?: ReadonlyArray<string>
  /** Created besides: teams, under their ids. */
  readonly teams?: ReadonlyArray<Team>
  /** Who can be written to, and under which names. */
  readonly directory?: Directory
  /** An index of memories, and who embeds for it. */
  readonly recall?: Recall["Service"]
  readonly embedder?: Embedder["Service"]
  /** The definition that an assistant is created from; the one of all when undefined. */
  readonly ofDefinition?: (assistant: string) => string | undefined
  /** Undefined hides the definition of an assistant. */
  readonly find?: (name: string) => Definition | undefined
  readonly blocks?: BlockStore["Service"]
  /** What tenants are held to. */
  readonly allowance?: Allowance["Service"]
  readonly limits?: (typeof Limits)["Service"]
  readonly faults?: (typeof Faults)["Service"]
  /** What workers see of the store. */
  readonly store?: (store: Store) => Store
  readonly onFailure?: () => void
  /** Called before anything happens. */
  readonly onCreation?: (life: Life) => void
  /** No one listens to notices. */
  readonly quiet?: boolean
  /** Without a worker nothing is handled until `work` is called. */
  readonly idle?: boolean
  readonly worker?: Partial<WorkerSettings>
}

export type Sending = Partial<Readonly<Record<"id" | "to" | "from", string>>> & { readonly hops?: number }

const MAX_STEPS = 500_000
/** Far longer than anything here takes that ends by itself. */
const REST_MILLIS = 10 * 60_000

const isScript = (model: LifeOptions["model"]): model is Script => typeof model === "function"

export class Life {
  readonly time: VirtualTime
  readonly disk: MemoryDisk
  readonly store: Store
  readonly notices: Array<Notice> = []
  /** What was logged, line by line. */
  readonly logged: Array<string> = []
  readonly failures: Array<readonly [assistant: string, failure: HostFailure]> = []
  /** Wake-ups for later, which no one hands out: timers are found by the sweep. */
  readonly later: Array<readonly [assistant: string, dueAt: number]> = []
  /** Whose wake-ups were told to be done. */
  readonly done: Array<string> = []
  readonly scripted: ScriptedModel
  readonly hub: NoticeHub["Service"]
  readonly definition: Definition
  /** Struck down: nothing of this life happens any more. */
  dead = false
  readonly #options: LifeOptions
  readonly #wakeUps: Queue.Queue<Address>
  #sent = 0

  constructor(options: LifeOptions = {}) {
    this.#options = options
    options.onCreation?.(this)
    const { assistants = ["ada"], model = {}, seed = 1, tools = [] } = options
    this.time = new VirtualTime(fateOf(seed))
    if (options.startAt !== undefined) this.time.now = options.startAt
    this.disk = options.disk ?? new MemoryDisk()
    this.store = memoryStore(this.disk)
    this.scripted = scriptedModel(isScript(model) ? model : "infer" in model ? inTurn({}) : inTurn(model))
    this.definition = {
      name: "tester",
      rules: [],
      systemPrompt: "You are under test.",
      settings: options.settings ?? {},
      toolkit: toolkitOf([...tools, noop]),
      maxContextTokens: 8_000,
      reservedResponseTokens: 1_000,
      ...options.definition
    }
    // Made in the virtual time: a queue wakes its takers on the scheduler of the fiber that made it.
    this.#wakeUps = this.run(Queue.unbounded<Address>())
    this.hub = Effect.runSync(Effect.provide(NoticeHub, NoticeHub.layer))
    if (options.quiet !== true) this.hub.listen((notice) => this.notices.push(notice))
    for (const name of [...assistants, ...(options.teams ?? []).map(({ id }) => id)]) {
      const found = this.#find(name)
      const definition = { ...found, name: options.ofDefinition?.(name) ?? found.name }
      this.run(Effect.flatMap(creationOf(this.address(name), definition), this.store.ledger.create))
    }
    if (options.idle !== true) this.work()
  }

  #find(name: string): Definition {
    const team = this.#options.teams?.find(({ id }) => id === name)
    return team === undefined
      ? this.definition
      : { ...this.definition, name, team, settings: { compactEnabled: false } }
  }

  /** Starts a worker. `seen` changes what it sees of the store. */
  work(
    settings: Partial<WorkerSettings> = {},
    seen: (store: Store) => Store = this.#options.store ?? ((store) => store),
    ending: Ending = new Ending()
  ) {
    const { worker } = this.#options
    const chosen = { ...worker, ...settings }
    const running = runWorker(
      { worker: "worker-1", leaseMs: 30_000, idleMs: 5_000, sweepMs: 1_000, concurrency: 8, ...chosen },
      ending
    ).pipe(Effect.provide(this.services(seen(this.store))))
    return this.fork(this.#struck(running))
  }

  #struck<A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> {
    const { faults } = this.#options
    return faults === undefined ? effect : Effect.provideService(effect, Faults, faults)
  }

  services(store: Store = this.store): Context.Context<Services> {
    const { allowance, blocks, embedder, limits, find = (name) => this.#find(name), model, recall } = this.#options
    const services = Context.make(Mailbox, store.mailbox).pipe(
      Context.add(Ledger, store.ledger),
      Context.add(WakeQueue, {
        wake: (address) => Effect.asVoid(Queue.offer(this.#wakeUps, address)),
        wakeAt: ({ assistant }, dueAt) => Effect.sync(() => this.later.push([assistant, dueAt])),
        take: Effect.map(Queue.take(this.#wakeUps), (address) => ({
          address,
          done: Effect.sync(() => this.done.push(address.assistant))
        })),
        redact: () => Effect.void
      }),
      Context.add(ModelPort, typeof model === "object" && "infer" in model ? model : this.scripted.model),
      Context.add(Tokens, someTokens),
      Context.add(Definitions, { find }),
      Context.add(NoticeHub, this.hub),
      Context.add(FleetDirectory, this.#options.directory ?? []),
      Context.add(HostFailures, (address, failure) => {
        this.failures.push([address.assistant, failure])
        this.#options.onFailure?.()
      })
    )
    // All are optional: no one may need them.
    return services.pipe(
      recall === undefined ? identity : Context.add(Recall, recall),
      embedder === undefined ? identity : Context.add(Embedder, embedder),
      blocks === undefined ? identity : Context.add(BlockStore, blocks),
      allowance === undefined ? identity : Context.add(Allowance, allowance),
      limits === undefined ? identity : Context.add(Limits, limits)
    )
  }

  address(assistant?: string): Address {
    return anAddress(assistant, this.#options.tenant)
  }

  fork<A, E>(effect: Effect.Effect<A, E>): Fiber.Fiber<A, E> {
    const logger = Logger.make(({ logLevel, message }) => {
      this.logged.push(`${logLevel} ${String(message)}`)
    })
    const world = Context.make(Scheduler.Scheduler, this.time.scheduler).pipe(
      Context.add(Clock.Clock, this.time.clock),
      Context.add(Logger.CurrentLoggers, new Set([logger]))
    )
    return Effect.runForkWith(world)(effect)
  }

  /** Steps until the effect has ended; throws what it failed with. */
  run<A, E>(effect: Effect.Effect<A, E>): A {
    const exit = this.#exitOf(effect)
    if (exit === undefined) throw new Error("the life ended before the effect did")
    if (Exit.isFailure(exit)) throw Cause.squash(exit.cause)
    return exit.value
  }

  /** Undefined when the life ended before the effect did. */
  #exitOf<A, E>(effect: Effect.Effect<A, E>): Exit.Exit<A, E> | undefined {
    const fiber = this.fork(effect)
    this.until(() => fiber.pollUnsafe() !== undefined)
    return fiber.pollUnsafe()
  }

  /** Steps until it holds, or the life has ended. */
  until(holds: () => boolean): void {
    for (let step = 0; !this.dead && !holds(); step++) {
      if (step > MAX_STEPS) throw new Error(`it never came to hold; ${this.describe()}`)
      if (!this.time.step()) throw new Error(`nothing is left to happen; ${this.describe()}`)
    }
  }

  /** Lets time pass, and everything that happens in it, or until the life has ended. */
  pass(millis: number): void {
    this.#exitOf(Effect.sleep(millis))
  }

  /** Steps until no one has anything to do, or the life has ended. */
  rest(): void {
    const { ledger, mailbox } = this.store
    const isRest = Effect.gen(function* () {
      if ((yield* ledger.openSends(1)).length > 0) return false
      for (const record of yield* ledger.list(undefined, 1_000)) {
        if (!(yield* Effect.provideService(isAtRest(record), Mailbox, mailbox))) return false
      }
      return true
    })
    const deadline = this.time.now + REST_MILLIS
    while (!this.dead && !this.run(isRest)) {
      if (this.time.now > deadline) throw new Error(`it never came to rest; ${this.describe()}`)
      this.pass(100)
    }
  }

  /** Accepts an event the way a front door does; durable when it returns. */
  post(event: Event, sending: Sending = {}): Receipt {
    return this.run(this.#arrival(event, sending))
  }

  #arrival(event: Event, { from, hops, id, to }: Sending) {
    const envelope = anEnvelope({
      id: id ?? `e-${++this.#sent}`,
      to: this.address(to),
      event,
      ...(from === undefined ? {} : { from }),
      ...(hops === undefined ? {} : { hops })
    })
    return this.#struck(Effect.provide(arrive(envelope), this.services()))
  }

  /** Says something from within what is being stepped. */
  postLater(text: string, to: string): void {
    this.fork(this.#arrival({ type: "message", text }, { to }))
  }

  /** Says something whose wake-up gets lost. */
  slip(text: string, { id, to }: Sending = {}): void {
    const envelope = anEnvelope({
      id: id ?? `e-${++this.#sent}`,
      to: this.address(to),
      event: { type: "message", text }
    })
    this.run(this.store.mailbox.accept(envelope))
  }

  say(text: string, sending: Sending = {}): Receipt {
    return this.post({ type: "message", text }, sending)
  }

  /** Says something; false when the life ended before it was acknowledged. */
  trySay(text: string, sending: Sending = {}): boolean {
    return this.#exitOf(this.#arrival({ type: "message", text }, sending)) !== undefined
  }

  entries(assistant = "ada"): ReadonlyArray<Entry> {
    return (this.disk.resident(this.address(assistant))?.entries ?? []).map(({ entry }) => entry)
  }

  messages(assistant = "ada"): ReadonlyArray<Message> {
    return this.entries(assistant).flatMap((entry) => entry.messages)
  }

  /** What the model was told in answer to its calls, in order. */
  toolTexts(assistant = "ada"): ReadonlyArray<string> {
    return this.messages(assistant).flatMap(({ content, role }) => (role === "tool" ? [content] : []))
  }

  /** The one message that answers a call; empty when there is none. */
  answerTo(call: string, assistant = "ada"): string {
    const [answer, ...others] = this.messages(assistant).filter((message) => message.call === call)
    if (others.length > 0) throw new Error(`${call} was answered ${others.length + 1} times`)
    return answer?.content ?? ""
  }

  status(assistant = "ada"): string {
    return this.disk.resident(this.address(assistant))?.state.status ?? "planned"
  }

  snapshot(assistant = "ada"): Json {
    return this.disk.resident(this.address(assistant))?.state.snapshot ?? null
  }

  /** How every tick ended, in order. */
  ends(assistant = "ada") {
    return this.entries(assistant).flatMap(({ tickEnd }) =>
      tickEnd === undefined ? [] : [{ ...tickEnd, envelope: String(tickEnd.envelope) }]
    )
  }

  settled(assistant = "ada") {
    return this.entries(assistant).flatMap(({ settled = [] }) =>
      settled.map((each) => ({ ...each, id: String(each.id) }))
    )
  }

  deadLetters() {
    return this.disk.deadLetters.map((letter) => ({ ...letter, envelope: String(letter.envelope) }))
  }

  told<Type extends NoticeType>(type: Type): ReadonlyArray<Extract<Notice, { readonly type: Type }>> {
    return this.notices.filter((notice): notice is Extract<Notice, { readonly type: Type }> => notice.type === type)
  }

  describe(): string {
    const residents = [...this.disk.residents.values()]
    return residents.map(({ address, state }) => `${address.assistant} is ${state.status}`).join(", ")
  }
}

export const live = (options: LifeOptions = {}): Life => new Life(options)

/** A tool whose run is an effect, so that it can take its time. */
export const aTool = (name: string, over: Partial<Tool> = {}): Tool => ({
  name,
  description: name,
  parameters: { type: "object", properties: {} },
  category: "safe_chain",
  timeoutMs: 30_000,
  idempotent: false,
  validate: (args) => Effect.succeed(args),
  effect: () => Effect.succeed(`${name} done`),
  ...over
})

/** A line in which the model calls these tools, without arguments. */
export const calling = (...tools: ReadonlyArray<string>): Line => ({ calls: tools.map((tool) => ({ tool })) })
