import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { type Slice, SliceLine } from "../src/index.ts"

/** A line whose event loop turns when the test says so. */
const steered = () => {
  const waiting: Array<() => void> = []
  const line = new SliceLine((then) => void waiting.push(then))
  const turn = (): boolean => {
    const then = waiting.shift()
    then?.()
    return then !== undefined
  }
  return { line, turn, waiting }
}

/** Work of so many slices, which writes down each of them. */
const work =
  (name: string, slices: number, seen: Array<string>): (() => Slice<string>) =>
  () => {
    let left = slices
    return () => {
      seen.push(name)
      return --left === 0 ? name : undefined
    }
  }

describe("the line", () => {
  it.effect("L1 one slice a turn, whoever it is of", () =>
    Effect.gen(function* () {
      const { line, turn, waiting } = steered()
      const seen: Array<string> = []
      const fibers = yield* Effect.all(
        ["a", "b", "c"].map((name) => Effect.forkChild(line.run(work(name, 4, seen)), { startImmediately: true }))
      )
      for (let turns = 1; turns <= 12; turns++) {
        assert.strictEqual(waiting.length, 1)
        turn()
        assert.strictEqual(seen.length, turns)
      }
      assert.deepStrictEqual(yield* Effect.all(fibers.map(Fiber.join)), ["a", "b", "c"])
      assert.isFalse(turn())
    })
  )

  it.effect("L2 a short work is not behind the whole of a long one", () =>
    Effect.gen(function* () {
      const { line, turn } = steered()
      const seen: Array<string> = []
      const long = yield* Effect.forkChild(line.run(work("long", 100, seen)), { startImmediately: true })
      for (let turns = 0; turns < 10; turns++) turn()
      const short = yield* Effect.forkChild(line.run(work("short", 2, seen)), { startImmediately: true })
      for (let turns = 0; turns < 4; turns++) turn()
      assert.strictEqual(yield* Fiber.join(short), "short")
      yield* Fiber.interrupt(long)
    })
  )

  it.effect("L3 who is interrupted has no further slice", () =>
    Effect.gen(function* () {
      const { line, turn } = steered()
      const seen: Array<string> = []
      const fiber = yield* Effect.forkChild(line.run(work("a", 10, seen)), { startImmediately: true })
      turn()
      yield* Fiber.interrupt(fiber)
      while (turn()) continue
      assert.deepStrictEqual(seen, ["a"])
    })
  )

  it.effect("a slice that breaks is a defect of that work alone", () =>
    Effect.gen(function* () {
      const { line, turn } = steered()
      const seen: Array<string> = []
      const broken = yield* Effect.forkChild(
        Effect.exit(
          line.run<string>(() => () => {
            throw new Error("broken")
          })
        ),
        { startImmediately: true }
      )
      const other = yield* Effect.forkChild(line.run(work("a", 2, seen)), { startImmediately: true })
      while (turn()) continue
      assert.strictEqual((yield* Fiber.join(broken))._tag, "Failure")
      assert.strictEqual(yield* Fiber.join(other), "a")
    })
  )
})
