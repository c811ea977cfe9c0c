import { assert, describe, it } from "@effect/vitest"
import { collectSpans } from "@reverie/testkit"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import { hiding } from "../../src/jobs/job-end.ts"
import { inSpan, runningTraceparent, spanning } from "../../src/telemetry/spans.ts"
import { fitForSpan } from "../../src/telemetry/telemetry.ts"

class Refused extends Schema.TaggedError<Refused>()("Refused", { message: Schema.String }) {}

describe("a span", () => {
  it.effect("S1 is not made without a tracer, and nothing is computed for it", () =>
    Effect.gen(function* () {
      const request = () => assert.fail("the wish was asked for")
      const seen = yield* inSpan("queue.wake", request)((span) => Effect.succeed(span))
      assert.isUndefined(seen)
      const outside = yield* Effect.option(Effect.currentParentSpan)
      const inside = yield* spanning(request)(() => Effect.option(Effect.currentParentSpan))
      assert.deepStrictEqual(inside, outside)
      assert.isUndefined(yield* runningTraceparent)
    })
  )

  it.effect("S2 says the kind of a failure and never its text", () => {
    const ended: Array<Exit.Exit<unknown, unknown>> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        const end = span.end.bind(span)
        span.end = (time, exit) => {
          ended.push(exit)
          end(time, exit)
        }
        return span
      }
    })
    return Effect.gen(function* () {
      const failures: ReadonlyArray<Effect.Effect<never, unknown>> = [
        Effect.fail(new Refused({ message: "canary" })),
        Effect.die(new Error("canary")),
        Effect.fail({ canary: "canary" }),
        Effect.interrupt
      ]
      for (const failure of failures) yield* Effect.exit(inSpan("ledger.commit")(failure))
      const said = ended.map((exit) => (Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "it worked"))
      assert.strictEqual(said.length, failures.length)
      assert.notInclude(said.join("\n"), "canary")
      assert.match(said[0] ?? "", /Refused/)
      assert.match(said[1] ?? "", /defect/)
      assert.match(said[2] ?? "", /_OTHER/)
    }).pipe(Effect.provideService(Tracer.Tracer, tracer))
  })

  it.effect("fails with what the work fails with, and gives what it gives", () =>
    Effect.gen(function* () {
      const failure = new Refused({ message: "no" })
      assert.strictEqual(yield* Effect.flip(inSpan("model.infer")(Effect.fail(failure))), failure)
      assert.strictEqual(yield* inSpan("model.infer")(Effect.succeed(7)), 7)
    }).pipe(Effect.provide(collectSpans().layer))
  )
})

describe("content for a span", () => {
  const request = { maxChars: 60, secrets: ["a-secret-of-ours", "none"] }

  it("C2 is cut, and holds neither a known secret nor what looks like one", () => {
    const texts = [
      "a-secret-of-ours",
      "sk-abcdefghijklmnopqrstuv",
      "Bearer abcdefghijkl.mnop",
      "postgres://me:pass-word-of-it@host/db",
      "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghijkl",
      'say {"api_key": "whatever-it-is"}'
    ]
    const secrets = /a-secret-of-ours|abcdefghijkl|pass-word-of-it|eyJzdWIi|whatever-it-is/
    for (const text of texts) {
      for (const place of [0, 1, 40, 59, 230, 239, 400]) {
        const fit = fitForSpan(`${"x".repeat(place)} ${text} and so on`, request)
        assert.notMatch(fit, secrets)
        assert.isAtMost(fit.length, 61)
      }
    }
    assert.strictEqual(fitForSpan("none of it", request), "none of it")
  })
})

describe("what a fleet was given as a secret", () => {
  const { hide } = hiding(['pass"word\\of', "pass", "a-longer-secret", "a-longer-secret-than-that"])

  it("S1 is taken out of data wherever it stands, also where JSON writes it in another way", () => {
    const data = { ['pass"word\\of']: ['so pass"word\\of it', { deep: "a-longer-secret-than-that!" }], pass: 1 }
    assert.deepStrictEqual(hide(data) as unknown, {
      "[redacted]": ["so [redacted] it", { deep: "[redacted]!" }],
      pass: 1
    })
    assert.strictEqual(hide("x a-longer-secret"), "x [redacted]")
  })

  it("S2 data without one is the very same value", () => {
    const data = { text: "pass" }
    assert.strictEqual(hide(data), data)
    assert.isUndefined(hide(undefined))
    const nothing = hiding(["", "none"])
    assert.strictEqual(nothing.hide(data), data)
  })
})
