import { assert, it } from "@effect/vitest"
import { Envelope, MAX_MESSAGE_CHARS } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import {
  defineTool,
  execute,
  interrupted,
  MAX_RESULT_CHARS,
  MAX_SENDS,
  refused,
  type Tool,
  type ToolRun
} from "../src/index.ts"
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
      const quits = yield* probe({ ...base, run: () => Effect.interrupt })
      assert.strictEqual(quits.content, `The tool "probe" failed: it stopped itself`)
      const dies = yield* probe({ ...base, run: () => Effect.die(new Error("a bug")) })
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
        { timeoutMillis: 1_500 }
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
      const tool: Tool = { ...running(() => "never"), timeoutMillis: 250, validate: () => Effect.never }
      const fiber = yield* Effect.forkChild(probe(tool), { startImmediately: true })
      yield* TestClock.adjust(250)
      assert.include((yield* Fiber.join(fiber)).content, "within 250 ms")
    })
  )

  it.effect("is unharmed by a run that fails after it was stopped", () =>
    Effect.gen(function* () {
      const late = Promise.withResolvers<string>()
      const fiber = yield* Effect.forkChild(probe(running(() => late.promise, { timeoutMillis: 10 })), {
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

describe("sends I1: messages are named after the key and their place", () => {
  const sending = running(({ send }) => {
    send("archive", "first")
    send("planner", "second")
  })

  it.effect("become envelopes, the same at every attempt", () =>
    Effect.gen(function* () {
      const run = execute(sending, callOf("probe"), { ...context, traceparent: "00-a-b-01" })
      const { sends } = yield* run
      assert.deepStrictEqual(sends, (yield* run).sends)
      assert.deepStrictEqual<ReadonlyArray<unknown>>(sends, [
        {
          v: 1,
          id: `${context.key}#0`,
          to: { tenant: "default", assistant: "archive" },
          from: "assistant:desk",
          event: { type: "message", text: "first" },
          hops: 3,
          traceparent: "00-a-b-01"
        },
        {
          v: 1,
          id: `${context.key}#1`,
          to: { tenant: "default", assistant: "planner" },
          from: "assistant:desk",
          event: { type: "message", text: "second" },
          hops: 3,
          traceparent: "00-a-b-01"
        }
      ])
      yield* Effect.forEach(sends, (envelope) => Schema.decodeUnknownEffect(Envelope)(envelope))
    })
  )

  it.effect("keep apart under keys that are too long for an envelope id", () =>
    Effect.gen(function* () {
      const long = "k".repeat(300)
      const [a] = (yield* execute(sending, callOf("probe"), { ...context, key: `${long}a` })).sends
      const [b] = (yield* execute(sending, callOf("probe"), { ...context, key: `${long}b` })).sends
      assert.match(a?.id ?? "", /^[0-9a-f]{64}#0$/)
      assert.notStrictEqual(a?.id, b?.id)
    })
  )

  it.effect("are refused inside the tool when they can not be sent", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [string, string, string]> = [
        ["", "hello", "send needs the id of an assistant"],
        ["no/slash", "hello", "send needs the id of an assistant"],
        ["archive", 5 as unknown as string, "send needs a text"],
        ["archive", "x".repeat(MAX_MESSAGE_CHARS + 1), "a message can have at most 1000000 characters"]
      ]
      for (const [to, text, why] of cases) {
        const result = yield* probe(running(({ send }) => send(to, text)))
        assert.strictEqual(result.failure, "threw")
        assert.include(result.content, why)
      }
      const flood = running(({ send }) => {
        for (let sent = 0; sent <= MAX_SENDS; sent++) send("archive", "again")
      })
      assert.include((yield* probe(flood)).content, `at most ${MAX_SENDS} messages`)
    })
  )
})

describe("tool I3: only a result that is ok carries sends", () => {
  it.effect("drops them with a failed run, and says so", () =>
    Effect.gen(function* () {
      const threw = yield* probe(
        running(({ send }) => {
          send("archive", "one")
          send("archive", "two")
          throw new Error("then broke")
        })
      )
      assert.deepStrictEqual(threw.sends, [])
      assert.include(threw.content, "then broke The 2 messages it wanted to send were not sent.")
      const unshowable = yield* probe(
        running(({ send }) => {
          send("archive", "one")
          return 1n
        })
      )
      assert.deepStrictEqual(unshowable.sends, [])
      assert.include(unshowable.content, "The message it wanted to send was not sent.")
    })
  )

  it.effect("refuses a send after the end of the run (sends I2)", () =>
    Effect.gen(function* () {
      let send: ToolRun["send"] | undefined
      const result = yield* probe(
        running((run) => {
          send = run.send
          run.send("archive", "in time")
        })
      )
      assert.throws(() => send?.("archive", "too late"), /after the run had ended; the message was not sent/)
      assert.strictEqual(result.sends.length, 1)
    })
  )
})

describe("result I1: what a model is shown is bounded", () => {
  it.effect("shows a result of the longest length whole, and cuts a longer one visibly", () =>
    Effect.gen(function* () {
      const fits = yield* probe(running(() => "a".repeat(MAX_RESULT_CHARS)))
      assert.strictEqual(fits.content, "a".repeat(MAX_RESULT_CHARS))
      const { content, ok } = yield* probe(running(() => "a".repeat(MAX_RESULT_CHARS + 1)))
      assert.isTrue(ok)
      assert.isAtMost(content.length, MAX_RESULT_CHARS)
      assert.match(content, /a\n\[Cut here: only the first (\d+) of 16001 characters are shown\.\]$/)
      assert.strictEqual(content.indexOf("\n"), Number(/first (\d+) of/.exec(content)?.[1]))
    })
  )

  it.effect("never cuts inside a character, and mends what is no Unicode (result I3)", () =>
    Effect.gen(function* () {
      for (const lead of ["", "a"]) {
        const { content } = yield* probe(running(() => lead + "😀".repeat(MAX_RESULT_CHARS)))
        assert.isTrue(content.isWellFormed())
        assert.notInclude(content, "\uFFFD")
      }
      assert.strictEqual((yield* probe(running(() => "half \uD83D"))).content, "half \uFFFD")
    })
  )

  it.effect("holds for a failure as well", () =>
    Effect.gen(function* () {
      const { content } = yield* probe(running(() => Promise.reject(new Error("e".repeat(1_000_000)))))
      assert.isAtMost(content.length, 2_100)
    })
  )
})

describe("pending, interrupted, refused", () => {
  it.effect("a started piece of work is pending, a failed start is not", () =>
    Effect.gen(function* () {
      const started = yield* probe(running(() => "started", { category: "async_required" }))
      assert.deepStrictEqual(started, { ok: true, content: "started", sends: [], pending: true })
      const failedStart = yield* probe(running(() => Promise.reject(new Error("no")), { category: "async_required" }))
      assert.notProperty(failedStart, "pending")
    })
  )

  it("a call that a crash cut off is of unknown effect", () => {
    assert.deepStrictEqual(interrupted(callOf("send_note")), {
      ok: false,
      content:
        `The call of "send_note" was started before a crash; whether it took effect is unknown. ` +
        "Do not assume either; check before repeating it.",
      sends: [],
      failure: "interrupted"
    })
  })

  it("a refused call says that it did not run, and why", () => {
    assert.deepStrictEqual(refused(callOf("send_note"), "one dangerous tool a tick"), {
      ok: false,
      content: `The call of "send_note" was refused and did not run: one dangerous tool a tick`,
      sends: [],
      failure: "refused"
    })
  })
})
