// TestFleet: a fleet that lives by a clock of the test, alone, and leaves nothing behind.
// Owns opening and closing it, and what waiting for it means where time stands. Leaves the fleet to fleet.ts.
// T1  It reads nothing of the environment and speaks to no server but those that its options name.
// T2  `ask`, `answer` and `idle` end without a clock being moved by hand: see C3 of test-clock.ts.
// T3  What broke on the side of the test, a script that has no more answers, is thrown by the next thing waited for.
// T4  Closing it removes what it kept; `restart` is the way to see what a new process finds.

import { defined } from "@reverie/protocol"
import { IN_MEMORY, temporaryPlace } from "@reverie/store-sqlite"
import * as Layer from "effect/Layer"
import { type AssistantDefinition } from "../define-assistant.ts"
import { defineFleet, type FleetDefinition } from "../fleet-options.ts"
import type { Parts } from "../ask.ts"
import type { FormOption } from "../letter.ts"
import { Fleet } from "../fleet.ts"
import type { AskOptions, FleetOptions, IdleOptions } from "../fleet-options.ts"
import { onGround } from "../opening/ground.ts"
import { ScriptBroken } from "./errors.ts"
import { scriptedModel } from "./scripted-model.ts"
import { type ModelCall, Stage } from "./stage.ts"
import { testClock, type TestClock } from "./test-clock.ts"
import type { Moment } from "./virtual-clock.ts"

type Lent = Pick<
  FleetOptions,
  "tenant" | "tenants" | "prices" | "onNotice" | "onError" | "faults" | "embedder" | "recall"
>

/** How a fleet of a test is opened. */
export interface TestFleetOptions extends Lent {
  /** Who answers: `scriptedModel(...)`, "offline" or any other. When not said no call of the model is expected. */
  readonly model?: FleetOptions["model"]
  /** Where its clock begins; Monday 2026-01-05 at 09:00 UTC when not said. */
  readonly startAt?: Moment
  /** A clock that tools sleep by too, or that several fleets share; `startAt` then means nothing. */
  readonly clock?: TestClock
  /**
   * Where it is kept: in memory when not said; "temporary" is a directory that is gone with `close`; else a directory of
   * yours, which stays.
   */
  readonly data?: string
  /**
   * How long a moving clock waits in real time for a model or a tool that does not sleep by it, in milliseconds; 250 when
   * not said. Then time goes on without it, up to its deadline.
   */
  readonly patienceMs?: number
}

/** A fleet whose clock a test moves. */
export interface TestFleet extends Fleet {
  /** Stands still until it is moved. */
  readonly clock: TestClock
  /** Every call of the model by anybody of this fleet, the oldest first: what it was shown and what it answered. */
  readonly modelCalls: ReadonlyArray<ModelCall>
  /** The same fleet for another tenant, by the same clock. */
  readonly forTenant: (tenant: string, options?: { readonly exact?: boolean }) => TestFleet
  /**
   * Closes it, and opens the same definition on the same data by the same clock, as a new process would. Rejects with
   * FleetClosed where it is kept in memory alone.
   */
  readonly restart: () => Promise<TestFleet>
}

const PATIENCE_MILLIS = 250

/** Looks for lost wake-ups are rare: each would be one more time for the clock to stop at. */
const WORKER = { leaseMs: 86_400_000, sweepMs: 3_600_000 }

interface Place {
  readonly data: string
  readonly remove: () => void
}

const placeOf = (data: string = IN_MEMORY): Place => {
  if (data !== "temporary") return { data, remove: () => {} }
  const { directory, remove } = temporaryPlace()
  return { data: directory, remove }
}

type Model = NonNullable<FleetOptions["model"]>

const problemOf = (model: Model) => (): ScriptBroken | undefined =>
  typeof model === "object" && "problem" in model && model.problem instanceof ScriptBroken ? model.problem : undefined

/** The fleet with a clock: the same object, whose ways of waiting let time pass where they need it. */
const dressed = (fleet: Fleet, stage: Stage, clock: TestClock, restart: TestFleet["restart"]): TestFleet => {
  const [ask, forTenant] = [fleet.ask.bind(fleet), fleet.forTenant.bind(fleet)]
  const dress = {
    clock,
    modelCalls: stage.modelCalls,
    restart,
    forTenant: (tenant: string, options?: { readonly exact?: boolean }) =>
      dressed(forTenant(tenant, options), stage, clock, restart),
    ask: <Form extends FormOption>(to: string, text: string, options?: AskOptions<Form>): Parts<Form> => {
      const parts = ask<Form>(to, text, options)
      const read = parts[Symbol.asyncIterator].bind(parts)
      return Object.assign(parts, {
        async *[Symbol.asyncIterator]() {
          const stop = clock.keepMoving()
          try {
            for await (const part of { [Symbol.asyncIterator]: read }) {
              if (part.type === "halted") stage.assertSound()
              yield part
            }
          } finally {
            stop()
          }
        }
      })
    },
    idle: async ({ patienceMs = 0 }: IdleOptions = {}): Promise<void> => {
      await clock.toRest(stage, patienceMs)
      stage.assertSound()
    }
  }
  return Object.assign(fleet, dress)
}

const opened = async (fleet: FleetDefinition, options: TestFleetOptions, place: Place): Promise<TestFleet> => {
  const {
    data: _,
    patienceMs: patienceMillis = PATIENCE_MILLIS,
    startAt,
    clock = testClock(startAt),
    ...lent
  } = options
  const { model = scriptedModel([]) } = options
  const stage = new Stage({ clock: clock.virtual, patienceMillis, problem: problemOf(model) })
  const asked: FleetOptions = {
    embedder: "none",
    ...lent,
    fleet,
    model,
    data: place.data,
    worker: WORKER,
    tracing: Layer.empty
  }
  const plain = await Fleet.open(onGround(asked, stage.ground))
  const leave = clock.attach(stage)
  const close = plain.close.bind(plain)
  const closed = async (): Promise<void> => {
    stage.isClosed = true
    leave()
    await close()
  }
  const restart = async (): Promise<TestFleet> => {
    await closed()
    return opened(fleet, { ...options, clock }, place)
  }
  return Object.assign(dressed(plain, stage, clock, restart), {
    close: async (): Promise<void> => {
      await closed()
      place.remove()
      stage.assertSound()
    }
  })
}

/**
 * Opens a fleet for a test: in memory, by a clock that the test moves, without keys and servers. It is a `Fleet` in
 * everything else. Rejects as `Fleet.open` does.
 * @example
 * await using fleet = await testFleet(desk, { model: scriptedModel(["Good morning."]) })
 * const reply = await fleet.answer("desk", "Hello.")
 * await fleet.clock.advance("8h")
 */
export const testFleet = (
  definition: FleetDefinition | AssistantDefinition,
  options: TestFleetOptions = {}
): Promise<TestFleet> => {
  const fleet = "assistants" in definition ? definition : defineFleet({ assistants: [definition] })
  return opened(fleet, defined(options), placeOf(options.data))
}
