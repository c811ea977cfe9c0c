import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { LongWork, SHORT_TEXT } from "../src/index.ts"

const LONG = 1_000_000

/** Work whose event loop turns when the test says so. */
const steered = () => {
  const waiting: Array<() => void> = []
  const work = new LongWork((then) => void waiting.push(then))
  const begun: Array<string> = []
  const turn = (): number => {
    const before = begun.length
    waiting.shift()?.()
    return begun.length - before
  }
  const fork = (name: string, characters: number, room = work.room) =>
    Effect.forkChild(
      Effect.andThen(
        room,
        Effect.sync(() => {
          begun.push(name)
          work.note(characters)
        })
      ),
      { startImmediately: true }
    )
  return { work, waiting, begun, turn, fork }
}

describe("long work", () => {
  it.effect("W1 W3 one long piece a turn, in the order of asking", () =>
    Effect.gen(function* () {
      const { begun, fork, turn } = steered()
      for (const name of ["a", "b", "c", "d"]) yield* fork(name, LONG)
      assert.deepStrictEqual(begun, ["a"])
      assert.deepStrictEqual([turn(), turn(), turn(), turn()], [1, 1, 1, 0])
      assert.deepStrictEqual(begun, ["a", "b", "c", "d"])
    })
  )

  it.effect("W1 shorter pieces share a turn until it is full", () =>
    Effect.gen(function* () {
      const { fork, turn } = steered()
      yield* fork("long", LONG)
      for (let piece = 0; piece < 5; piece++) yield* fork(`${piece}`, 150_000)
      assert.deepStrictEqual([turn(), turn(), turn()], [3, 2, 0])
    })
  )

  it.effect("W2 short work never waits where none is long, and leaves no turn to wait for", () =>
    Effect.gen(function* () {
      const { begun, fork, waiting } = steered()
      for (let piece = 0; piece < 100; piece++) yield* fork(`${piece}`, SHORT_TEXT)
      assert.strictEqual(begun.length, 100)
      assert.strictEqual(waiting.length, 0)
    })
  )

  it.effect("W3 a slice waits for a turn in which nothing else has begun", () =>
    Effect.gen(function* () {
      const { begun, fork, turn, work } = steered()
      yield* fork("slice 1", LONG, work.roomForSlice)
      yield* fork("slice 2", LONG, work.roomForSlice)
      yield* fork("read", LONG)
      for (let turns = 0; turns < 4; turns++) turn()
      assert.deepStrictEqual(begun, ["slice 1", "read", "slice 2"])
    })
  )

  it.effect("W4 who is interrupted leaves the line", () =>
    Effect.gen(function* () {
      const { begun, fork, turn } = steered()
      yield* fork("a", LONG)
      const left = yield* fork("b", LONG)
      yield* fork("c", LONG)
      yield* Fiber.interrupt(left)
      assert.strictEqual(turn(), 1)
      assert.deepStrictEqual(begun, ["a", "c"])
    })
  )

  it.live("W1 by default it is the event loop that turns", () =>
    Effect.gen(function* () {
      const work = new LongWork()
      let turns = 0
      let isOver = false
      const count = (): void => {
        turns++
        if (!isOver) setImmediate(count)
      }
      setImmediate(count)
      for (let piece = 0; piece < 20; piece++) yield* work.begin(LONG)
      isOver = true
      assert.isAtLeast(turns, 19)
    })
  )
})
