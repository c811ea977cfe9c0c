import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import { execute, interrupted, refused, type Tool } from "../src/index.ts"
import { callOf, context, running } from "./fixtures.ts"
import { asyncReport } from "../src/async-report.ts"

/** As render.ts promises (I1). */
const MAX_RESULT_CHARS = 16_000

const probe = (tool: Tool) => execute(tool, callOf("probe"), context)

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

describe("a later report", () => {
  const reporting = () => asyncReport("The work has begun.", "It was done.")

  it.effect("async report I1: what asyncReport made is an acknowledgement now and a report later", () =>
    Effect.gen(function* () {
      for (const run of [reporting, () => Promise.resolve(reporting())]) {
        assert.deepStrictEqual(yield* probe(running(run, { background: true })), {
          ok: true,
          content: "The work has begun.",
          sends: [],
          pending: true,
          report: "It was done."
        })
      }
    })
  )

  it.effect("async report I1: an object with the same members is a value like any other", () =>
    Effect.gen(function* () {
      const members = { acknowledgement: "The work has begun.", report: "It was done." }
      for (const background of [true, false]) {
        const result = yield* probe(running(() => members, { background }))
        assert.strictEqual(result.content, JSON.stringify(members))
        assert.notProperty(result, "report")
      }
    })
  )

  it.effect("is refused from a tool of another category, whose call no one would wait for", () =>
    Effect.gen(function* () {
      for (const kind of [{}, { final: true }, { needsApproval: true }]) {
        const result = yield* probe(
          running((run) => {
            run.send("archive", "begun")
            return reporting()
          }, kind)
        )
        assert.deepStrictEqual(result, {
          ok: false,
          content:
            "The tool ran, but its result can not be shown: it is a later report, which only a tool with " +
            "background: true gives. The message it wanted to send was not sent.",
          sends: [],
          failure: "not-json"
        })
      }
    })
  )

  it.effect("is bounded and mended like any content (result I1, I3)", () =>
    Effect.gen(function* () {
      const long = running(() => asyncReport("half \uD83D", "r".repeat(1_000_000)), { background: true })
      const { content, report = "" } = yield* probe(long)
      assert.strictEqual(content, "half \uFFFD")
      assert.isAtMost(report.length, MAX_RESULT_CHARS)
      assert.match(report, /of 1000000 characters are shown\.\]$/)
    })
  )

  it.effect("needs two texts", () =>
    Effect.gen(function* () {
      const wrong: ReadonlyArray<readonly [unknown, unknown, string]> = [
        ["begun", { done: true }, "asyncReport needs a text as its second argument"],
        [undefined, "done", "asyncReport needs a text as its first argument"]
      ]
      for (const [acknowledgement, report, why] of wrong) {
        const run = () => asyncReport(acknowledgement as string, report as string)
        const { content, failure } = yield* probe(running(run, { background: true }))
        assert.strictEqual(failure, "threw")
        assert.include(content, why)
      }
    })
  )
})

describe("pending, interrupted, refused", () => {
  it.effect("a started piece of work is pending, a failed start is not", () =>
    Effect.gen(function* () {
      const started = yield* probe(running(() => "started", { background: true }))
      assert.deepStrictEqual(started, { ok: true, content: "started", sends: [], pending: true })
      const failedStart = yield* probe(running(() => Promise.reject(new Error("no")), { background: true }))
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
