import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import {
  CallWithheld,
  firstOf,
  type Model,
  ModelDenied,
  ModelParked,
  ModelUnavailable,
  type Prompt,
  type Reply
} from "../src/index.ts"

type Service = Model["Service"]

const prompt: Prompt = { messages: [{ role: "user", content: "Go." }], tools: [], callPrefix: "1.1" }

const reply = (model: string): Reply => ({
  text: "Here.",
  calls: [],
  finish: "stop",
  usage: { inputTokens: 1, outputTokens: 1, source: "provider" },
  model
})

const answering = (name: string): Service => ({
  serves: { provider: "p", model: name, server: `${name}:1` },
  infer: () => Effect.succeed(reply(name))
})

const failing = (name: string, infer: Service["infer"]): Service => ({ ...answering(name), infer })

describe("a list of models", () => {
  it("of one model is that model, and a list within is part of the list", () => {
    const [a, b, c] = [answering("a"), answering("b"), answering("c")]
    assert.strictEqual(firstOf([a]), a)
    assert.deepStrictEqual(firstOf([firstOf([a, b]), c]).inOrder?.models, [a, b, c])
    assert.deepStrictEqual(firstOf([a, b]).serves, { provider: "p", model: "a" })
  })

  it("asks for tool calls in JSON only where each of them needs it", () => {
    const plain = (name: string): Service => ({
      ...answering(name),
      serves: { provider: "p", model: name, tools: "json" }
    })
    assert.isUndefined(firstOf([plain("a"), answering("b")]).serves?.tools)
    assert.strictEqual(firstOf([plain("a"), plain("b")]).serves?.tools, "json")
  })

  it.effect("O3 an interrupt ends the call and asks no one else", () =>
    Effect.gen(function* () {
      let asked = 0
      const other = failing("b", () => Effect.sync(() => reply(`b${++asked}`)))
      const list = firstOf([failing("a", () => Effect.never), other])
      const fiber = yield* Effect.forkChild(list.infer(prompt), { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(asked, 0)
    })
  )

  it.effect("O4 says of each why it did not answer", () =>
    Effect.gen(function* () {
      const list = firstOf([
        failing("a", () => Effect.fail(new ModelDenied({ provider: "a:1", status: 401, message: "no such key" }))),
        failing("b", () => Effect.fail(new ModelUnavailable({ provider: "b:1", kind: "network", message: "refused" })))
      ])
      const error = yield* Effect.flip(list.infer(prompt))
      assert.strictEqual(error._tag, "ModelUnavailable")
      assert.strictEqual(error.provider, "b:1")
      assert.strictEqual(error.message, "refused (nor did a at a:1: ModelDenied: no such key)")
    })
  )

  it.effect("O5 what it has noted holds in every dress, and a sign of life ends a pause that was meant for all", () =>
    Effect.gen(function* () {
      let asked = 0
      const parked = (status: number) =>
        failing("a", () => {
          asked++
          return Effect.fail(new ModelParked({ provider: "a:1", message: "later", retryAfterMs: 60_000, status }))
        })
      for (const [status, calls] of [
        [429, 1],
        [503, 2]
      ] as const) {
        asked = 0
        const list = firstOf([parked(status), answering("b")])
        yield* list.infer(prompt)
        const dressed = list.inOrder?.dressed(list.inOrder.models.map((model) => ({ ...model }))) ?? list
        assert.strictEqual((yield* dressed.infer(prompt)).earlier?.[0]?.reason.includes("CallWithheld"), true)
        assert.strictEqual(asked, 1)
        yield* list.circuit?.tryNow ?? Effect.void
        yield* dressed.infer(prompt)
        assert.strictEqual(asked, calls)
      }
    })
  )

  it.effect("O5 is withheld as long as each of them would be, and no longer", () =>
    Effect.gen(function* () {
      const open = (name: string, millis: number): Service => ({
        ...answering(name),
        circuit: { withheldMillis: () => Effect.succeed(millis), tryNow: Effect.void }
      })
      const withheld = (list: Service) => list.circuit?.withheldMillis() ?? Effect.succeed(-1)
      assert.strictEqual(yield* withheld(firstOf([open("a", 500), open("b", 200)])), 200)
      assert.strictEqual(yield* withheld(firstOf([open("a", 500), answering("b")])), 0)
    })
  )

  it.effect("O4 is withheld, with the shortest time, where nothing was sent", () =>
    Effect.gen(function* () {
      const shut = (name: string, retryAfterMs: number) =>
        failing(name, () => Effect.fail(new CallWithheld({ provider: `${name}:1`, message: "shut", retryAfterMs })))
      const error = yield* Effect.flip(firstOf([shut("a", 900), shut("b", 300)]).infer(prompt))
      assert.deepInclude(error, { provider: "a:1", others: ["b:1"], retryAfterMs: 300 })
      yield* TestClock.adjust(0)
    })
  )
})
