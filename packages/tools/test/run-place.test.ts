import { assert, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import { defineTool, execute, type IsolatedCall, type Place, RunPlace, type ToolRun } from "../src/index.ts"
import { callOf, context, running } from "./fixtures.ts"
import { ToolDefinitionInvalid } from "../src/errors.ts"
import { UNWATCHED } from "../src/run-place.ts"

/** A place that remembers what it was asked, and hands out the ear of the run. */
const aPlace = (over: Partial<Place> = {}) => {
  const said: Array<string> = []
  const ears: Array<(problem: string) => void> = []
  const place: Place = {
    watch: ({ assistant, call, tool }, onStray) => {
      said.push(`${tool} ${call} of ${assistant} begins`)
      ears.push(onStray)
      const around =
        (where: string) =>
        <A>(code: () => A): A => {
          said.push(where)
          return code()
        }
      return { ...UNWATCHED, inside: around("inside"), outside: around("outside"), end: () => void said.push("ends") }
    },
    isolated: () => Effect.succeed("from elsewhere"),
    flawOf: () => undefined,
    ...over
  }
  return { place, said, stray: (problem: string) => ears.at(-1)?.(problem) }
}

const at = (place: Place, tool: Parameters<typeof execute>[0]) =>
  Effect.provideService(execute(tool, callOf("probe"), context), RunPlace, place)

describe("a run in this process", () => {
  it.effect("P1 what it leaves behind fails its call with the reason, stops it and sends nothing", () =>
    Effect.gen(function* () {
      const { place, stray } = aPlace()
      let seen: ToolRun | undefined
      const tool = running((run) => {
        seen = run
        run.send("bo", "a word")
        return new Promise(() => {})
      })
      const fiber = yield* Effect.forkChild(at(place, tool), { startImmediately: true })
      stray("it left a promise behind")
      stray("and another one")
      const result = yield* Fiber.join(fiber)
      assert.deepStrictEqual(result, {
        ok: false,
        failure: "threw",
        content: `The tool "probe" failed: it left a promise behind The message it wanted to send was not sent.`,
        sends: []
      })
      assert.isTrue(seen?.signal.aborted)
    })
  )

  it.effect("P1 what was left behind when it gave its answer counts: the call waits until that has settled", () =>
    Effect.gen(function* () {
      const { place, stray } = aPlace()
      const settling: Place = {
        ...place,
        watch: (name, onStray) => ({ ...place.watch(name, onStray), settled: Effect.sync(() => stray("late")) })
      }
      const result = yield* at(
        settling,
        running(() => "ok")
      )
      assert.deepStrictEqual([result.ok, result.content], [false, `The tool "probe" failed: late`])
    })
  )

  it.effect("P1 P2 its function runs inside of its watch, what it asks of us outside, and the watch ends with it", () =>
    Effect.gen(function* () {
      const { place, said, stray } = aPlace()
      const result = yield* at(
        place,
        running(async ({ records }) => {
          await records.recall("what?")
          return "ok"
        })
      )
      assert.deepStrictEqual(
        [result.ok, said],
        [true, ["probe 7.1.0 of desk begins", "inside", "inside", "outside", "ends"]]
      )
      stray("much later")
    })
  )

  it.effect("P1 a promise of ours that a run does not handle is reported inside of it", () =>
    Effect.gen(function* () {
      const { place } = aPlace()
      let promise: Promise<unknown> = Promise.resolve()
      yield* at(
        place,
        running(({ records }) => {
          promise = records.consult("goal_decompose", "how?").catch(String)
          return "ok"
        })
      )
      assert.match(String(yield* Effect.promise(() => promise)), /there is no model to ask here/)
    })
  )
})

describe("execute I2: an answer after the time is not taken", () => {
  /** A clock that has gone on by so much when the run looks at nothing but itself. */
  const blocking = (millis: number) =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      let now = 0n
      const held: Clock.Clock = {
        currentTimeMillis: clock.currentTimeMillis,
        currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe(),
        currentTimeNanos: clock.currentTimeNanos,
        currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
        sleep: (duration) => clock.sleep(duration),
        monotonicTimeNanos: Effect.sync(() => now),
        monotonicTimeNanosUnsafe: () => now
      }
      const tool = running(
        () => {
          now += BigInt(millis) * 1_000_000n
          return "here it is"
        },
        { timeoutMs: 1_000 }
      )
      return yield* Effect.provideService(execute(tool, callOf("probe"), context), Clock.Clock, held)
    })

  it.effect("although the run has kept the timer from ending it", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* blocking(1_000), { ok: true, content: "here it is" })
      const late = yield* blocking(1_001)
      assert.deepStrictEqual([late.ok, late.failure], [false, "timeout"])
      assert.match(late.content, /gave no answer within 1 s/)
    })
  )

  it.effect("a run that ends in its time is taken", () =>
    Effect.gen(function* () {
      const tool = running(() => new Promise((resolve) => setTimeout(() => resolve("ok"), 0)), { timeoutMs: 1_000 })
      const fiber = yield* Effect.forkChild(execute(tool, callOf("probe"), context), { startImmediately: true })
      yield* TestClock.adjust(10)
      assert.isTrue((yield* Fiber.join(fiber)).ok)
    })
  )
})

describe("define I3: a tool in a process of its own", () => {
  const module = new URL("file:///tools/probe.ts")
  const described = { name: "probe", description: "For tests." }

  it.effect("is handed to the place with its module, its bounds and its arguments", () =>
    Effect.gen(function* () {
      const calls: Array<IsolatedCall> = []
      const { place } = aPlace({
        isolated: (call) =>
          Effect.sync(() => {
            calls.push(call)
            return "from elsewhere"
          })
      })
      const tool = defineTool({ ...described, isolate: true, timeoutMs: 5_000, run: module })
      assert.deepStrictEqual(tool.isolated, { module: "file:///tools/probe.ts", memoryMb: 256 })
      assert.deepInclude(yield* at(place, tool), { ok: true, content: "from elsewhere" })
      const [call] = calls
      assert.deepInclude(call, { module: module.href, memoryMb: 256, tool: "probe", timeoutMs: 5_000, args: {} })
      const small = defineTool({ ...described, isolate: { memoryMb: 64 }, run: module })
      assert.strictEqual(small.isolated?.memoryMb, 64)
    })
  )

  it.effect("fails where nothing runs elsewhere", () =>
    Effect.gen(function* () {
      const result = yield* execute(defineTool({ ...described, isolate: true, run: module }), callOf("probe"), context)
      assert.match(result.content, /this process runs no isolated tools/)
    })
  )

  it("is refused at once, in one sentence, when it is defined wrongly", () => {
    const complaint = (more: object): string => {
      try {
        defineTool({ ...described, run: () => 1, ...more })
      } catch (thrown) {
        assert.instanceOf(thrown, ToolDefinitionInvalid)
        return thrown.message
      }
      return assert.fail("the definition was accepted")
    }
    assert.strictEqual(
      complaint({ isolate: true }),
      'tool "probe": it runs in a process of its own, where no function of this one can be sent; put the function into a ' +
        'module, as its default export, and say run: new URL("./that-module.ts", import.meta.url)'
    )
    assert.include(complaint({ isolate: true, run: "./tool.ts" }), "put the function into a module")
    assert.include(
      complaint({ isolate: true, run: new URL("https://example.org/tool.js") }),
      "put the function into a module"
    )
    assert.include(complaint({ run: module }), "only a tool with isolate: true")
    assert.include(complaint({ isolate: "yes", run: module }), "its isolate must be true, or { memoryMb }")
    assert.include(complaint({ isolate: { memoryMb: 1.5 }, run: module }), "whole number of at least 16")
    assert.include(complaint({ isolate: true, run: module, usesRecords: true }), "can not use the records")
  })
})
