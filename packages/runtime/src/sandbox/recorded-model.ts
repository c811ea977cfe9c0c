// RecordedModel: the replies of a tick, given again by a model that asks no one.
// Owns finding the reply of a call, and noting what every call was shown. Leaves when a reply may come to drive.ts.
// M1  The calls of one iteration get their replies in the order in which they were recorded, failures among them; in the
//     recorded order each job gets its own.
// M2  A call that was never recorded is refused with a plain sentence.
// M3  It says of each call whom that was asked of and how, so that the prompt is made again for the same model.

import type { InferFailure } from "@reverie/assistant"
import {
  CallLimited,
  CallOverLimit,
  CallWithheld,
  type Model,
  ModelDenied,
  type ModelError,
  ModelParked,
  ModelRefused,
  ModelUnavailable,
  type Prompt,
  type Reply,
  ReplyUnusable
} from "@reverie/model"
import {
  defined,
  type Entry,
  type FinishReason,
  type HookName,
  hookNames,
  type HookRecord,
  isJsonObject,
  type Usage
} from "@reverie/protocol"
import {
  type HookChange,
  type HookEnd,
  type HookSeen,
  type HookTable,
  type PromptHook,
  withEdits
} from "@reverie/tools"
import * as Effect from "effect/Effect"
import type { RecordedAsk, RecordedTick } from "./recorded-tick.ts"

const provider = "recorded"

const UNCOUNTED: Usage = { inputTokens: 0, outputTokens: 0, source: "counted" }

const failureIn = ({ entry }: RecordedAsk): InferFailure | undefined => {
  const error = isJsonObject(entry.event) ? entry.event["error"] : undefined
  return isJsonObject(error) ? (error as unknown as InferFailure) : undefined
}

/** The failure that the adapter told of, by the name that stands before its message. */
const errorOf = ({ reason, recovery, retryAfterMs = 1 }: InferFailure): ModelError => {
  const [, tag = "", message = reason] = /^(\w+): (.*)$/s.exec(reason) ?? []
  const where = { provider, message }
  switch (tag) {
    case "ModelParked":
      return new ModelParked({ ...where, retryAfterMs })
    case "CallWithheld":
      return new CallWithheld({ ...where, retryAfterMs })
    case "ModelDenied":
      return new ModelDenied({ ...where, status: 401 })
    case "ReplyUnusable":
      return new ReplyUnusable(where)
    case "CallLimited":
      return new CallLimited({ ...where, limit: "recorded", retryAfterMs })
    case "CallOverLimit":
      return new CallOverLimit({ ...where, limit: "recorded" })
    case "ModelRefused":
      return new ModelRefused({ ...where, kind: "bad-request" })
    default:
      return recovery === "tell-owner"
        ? new ModelRefused({ ...where, kind: "bad-request" })
        : new ModelUnavailable({ ...where, kind: "network" })
  }
}

/** What a recorded call came to, under the names that this prompt asks for. */
const replyOf = (ask: RecordedAsk, { callPrefix }: Prompt): Effect.Effect<Reply, ModelError> => {
  const { messages, step } = ask.entry
  const failure = failureIn(ask)
  if (failure !== undefined) return Effect.fail(errorOf(failure))
  const said = messages.find(({ role }) => role === "assistant")
  const { finish, model } = step?.detail ?? {}
  return Effect.succeed({
    text: said?.content ?? "",
    calls: (said?.calls ?? []).map((call, index) => ({ ...call, id: `${callPrefix}.${index}` })),
    ...defined({ reasoning: said?.reasoning, kept: said?.parts }),
    finish: typeof finish === "string" ? (finish as FinishReason) : "stop",
    usage: step?.usage ?? UNCOUNTED,
    model: typeof model === "string" ? model : provider
  })
}

/** A prompt as it reached the model. */
export interface Shown {
  readonly prompt: Prompt
  readonly iteration: number
  /** The job that asked. */
  readonly job: string
}

/** Which job of the assistant is asking; there is one at a time. */
export interface Asking {
  job: string
}

const iterationIn = ({ callPrefix }: Prompt): number => Number(callPrefix.split(".")[1] ?? NaN)

/** A call of the tick itself, and none of a run or of memory's. */
const isOfTick = ({ callPrefix }: Prompt): boolean => /^\d+\.\d+$/.test(callPrefix)

/** The same model, with every prompt of the tick noted. */
export const noting = (inner: Model["Service"], asking: Asking, shown: Array<Shown>): Model["Service"] => ({
  ...inner,
  infer: (prompt, options) =>
    Effect.suspend(() => {
      if (isOfTick(prompt)) shown.push({ prompt, iteration: iterationIn(prompt), job: asking.job })
      return inner.infer(prompt, options)
    })
})

type Serves = NonNullable<Model["Service"]["serves"]>

/** Whom a recorded call was asked of. */
const askedOf = (ask: RecordedAsk | undefined): Pick<Serves, "model" | "tools" | "accepts"> => {
  const { model, served } = ask?.entry.step?.detail ?? {}
  if (served !== undefined && isJsonObject(served)) return served as unknown as Serves
  return { model: typeof model === "string" ? model : provider }
}

/** The same of the call at hand, whenever it is asked: a process may have gone on with another model in the middle of a tick. */
const servesOf = (current: () => RecordedAsk | undefined): Serves => {
  const serves = {
    provider,
    get model() {
      return askedOf(current()).model
    },
    get tools() {
      return askedOf(current()).tools
    }
  }
  return serves as Serves
}

/** The model that a tick was asked of; undefined where nothing tells it. */
export const modelAsked = (asks: ReadonlyArray<RecordedAsk>): string | undefined =>
  asks.map((ask) => askedOf(ask).model).find((model) => model !== provider)

/** Which parts that model took, where its prompts had any. */
export const acceptsAsked = (asks: ReadonlyArray<RecordedAsk>): ReadonlyArray<string> | undefined =>
  asks.map((ask) => askedOf(ask).accepts).find((accepts) => accepts !== undefined)

/** The replies in their order, whichever jobs ask. */
export const recordedModel = (asks: ReadonlyArray<RecordedAsk>): Model["Service"] => {
  const left = [...asks]
  return {
    serves: servesOf(() => left[0] ?? asks.at(-1)),
    infer: (prompt) =>
      Effect.suspend(() => {
        const at = isOfTick(prompt) ? left.findIndex(({ iteration }) => iteration === iterationIn(prompt)) : -1
        const [ask] = at < 0 ? [] : left.splice(at, 1)
        if (ask !== undefined) return replyOf(ask, prompt)
        const message = `no reply was recorded for the call ${prompt.callPrefix}`
        return Effect.fail(new ModelRefused({ provider, kind: "bad-request", message }))
      })
  }
}

const askedBy = (asks: ReadonlyArray<RecordedAsk>, { job }: Asking): RecordedAsk | undefined =>
  asks.find(({ entry: { cause } }) => cause.kind === "job" && cause.id === job)

/** The replies to the very jobs that asked, when their turn has come. A job that no one answered then waits. */
export const steppedModel = (
  asks: ReadonlyArray<RecordedAsk>,
  asking: Asking,
  turn: (no: number) => Effect.Effect<void>
): Model["Service"] => ({
  serves: servesOf(() => askedBy(asks, asking)),
  infer: (prompt) =>
    Effect.suspend(() => {
      const ask = askedBy(asks, asking)
      return ask === undefined ? Effect.never : Effect.andThen(turn(ask.no), replyOf(ask, prompt))
    })
})

// RecordedHooks: what hooks did in a tick, done again where none may be called.
// H1  No hook is called. The prompt of an iteration is changed as it was, no matter who is asked; a message as well.
// H2  The recorded replies stand as hooks had left them; who asks another model has nothing said of its replies and calls.

const jobOf = ({ cause }: Entry): string | undefined => (cause.kind === "job" ? cause.id : undefined)

const isStop = ({ did }: HookRecord): boolean => did === "refused" || did === "failed"

/** What the records of one place come to; `change`: what is not changed already. */
const endOf = (records: ReadonlyArray<HookRecord>, change?: HookChange): HookEnd => {
  const stop = records.find(isStop)
  if (stop !== undefined) return { did: stop.did === "failed" ? "failed" : "refused", reason: stop.reason ?? "" }
  const asked = records.find(({ did }) => did === "asked")
  if (asked !== undefined) return { did: "asked", reason: asked.reason ?? "" }
  return change === undefined || records.length === 0 ? { did: "nothing" } : { did: "changed", change }
}

/** The hooks of a tick as it is lived again; undefined where none did anything. */
export const recordedHooks = (
  { asks, entries, first }: RecordedTick,
  asking: Asking,
  isSameModel: boolean
): HookTable | undefined => {
  if (!entries.some(({ hooks }) => hooks !== undefined)) return undefined
  const all = entries.flatMap(({ hooks = [] }) => hooks)
  const at = (name: HookName, entry: Entry | undefined) => (entry?.hooks ?? []).filter(({ hook }) => hook === name)
  const ofCall = (name: HookName, call: unknown) => all.filter((each) => each.hook === name && each.call === call)
  /** The commit of the model call at hand: of its job, else the last of its iteration, else one that was never sent. */
  const askedIn = (iteration: unknown): Entry | undefined =>
    entries.find((entry) => jobOf(entry) === asking.job) ??
    asks.findLast((ask) => ask.iteration === iteration)?.entry ??
    entries.find((entry) => entry.iteration === iteration && at("beforeModel", entry).some(isStop))
  const ends: { readonly [Name in HookName]: (seen: HookSeen) => HookEnd } = {
    onMessage: () => endOf(at("onMessage", first), { text: first.messages[0]?.content ?? "" }),
    beforeModel: ({ iteration, messages }) => {
      const records = at("beforeModel", askedIn(iteration))
      const edited = records.reduce((now, { edits = [] }) => withEdits(now, edits), messages as PromptHook["messages"])
      return endOf(records, { messages: edited })
    },
    afterModel: () =>
      isSameModel
        ? endOf(
            at(
              "afterModel",
              entries.find((entry) => jobOf(entry) === asking.job)
            )
          )
        : { did: "nothing" },
    beforeTool: ({ call }) => (isSameModel ? endOf(ofCall("beforeTool", call)) : { did: "nothing" }),
    afterTool: ({ call, result }) => {
      const said = entries
        .flatMap(({ messages }) => messages)
        .find((each) => each.role === "tool" && each.call === call)
      return endOf(ofCall("afterTool", call), { result: said?.content ?? String(result) })
    }
  }
  const placed = (name: HookName) => [{ of: "the recorded tick", timeoutMs: 0, code: () => {}, recorded: ends[name] }]
  return Object.fromEntries(hookNames.map((name) => [name, placed(name)]))
}
