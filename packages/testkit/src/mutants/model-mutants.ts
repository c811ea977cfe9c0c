// Model mutants: models that are each wrong in one way, which the model laws must kill; and the right one that they are made of.
// M1  The right model reads what the other end does without a wire between them.

import {
  Model,
  ModelDenied,
  type ModelError,
  ModelParked,
  ModelRefused,
  ModelUnavailable,
  type Prompt,
  type Reply,
  ReplyUnusable
} from "@reverie/model"
import { isJsonObject, type Json, parseJson, type ToolCall } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { FreshLayer } from "../law.ts"
import { BUSY_SECONDS, type Deed, OtherEnd } from "../laws/model-laws.ts"

type Infer = Model["Service"]["infer"]

const provider = "mutant"
const where = { provider, message: "so it was ordered" }

const failureOf = (deed: Deed): ModelError | undefined => {
  switch (deed) {
    case "cut":
      return new ModelUnavailable({ ...where, kind: "cut" })
    case "key":
      return new ModelDenied({ ...where, status: 401 })
    case "prompt":
      return new ModelRefused({ ...where, kind: "bad-request" })
    case "long":
      return new ModelRefused({ ...where, kind: "too-long" })
    case "down":
      return new ModelUnavailable({ ...where, kind: "server-error" })
    case "busy":
      return new ModelParked({ ...where, retryAfterMs: BUSY_SECONDS * 1_000, status: 429 })
    default:
      return undefined
  }
}

const callOf = (asked: { readonly tool: string; readonly arguments: string }, id: string): ToolCall => {
  const parsed = parseJson(asked.arguments)
  return Result.isSuccess(parsed) && isJsonObject(parsed.success)
    ? { id, tool: asked.tool, arguments: parsed.success }
    : { id, tool: asked.tool, arguments: {}, malformed: `the arguments of ${asked.tool} are not JSON` }
}

const replyOf = ({ callPrefix }: Prompt, deed: Deed): Reply => {
  const { calls = [], says = "" } = typeof deed === "string" ? {} : { calls: [], says: "", ...deed }
  return {
    text: says,
    calls: calls.map((call, index) => callOf(call, `${callPrefix}.${index}`)),
    finish: calls.length > 0 ? "tool-calls" : "stop",
    usage: { inputTokens: 7, outputTokens: 3, source: "provider" },
    model: provider
  }
}

const isFine = ({ tools }: Prompt, { calls, text }: Reply): boolean =>
  (text !== "" || calls.length > 0) &&
  calls.every(({ malformed, tool }) => malformed === undefined && tools.some(({ name }) => name === tool))

const isEmpty = ({ calls, text }: Reply): boolean => text === "" && calls.length === 0

const unusable = new ReplyUnusable(where)

interface Parts {
  /** One question to the other end. */
  readonly put: (prompt: Prompt) => Effect.Effect<Reply, ModelError>
  readonly otherEnd: OtherEnd["Service"]
}

const partsOf = (): Parts => {
  let deeds: ReadonlyArray<Deed> = []
  let asked = 0
  let hanging = 0
  let left = 0
  const put = (prompt: Prompt) =>
    Effect.suspend(() => {
      asked++
      const [deed = "empty", ...rest] = deeds
      if (rest.length > 0) deeds = rest
      if (deed === "hangs") {
        hanging++
        return Effect.onInterrupt(Effect.never, () => Effect.sync(() => left++))
      }
      const failure = failureOf(deed)
      return failure === undefined ? Effect.succeed(replyOf(prompt, deed)) : Effect.fail(failure)
    })
  const otherEnd = {
    become: (...next: ReadonlyArray<Deed>) => Effect.sync(() => void (deeds = next)),
    asked: Effect.sync(() => asked),
    hanging: Effect.sync(() => hanging),
    left: Effect.sync(() => left)
  }
  return { put, otherEnd }
}

const sum = (first: Reply, second: Reply): Reply => ({
  ...second,
  usage: {
    inputTokens: first.usage.inputTokens + second.usage.inputTokens,
    outputTokens: first.usage.outputTokens + second.usage.outputTokens,
    source: "provider"
  }
})

const right =
  (put: Parts["put"]): Infer =>
  (prompt) =>
    Effect.gen(function* () {
      const first = yield* put(prompt)
      if (isFine(prompt, first)) return first
      const second = sum(first, yield* put(prompt))
      return isEmpty(second) ? yield* unusable : second
    })

/** Makes a reply another one. */
const lying =
  (change: (reply: Reply, prompt: Prompt) => Reply) =>
  (put: Parts["put"]): Infer =>
  (prompt) =>
    Effect.map(right(put)(prompt), (reply) => change(reply, prompt))

const failingWith =
  (change: (error: ModelError) => ModelError) =>
  (put: Parts["put"]): Infer =>
  (prompt) =>
    Effect.mapError(right(put)(prompt), change)

const withCalls = (reply: Reply, change: (call: ToolCall) => ToolCall): Reply => ({
  ...reply,
  calls: reply.calls.map(change)
})

const hostile = (args: Json): Json => Object.assign(Object.create(null), args, { ["__proto__"]: { isAdmin: true } })

const mistakes: Readonly<Record<string, (put: Parts["put"]) => Infer>> = {
  namesCallsByItself: lying((reply) => withCalls(reply, (call) => ({ ...call, id: "call_0" }))),
  turnsCallsRound: lying((reply) => ({ ...reply, calls: reply.calls.toReversed() })),
  saysAWordMore: lying((reply) => ({ ...reply, text: `${reply.text}.` })),
  asksAgainAnyway: (put) => (prompt) => Effect.andThen(put(prompt), right(put)(prompt)),
  takesWhatWasCut: (put) => (prompt) =>
    right(put)(prompt).pipe(
      Effect.catchIf(
        (error) => error._tag === "ModelUnavailable" && error.kind === "cut",
        () => Effect.succeed(replyOf(prompt, { says: "Berth sev" }))
      )
    ),
  takesNothingForAnAnswer: (put) => (prompt) =>
    Effect.catchTag(right(put)(prompt), "ReplyUnusable", () => Effect.succeed(replyOf(prompt, "empty"))),
  asksOnAndOn: (put) => (prompt) => Effect.catchTag(right(put)(prompt), "ReplyUnusable", () => right(put)(prompt)),
  correctsNothing: (put) => (prompt) =>
    Effect.flatMap(put(prompt), (reply) => (isEmpty(reply) ? right(put)(prompt) : Effect.succeed(reply))),
  countsOneRound: (put) => (prompt) =>
    Effect.gen(function* () {
      const first = yield* put(prompt)
      const reply = isFine(prompt, first) ? first : yield* put(prompt)
      return isEmpty(reply) ? yield* unusable : reply
    }),
  hidesWhatIsMalformed: lying((reply) =>
    withCalls(reply, ({ id, tool, arguments: args }) => ({ id, tool, arguments: args }))
  ),
  keepsHostileKeys: lying((reply) => withCalls(reply, (call) => ({ ...call, arguments: hostile(call.arguments) }))),
  throwsItsFailure: (put) => (prompt) => Effect.orDie(right(put)(prompt)),
  takesAllForAnOutage: failingWith((error) => new ModelUnavailable({ ...where, kind: "network", cause: error })),
  takesOutagesForDenials: failingWith((error) =>
    error._tag === "ModelUnavailable" ? new ModelDenied({ ...where, status: 500 }) : error
  ),
  takesLengthForNonsense: failingWith((error) =>
    error._tag === "ModelRefused" ? new ModelRefused({ ...where, kind: "bad-request" }) : error
  ),
  takesNonsenseForLength: failingWith((error) =>
    error._tag === "ModelRefused" ? new ModelRefused({ ...where, kind: "too-long" }) : error
  ),
  namesAnotherTime: failingWith((error) =>
    error._tag === "ModelParked" ? new ModelParked({ ...where, retryAfterMs: BUSY_SECONDS }) : error
  ),
  neverRecovers: (put) => {
    let last: ModelError | undefined
    return (prompt) =>
      last === undefined
        ? Effect.tapError(right(put)(prompt), (error) => Effect.sync(() => void (last = error)))
        : Effect.fail(last)
  },
  asksOnWhenInterrupted: (put) => (prompt) => Effect.flatMap(Effect.forkDetach(right(put)(prompt)), Fiber.join)
}

const fresh =
  (mistake: (put: Parts["put"]) => Infer, rest: Partial<Model["Service"]> = {}): FreshLayer<Model | OtherEnd> =>
  () => {
    const { otherEnd, put } = partsOf()
    return Layer.merge(Layer.succeed(Model, { infer: mistake(put), ...rest }), Layer.succeed(OtherEnd, otherEnd))
  }

/** The model that the mutants are made of. */
export const rightModel: FreshLayer<Model | OtherEnd> = fresh(right)

const shut = { withheldMillis: () => Effect.succeed(500), tryNow: Effect.void }

export const modelMutants: Readonly<Record<string, FreshLayer<Model | OtherEnd>>> = {
  ...Object.fromEntries(Object.entries(mistakes).map(([name, mistake]) => [name, fresh(mistake)])),
  sendsWhatItWithholds: fresh(right, { circuit: shut })
}
