import { assert, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import {
  CallLimited,
  CallOverLimit,
  CallWithheld,
  failureCost,
  firstOf,
  isOutage,
  type Model,
  ModelDenied,
  type ModelError,
  ModelParked,
  ModelRefused,
  ModelUnavailable,
  type Prompt,
  type Reply,
  ReplyUnusable
} from "../src/index.ts"

type Service = Model["Service"]

const prompt = (over: Partial<Prompt> = {}): Prompt => ({
  messages: [{ role: "user", content: "Is there a berth free?" }],
  tools: [],
  callPrefix: "1.1",
  ...over
})

/** What one model does when it is asked. */
type Deed = "answers" | "dies" | ((provider: string) => ModelError)

const kinds = ["network", "timeout", "idle", "server-error", "cut", "not-json", "malformed", "too-large"] as const

const parked = fc
  .record({ retryAfterMs: fc.integer({ min: 1, max: 5_000 }), status: fc.constantFrom(429, 503) })
  .map((fields) => (provider: string) => new ModelParked({ provider, message: "m", ...fields }))

const error = fc.oneof(
  fc.constantFrom(...kinds).map((kind) => (provider: string) => new ModelUnavailable({ provider, kind, message: "m" })),
  parked,
  fc
    .integer({ min: 1, max: 5_000 })
    .map((retryAfterMs) => (provider: string) => new CallWithheld({ provider, message: "m", retryAfterMs })),
  fc.constant((provider: string) => new ModelDenied({ provider, message: "m", status: 401 })),
  fc
    .constantFrom("bad-request" as const, "too-long" as const, "filtered" as const)
    .map((kind) => (provider: string) => new ModelRefused({ provider, message: "m", kind })),
  fc.constant((provider: string) => new ReplyUnusable({ provider, message: "m" })),
  fc.constant((provider: string) => new CallLimited({ provider, message: "m", limit: "l", retryAfterMs: 9 })),
  fc.constant((provider: string) => new CallOverLimit({ provider, message: "m", limit: "l" }))
)

const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 2, arbitrary: fc.constant("answers" as const) },
  { weight: 8, arbitrary: error },
  { weight: 1, arbitrary: fc.constant("dies" as const) }
)

const nameOf = (index: number): string => `model-${index}`

const serverOf = (index: number): string => `server-${index}:1`

const replyOf = (index: number): Reply => ({
  text: `I am ${index}.`,
  calls: [],
  finish: "stop",
  usage: { inputTokens: 1, outputTokens: 1, source: "provider" },
  model: nameOf(index)
})

/** Models that do what the present line of a script says, and who was asked with what. */
const cast = (line: () => ReadonlyArray<Deed>, count: number) => {
  const asked: Array<{ readonly index: number; readonly prompt: Prompt; readonly at: number }> = []
  const models = Array.from({ length: count }, (_, index): Service => ({
    serves: { provider: "p", model: nameOf(index), server: serverOf(index) },
    infer: (given, options) =>
      Effect.gen(function* () {
        asked.push({ index, prompt: given, at: yield* Clock.currentTimeMillis })
        options?.onText?.(`${index}`)
        const deed = line()[index] ?? "answers"
        if (deed === "answers") return replyOf(index)
        if (deed === "dies") return yield* Effect.die(new Error("a bug"))
        return yield* deed(serverOf(index))
      })
  }))
  return { asked, models: models as unknown as readonly [Service, ...ReadonlyArray<Service>] }
}

const goesOn = (failure: ModelError, paidOnce: boolean): boolean => {
  if (paidOnce && failureCost(failure) === "unknown") return false
  if (failure._tag === "ModelRefused") return failure.kind === "too-long"
  return failure._tag !== "CallLimited" && failure._tag !== "CallOverLimit"
}

/** Whom a list asks that has noted no time yet, and where it stops. */
const expected = (deeds: ReadonlyArray<Deed>, paidOnce: boolean) => {
  const failures: Array<ModelError> = []
  for (const [index, each] of deeds.entries()) {
    if (each === "answers" || each === "dies") return { failures, end: each, index }
    const failure = each(serverOf(index))
    failures.push(failure)
    if (!goesOn(failure, paidOnce)) break
  }
  return { failures, end: "fails" as const, index: failures.length - 1 }
}

const inTime = <A>(effect: Effect.Effect<A>): A => Effect.runSync(Effect.provide(effect, TestClock.layer()))

const inTimeThatPasses = (effect: Effect.Effect<void>): Promise<void> =>
  Effect.runPromise(Effect.provide(effect, TestClock.layer()))

const settings = { numRuns: 1_000 }

it("O1 O2 O3 O6 the first that can, answers; each before it is named with its reason, and what no other could do better ends the call", () => {
  let answered = 0
  fc.assert(
    fc.property(fc.array(deed, { minLength: 2, maxLength: 5 }), fc.boolean(), (deeds, paidOnce) => {
      const { asked, models } = cast(() => deeds, deeds.length)
      const exit = inTime(Effect.exit(firstOf(models).infer(prompt(paidOnce ? { paidOnce } : {}))))
      const { end, failures, index } = expected(deeds, paidOnce)
      assert.deepStrictEqual(
        asked.map((each) => each.index),
        Array.from({ length: index + 1 }, (_, each) => each)
      )
      if (end === "dies") return assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      if (end === "fails") return assert.isTrue(Exit.isFailure(exit) && !Cause.hasDies(exit.cause))
      if (Exit.isFailure(exit)) return assert.fail("an answer was lost")
      answered++
      const { earlier = [], server, ...reply } = exit.value
      assert.deepStrictEqual(reply, replyOf(index))
      assert.strictEqual(server, serverOf(index))
      assert.deepStrictEqual(
        earlier,
        failures.map((failure, at) => ({
          model: nameOf(at),
          server: serverOf(at),
          reason: `${failure._tag}: ${failure.message}`
        }))
      )
    }),
    settings
  )
  assert.isAbove(answered, 50)
})

it("O4 a list fails as an outage if any of it was away, with all servers that are, and by no later time than the first that was named", () => {
  let outages = 0
  fc.assert(
    fc.property(fc.array(error, { minLength: 2, maxLength: 5 }), (deeds) => {
      const { models } = cast(() => deeds, deeds.length)
      const exit = inTime(Effect.exit(firstOf(models).infer(prompt())))
      const { failures } = expected(deeds, false)
      const found = Exit.isFailure(exit) ? Cause.findErrorOption(exit.cause) : undefined
      if (found?._tag !== "Some") return assert.fail("it did not fail")
      const failure = found.value
      const last = failures.at(-1)
      if (last?._tag === "CallLimited" || last?._tag === "CallOverLimit") {
        return assert.strictEqual(failure._tag, last._tag)
      }
      const away = failures.filter(isOutage)
      if (away.length === 0) {
        assert.isFalse(isOutage(failure))
        const recoveries = new Set(failures.map(({ recovery }) => recovery))
        for (const better of ["retry", "tell-owner"] as const) {
          if (recoveries.has(better)) return assert.strictEqual(failure.recovery, better)
        }
        return assert.strictEqual(failure.recovery, "stop")
      }
      outages++
      if (!isOutage(failure)) return assert.fail(`${failure._tag} covers an outage up`)
      assert.sameMembers(
        [failure.provider, ...(failure.others ?? [])],
        [...new Set(away.map(({ provider }) => provider))]
      )
      if (failure._tag === "ModelUnavailable")
        return assert.isTrue(away.some(({ _tag }) => _tag === "ModelUnavailable"))
      const named = away.map((each) => ("retryAfterMs" in each ? each.retryAfterMs : Infinity))
      assert.strictEqual(failure.retryAfterMs, Math.min(...named))
      // What was never sent is called that only where none was sent.
      assert.strictEqual(
        failure._tag === "CallWithheld",
        failures.every(({ _tag }) => _tag === "CallWithheld")
      )
    }),
    settings
  )
  assert.isAbove(outages, 200)
})

/** Names a time more often than not. */
const busy: fc.Arbitrary<Deed> = fc.oneof({ weight: 1, arbitrary: deed }, { weight: 2, arbitrary: parked })

const life = fc.array(
  fc.record({ wait: fc.integer({ min: 0, max: 2_000 }), deeds: fc.array(busy, { minLength: 2, maxLength: 2 }) }),
  { minLength: 1, maxLength: 12 }
)

it("O5 no model is asked before the time it named, and nothing is withheld while one of them may be asked", async () => {
  let rested = 0
  await fc.assert(
    fc.asyncProperty(life, async (calls) => {
      let line: ReadonlyArray<Deed> = []
      const { asked, models } = cast(() => line, 2)
      const list = firstOf(models)
      await inTimeThatPasses(
        Effect.gen(function* () {
          const until = [0, 0]
          for (const { deeds, wait } of calls) {
            line = deeds
            yield* TestClock.adjust(wait)
            const now = yield* Clock.currentTimeMillis
            const before = asked.length
            const withheld = yield* list.circuit?.withheldMillis() ?? Effect.succeed(-1)
            assert.strictEqual(withheld, Math.max(0, Math.min(...until) - now))
            yield* Effect.exit(list.infer(prompt()))
            for (const { index } of asked.slice(before)) {
              assert.isAtMost(until[index] ?? 0, now, "a model was asked before the time it named")
              const done = deeds[index]
              const failure = typeof done === "function" ? done(serverOf(index)) : undefined
              if (failure?._tag === "ModelParked") until[index] = now + failure.retryAfterMs
            }
            if (withheld === 0) assert.isAbove(asked.length, before)
            else rested++
          }
        })
      )
    }),
    settings
  )
  assert.isAbove(rested, 20)
})

it("O7 O8 text is that of one model, and the name of another model is said to the first one alone", () => {
  fc.assert(
    fc.property(fc.array(deed, { minLength: 2, maxLength: 5 }), (deeds) => {
      const { asked, models } = cast(() => deeds, deeds.length)
      const heard: Array<string> = []
      inTime(
        Effect.exit(firstOf(models).infer(prompt({ model: "sibling" }), { onText: (text) => void heard.push(text) }))
      )
      assert.deepStrictEqual(heard, ["0"])
      assert.deepStrictEqual(
        asked.map((each) => each.prompt.model),
        asked.map((_, at) => (at === 0 ? "sibling" : undefined))
      )
    }),
    settings
  )
})
