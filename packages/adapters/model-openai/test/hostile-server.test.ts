import { assert, describe, it } from "@effect/vitest"
import { failureCost, isOutage, type ModelError, type Reply } from "@reverie/model"
import {
  type HostileModeName,
  hostileModeNames,
  hostileModes,
  saying,
  type Verdict
} from "@reverie/testkit/model-server"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { afterAll, vi } from "vitest"
import type { OpenAiModelOptions } from "../src/options.ts"
import { aPrompt, harbor, KEY } from "./harbor-model.ts"

const WELL = "All is well."

const spoken = [
  vi.spyOn(console, "log"),
  vi.spyOn(console, "info"),
  vi.spyOn(console, "warn"),
  vi.spyOn(console, "error"),
  vi.spyOn(console, "debug")
]

const checkError = (error: ModelError, verdict: Exclude<Verdict, { readonly reply: unknown }>): void => {
  const { error: tag, ...facts } = verdict
  assert.strictEqual(error._tag, tag, error.message)
  for (const [name, fact] of Object.entries(facts)) assert.strictEqual(Reflect.get(error, name), fact, name)
  assert.isBelow(error.message.length, 400)
  assert.match(error.provider, /^127\.0\.0\.1:\d+$/)
}

const checkReply = (reply: Reply, expected: Extract<Verdict, { readonly reply: unknown }>["reply"]): void => {
  if (expected.text !== undefined) assert.strictEqual(reply.text, expected.text)
  if (expected.finish !== undefined) assert.strictEqual(reply.finish, expected.finish)
  if (expected.usage !== undefined) assert.strictEqual(reply.usage.source, expected.usage)
  if (expected.callCount !== undefined) assert.lengthOf(reply.calls, expected.callCount)
  assert.deepStrictEqual(
    reply.calls.map(({ id }) => id),
    reply.calls.map((_, index) => `7.1.${index}`)
  )
  assert.isAtLeast(reply.usage.inputTokens, 1)
  if (expected.calls === undefined) return
  assert.lengthOf(reply.calls, expected.calls.length)
  for (const [index, call] of expected.calls.entries()) {
    const got = reply.calls[index]
    assert.strictEqual(got?.tool, call.tool)
    if (call.malformed === true) assert.match(got?.malformed ?? "", /^the arguments of look /)
    else {
      assert.isUndefined(got?.malformed)
      assert.deepStrictEqual(got?.arguments, call.arguments as never)
    }
  }
}

/** Short where it is what ends the call, and still long enough for the good answer after it on a busy machine. */
const limitsFor = (verdict: Verdict) => ("kind" in verdict && verdict.kind === "timeout" ? { timeoutMs: 1_500 } : {})

type WireName = NonNullable<OpenAiModelOptions["wire"]>

const judgeMode = Effect.fnUntraced(function* (name: HostileModeName, isStream: boolean, wire: WireName) {
  const { leadsTo } = hostileModes[name]
  const { model, server } = yield* harbor({ mode: name }, { stream: isStream, wire, ...limitsFor(leadsTo) })
  const outcome = yield* Effect.result(model.infer(aPrompt()))
  const asked = server.requests.length
  if ("error" in leadsTo) {
    if (Result.isSuccess(outcome))
      return assert.fail(`expected ${leadsTo.error}, got ${JSON.stringify(outcome.success)}`)
    checkError(outcome.failure, leadsTo)
    assert.notInclude(JSON.stringify(outcome.failure) + String(outcome.failure) + (outcome.failure.stack ?? ""), KEY)
  } else {
    if (Result.isFailure(outcome)) return assert.fail(`expected a reply, got ${outcome.failure.message}`)
    checkReply(outcome.success, leadsTo.reply)
    assert.notInclude(JSON.stringify(outcome.success), KEY)
  }
  assert.isAtLeast(asked, 1)
  assert.isAtMost(asked, 4, "two rounds of two attempts each")
  const path = wire === "chat" ? "/v1/chat/completions" : "/v1/responses"
  assert.isTrue(server.requests.every((request) => request.stream === isStream && request.path === path))

  server.become({ script: saying(WELL) })
  assert.strictEqual((yield* model.infer(aPrompt())).text, WELL)
})

describe.each<WireName>(["chat", "responses"])("the wire %s", (wire) => {
  describe.each(hostileModeNames)("I1 I3 I4 %s", (name) => {
    const { plain, says, stream } = hostileModes[name]
    if (plain !== undefined) it.live(`${says}, as one object`, () => Effect.scoped(judgeMode(name, false, wire)))
    if (stream !== undefined) it.live(`${says}, as a stream`, () => Effect.scoped(judgeMode(name, true, wire)))
  })
})

/** Whether waiting helps, and what may have been used meanwhile. */
const costs: ReadonlyArray<readonly [HostileModeName, boolean, "unheard" | "unknown"]> = [
  ["connection-reset", true, "unheard"],
  ["status-503-html", true, "unheard"],
  ["gateway-404", true, "unheard"],
  ["html-with-200", true, "unheard"],
  ["choices-empty", true, "unheard"],
  ["rate-limited-1h", true, "unheard"],
  ["headers-hang", true, "unheard"],
  ["unauthorized", false, "unheard"],
  ["context-too-long", false, "unheard"],
  ["finish-missing", true, "unknown"],
  ["body-cut", true, "unknown"],
  ["body-oversize", false, "unknown"],
  ["empty-stop", false, "unknown"]
]

describe("what a failure means", () => {
  it.live.each(costs)("of %s: an outage %s, and its cost is %s", ([name, waits, cost]) =>
    Effect.gen(function* () {
      const { model } = yield* harbor({ mode: name }, { stream: false, ...limitsFor(hostileModes[name].leadsTo) })
      const error = yield* Effect.flip(model.infer(aPrompt()))
      assert.deepStrictEqual([isOutage(error), failureCost(error)], [waits, cost], error.message)
    })
  )

  it.live("of a stream that breaks off: a model may have worked", () =>
    Effect.gen(function* () {
      const { model } = yield* harbor({ mode: "stream-cut-text" }, { stream: true })
      const error = yield* Effect.flip(model.infer(aPrompt()))
      assert.deepStrictEqual([isOutage(error), failureCost(error)], [true, "unknown"])
    })
  )
})

describe("the list of modes", () => {
  it("is long enough to mean something", () => {
    assert.isAtLeast(hostileModeNames.length, 60)
  })
})

afterAll(() => {
  const used = spoken.filter(({ mock }) => mock.calls.length > 0).map((spy) => `console.${spy.getMockName()}`)
  for (const spy of spoken) spy.mockRestore()
  assert.deepStrictEqual(used, [])
  assert.isUndefined(({} as { polluted?: unknown }).polluted)
})
