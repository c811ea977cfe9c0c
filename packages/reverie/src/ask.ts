// Ask: a message and everything that comes back for it.
// Owns the way from notices to parts, and the whole answer. Leaves sending to the fleet.
// I1  The parts of one question end exactly once: answered, failed, or stopped because the assistant waits for a person.
// I2  A question that was answered before is answered out of the ledger, with its end alone.
// I3  Whoever stops reading stops listening; the question itself is durable and goes on.
// I4  The answer of a team is what it tells when its members have answered; the end of the tick that took the question up
//     is not yet an end.
// I5  Nobody waits for a fleet that has ended: reading fails with the reason. The same holds for an assistant that can not be
//     worked on, for a signal that was given, and for a time that is over.
// I6  What ran out of steps or budget, has another form than it must, or was refused by a hook, has an outcome of its own.
// I7  An answer that was asked for in a form has passed the caller's own schema, whatever was checked before.

import { contextOf, type Directory, reach, restore } from "@reverie/assistant"
import type { AssistantRecord, OutboxRow } from "@reverie/ledger"
import {
  type Address,
  type ContentPart,
  defined,
  type EnvelopeId,
  type Json,
  type Notice,
  noticesOf,
  type Receipt,
  type TenantId,
  type TickOutcome
} from "@reverie/protocol"
import type { HostFailure } from "@reverie/runtime"
import { type ArgumentsOf, checkAnswer, readAnswer } from "@reverie/tools"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { AnswerFailed, AnswerLate, type FleetClosed, TargetAmbiguous } from "./errors.ts"
import type { AskOptions } from "./fleet-options.ts"
import { type AnswerSchema, type FormOption, formAsked } from "./letter.ts"

/** What went wrong. `code` is the name of the error class where there is one (`ModelDenied`), else `Failed` or `Halted`. */
export interface AnswerError {
  readonly code: string
  /** One sentence for a person. */
  readonly message: string
}

/** What `answer` gives: a text, or what the form makes of it. */
export type AnswerOf<Form> = [Form] extends [undefined] ? string : ArgumentsOf<Form>

/** What `ask` gives. */
export type Parts<Form = undefined> = AsyncIterable<Part<[Form] extends [undefined] ? undefined : ArgumentsOf<Form>>>

/** One piece of what comes back for a message; `done`, `stopped`, `failed` and `halted` are the last. */
export type Part<Output = undefined> =
  /** A piece of the answer as the model writes it. */
  | { readonly type: "text"; readonly text: string }
  /** A tool call has ended: `content` is what the model reads of it. */
  | {
      readonly type: "tool-result"
      readonly tool: string
      readonly call: string
      readonly ok: boolean
      readonly content: string
    }
  /** A model call failed, or the model does not answer; it is tried again. */
  | { readonly type: "retry"; readonly error: AnswerError }
  /** A person must decide first; the answer comes after `fleet.approve` or `fleet.deny`. */
  | { readonly type: "approval"; readonly approval: string; readonly tool: string; readonly call: string }
  /** The end: the whole answer. */
  | Done<Output>
  /**
   * The end: it ran out of steps (`max-iterations`) or of budget (`cut`), its answer has not the form it must have (`misshapen`),
   * or a hook let none pass (`refused`); `reply` is what it had said until then.
   */
  | {
      readonly type: "stopped"
      readonly outcome: "max-iterations" | "cut" | "misshapen" | "refused"
      readonly reply: string
      readonly error: AnswerError
    }
  /** The end: there is no answer. */
  | { readonly type: "failed"; readonly error: AnswerError }
  /** The assistant is halted: the answer comes after `fleet.resume`. */
  | { readonly type: "halted"; readonly error: AnswerError }

type Done<Output> = {
  readonly type: "done"
  readonly outcome: TickOutcome
  readonly reply: string
  /** Images, files and audio of the answer; `fleet.blob(digest)` reads their bytes. */
  readonly parts?: ReadonlyArray<ContentPart>
} & ([Output] extends [undefined]
  ? /** The reply as JSON, where the assistant answers in a form by itself. */
    { readonly output?: Json }
  : /** What the form makes of the reply. */
    { readonly output: Output })

/** The name of an error class before its words becomes the code. */
const errorOf = (reason: string, otherwise: string): AnswerError => {
  const [, code, message] = /^([A-Z][A-Za-z]+): (.+)$/s.exec(reason) ?? []
  return code === undefined || message === undefined ? { code: otherwise, message: reason } : { code, message }
}

const failedBy = (reason: string): Part => ({ type: "failed", error: errorOf(reason, "Failed") })
const haltedBy = (reason: string): Part => ({ type: "halted", error: errorOf(reason, "Halted") })

const ends: ReadonlySet<Part["type"]> = new Set(["done", "stopped", "failed", "halted"])

const isEnd = (part: Part): boolean => ends.has(part.type)

const spent: Readonly<Record<"max-iterations" | "cut", readonly [code: string, message: string]>> = {
  "max-iterations": [
    "StepsSpent",
    "it made as many model calls as one tick may, and was not done; maxSteps allows more"
  ],
  cut: ["BudgetSpent", "its budget was used up before it was done"]
}

type Stopped = Extract<Part, { readonly type: "stopped" }>

const stopped = (outcome: Stopped["outcome"], reply: string, code: string, message: string): Stopped => {
  return { type: "stopped", outcome, reply, error: { code, message } }
}

const misshapen = (reply: string, misfit: string): Stopped =>
  stopped("misshapen", reply, "AnswerMisshapen", `its answer has another form than it must have: ${misfit}`)

type TickEnded = Extract<Notice, { readonly type: "tick-ended" }>

/** The end of a tick that did not fail. */
const endOfTick = ({ misfit = "", outcome, output, parts, refusal = "", reply }: TickEnded): Part => {
  if (outcome === "misshapen") return misshapen(reply, misfit)
  if (outcome === "refused") return stopped(outcome, reply, "AnswerRefused", `a hook refused its answer: ${refusal}`)
  if (outcome === "max-iterations" || outcome === "cut") return stopped(outcome, reply, ...spent[outcome])
  return { type: "done", outcome, reply, ...defined({ output, parts }) }
}

/** What a team has answered. */
const answerOf = (event: { readonly [key: string]: Json }): Part => {
  const { outcome, text = "" } = event
  if (typeof text !== "string") return failedBy("its answer can not be read")
  return outcome === "failed" ? failedBy(text) : { type: "done", outcome: "answered", reply: text }
}

const textIn = (value: Json | undefined): string => (typeof value === "string" ? value : "")

/** It waits for its model, and goes on by itself. */
const awayIn = ({ others, reason, server }: { readonly [key: string]: Json }): Part => ({
  type: "retry",
  error: {
    code: "ModelUnavailable",
    message: `it waits for the model at ${[server, ...(Array.isArray(others) ? others : [])].map(textIn).join(" or ")}, which does not answer: ${textIn(reason)}`
  }
})

/** What a notice means for whoever waits for the answer to `envelope`; undefined when nothing. */
const partOf = (notice: Notice, envelope: EnvelopeId, isTeam: boolean): Part | undefined => {
  switch (notice.type) {
    case "part":
      return notice.envelope === envelope ? { type: "text", text: notice.text } : undefined
    case "tool-finished":
      return { type: "tool-result", tool: notice.tool, call: notice.call, ok: notice.ok, content: notice.content }
    case "model-failed":
      return { type: "retry", error: errorOf(notice.reason, "ModelFailed") }
    case "approval-asked":
      return { type: "approval", approval: notice.approval, tool: notice.tool, call: notice.call }
    case "tick-ended":
      return notice.envelope !== envelope || notice.outcome === "failed" || isTeam ? undefined : endOfTick(notice)
    case "envelope-settled":
      if (notice.envelope !== envelope) return undefined
      // The end of its tick was told before: this is what was only overheard.
      if (notice.outcome === "handled") return isTeam ? undefined : { type: "done", outcome: "noted", reply: "" }
      return failedBy(notice.reason ?? notice.outcome)
    case "emitted":
      if (notice.event.type === "model-away") return awayIn(notice.event)
      return isTeam && notice.event.type === "answered" && notice.event["envelope"] === envelope
        ? answerOf(notice.event)
        : undefined
    case "state-changed":
      return notice.status === "halted" ? haltedBy("") : undefined
    default:
      return undefined
  }
}

/** How the way of an envelope ended, out of the entries of its assistant, the newest first; undefined when it has not. */
const endOf = async (
  rows: AsyncIterable<OutboxRow>,
  envelope: EnvelopeId,
  isTeam: boolean
): Promise<Part | undefined> => {
  for await (const { address, entry, seq } of rows) {
    for (const notice of noticesOf(address, seq, entry)) {
      const part = notice.type === "state-changed" ? undefined : partOf(notice, envelope, isTeam)
      if (part !== undefined && isEnd(part)) return part
    }
  }
  return undefined
}

interface Question {
  readonly listen: (listener: (notice: Notice) => void) => () => void
  readonly isAbout: (notice: Notice) => boolean
  /** It is asked of a team. */
  readonly isTeam: boolean
  readonly envelope: EnvelopeId
  /** Sends the message, and gives the end when that had come before. */
  readonly begin: () => Promise<Part | "halted" | undefined>
  /** Why the assistant is halted. */
  readonly haltReason: () => Promise<string | undefined>
  /** Tells when no more notices will come, and why. */
  readonly onEnd: (listener: (reason: FleetClosed) => void) => () => void
  /** Tells when the assistant can not be worked on until a person has acted, and why. */
  readonly onBroken: (listener: (failure: HostFailure) => void) => () => void
  /** Tells when the caller waits no longer, and why. */
  readonly onLeave: (listener: (reason: unknown) => void) => () => void
}

/** Collects parts from notices, from when somebody reads. */
const partsOf = ({
  begin,
  envelope,
  haltReason,
  isAbout,
  isTeam,
  listen,
  ...ended
}: Question): AsyncIterable<Part> => ({
  async *[Symbol.asyncIterator]() {
    const parts: Array<Part> = []
    let inHand = false
    const over: Array<unknown> = []
    let wake = () => {}
    const leave = (reason: unknown) => {
      over.push(reason)
      wake()
    }
    const stops = [
      ended.onEnd(leave),
      ended.onLeave(leave),
      ended.onBroken(({ _tag: code, message }) => {
        parts.push({ type: "failed", error: { code, message } })
        wake()
      })
    ]
    const listening = listen((notice) => {
      if (!isAbout(notice)) return
      if (notice.type === "tick-started" && notice.envelope === envelope) inHand = true
      const part = partOf(notice, envelope, isTeam)
      // What happens in a tick of somebody else's envelope is not ours; a halt concerns everyone who waits.
      if (part === undefined || (!inHand && !isEnd(part))) return
      parts.push(part)
      wake()
    })
    stops.push(listening)
    try {
      if (over.length > 0) throw over[0]
      const end = await begin()
      if (end !== undefined) parts.push(end === "halted" ? haltedBy("") : end)
      while (true) {
        const part = parts.shift()
        if (part === undefined) {
          if (over.length > 0) throw over[0]
          await new Promise<void>((resolve) => {
            wake = resolve
            if (parts.length > 0 || over.length > 0) resolve()
          })
          continue
        }
        yield part.type === "halted" ? haltedBy((await haltReason()) ?? "an order to halt came") : part
        if (isEnd(part)) return
      }
    } finally {
      for (const stop of stops) stop()
    }
  }
})

/** The assistant that a target means. What the definition does not know may still be in the store, under its id. */
export const targetIn = (directory: Directory, target: string): string => {
  const reached = reach(directory, target)
  if ("refused" in reached) {
    if (reached.refused === "unknown") return target
    throw new TargetAmbiguous({ message: reached.reason, candidates: reached.candidates })
  }
  const [only, ...others] = reached.ids
  if (only !== undefined && others.length === 0) return only
  const message = `"${target}" means ${reached.ids.length}: write to one of them, or to all with sendAll`
  throw new TargetAmbiguous({ message, candidates: reached.ids })
}

const haltReasonIn = (record: AssistantRecord | undefined): string | undefined => {
  const restored = record === undefined ? undefined : restore(record.state.snapshot)
  if (restored === undefined || Result.isFailure(restored)) return undefined
  return contextOf(restored.success).haltReason ?? undefined
}

/** What asking needs of a fleet. */
interface Asking extends Pick<Question, "listen" | "onEnd"> {
  readonly options: AskOptions<FormOption>
  readonly onBroken: (listener: (address: Address, failure: HostFailure) => void) => () => void
  readonly run: <A>(effect: Effect.Effect<A>) => Promise<A>
  readonly id: Promise<string>
  /** The assistant that is asked; throws TargetAmbiguous. */
  readonly target: () => string
  readonly isTeam: (assistant: string) => boolean
  readonly tenant: TenantId
  readonly send: (assistant: string, id: string) => Promise<Receipt>
  readonly inspect: (assistant: string) => Promise<AssistantRecord | undefined>
  readonly newest: (assistant: string) => AsyncIterable<OutboxRow>
}

/** When the caller waits no longer: its signal says so, or its time is over. */
const leaving =
  ({ options: { signal, timeoutMs }, run }: Asking, assistant: string, id: string): Question["onLeave"] =>
  (listener) => {
    const abort = () => listener(signal?.reason)
    if (signal?.aborted === true) abort()
    signal?.addEventListener("abort", abort, { once: true })
    const left = Promise.withResolvers<void>()
    const message = `${assistant} gave no answer within ${timeoutMs} ms; the message is kept, and the same id reads its answer`
    if (timeoutMs !== undefined) {
      const late = () => Effect.sync(() => listener(new AnswerLate({ assistant, id, timeoutMs, message })))
      const inTime = Effect.promise(() => left.promise)
      run(Effect.timeoutOrElse(inTime, { duration: timeoutMs, orElse: late })).catch(listener)
    }
    return () => {
      left.resolve()
      signal?.removeEventListener("abort", abort)
    }
  }

/** The parts of a question that was asked in a form: their end has what the form makes of the answer, or says what does not fit. */
async function* formed(
  parts: AsyncIterable<Part>,
  output: AnswerSchema,
  run: Asking["run"]
): AsyncGenerator<Part<unknown>> {
  const form = formAsked(output)
  for await (const part of parts) {
    if (part.type !== "done") {
      yield part
      continue
    }
    const { output: json, reply } = part
    const end = Effect.match(json === undefined ? readAnswer(form, reply) : checkAnswer(form, json), {
      onSuccess: ({ value }): Part<unknown> => ({ ...part, output: value }),
      onFailure: (issues) => misshapen(reply, issues.join("; "))
    })
    yield await run(end)
  }
}

/** Sends when it is read, and gives the parts. The type of a schema says what it makes of an answer. */
export const asked = <Form extends FormOption>(asking: Asking): Parts<Form> => {
  const { output } = asking.options
  const parts = plainly(asking)
  const form = output === undefined ? parts : { [Symbol.asyncIterator]: () => formed(parts, output, asking.run) }
  return form as Parts<Form>
}

const plainly = (asking: Asking): AsyncIterable<Part> => {
  const { id, inspect, listen, newest, onEnd, send, target, tenant } = asking
  // Who never reads must not hear of it as an unhandled rejection.
  id.catch(() => {})
  return {
    async *[Symbol.asyncIterator]() {
      const envelope = (await id) as EnvelopeId
      const assistant = target()
      const isTeam = asking.isTeam(assistant)
      const begin = async () => {
        const { outcome } = await send(assistant, envelope)
        const end = outcome === "duplicate" ? await endOf(newest(assistant), envelope, isTeam) : undefined
        if (end !== undefined) return end
        // Halted before, it sends no notice of it now.
        return (await inspect(assistant))?.state.status === "halted" ? ("halted" as const) : undefined
      }
      const isIts = (address: Address) => address.assistant === assistant && address.tenant === tenant
      const isAbout = ({ address }: Notice) => isIts(address)
      const haltReason = async () => haltReasonIn(await inspect(assistant))
      const onBroken: Question["onBroken"] = (listener) =>
        asking.onBroken((address, failure) => (isIts(address) ? listener(failure) : undefined))
      const onLeave = leaving(asking, assistant, envelope)
      yield* partsOf({ listen, onEnd, onBroken, onLeave, envelope, isAbout, isTeam, begin, haltReason })
    }
  }
}

/** The whole answer: what its form makes of it where it was asked for in one, else its text. Rejects with AnswerFailed. */
export const wholeAnswer = async <Form extends FormOption>(
  to: string,
  parts: Parts<Form>,
  form: Form | undefined
): Promise<AnswerOf<Form>> => {
  for await (const part of parts as AsyncIterable<Part>) {
    if (part.type === "done") return (form === undefined ? part.reply : part.output) as AnswerOf<Form>
    if (part.type !== "failed" && part.type !== "halted" && part.type !== "stopped") continue
    const { code, message } = part.error
    const said = { failed: "could not answer", halted: "is halted", stopped: "gave no whole answer" }[part.type]
    const reply = part.type === "stopped" ? { reply: part.reply } : {}
    throw new AnswerFailed({ assistant: to, code, message: `${to} ${said}: ${message}`, ...reply })
  }
  throw new AnswerFailed({ assistant: to, code: "NoAnswer", message: `${to} gave no answer` })
}
