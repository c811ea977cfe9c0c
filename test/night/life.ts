// Life: one assistant with everything a night needs, in a time that only the test moves.
// Owns starting, saying and waiting. Leaves what is said and asserted to the tests.
// L1  The same script gives the same record: nothing but the script and the seed decides.
// L2  What the model is asked is counted, no matter who asks: a tick, a dream or a compaction.

import { countMessage } from "@reverie/context"
import { type Ledger as LedgerPort, Ledger } from "@reverie/ledger"
import { Mailbox, WakeQueue } from "@reverie/mailbox"
import type { Recall } from "@reverie/memory"
import { Model, type PromptMessage, Tokens } from "@reverie/model"
import { offlineModel } from "@reverie/model-offline"
import { type Address, type Entry, type Event, type RecordKind, type RecordRow } from "@reverie/protocol"
import { recallSqliteLayer } from "@reverie/recall-sqlite"
import { arrive, creationOf, Definitions, isAtRest, NoticeHub, runWorker } from "@reverie/runtime"
import { anAddress, anEnvelope, MemoryDisk, memoryStore } from "@reverie/testkit"
import { fateOf, VirtualTime } from "@reverie/testkit/world"
import { gptTokenizerLayer } from "@reverie/tokens"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as References from "effect/References"
import * as Scheduler from "effect/Scheduler"
import type * as Scope from "effect/Scope"
import type { AssistantDefinition } from "reverie"

type Services = Mailbox | Ledger | WakeQueue | Model | Tokens | Definitions | NoticeHub | Recall

export class Life {
  readonly time: VirtualTime
  readonly disk = new MemoryDisk()
  readonly address: Address
  readonly #services: Context.Context<Services>
  readonly #ledger: LedgerPort["Service"]
  /** Tokens of the longest prompt so far. */
  longestPrompt = 0
  #sent = 0

  private constructor(
    definition: AssistantDefinition,
    startAt: number,
    built: Context.Context<Tokens | Recall | NoticeHub>
  ) {
    this.time = new VirtualTime(fateOf(1))
    this.time.now = startAt
    this.address = anAddress(definition.id)
    const store = memoryStore(this.disk)
    this.#ledger = store.ledger
    // Made in the virtual time: a queue wakes its takers on the scheduler of the fiber that made it.
    const wakeUps = this.#result(this.#start(Queue.unbounded<Address>()))
    this.#services = Context.merge(
      built,
      Context.make(Mailbox, store.mailbox).pipe(
        Context.add(Ledger, store.ledger),
        Context.add(WakeQueue, {
          wake: (address) => Effect.asVoid(Queue.offer(wakeUps, address)),
          wakeAt: () => Effect.void,
          take: Effect.map(Queue.take(wakeUps), (address) => ({ address, done: Effect.void })),
          redact: () => Effect.void
        }),
        Context.add(Model, this.#measured(offlineModel(), Context.get(built, Tokens))),
        Context.add(Definitions, { find: (name) => (name === definition.name ? definition : undefined) })
      )
    )
    this.run(Effect.flatMap(creationOf(this.address, definition), (creation) => store.ledger.create(creation)))
    this.#start(
      runWorker({
        worker: "worker-1",
        leaseMs: 30_000,
        idleMs: 5_000,
        sweepMs: 60_000,
        concurrency: 1
      }).pipe(Effect.provide(this.#services))
    )
  }

  /** Ready to be spoken to; ends with the scope. */
  static async open(definition: AssistantDefinition, startAt: number, scope: Scope.Scope): Promise<Life> {
    const layer = Layer.mergeAll(gptTokenizerLayer, recallSqliteLayer(":memory:"), NoticeHub.layer)
    const built = await Effect.runPromise(Layer.buildWithScope(layer, scope))
    await Effect.runPromise(Context.get(built, Tokens).ready)
    return new Life(definition, startAt, built)
  }

  #measured(model: Model["Service"], tokens: Tokens["Service"]): Model["Service"] {
    const count = Effect.runSync(tokens.ready)
    // A message is the same object from prompt to prompt: it is counted once.
    const prices = new WeakMap<PromptMessage, number>()
    const price = (message: PromptMessage): number => {
      const known = prices.get(message) ?? countMessage(message, count)
      prices.set(message, known)
      return known
    }
    return {
      infer: (prompt, options) => {
        this.longestPrompt = Math.max(
          this.longestPrompt,
          prompt.messages.reduce((sum, message) => sum + price(message), 0)
        )
        return model.infer(prompt, options)
      }
    }
  }

  #start<A, E>(effect: Effect.Effect<A, E>): Fiber.Fiber<A, E> {
    const world = Context.make(Scheduler.Scheduler, this.time.scheduler).pipe(
      Context.add(Clock.Clock, this.time.clock),
      Context.add(References.MinimumLogLevel, "None")
    )
    return Effect.runForkWith(world)(effect)
  }

  /** Steps until the effect has ended; throws what it failed with. */
  run<A, E>(effect: Effect.Effect<A, E, Services>): A {
    return this.#result(this.#start(Effect.provide(effect, this.#services)))
  }

  #result<A, E>(fiber: Fiber.Fiber<A, E>): A {
    this.until(() => fiber.pollUnsafe() !== undefined)
    const exit = fiber.pollUnsafe()
    if (exit === undefined || Exit.isFailure(exit))
      throw exit === undefined ? new Error("no end") : Cause.squash(exit.cause)
    return exit.value
  }

  /** Steps until it holds. */
  until(holds: () => boolean): void {
    while (!holds()) if (!this.time.step()) throw new Error("nothing is left to happen")
  }

  /** Lets time pass up to a moment, and everything that happens in it. */
  passTo(moment: number): void {
    if (moment > this.time.now) this.run(Effect.sleep(moment - this.time.now))
  }

  /** Sends an event; durable when it returns. */
  post(event: Event, from: string): void {
    this.run(arrive(anEnvelope({ id: `e-${++this.#sent}`, to: this.address, event, from })))
  }

  readonly #isRest = Effect.gen({ self: this }, function* () {
    if ((yield* this.#ledger.openSends(1)).length > 0) return false
    const record = yield* this.#ledger.inspect(this.address)
    return record === undefined || (yield* isAtRest(record))
  })

  /** Steps until nothing is left to do. */
  rest(): void {
    while (!this.run(this.#isRest)) this.run(Effect.sleep(100))
  }

  /** The same, where something waits for a promise: it is kept before time goes on. */
  async restWithPromises(): Promise<void> {
    while (!this.run(this.#isRest)) {
      const pause = this.#start(Effect.sleep(1))
      while (pause.pollUnsafe() === undefined) {
        this.time.step()
        await new Promise(setImmediate)
      }
    }
  }

  get status(): string {
    return this.disk.resident(this.address)?.state.status ?? "planned"
  }

  get entries(): ReadonlyArray<Entry> {
    return (this.disk.resident(this.address)?.entries ?? []).map(({ entry }) => entry)
  }

  records(...kinds: ReadonlyArray<RecordKind>): ReadonlyArray<RecordRow> {
    return this.run(this.#ledger.records(this.address, kinds))
  }
}
