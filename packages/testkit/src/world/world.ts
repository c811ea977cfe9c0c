// World: several workers, people and a store, lived through by one seed.
// Owns setting up, running to rest and the report. Leaves the store to the memory disk, judgement to check.ts.
// W1  The same seed gives the same world: the same record, byte for byte.
// W2  A crash loses everything but the disk; the process comes back with nothing in memory.
// W3  After the last message the weather is fine, but for an outage of the model that has begun, and the world must come to
//     rest in bounded time: else that is a violation.

import { createHash } from "node:crypto"
import { isCompaction } from "@reverie/context"
import { Ledger } from "@reverie/ledger"
import { Mailbox, WakeQueue } from "@reverie/mailbox"
import { Model, Tokens } from "@reverie/model"
import {
  type Address,
  AssistantId,
  DEFAULT_TENANT,
  type Hold,
  type RecordKind,
  type RecordRow
} from "@reverie/protocol"
import {
  creationOf,
  type Definition,
  Definitions,
  Faults,
  inTurns,
  isAtRest,
  NoticeHub,
  openTurnLine,
  runWorker
} from "@reverie/runtime"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Queue from "effect/Queue"
import * as References from "effect/References"
import * as Scheduler from "effect/Scheduler"
import { MemoryDisk } from "../memory-disk.ts"
import { memoryStore, type Store } from "../memory-store.ts"
import { checkedThenActed, type PlantedBug, withBug } from "./bugs.ts"
import { countSubAgents } from "./check-sub-agents.ts"
import { countStops } from "./check-stops.ts"
import { check } from "./check.ts"
import { type Fate, fateOf } from "./fate.ts"
import { wakeUpsOf, queueIn } from "./wake-ups.ts"
import { type Outside, outsideOf } from "./outside.ts"
import { attendant, type Door, lullaby, type People, sender, type Sent, sunset } from "./people.ts"
import { inProcess, portIn, type Process, strike } from "./process.ts"
import { VirtualTime } from "./virtual-time.ts"
import { type Weather, weatherOf } from "./weather.ts"

export interface WorldOptions {
  readonly bug?: PlantedBug
  readonly workers?: number
  readonly senders?: number
  readonly messagesPerSender?: number
}

export interface WorldReport {
  readonly seed: number
  readonly violations: ReadonlyArray<string>
  /** Hash of the whole record: equal for equal seeds. */
  readonly trace: string
  readonly acknowledged: number
  readonly entries: number
  readonly crashes: number
  readonly effects: number
  readonly fenced: number
  /** Facts kept, and compactions of histories, some of which were ordered. */
  readonly facts: number
  readonly compactions: number
  readonly orderedCompactions: number
  /** Sub-agents that came into the world. */
  readonly subAgents: number
  /** Outages of the model in which a call has failed. */
  readonly outages: number
  /** Ticks that a person stopped, and those among them for whose answer an assistant waited. */
  readonly stopped: number
  readonly stoppedAsked: number
  readonly virtualMillis: number
}

const LEASE_MILLIS = 10_000
const CONCURRENCY = 2
const ASSISTANTS = ["ada", "bo", "cy"]
/** A few messages fill the share of the window that a history may have here. */
const SETTINGS = {
  parkMinMs: 500,
  approvalMs: 120_000,
  reportMs: 120_000,
  subAgents: true,
  subAgentBudget: 2,
  subAgentDepth: 2,
  subAgentTokens: 16_000,
  subAgentCalls: 5,
  subAgentMs: 60_000,
  subAgentGraceMs: 30_000,
  subAgentRetries: 1,
  compactSleepRatio: 0.05,
  compactEmergencyRatio: 0.1
}

/** Far more than any world needs to come to rest once the weather is fine. */
const PATIENCE_MILLIS = 4 * 60 * 60_000
const MAX_STEPS = 3_000_000

interface World {
  readonly fate: Fate
  readonly time: VirtualTime
  readonly disk: MemoryDisk
  readonly store: Store
  readonly outside: Outside
  readonly weather: Weather
  readonly wakeUps: Queue.Queue<Address>
  readonly options: WorldOptions
  readonly processes: Array<Process>
  readonly services: Map<string, Context.Context<Services>>
  readonly grants: Array<readonly [string, number, string]>
  readonly counts: { crashes: number; fenced: number; mostAtOnce: number }
  healed: boolean
}

type Services = Mailbox | Ledger | WakeQueue | Model | Tokens | Definitions | NoticeHub

const run = <A, E>(world: World, effect: Effect.Effect<A, E>) =>
  Effect.runForkWith(
    Context.make(Scheduler.Scheduler, world.time.scheduler).pipe(
      Context.add(Clock.Clock, world.time.clock),
      // What goes wrong here is what is wanted; it is judged, not told.
      Context.add(References.MinimumLogLevel, "None")
    )
  )(effect)

const definitionOf = (world: World): Definition => ({
  name: "citizen",
  systemPrompt: "You live in a simulated world.",
  settings: SETTINGS,
  rules: [],
  toolkit: world.outside.toolkit,
  maxContextTokens: 4_000,
  reservedResponseTokens: 500,
  compaction: { compactPreserveWindow: 4, strategy: { type: "recursive-summarization", chunkTokens: 200 } }
})

const observed = (world: World, store: Store): Store => ({
  mailbox: {
    ...store.mailbox,
    claim: (request) =>
      Effect.tap(store.mailbox.claim(request), ({ claim }: Hold) =>
        Effect.sync(() => world.grants.push([claim.address.assistant, claim.epoch, claim.worker]))
      )
  },
  ledger: {
    ...store.ledger,
    commit: (claim, commit) =>
      Effect.tapError(store.ledger.commit(claim, commit), (error) =>
        Effect.sync(() => {
          if (error._tag === "CommitFenced") world.counts.fenced++
        })
      )
  }
})

const servicesIn = (world: World, process: Process, hub: NoticeHub["Service"]): Context.Context<Services> => {
  const store = observed(world, world.store)
  const definition = definitionOf(world)
  return Context.make(Mailbox, portIn(process, store.mailbox)).pipe(
    Context.add(Ledger, portIn(process, store.ledger)),
    Context.add(WakeQueue, portIn(process, wakeUpsOf(world))),
    Context.add(Model, portIn(process, world.outside.model)),
    Context.add(Tokens, world.outside.tokens),
    Context.add(Definitions, { find: () => definition }),
    Context.add(NoticeHub, hub)
  )
}

/** Counts how many assistants work at once, inside whatever bounds them. */
const counted = (world: World, bound: Bound): Bound => {
  let inside = 0
  return (work, address) =>
    bound(
      Effect.suspend(() => {
        world.counts.mostAtOnce = Math.max(world.counts.mostAtOnce, ++inside)
        return Effect.ensuring(
          work,
          Effect.sync(() => inside--)
        )
      }),
      address
    )
}

type Bound = ReturnType<typeof inTurns>

const boundOf = (world: World): Bound =>
  counted(
    world,
    world.options.bug === "checked-then-acted" ? checkedThenActed(CONCURRENCY) : inTurns(openTurnLine(CONCURRENCY))
  )

/** Starts a worker process; when it is struck down another one takes its place. */
const startProcess = (world: World, name: string, incarnation: number): void => {
  const { fate } = world
  const process: Process = { name, alive: true, pausedUntil: 0 }
  world.processes.push(process)
  const crashed = () => {
    world.counts.crashes++
    run(
      world,
      Effect.gen(function* () {
        yield* Effect.sleep(fate.between(100, 5_000))
        yield* Fiber.interrupt(fiber).pipe(Effect.forkDetach)
        startProcess(world, name, incarnation + 1)
      })
    )
  }
  const fiber = run(
    world,
    Effect.gen(function* () {
      const hub = yield* Effect.provide(NoticeHub, NoticeHub.layer)
      const services = servicesIn(world, process, hub)
      world.services.set(name, services)
      const bound = boundOf(world)
      return yield* runWorker({
        worker: `${name}/${incarnation}`,
        leaseMs: LEASE_MILLIS,
        idleMs: 4_000,
        sweepMs: 1_500,
        concurrency: CONCURRENCY,
        bound
      }).pipe(
        Effect.provideService(Faults, {
          at: () =>
            world.healed
              ? inProcess(process, Effect.void)
              : strike(
                  process,
                  fate,
                  { crash: 0.012, stall: 0.012, delay: 0.1, stallMillis: 2.5 * LEASE_MILLIS },
                  crashed
                )
        }),
        Effect.provide(services)
      )
    })
  )
}

const doorOf =
  (world: World): Door =>
  (effect) =>
    Effect.suspend(() => {
      const alive = world.processes.filter((process) => process.alive)
      if (alive.length === 0) return Effect.never
      const process = world.fate.pick(alive)
      const services = world.services.get(process.name)
      return services === undefined ? Effect.never : inProcess(process, Effect.provide(effect, services))
    })

const isWorldAtRest = Effect.fnUntraced(function* (world: World) {
  const { mailbox } = world.store
  const records = yield* world.store.ledger.list(undefined, 1_000)
  if ((yield* world.store.ledger.openSends(1)).length > 0) return false
  for (const record of records) {
    const { context } = record.state.snapshot as unknown as { readonly context: { readonly envelope: string | null } }
    // Someone will resume it.
    if (context.envelope !== null || record.state.status === "halted") return false
    if (!(yield* Effect.provideService(isAtRest(record), Mailbox, mailbox))) return false
  }
  return true
})

/** Everything that happens, from creation to rest. Answers false when rest did not come. */
const live = Effect.fnUntraced(function* (world: World, acknowledged: Array<Sent>, tooLate: Array<Sent>) {
  const { options } = world
  for (const name of ASSISTANTS) {
    const address = { tenant: DEFAULT_TENANT, assistant: AssistantId.make(name) }
    yield* world.store.ledger.create(yield* creationOf(address, definitionOf(world)))
  }
  for (let index = 0; index < (options.workers ?? 3); index++) startProcess(world, `worker${index}`, 0)
  const people: People = {
    fate: world.fate,
    door: doorOf(world),
    assistants: ASSISTANTS,
    acknowledged,
    tooLate,
    isHealed: () => world.healed
  }
  const attending = yield* Effect.forkChild(attendant(people, world.disk, world.outside.asked))
  const names = Array.from({ length: options.senders ?? 3 }, (_, index) => `sender${index}`)
  yield* Effect.forEach(names, (name) => sender(people, name, options.messagesPerSender ?? 6), {
    concurrency: "unbounded"
  })
  yield* lullaby(people)
  yield* sunset(people)
  world.healed = true
  for (const process of world.processes)
    process.pausedUntil = Math.min(process.pausedUntil, world.time.now + LEASE_MILLIS)
  const deadline = world.time.now + PATIENCE_MILLIS
  while (!(yield* isWorldAtRest(world))) {
    if (world.time.now > deadline) return false
    yield* Effect.sleep(1_000)
  }
  yield* Effect.forkDetach(Fiber.interrupt(attending))
  return true
})

const describe = (world: World): string =>
  [...world.disk.residents.values()].map(({ address, state }) => `${address.assistant} is ${state.status}`).join(", ")

const kept = ({ residents }: MemoryDisk, wanted: RecordKind): ReadonlyArray<RecordRow> =>
  [...residents.values()].flatMap(({ records }) => [...records.values()].filter(({ kind }) => kind === wanted))

const isOrdered = ({ value }: RecordRow): boolean => isCompaction(value) && value.trigger === "order"

const worldOf = (seed: number, options: WorldOptions): World => {
  const fate = fateOf(seed)
  const time = new VirtualTime(fate)
  const disk = new MemoryDisk()
  const { bug } = options
  const weather = weatherOf({
    fate,
    now: () => time.now,
    isFine: () => world.healed,
    blamesCalls: bug === "outage-blamed-on-calls"
  })
  const world: World = {
    fate,
    time,
    disk,
    weather,
    store: withBug(memoryStore(disk), bug, fate),
    outside: outsideOf({
      fate,
      assistants: ASSISTANTS,
      weather,
      ignoresKeys: bug === "random-effect-key"
    }),
    wakeUps: queueIn(time),
    options,
    processes: [],
    services: new Map(),
    grants: [],
    counts: { crashes: 0, fenced: 0, mostAtOnce: 0 },
    healed: false
  }
  return world
}

/** Lives through one world. Synchronous: everything in it is simulated. */
export const runWorld = (seed: number, options: WorldOptions = {}): WorldReport => {
  const world = worldOf(seed, options)
  const { disk, time } = world
  const start = time.now
  const acknowledged: Array<Sent> = []
  const tooLate: Array<Sent> = []
  let outcome: boolean | string | undefined
  run(world, live(world, acknowledged, tooLate)).addObserver((exit) => {
    outcome = exit._tag === "Success" ? exit.value : String(exit.cause)
  })
  let steps = 0
  while (outcome === undefined && steps++ < MAX_STEPS && time.step()) continue
  const record = {
    disk,
    acknowledged,
    tooLate,
    effects: world.outside.effects,
    grants: world.grants,
    mostAtOnce: world.counts.mostAtOnce,
    concurrency: CONCURRENCY,
    settings: SETTINGS,
    taken: world.outside.taken
  }
  const unrest =
    outcome === true
      ? []
      : [`W3 no rest: ${outcome === false ? describe(world) : (outcome ?? "nothing left to happen")}`]
  const compactions = kept(disk, "compaction")
  return {
    seed,
    violations: [...unrest, ...(outcome === true ? check(record) : [])],
    trace: createHash("sha256").update(JSON.stringify(disk.outbox)).digest("hex").slice(0, 16),
    acknowledged: acknowledged.length,
    entries: disk.outbox.length,
    crashes: world.counts.crashes,
    effects: world.outside.effects.length,
    fenced: world.counts.fenced,
    facts: kept(disk, "fact").length,
    compactions: compactions.length,
    orderedCompactions: compactions.filter(isOrdered).length,
    subAgents: countSubAgents(disk),
    outages: world.weather.met(),
    ...countStops(disk),
    virtualMillis: time.now - start
  }
}
