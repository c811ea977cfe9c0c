import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import { defineTool, execute, type Tool, type ToolRun } from "../src/index.ts"
import { callOf, context, running } from "./fixtures.ts"

const probe = (tool: Tool) => execute(tool, callOf("probe"), context)

describe("execute I1: every way to go wrong is a result", () => {
  it.effect("gives a text as it is, any other value as JSON, and nothing as ok", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [unknown, string]> = [
        ["two words", "two words"],
        ["", ""],
        [undefined, "ok"],
        [null, "null"],
        [0, "0"],
        [{ a: [1, { b: true }] }, `{"a":[1,{"b":true}]}`],
        [new Date(0), `"1970-01-01T00:00:00.000Z"`]
      ]
      for (const [value, content] of cases) {
        for (const run of [() => value, async () => value]) {
          assert.deepStrictEqual(yield* probe(running(run)), { ok: true, content, sends: [] })
        }
      }
    })
  )

  it.effect("names the existing tools nearest to an unknown one", () =>
    Effect.gen(function* () {
      const result = yield* execute(undefined, callOf("serch"), context)
      assert.strictEqual(result.failure, "unknown-tool")
      assert.strictEqual(
        result.content,
        `There is no tool "serch". Existing tools nearest to it: "search", "berth_list", "send_note".`
      )
      const none = yield* execute(undefined, callOf("x".repeat(1_000_000)), { ...context, names: [] })
      assert.match(none.content, /^There is no tool "x{61}\.\.\."\. There are no tools to call now\.$/)
    })
  )

  it.effect("does not run a call whose arguments could not be read", () =>
    Effect.gen(function* () {
      const tool = running(() => assert.fail("ran"))
      const result = yield* execute(tool, { ...callOf("probe"), malformed: "Unexpected end of JSON input" }, context)
      assert.isFalse(result.ok)
      assert.strictEqual(result.failure, "arguments")
      assert.include(result.content, "Unexpected end of JSON input")
    })
  )

  it.effect("does not run on arguments that do not fit, and bounds what it says of them", () =>
    Effect.gen(function* () {
      const tool = defineTool({
        name: "probe",
        description: "For tests.",
        input: { type: "object", properties: { list: { type: "array", items: { type: "string" } } } },
        run: () => assert.fail("ran")
      })
      const result = yield* execute(tool, callOf("probe", { list: Array.from({ length: 5_000 }, () => 1) }), context)
      assert.strictEqual(result.failure, "arguments")
      assert.include(result.content, "- list[19]: must be string\n- and 4980 more issues")
      assert.notInclude(result.content, "list[20]")
    })
  )

  it.effect("refuses a result that is not JSON, and says what in it is not", () =>
    Effect.gen(function* () {
      const cyclic: { self?: object } = {}
      cyclic.self = cyclic
      const cases: ReadonlyArray<readonly [unknown, string]> = [
        [cyclic, "it contains itself"],
        [12n, "it is a bigint, which is not JSON"],
        [() => 1, "it is a function, which is not JSON"],
        [{ a: [{ deep: () => 1 }] }, `its "deep" is a function, which is not JSON`],
        [{ a: Symbol("s") }, `its "a" is a symbol, which is not JSON`],
        [new Map([["a", 1]]), "it is a Map, which is not JSON"],
        [
          {
            toJSON: () => {
              throw new Error("no face")
            }
          },
          "no face"
        ]
      ]
      for (const [value, why] of cases) {
        const result = yield* probe(running(() => value))
        assert.strictEqual(result.failure, "not-json")
        assert.strictEqual(result.content, `The tool ran, but its result can not be shown: ${why}.`)
      }
    })
  )

  it.effect("leaves a tool that interrupts itself or dies as a failed one", () =>
    Effect.gen(function* () {
      const base = running(() => "never")
      const quits = yield* probe({ ...base, effect: () => Effect.interrupt })
      assert.strictEqual(quits.content, `The tool "probe" failed: it stopped itself`)
      const dies = yield* probe({ ...base, effect: () => Effect.die(new Error("a bug")) })
      assert.strictEqual(dies.content, `The tool "probe" failed: a bug`)
      const throws = yield* probe({
        ...base,
        validate: () => {
          throw new Error("a worse bug")
        }
      })
      assert.strictEqual(throws.content, `The tool "probe" failed: a worse bug`)
    })
  )

  it.effect("is interrupted with its caller, and then aborts the signal of the run", () =>
    Effect.gen(function* () {
      let seen: ToolRun | undefined
      const tool = running((run) => {
        seen = run
        return new Promise(() => {})
      })
      const fiber = yield* Effect.forkChild(probe(tool), { startImmediately: true })
      assert.strictEqual(seen?.signal.aborted, false)
      yield* Fiber.interrupt(fiber)
      const exit = yield* Fiber.await(fiber)
      assert.isTrue(Exit.hasInterrupts(exit))
      assert.strictEqual(seen?.signal.aborted, true)
      assert.throws(() => seen?.send("archive", "too late"), /after the run had ended/)
    })
  )

  it.effect("leaves the signal alone when the run has ended by itself", () =>
    Effect.gen(function* () {
      let signal: AbortSignal | undefined
      yield* probe(running((run) => void (signal = run.signal)))
      assert.strictEqual(signal?.aborted, false)
    })
  )
})

describe("execute I2: a run has its time and no more", () => {
  it.effect("is stopped after its own limit, told so, and said to be of unknown effect", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const tool = running(
        ({ send, signal }) => {
          send("archive", "half done")
          signal.addEventListener("abort", () => seen.push("aborted"))
          return new Promise(() => {})
        },
        { timeoutMs: 1_500 }
      )
      const fiber = yield* Effect.forkChild(probe(tool), { startImmediately: true })
      yield* TestClock.adjust(1_499)
      assert.strictEqual(fiber.pollUnsafe(), undefined)
      yield* TestClock.adjust(1)
      const result = yield* Fiber.join(fiber)
      assert.deepStrictEqual(seen, ["aborted"])
      assert.deepStrictEqual(result, {
        ok: false,
        content:
          `The tool "probe" gave no answer within 1.5 s and was stopped; whether it took effect is unknown. ` +
          "The message it wanted to send was not sent.",
        sends: [],
        failure: "timeout"
      })
    })
  )

  it.effect("counts a validator that never answers against the same limit", () =>
    Effect.gen(function* () {
      const tool: Tool = { ...running(() => "never"), timeoutMs: 250, validate: () => Effect.never }
      const fiber = yield* Effect.forkChild(probe(tool), { startImmediately: true })
      yield* TestClock.adjust(250)
      assert.include((yield* Fiber.join(fiber)).content, "within 250 ms")
    })
  )

  it.effect("is unharmed by a run that fails after it was stopped", () =>
    Effect.gen(function* () {
      const late = Promise.withResolvers<string>()
      const fiber = yield* Effect.forkChild(probe(running(() => late.promise, { timeoutMs: 10 })), {
        startImmediately: true
      })
      yield* TestClock.adjust(10)
      const result = yield* Fiber.join(fiber)
      late.reject(new Error("too late"))
      yield* Effect.promise(() => late.promise.catch(() => "settled"))
      assert.strictEqual(result.failure, "timeout")
    })
  )
})

describe("execute I3: a tool that threw is quoted with its message alone", () => {
  class Coded extends Error {
    readonly secret = "hunter2"
    override readonly cause = new Error("hunter2 in the cause")
  }
  class Tagged extends Schema.TaggedError<Tagged>()("QuayClosed", { key: Schema.String }) {}
  const cases: ReadonlyArray<readonly [string, unknown, string]> = [
    ["an error", new Coded("the crane is stuck"), "the crane is stuck"],
    ["a text", "the crane is stuck", "the crane is stuck"],
    ["a tagged error without a message", new Tagged({ key: "hunter2" }), "QuayClosed"],
    ["nothing", undefined, "it threw undefined"],
    ["a number", 7, "it threw 7"],
    ["an object without a message", { secret: "hunter2" }, "it threw something without a message"],
    [
      "an object that throws when read",
      {
        get message(): string {
          throw new Error("hunter2")
        }
      },
      "it threw something that can not be read"
    ]
  ]
  for (const [title, thrown, message] of cases) {
    it.effect(`says of ${title} no more than that`, () =>
      Effect.gen(function* () {
        const sync = () => {
          throw thrown
        }
        for (const run of [sync, () => Promise.reject(thrown)]) {
          const result = yield* probe(running(run))
          assert.deepStrictEqual(result, {
            ok: false,
            content: `The tool "probe" failed: ${message}`,
            sends: [],
            failure: "threw"
          })
        }
      })
    )
  }
})

describe("tool I2: what a run is given", () => {
  it.effect("is who runs it, the call, the key and the time of the clock", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_234)
      let seen: ToolRun | undefined
      yield* probe(running((run) => void (seen = run)))
      assert.deepInclude(seen, {
        assistant: context.address.assistant,
        tenant: context.address.tenant,
        call: "7.1.0",
        key: context.key,
        now: 1_234
      })
    })
  )
})
