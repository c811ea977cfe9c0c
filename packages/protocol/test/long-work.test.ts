import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { SHORT_TEXT } from "../src/index.ts"
import { LongWork } from "../src/long-work.ts"

const LONG = 1_000_000

/** Work that writes down when it began, in turns of the event loop. */
const watched = Effect.gen(function* () {
  const work = new LongWork()
  const begun: Array<{ readonly name: string; readonly turn: number }> = []
  let turn = 0
  let isOver = false
  const count = (): void => {
    turn++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      isOver = true
    })
  )
  const fork = (name: string, characters: number, room = work.room) =>
    Effect.forkChild(
      Effect.andThen(
        room,
        Effect.sync(() => {
          begun.push({ name, turn })
          work.note(characters)
        })
      ),
      { startImmediately: true }
    )
  return { work, begun, fork, turns: () => turn }
})

const namesOf = (begun: ReadonlyArray<{ readonly name: string }>) => begun.map(({ name }) => name)

describe("long work", () => {
  it.live("W1 W3 one long piece a turn, in the order of asking", () =>
    Effect.gen(function* () {
      const { begun, fork } = yield* watched
      const names = Array.from({ length: 20 }, (_, index) => `${index}`)
      const fibers = yield* Effect.forEach(names, (name) => fork(name, LONG))
      assert.strictEqual(begun.length, 1)
      yield* Effect.forEach(fibers, Fiber.join)
      assert.deepStrictEqual(namesOf(begun), names)
      for (const [index, { turn }] of begun.slice(1).entries()) assert.isAbove(turn + 1, begun[index]?.turn ?? 0)
      assert.isAtLeast((begun.at(-1)?.turn ?? 0) - (begun[0]?.turn ?? 0), 18)
    })
  )

  it.live("W1 shorter pieces share a turn until it is full", () =>
    Effect.gen(function* () {
      const { begun, fork } = yield* watched
      const fibers = yield* Effect.forEach([0, 1, 2, 3, 4], (piece) => fork(`${piece}`, 150_000))
      assert.strictEqual(begun.length, 3)
      yield* Effect.forEach(fibers, Fiber.join)
      assert.strictEqual(begun.length, 5)
    })
  )

  it.effect("W2 short work never waits where none is long", () =>
    Effect.gen(function* () {
      const { begun, fork } = yield* watched
      for (let piece = 0; piece < 100; piece++) yield* fork(`${piece}`, SHORT_TEXT)
      assert.strictEqual(begun.length, 100)
    })
  )

  it.live("W3 a slice waits until nothing else wants to begin", () =>
    Effect.gen(function* () {
      const { begun, fork, work } = yield* watched
      const fibers = [
        yield* fork("slice 1", LONG, work.roomForSlice),
        yield* fork("slice 2", LONG, work.roomForSlice),
        yield* fork("read 1", LONG),
        yield* fork("read 2", LONG)
      ]
      yield* Effect.forEach(fibers, Fiber.join)
      assert.deepStrictEqual(namesOf(begun), ["slice 1", "read 1", "read 2", "slice 2"])
    })
  )

  it.live("W4 who is interrupted leaves the line", () =>
    Effect.gen(function* () {
      const { begun, fork } = yield* watched
      const first = yield* fork("a", LONG)
      const left = yield* fork("b", LONG)
      const last = yield* fork("c", LONG)
      yield* Fiber.interrupt(left)
      yield* Effect.forEach([first, last], Fiber.join)
      assert.deepStrictEqual(namesOf(begun), ["a", "c"])
    })
  )

  it.live("W1 what was worked on in a turn that is over keeps no one waiting", () =>
    Effect.gen(function* () {
      const { begun, fork, turns, work } = yield* watched
      work.note(LONG)
      for (const before = turns(); turns() < before + 3;) yield* Effect.yieldNow
      yield* fork("a", LONG)
      assert.strictEqual(begun.length, 1)
    })
  )
})
