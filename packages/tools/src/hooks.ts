// Hooks: functions of a user that stand at five places of a tick as guardrails.
// Owns their shapes, calling one within its time, and what it may return. Leaves what becomes of it to the runtime.
// H1  Calling one never fails. One that throws, gives no answer in its time or returns what it may not has failed, with one
//     sentence that names it: what it guards is then refused.
// H2  One that has not answered in its time learns it by its signal; an answer that comes later is not taken, also where it
//     has kept everything else from happening meanwhile.
// H3  It is shown copies: what it does to them changes nothing.
// H4  What it leaves behind and does not handle is its failure, like a throw (`run-place.ts`).

import type { PromptMessage, ToolOffer } from "@reverie/model"
import {
  type Address,
  type ContentPart,
  defined,
  type HookName,
  hookNames,
  isJsonObject,
  type Json,
  MAX_MESSAGE_CHARS,
  parseJson,
  type PromptEdit,
  type Usage
} from "@reverie/protocol"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { started } from "./define.ts"
import { spelledMillis } from "./execute.ts"
import { capped } from "./render.ts"
import { clipped, messageOf } from "./results/sentences.ts"
import { RunPlace } from "./run-place.ts"
import { canonicalJson } from "./tool.ts"

const DEFAULT_HOOK_MILLIS = 10_000
export const MAX_HOOK_MILLIS = 60_000
const MAX_REASON_CHARS = 2_000
const MAX_CHANGE_CHARS = 4_000_000

/** What every hook learns. */
interface Basics {
  readonly assistant: string
  readonly tenant: string
  /** Aborts when its time is over, or its answer is of no use any more. */
  readonly signal: AbortSignal
}

/** What a model is asked for; `answer` is the tick, and what its tools ask. */
export type HookPurpose = "answer" | "assess" | "dream" | "profile" | "compact"

/** The arguments of a call: one JSON object. */
export type HookArgs = { readonly [name: string]: Json }

/** A tool call as a hook sees it, and may give it back. */
export interface HookCall {
  /** The name of the tool. */
  readonly tool: string
  /** Its arguments. */
  readonly args: HookArgs
  /** Why the arguments could not be read; then nothing runs. */
  readonly malformed?: string
}

/** A message that has come, before the assistant takes it up. */
export interface MessageHook extends Basics {
  /** What was said; empty where it came with parts alone. */
  readonly text: string
  /** Who sent it: the name of a person or the id of an assistant. */
  readonly from: string
  /** The id under which it was sent. */
  readonly id: string
  /** The channel that it came by, where the sender names one. */
  readonly channel?: string
  /** Images, files and audio that belong to it, without their bytes. */
  readonly parts?: ReadonlyArray<ContentPart>
}

/** A prompt, before the model is asked. */
export interface PromptHook extends Basics {
  /** The prompt, whole and in its order. */
  readonly messages: ReadonlyArray<PromptMessage>
  /** The tools that are offered with it. */
  readonly tools: ReadonlyArray<ToolOffer>
  /** What the model is asked for. */
  readonly purpose: HookPurpose
  /** The model call of the tick, from 1 on; 0 outside of one. */
  readonly iteration: number
}

/** A reply of the model, before it is used. */
export interface ReplyHook extends Basics {
  /** What the model said beside its calls. */
  readonly text: string
  /** The tools that it wants to call, in their order. */
  readonly calls: ReadonlyArray<HookCall>
  /** The model that answered, as it names itself. */
  readonly model: string
  /** Tokens of the call. */
  readonly usage: Usage
  /** What the model was asked for. */
  readonly purpose: HookPurpose
}

/** A tool call, before anything of it runs. */
export interface CallHook extends Basics {
  /** The name of the tool. */
  readonly tool: string
  /** Its arguments, as they were checked. */
  readonly args: HookArgs
  /** The id of the call. */
  readonly call: string
}

/** The result of a tool call, before the model reads it. */
export interface ResultHook extends CallHook {
  /** What the model would read. */
  readonly result: string
  /** False when the call failed or was refused. */
  readonly ok: boolean
}

/** Stops it, with the reason. */
interface Refusal {
  readonly refuse: string
}

/** A person must agree to it first; `args` changes the call that is asked about. */
interface Question {
  readonly ask: string
  readonly args?: HookArgs
}

type Answer<Change> = Change | Refusal | undefined | void

/** A function at one place: nothing returned, it goes on. */
type Guard<Seen, Change> = (seen: Seen) => Answer<Change> | PromiseLike<Answer<Change>>

/** Guardrails of an assistant or of a fleet. A hook that throws, is late or returns anything else refuses what it guards. */
export interface Hooks {
  /** Before a message is taken up: `{ text }` changes it, `{ refuse }` dead-letters it with the reason. */
  readonly onMessage?: Guard<MessageHook, { readonly text: string }>
  /** Before a model is asked: `{ messages }` or `{ append }` change the prompt, `{ refuse }` ends the tick with the reason. */
  readonly beforeModel?: Guard<
    PromptHook,
    { readonly messages: ReadonlyArray<PromptMessage> } | { readonly append: string }
  >
  /** Before a reply is used: `{ text }` and `{ calls }` change it, `{ refuse }` has the model answer again, twice at most. */
  readonly afterModel?: Guard<ReplyHook, { readonly text?: string; readonly calls?: ReadonlyArray<HookCall> }>
  /** Before a call runs: `{ args }` changes it, `{ refuse }` tells the model why not, `{ ask }` has a person decide. */
  readonly beforeTool?: Guard<CallHook, { readonly args: HookArgs } | Question>
  /** Before the model reads a result: `{ result }` changes it, `{ refuse }` withholds it. */
  readonly afterTool?: Guard<ResultHook, { readonly result: string }>
  /** How long one may take, in milliseconds; 1 to 60,000, 10,000 when left out. */
  readonly timeoutMs?: number
}

/** What a hook came to. A change may stand beside `asked`. */
export type HookEnd =
  | { readonly did: "nothing" }
  | { readonly did: "changed"; readonly change: HookChange }
  | { readonly did: "asked"; readonly reason: string; readonly change?: HookChange | undefined }
  | { readonly did: "refused" | "failed"; readonly reason: string }

/** Of what a hook returned, what is to change; only the fields that its place has. */
export interface HookChange {
  readonly text?: string
  readonly messages?: ReadonlyArray<PromptMessage>
  readonly append?: string
  readonly calls?: ReadonlyArray<HookCall>
  readonly args?: HookArgs
  readonly result?: string
}

/** A hook at its place. */
export interface PlacedHook {
  /** Whose it is, for people. */
  readonly of: string
  readonly timeoutMs: number
  readonly code: (seen: never) => unknown
  /** In its place, what it came to when it was called: nothing is called. */
  readonly recorded?: (seen: HookSeen) => HookEnd
}

/** What a hook is shown, whatever its place, but its signal. */
export type HookSeen = Readonly<Record<string, unknown>>

/** By place, in the order in which they are called. */
export type HookTable = { readonly [Name in HookName]?: ReadonlyArray<PlacedHook> }

/** The hooks of one owner, each at its place; undefined where there are none. */
export const placedHooks = (of: string, hooks: Hooks = {}): HookTable | undefined => {
  const { timeoutMs = DEFAULT_HOOK_MILLIS } = hooks
  const placed = hookNames.flatMap((name) => {
    const code = hooks[name] as PlacedHook["code"] | undefined
    return code === undefined ? [] : [[name, [{ of, timeoutMs, code }]] as const]
  })
  return placed.length === 0 ? undefined : Object.fromEntries(placed)
}

/** The hooks of two owners, those of the first before those of the other. */
export const joinedHooks = (first: HookTable | undefined, then: HookTable | undefined): HookTable | undefined => {
  if (first === undefined || then === undefined) return first ?? then
  const names = hookNames.filter((name) => first[name] !== undefined || then[name] !== undefined)
  return Object.fromEntries(names.map((name) => [name, [...(first[name] ?? []), ...(then[name] ?? [])]]))
}

// Answers: what a hook may return, place by place.

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === "string"

const isPlain = (value: unknown): value is Json => {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true
  if (typeof value === "number") return Number.isFinite(value)
  if (Array.isArray(value)) return value.every(isPlain)
  return isJsonObject(value) && Object.values(value).every((each) => each === undefined || isPlain(each))
}

const isCall = (value: unknown): boolean =>
  isJsonObject(value) && typeof value["tool"] === "string" && isPlain(value["args"])

const roles: ReadonlySet<unknown> = new Set(["system", "user", "assistant", "tool"])

const isMessage = (value: unknown): boolean =>
  isJsonObject(value) && roles.has(value["role"]) && typeof value["content"] === "string" && isPlain(value)

const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)

const changes: Readonly<Record<HookName, Readonly<Record<string, Check>>>> = {
  onMessage: { text: (value) => typeof value === "string" && value !== "" && value.length <= MAX_MESSAGE_CHARS },
  beforeModel: { messages: (value) => isListOf(isMessage)(value) && (value as []).length > 0, append: isText },
  afterModel: { text: isText, calls: isListOf(isCall) },
  beforeTool: { args: (value) => isJsonObject(value) && isPlain(value) },
  afterTool: { result: isText }
}

const takenBy = (name: HookName): string =>
  [...Object.keys(changes[name]), "refuse", ...(name === "beforeTool" ? ["ask"] : [])]
    .map((key) => `{ ${key} }`)
    .join(", ")
    .replace(/, ([^,]*)$/, " or $1")

const isReason = (value: unknown): value is string => typeof value === "string" && value.trim() !== ""

/** What it returned, read: an end, or words that follow on its name. */
const readAnswer = (name: HookName, answer: unknown): HookEnd | string => {
  if (answer === undefined || answer === null) return { did: "nothing" }
  const otherwise = `where it may return nothing, ${takenBy(name)}`
  if (!isJsonObject(answer)) return `returned ${Array.isArray(answer) ? "a list" : `a ${typeof answer}`}, ${otherwise}`
  const given = Object.entries(answer).filter(([, value]) => value !== undefined)
  const { ask, refuse } = answer
  const mayAsk = name === "beforeTool"
  const known = changes[name]
  const strange = given.find(([key]) => !Object.hasOwn(known, key) && key !== "refuse" && !(mayAsk && key === "ask"))
  if (strange?.[0] === "ask") return "returned { ask }: only beforeTool may ask a person; { refuse } stops it"
  if (strange !== undefined) return `returned ${JSON.stringify(clipped(strange[0], 60))}, ${otherwise}`
  if (given.length === 0) return { did: "nothing" }
  const wrong = [refuse, ask].find((reason) => reason !== undefined && !isReason(reason))
  if (wrong !== undefined) return "returned a reason that is no text, or an empty one"
  if (isReason(refuse)) {
    return given.length === 1
      ? { did: "refused", reason: clipped(refuse, MAX_REASON_CHARS) }
      : "returned { refuse } beside something else"
  }
  const misfit = given.find(([key, value]) => known[key]?.(value) === false)
  if (misfit !== undefined) return `returned a value of ${misfit[0]} that can not be used there`
  const change = changeOf(given.filter(([key]) => key !== "ask"))
  if (typeof change === "string") return change
  if (isReason(ask)) return { did: "asked", reason: clipped(ask, MAX_REASON_CHARS), change }
  return change === undefined ? { did: "nothing" } : { did: "changed", change }
}

/** A copy: what the hook holds on to is its own. */
const changeOf = (given: ReadonlyArray<readonly [string, Json]>): HookChange | undefined | string => {
  if (given.length === 0) return undefined
  const text = JSON.stringify(Object.fromEntries(given))
  if (text.length > MAX_CHANGE_CHARS)
    return `returned ${text.length} characters, and at most ${MAX_CHANGE_CHARS} are taken`
  const parsed = parseJson(text)
  if (Result.isFailure(parsed)) return `returned what is no JSON: ${parsed.failure}`
  const change = parsed.success as HookChange
  return change.result === undefined ? change : { ...change, result: capped(change.result) }
}

/** Reading never throws, whatever was returned: a getter, or what contains itself. */
const read = (name: HookName, answer: unknown): HookEnd | string => {
  try {
    return readAnswer(name, answer)
  } catch (thrown) {
    return `returned what can not be read: ${messageOf(thrown)}`
  }
}

/** One call of a hook. */
export interface HookRun {
  readonly name: HookName
  readonly hook: PlacedHook
  readonly address: Address
  readonly seen: HookSeen
  /** Takes secrets out of what is kept of a failure. */
  readonly hide: (text: string) => string
}

const failed = ({ hide, hook, name }: HookRun, how: string): HookEnd => ({
  did: "failed",
  reason: clipped(hide(`the hook ${name} of ${hook.of} ${how}`), MAX_REASON_CHARS)
})

export const callHook = Effect.fnUntraced(function* (run: HookRun) {
  const { address, hide, hook, name, seen } = run
  const place = yield* RunPlace
  const controller = new AbortController()
  let stray: string | undefined
  let running: Fiber.Fiber<unknown, unknown> | undefined
  const { assistant, tenant } = address
  const says = `the hook ${name} of ${hook.of}, called for ${tenant}/${assistant},`
  const watch = place.watch({ assistant, tenant, tool: name, call: "", says, hide }, (problem) => {
    stray ??= problem
    running?.interruptUnsafe()
  })
  const code = hook.code as (seen: object) => unknown
  const began = yield* Clock.monotonicTimeNanos
  const exit = yield* Effect.withFiber<unknown, unknown>((fiber) => {
    running = fiber
    const shown = { ...structuredClone(seen), assistant, tenant, signal: controller.signal }
    return Effect.tap(
      Effect.suspend(() => started(() => watch.inside(() => code(shown)))),
      watch.settled
    )
  }).pipe(
    Effect.onInterrupt(() => Effect.sync(() => watch.inside(() => controller.abort()))),
    Effect.timeoutOption(hook.timeoutMs),
    Effect.ensuring(Effect.sync(() => watch.end())),
    Effect.exit
  )
  const tookMillis = Number((yield* Clock.monotonicTimeNanos) - began) / 1e6
  if (stray !== undefined) return failed(run, `failed: ${stray}`)
  if (Exit.isFailure(exit)) {
    const message = Cause.hasInterruptsOnly(exit.cause) ? "it stopped itself" : messageOf(Cause.squash(exit.cause))
    return failed(run, `failed: ${message}`)
  }
  if (Option.isNone(exit.value) || tookMillis > hook.timeoutMs) {
    return failed(run, `gave no answer within ${spelledMillis(hook.timeoutMs)}`)
  }
  const end = read(name, exit.value.value)
  return typeof end === "string" ? failed(run, end) : end
})

// PromptEdits: how one list of messages differs from another.
// E1  The edits of two lists turn the first into the second.

/** A message with what a prompt has of it, in one order. */
export const tidyMessage = ({ call, calls, content, name, parts, role }: PromptMessage): PromptMessage => ({
  role,
  content,
  ...defined({ name, parts, calls, call })
})

const sameMessage = (one: PromptMessage | undefined, other: PromptMessage | undefined): boolean =>
  one !== undefined &&
  other !== undefined &&
  canonicalJson(one as unknown as Json) === canonicalJson(other as unknown as Json)

/** What replaced what: as many messages as before are compared one by one, else what lies between the ends that are equal. */
export const editsOf = (
  before: ReadonlyArray<PromptMessage>,
  after: ReadonlyArray<PromptMessage>
): ReadonlyArray<PromptEdit> => {
  if (before.length === after.length) {
    return after.flatMap((message, at) => (sameMessage(before[at], message) ? [] : [{ at, drop: 1, add: [message] }]))
  }
  let head = 0
  while (sameMessage(before[head], after[head])) head++
  const most = Math.min(before.length, after.length) - head
  let tail = 0
  while (tail < most && sameMessage(before.at(-1 - tail), after.at(-1 - tail))) tail++
  return [{ at: head, drop: before.length - head - tail, add: after.slice(head, after.length - tail) }]
}

/** The messages as those edits left them. */
export const withEdits = (
  messages: ReadonlyArray<PromptMessage>,
  edits: ReadonlyArray<PromptEdit>
): ReadonlyArray<PromptMessage> =>
  edits.toReversed().reduce((now, { add, at, drop }) => now.toSpliced(at, drop, ...add), [...messages])
