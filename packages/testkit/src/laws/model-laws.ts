// Model laws: a whole reply or one failure of the closed list, whatever the other end does (model I1-I5).

import * as assert from "node:assert/strict"
import { Model, type ModelError, type Prompt, type Reply } from "@reverie/model"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type { Law } from "../law.ts"

/** What the other end of a model does with a question. */
export type Deed =
  | { readonly says: string }
  /** `arguments`: the text of the arguments as it is sent. */
  | { readonly calls: ReadonlyArray<{ readonly tool: string; readonly arguments: string }> }
  /** empty: it answers, and says nothing. cut: it begins to answer and breaks off. hangs: it never answers. */
  | "empty"
  | "cut"
  | "hangs"
  /** key, prompt, long: it refuses the key, the prompt, the length of it. down: it fails. busy: not before an hour. */
  | "key"
  | "prompt"
  | "long"
  | "down"
  | "busy"

/** The other end of a model: a server, or code that stands for one. */
export class OtherEnd extends Context.Service<
  OtherEnd,
  {
    /** From now on questions are met with these, one after the other; the last one stays. */
    readonly become: (...deeds: readonly [Deed, ...ReadonlyArray<Deed>]) => Effect.Effect<void>
    /** How often it was asked so far. */
    readonly asked: Effect.Effect<number>
    /** Questions over which it hangs, and such that were given up. */
    readonly hanging: Effect.Effect<number>
    readonly left: Effect.Effect<number>
  }
>()("@reverie/testkit/OtherEnd") {}

/** A wait of an hour, in the seconds in which servers say it. */
export const BUSY_SECONDS = 3_600

const PREFIX = "7.1"

const prompt: Prompt = {
  messages: [
    { role: "system", content: "You are the front desk of a small harbour." },
    { role: "user", content: "Is there a berth free?" }
  ],
  tools: [
    {
      name: "look",
      description: "Looks at the berths.",
      parameters: { type: "object", properties: { text: { type: "string" } } }
    }
  ],
  callPrefix: PREFIX
}

const ask = Model.use((model) => model.infer(prompt))

const meeting = (...deeds: readonly [Deed, ...ReadonlyArray<Deed>]) =>
  Effect.flatMap(OtherEnd, ({ become }) => become(...deeds))

const timesAsked = Effect.flatMap(OtherEnd, ({ asked }) => asked)

/** Turns of the event loop in which a socket on the loopback has done what it does, by far. */
const MOST_TURNS = 100_000

/** Waits for something to have happened once. */
const happened = Effect.fnUntraced(function* (what: string, times: Effect.Effect<number>) {
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    if ((yield* times) > 0) return
    yield* Effect.yieldNow
  }
  assert.fail(what)
})

const look = (args: string): Deed => ({ calls: [{ tool: "look", arguments: args }] })

/** The failure, which must be one of the closed list and the only one. */
const failing = Effect.gen(function* () {
  const exit = yield* Effect.exit(ask)
  assert.ok(Exit.isFailure(exit), "it was answered")
  const [reason, ...others] = exit.cause.reasons
  assert.ok(reason !== undefined && others.length === 0)
  assert.ok(Cause.isFailReason(reason), `it did not fail, it broke: ${Cause.pretty(exit.cause)}`)
  const error = reason.error as ModelError
  assert.ok(typeof error.provider === "string" && error.provider !== "" && error.message !== "")
  return error
})

const isWhole = (reply: Reply): void => {
  assert.deepEqual(
    reply.calls.map(({ id }) => id),
    reply.calls.map((_, index) => `${PREFIX}.${index}`)
  )
  const { inputTokens, outputTokens } = reply.usage
  assert.ok(Number.isInteger(inputTokens) && inputTokens >= 1 && Number.isInteger(outputTokens) && outputTokens >= 0)
  assert.notEqual(reply.model, "")
}

const answering: ReadonlyArray<Law<Model | OtherEnd>> = [
  {
    id: "I1.words",
    says: "what is said is the reply, and it was asked for once",
    check: Effect.gen(function* () {
      yield* meeting({ says: "Berth seven is free." })
      const reply = yield* ask
      isWhole(reply)
      assert.deepEqual([reply.text, reply.calls, reply.finish], ["Berth seven is free.", [], "stop"])
      assert.equal(yield* timesAsked, 1)
    })
  },
  {
    id: "I1.calls",
    says: "calls are whole, in their order, and named as the prompt asks",
    check: Effect.gen(function* () {
      const calls = ["a", "b"].map((text) => ({ tool: "look", arguments: JSON.stringify({ text }) }))
      yield* meeting({ calls })
      const reply = yield* ask
      isWhole(reply)
      assert.deepEqual(
        reply.calls.map(({ arguments: args, malformed, tool }) => [tool, args, malformed]),
        [
          ["look", { text: "a" }, undefined],
          ["look", { text: "b" }, undefined]
        ]
      )
      assert.equal(reply.finish, "tool-calls")
    })
  },
  {
    id: "I1.cut",
    says: "an answer that breaks off is a failure, and the server may be tried again",
    check: Effect.gen(function* () {
      yield* meeting("cut")
      assert.equal((yield* failing)._tag, "ModelUnavailable")
    })
  },
  {
    id: "I1.empty",
    says: "an answer that holds nothing is asked for once more, and is of no use the second time",
    check: Effect.gen(function* () {
      yield* meeting("empty")
      assert.equal((yield* failing)._tag, "ReplyUnusable")
      assert.equal(yield* timesAsked, 2)
    })
  },
  {
    id: "I1.corrected",
    says: "a call of a tool that there is none of is corrected by the model, and both rounds count",
    check: Effect.gen(function* () {
      yield* meeting({ says: "Here." })
      const once = (yield* ask).usage
      yield* meeting({ calls: [{ tool: "peer", arguments: "{}" }] }, look(`{"text":"x"}`))
      const reply = yield* ask
      isWhole(reply)
      assert.deepEqual(reply.calls[0]?.arguments, { text: "x" })
      assert.ok(reply.usage.inputTokens >= 2 * once.inputTokens, "one of two rounds was not counted")
    })
  },
  {
    id: "I4.malformed",
    says: "arguments that are no object, twice, are marked as malformed",
    check: Effect.gen(function* () {
      yield* meeting(look("{berth: 7}"))
      const reply = yield* ask
      isWhole(reply)
      assert.match(reply.calls[0]?.malformed ?? "", /^the arguments of look /)
      assert.deepEqual(reply.calls[0]?.arguments, {})
      assert.equal(yield* timesAsked, 2)
    })
  },
  {
    id: "I4.hostile",
    says: "hostile keys are taken out of arguments",
    check: Effect.gen(function* () {
      yield* meeting(look(`{"text":"x","__proto__":{"isAdmin":true},"constructor":{"prototype":{"a":1}}}`))
      const args = (yield* ask).calls[0]?.arguments
      assert.deepEqual(JSON.parse(JSON.stringify(args)), { text: "x" })
      assert.deepEqual(Object.getOwnPropertyNames(args), ["text"])
    })
  }
]

const tags: ReadonlyArray<readonly [id: string, deed: Deed, tag: ModelError["_tag"], says: string]> = [
  ["I2.key", "key", "ModelDenied", "a refused key is a denial: a person must act"],
  ["I2.prompt", "prompt", "ModelRefused", "a refused prompt is a refusal of this prompt"],
  ["I2.long", "long", "ModelRefused", "so is one that is too long"],
  ["I2.down", "down", "ModelUnavailable", "a server that fails is unavailable"],
  ["I2.busy", "busy", "ModelParked", "a server that names a time is left alone until then"]
]

const failures = tags.map(([id, deed, tag, says]): Law<Model | OtherEnd> => ({
  id,
  says,
  check: Effect.gen(function* () {
    yield* meeting(deed)
    const error = yield* failing
    assert.equal(error._tag, tag)
    if (error._tag === "ModelParked") assert.equal(error.retryAfterMs, BUSY_SECONDS * 1_000)
    if (error._tag === "ModelRefused") assert.equal(error.kind, deed === "long" ? "too-long" : "bad-request")
  })
}))

const among: ReadonlyArray<Law<Model | OtherEnd>> = [
  {
    id: "I2.after",
    says: "whatever came before it, the next answer is a reply",
    check: Effect.gen(function* () {
      for (const deed of ["down", "key", "prompt", "empty", "cut"] as const) {
        yield* meeting(deed)
        yield* failing
        yield* meeting({ says: "Well." })
        assert.equal((yield* ask).text, "Well.")
      }
    })
  },
  {
    id: "I3.abort",
    says: "an interrupted call gives its question up",
    check: Effect.gen(function* () {
      const { hanging, left } = yield* OtherEnd
      yield* meeting("hangs")
      const fiber = yield* Effect.forkChild(ask, { startImmediately: true })
      yield* happened("it was never asked", hanging)
      yield* Fiber.interrupt(fiber)
      yield* happened("the question was not given up", left)
      yield* meeting({ says: "Well." })
      assert.equal((yield* ask).text, "Well.")
    })
  },
  {
    id: "I5.withheld",
    says: "a call that was not sent fails as withheld, for as long as was said, and no one was asked",
    check: Effect.gen(function* () {
      const { circuit } = yield* Model
      yield* meeting("down")
      for (let times = 0; times < 8; times++) yield* failing
      const before = yield* timesAsked
      const withheld = circuit === undefined ? 0 : yield* circuit.withheldMillis()
      const error = yield* failing
      assert.equal(error._tag === "CallWithheld", withheld > 0)
      if (error._tag === "CallWithheld") {
        assert.equal(error.retryAfterMs, withheld)
        assert.equal(yield* timesAsked, before)
        yield* circuit?.tryNow ?? Effect.void
        yield* meeting({ says: "Well." })
        assert.equal((yield* ask).text, "Well.")
      }
    })
  }
]

export const modelLaws: ReadonlyArray<Law<Model | OtherEnd>> = [...answering, ...failures, ...among]
