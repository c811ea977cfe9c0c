// Stage: what is watched of a fleet under test, so that its clock moves only when nothing else does.
// Owns the ground of the fleet (its clock, its watched model and tools) and the judgement of where it stands.
// Leaves moving the clock to test-clock.ts.
// S1  A fleet is settled when no time is used and no call begins or ends for some turns of the event loop, and every
//     assistant is at rest, paused, or in a call that sleeps by the clock.
// S2  A model or a tool that works in real time is waited for. Where the test itself moves the clock it is waited for
//     `patienceMillis` of real time; then it counts as one that waits for its deadline.
// S3  Looking on changes nothing: it writes nothing, and uses no time of the fleet.

import { isTagged } from "@reverie/assistant"
import { Ledger } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import { Model, type Prompt, type Reply } from "@reverie/model"
import { type Address, defined } from "@reverie/protocol"
import { type Place, RunPlace } from "@reverie/tools"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Ground } from "../opening/ground.ts"
import type { ScriptBroken } from "./errors.ts"
import { type ModelRequest, requestOf } from "./scripted-model.ts"
import type { VirtualClock } from "./virtual-clock.ts"

/** One call of the model, with what it was shown and what came back. */
export interface ModelCall extends ModelRequest {
  /** By the clock of the fleet, in milliseconds since the epoch. */
  readonly at: number
  /** What came back; absent while nothing has, and of a call that failed. */
  readonly reply?: Reply
  /** What the call failed with, in words. */
  readonly failure?: string
}

/** rest: nothing happens unless something is sent. time: only time brings it on. */
export type Standing = "rest" | "time"

interface Look {
  readonly isBusy: boolean
  readonly isPaused: boolean
  /** When the next durable timer is due; Infinity without any. */
  readonly timerAt: number
}

const AT_REST: Look = { isBusy: false, isPaused: false, timerAt: Number.POSITIVE_INFINITY }

/** Turns of the event loop without any activity after which it is looked closer. A commit takes one or two. */
const QUIET_TURNS = 6
const PAGE = 500
/** Of real time without any activity, after which what is due is taken to be none that this fleet can do. */
const STUCK_MILLIS = 5_000

const looked = Effect.fnUntraced(function* (now: number) {
  const ledger = yield* Ledger
  const mailbox = yield* Mailbox
  let { isBusy, isPaused, timerAt } = AT_REST
  isBusy = (yield* ledger.openSends(1)).length > 0
  let after: Address | undefined
  while (true) {
    const page = yield* ledger.list(after, PAGE)
    for (const { address, state, waiting } of page) {
      for (const { dueAt } of state.timers) timerAt = Math.min(timerAt, dueAt)
      isPaused ||= isTagged(state.status, "paused")
      isBusy ||= state.jobs.length > 0
      if (waiting > 0 && !isBusy) isBusy = (yield* mailbox.pending(address, state.receives, 1)).length > 0
    }
    after = page.at(-1)?.address
    if (page.length < PAGE) return { isBusy: isBusy || timerAt <= now, isPaused, timerAt }
  }
})

/** One turn of the event loop, and then so many milliseconds of real time. */
const turn = (millis?: number): Promise<void> =>
  Effect.runPromise(millis === undefined ? Effect.yieldNow : Effect.sleep(millis))

const realMillis = (): number => Effect.runSync(Clock.currentTimeMillis)

export interface StageOptions {
  readonly clock: VirtualClock
  /** Milliseconds of real time. */
  readonly patienceMillis: number
  /** What broke on the side of the test. */
  readonly problem: () => ScriptBroken | undefined
}

export class Stage {
  /** Every call of the model, in the order in which they began. */
  readonly modelCalls: Array<ModelCall> = []
  isClosed = false
  readonly #options: StageOptions
  #calls = 0
  #isolated = 0
  #hasThrown = false
  #services: Context.Context<Ledger | Mailbox> | undefined

  constructor(options: StageOptions) {
    this.#options = options
  }

  /** What is put under the fleet: built in real time, lived on by the clock of the test. */
  readonly ground: Ground = (layer) => {
    const watching = Layer.mergeAll(
      Layer.effect(
        Model,
        Effect.map(Model, (model) => this.#watchedModel(model))
      ),
      Layer.effect(
        RunPlace,
        Effect.map(RunPlace, (place) => this.#watchedPlace(place))
      ),
      Layer.effectDiscard(
        Effect.map(Effect.context<Ledger | Mailbox>(), (services) => {
          this.#services = services
        })
      )
    )
    return Layer.merge(Layer.provideMerge(watching, layer), Layer.succeed(Clock.Clock, this.#options.clock))
  }

  /** Throws what broke on the side of the test, once. */
  assertSound(): void {
    const problem = this.#options.problem()
    if (problem === undefined || this.#hasThrown) return
    this.#hasThrown = true
    throw problem
  }

  /** When the next durable timer is due, in milliseconds since the epoch; Infinity without any. */
  async nextTimerAt(): Promise<number> {
    return (await this.#look()).timerAt
  }

  /** Resolves when nothing moves any more but time. `isPatient`: see S2. */
  async settled(isPatient: boolean): Promise<Standing> {
    const { clock, patienceMillis } = this.#options
    let seen = -1
    let quietTurns = 0
    let movedAt = realMillis()
    while (!this.isClosed) {
      await turn()
      if (clock.activity !== seen) {
        seen = clock.activity
        quietTurns = 0
        movedAt = realMillis()
        continue
      }
      if (++quietTurns < QUIET_TURNS) continue
      const { isBusy, isPaused } = await this.#look()
      if (clock.activity !== seen) continue
      if (!isBusy) return isPaused ? "time" : "rest"
      if (this.#calls > 0 && this.#isolated === 0 && clock.ownSleeps >= this.#calls) return "time"
      const quietMillis = realMillis() - movedAt
      if (this.#calls > 0 ? isPatient && quietMillis >= patienceMillis : quietMillis >= STUCK_MILLIS) return "time"
      await turn(1)
    }
    return "rest"
  }

  /** Asked with a clock of its own: reading the time by that of the fleet would be activity. */
  async #look(): Promise<Look> {
    if (this.#services === undefined || this.isClosed) return AT_REST
    const { clock } = this.#options
    const look = looked(clock.now)
    return Effect.runPromiseWith(this.#services)(Effect.provideService(look, Clock.Clock, clock.unnoticed))
  }

  #begin(): void {
    this.#options.clock.activity++
    this.#calls++
  }

  #end(): void {
    this.#options.clock.activity++
    this.#calls--
  }

  #watchedModel(model: Model["Service"]): Model["Service"] {
    const { clock } = this.#options
    const infer: Model["Service"]["infer"] = (prompt, options) =>
      Effect.suspend(() => {
        const note = this.#noted(prompt)
        this.#begin()
        return model.infer(prompt, options).pipe(
          Effect.tap((reply) => Effect.sync(() => note({ reply }))),
          Effect.tapError(({ _tag, message }) => Effect.sync(() => note({ failure: `${_tag}: ${message}` }))),
          Effect.provideService(Clock.Clock, clock.ofCalls),
          Effect.ensuring(Effect.sync(() => this.#end()))
        )
      })
    const { circuit, serves } = model
    return { infer, ...defined({ circuit, serves }) }
  }

  #noted(prompt: Prompt): (end: Pick<ModelCall, "reply" | "failure">) => void {
    const index = this.modelCalls.length
    const call: ModelCall = { ...requestOf(structuredClone(prompt), index + 1), at: this.#options.clock.now }
    this.modelCalls.push(call)
    return (end) => {
      this.modelCalls[index] = { ...call, ...end }
    }
  }

  #watchedPlace(place: Place): Place {
    return {
      ...place,
      watch: (name, onStray) => {
        const watch = place.watch(name, onStray)
        this.#begin()
        return {
          ...watch,
          end: () => {
            watch.end()
            this.#end()
          }
        }
      },
      isolated: (call) =>
        Effect.suspend(() => {
          this.#isolated++
          return Effect.ensuring(
            place.isolated(call),
            Effect.sync(() => this.#isolated--)
          )
        })
    }
  }
}
