import { assert, it } from "@effect/vitest"
import type { WakeUp } from "@reverie/mailbox"
import { type Address, AssistantId, DEFAULT_TENANT, URGENCIES, type Urgency } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as fc from "fast-check"
import { makeLocalQueue } from "../src/local-queue.ts"

type Deed =
  | { readonly deed: "wake"; readonly who: number; readonly urgency: Urgency }
  | { readonly deed: "take" | "give up" | "turn" }

const deeds = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        deed: fc.constant("wake" as const),
        who: fc.nat(3),
        urgency: fc.constantFrom(...URGENCIES)
      })
    },
    { weight: 5, arbitrary: fc.record({ deed: fc.constantFrom("take" as const, "give up" as const, "turn" as const) }) }
  ),
  { maxLength: 60 }
)

const addressOf = (who: number): Address => ({ tenant: DEFAULT_TENANT, assistant: AssistantId.make(`a-${who}`) })

/** Runs the deeds, then drains; answers who was woken and who was handed out, each as often as it happened. */
const play = (script: ReadonlyArray<Deed>) =>
  Effect.gen(function* () {
    const queue = makeLocalQueue()
    const woken: Array<string> = []
    const waiters: Array<Fiber.Fiber<WakeUp>> = []
    for (const step of script) {
      if (step.deed === "wake") {
        woken.push(addressOf(step.who).assistant)
        yield* queue.wake(addressOf(step.who), step.urgency)
      } else if (step.deed === "take") waiters.push(yield* Effect.forkChild(queue.take, { startImmediately: true }))
      else if (step.deed === "turn") yield* Effect.yieldNow
      else {
        const waiting = waiters.find((taker) => taker.pollUnsafe() === undefined)
        if (waiting !== undefined) yield* Fiber.interrupt(waiting)
      }
    }
    yield* Effect.yieldNow
    yield* Effect.forEach(waiters, Fiber.interrupt)
    const exits = yield* Effect.forEach(waiters, Fiber.await)
    const handed = exits.filter(Exit.isSuccess).map(({ value }) => String(value.address.assistant))
    // The queue gives no count: a last wake-up for no one else marks its end.
    yield* queue.wake(addressOf(99), "routine")
    while (true) {
      const { assistant } = (yield* queue.take).address
      if (assistant === "a-99") break
      handed.push(assistant)
    }
    return { woken, handed }
  })

const count = (names: ReadonlyArray<string>, name: string): number => names.filter((other) => other === name).length

it("Q1 Q2 whatever is woken, taken and given up, each who was woken is handed out, and never more often", () =>
  fc.assert(
    fc.asyncProperty(deeds, async (script) => {
      const { woken, handed } = await Effect.runPromise(play(script))
      for (const name of new Set([...woken, ...handed])) {
        assert.isAtLeast(count(handed, name), 1)
        assert.isAtMost(count(handed, name), count(woken, name))
      }
    }),
    { numRuns: 300, seed: 4711 }
  ))
