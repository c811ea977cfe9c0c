// ToolJob: one tool call of an iteration.
// Owns finding the call, running it and making its result a record. Leaves the run itself to `tools`.
// I1  A tool job that was open before a crash runs again only when its tool is idempotent, under the same key.
// I2  A run that can not be repeated at will begins only under a claim that still holds: the lease is renewed for it. Any
//     other begins only while the lease lasts, or when it could be renewed.
// I3  Runs that use records follow one another: what one has changed the next one reads.

import { callId, type CallRequest, contextOf, jobDone, settingsNow, type ToolOutput } from "@reverie/assistant"
import { Mailbox } from "@reverie/mailbox"
import { addressKey, defined, type HookRecord, type OpenJob, type RecordChange, type ToolCall } from "@reverie/protocol"
import {
  approvalId,
  convicted,
  execute,
  interrupted,
  isApprovalFor,
  judgeCalls,
  refused,
  type Tool,
  type ToolResult,
  unfitness
} from "@reverie/tools"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import type { UncountedMessage } from "../commit/commit-draft.ts"
import { posted, postOf, sideEffectsOf } from "../commit/replies.ts"
import { recordAccess } from "./team-records.ts"
import { FleetDirectory } from "../session/definition.ts"
import { guardedResult, type Verdict } from "./hooks.ts"
import { Faults, type JobEnd, keptGiven, Secrets, withHooks, withoutParts } from "./job-end.ts"
import { allowedNow } from "../prompt/prompt.ts"
import { senderOf } from "../session/person.ts"
import { approvalSubject, callInWindow, noteRun, renewClaim, type Session, toolsOfTick } from "../session/session.ts"
import { askedBy } from "../sub-agents/assignments.ts"
import { runningTraceparent } from "../telemetry/spans.ts"
import { inToolSpan } from "../telemetry/chat-span.ts"

/** Those of which no tool knows. */
const unrunFailures: ReadonlySet<string> = new Set(["unknown-tool", "arguments", "refused", "interrupted"])

/** What stands with a call that did not run, because an equal one had. */
const FROM_CACHE = "from the cache"

/** A result, and whether an equal call before it has given it. */
interface Ran extends ToolResult {
  readonly isKept?: boolean
  readonly made?: JobEnd["made"]
}

const resultMessage = ({ content, parts }: Ran, call: string, name: string, at: number): UncountedMessage => ({
  role: "tool",
  content,
  call,
  name,
  at,
  ...defined({ parts: parts === undefined || parts.length === 0 ? undefined : parts })
})

/** What a run gave, with its parts kept: their bytes are nothing to be looked through for secrets. */
const withParts = Effect.fnUntraced(function* (session: Session, { given, ...ran }: ToolResult) {
  const { hide } = yield* Secrets
  if (given === undefined) return hide(ran)
  const { made, parts, problem } = yield* keptGiven(session, given)
  return { ...hide({ ...ran, content: withoutParts(ran.content, problem), parts }), made }
})

const toolEnd = (
  job: OpenJob,
  call: string,
  tool: string,
  result: Ran,
  now: number,
  startedAt: number,
  asks: Pick<ToolOutput, "delegate" | "dismiss"> = {}
): JobEnd => {
  const pending = result.pending ?? false
  const unrun = result.failure !== undefined && unrunFailures.has(result.failure) ? (true as const) : undefined
  const output: ToolOutput = { ok: result.ok, pending, ...defined({ unrun }), ...asks }
  return {
    job,
    event: jobDone(job.name, output),
    messages: pending ? [] : [resultMessage(result, call, tool, now)],
    step: {
      id: job.id,
      kind: "tool",
      name: tool,
      ok: result.ok,
      elapsedMs: now - startedAt,
      detail: {
        ...defined({ failure: result.failure, note: result.isKept === true ? FROM_CACHE : undefined }),
        ...(pending ? { pending: true, call, acknowledgement: result.content } : {})
      }
    },
    sends: result.sends,
    ...defined({ records: result.records, made: result.made })
  }
}

/** The call that a tool job runs; undefined when the history in memory does not hold it. */
export const calledBy = (session: Session, job: OpenJob) => {
  const { iteration, tick } = contextOf(session.decoded)
  const { index } = job.input as { readonly index: number }
  return { id: callId(tick, iteration, index), call: callInWindow(session, index) }
}

export const runTool = Effect.fnUntraced(function* (session: Session, job: OpenJob, recovered: boolean) {
  const faults = yield* Faults
  const startedAt = yield* Clock.currentTimeMillis
  const { call, id } = calledBy(session, job)
  if (call === undefined) {
    const lost = interrupted({ id, tool: "unknown", arguments: {} })
    return toolEnd(job, id, "unknown", lost, startedAt, startedAt)
  }
  const tool = session.definition.toolkit.get(call.tool)
  if (recovered && tool !== undefined && !tool.idempotent) {
    // A holder that let go in good order is none that was lost.
    const cutOff = interrupted(call, (job.lost ?? 0) > 0 ? "crash" : "stop")
    return toolEnd(job, call.id, call.tool, cutOff, startedAt, startedAt)
  }
  if (!isApproved(session, job, call)) {
    const why = "What was approved is not this call with these arguments."
    return toolEnd(job, call.id, call.tool, refused(call, why), startedAt, startedAt)
  }
  yield* faults.at("before-tool", session.address)
  const alone = tool?.usesRecords === true ? Semaphore.withPermits(session.ownLock, 1) : nobodyWaits
  const { asks, hooks, ...result } = yield* alone(
    runOnRecords(session, job, tool, { index: indexOf(job), call, now: startedAt })
  ).pipe(
    Effect.flatMap((ran) => guarded(session, call, ran)),
    inToolSpan(session, tool, call)
  )
  yield* faults.at("after-tool", session.address)
  const end = toolEnd(job, call.id, call.tool, result, yield* Clock.currentTimeMillis, startedAt, asks)
  return hooks === undefined ? end : withHooks(end, hooks)
})

interface Done {
  readonly hooks?: ReadonlyArray<HookRecord>
}

/** What ran, as hooks let the model read it. What did not run, or reports later, has no result yet. */
const guarded = <A extends Ran>(session: Session, call: ToolCall, ran: A): Effect.Effect<A & Done> => {
  const isResult = ran.pending !== true && (ran.failure === undefined || !unrunFailures.has(ran.failure))
  if (!isResult || session.definition.hooks?.afterTool === undefined) return Effect.succeed(ran)
  return Effect.flatMap(Secrets, ({ hide }) =>
    Effect.map(guardedResult({ session, hide }, call, ran), ({ records: hooks, result }) => ({ ...result, hooks }))
  )
}

/** False when another one may be at work on this assistant by now: then nothing is begun that could happen twice. */
const mayBegin = Effect.fnUntraced(function* (session: Session, tool: Tool | undefined) {
  if (tool === undefined) return true
  const isHarmless = tool.idempotent && tool.category !== "dangerous"
  if (isHarmless && (yield* Clock.currentTimeMillis) < session.claim.leaseUntil) return true
  const renewed = yield* Effect.result((yield* Mailbox).renew(session.claim, session.leaseMillis))
  if (Result.isSuccess(renewed)) renewClaim(session, renewed.success)
  return Result.isSuccess(renewed)
})

const nobodyWaits = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => work

/** A call that was approved runs only as it was approved. */
const isApproved = ({ address, decoded }: Session, job: OpenJob, call: ToolCall): boolean => {
  const { calls, tick } = contextOf(decoded)
  const { index } = job.input as { readonly index: number }
  const { approval, askedIn } = calls[index] ?? {}
  return approval === undefined || askedIn === undefined
    ? true
    : isApprovalFor({ ...approvalSubject(address, tick, call), epoch: askedIn }, approval)
}

interface Running {
  readonly call: ToolCall
  readonly index: number
  readonly now: number
  /** A change as it is kept. */
  readonly written?: ((change: RecordChange) => RecordChange) | undefined
}

/** Runs the call, or finds its result; what it changes is among the records before the next run looks. */
const runOnRecords = Effect.fnUntraced(function* (
  session: Session,
  job: OpenJob,
  tool: Tool | undefined,
  { call, index, now, written = (change) => change }: Running
) {
  const { address, cache, decoded, definition } = session
  const { hops, tick } = contextOf(decoded)
  cache.onTick(tick)
  const found = tool === undefined ? undefined : cache.find(tool, call.arguments, now)
  const key = `${addressKey(address)}/${call.id}`
  const access = yield* recordAccess(session, index)
  const post = postOf(session, yield* FleetDirectory, now)
  const traceparent = (yield* runningTraceparent) ?? session.trace.carried
  const trace = traceparent === undefined ? {} : { traceparent }
  const { hide } = yield* Secrets
  const { names } = definition.toolkit
  const from = senderOf(session)
  const result: Ran =
    found ??
    ((yield* mayBegin(session, tool))
      ? yield* withParts(
          session,
          yield* execute(tool, call, { address, key, from, hops, records: access, names, post, hide, ...trace })
        )
      : refused(call, "It was not begun: this worker's claim is over."))
  const { made: _, ...remembered } = result
  if (tool !== undefined && found === undefined) cache.keep(tool, call.arguments, remembered, now)
  const mail = posted(session, result.sends, now)
  const follows = sideEffectsOf(session, call, { key, hops, now }, { ...result, sends: mail.sends })
  const { asks, records } = askedBy(call.id, [...follows.records.map(written), ...mail.records], now)
  noteRun(session, job, records)
  if (result.records !== undefined) cache.onRecordChange()
  const content = [result.content, ...mail.refusals].join("\n")
  return { ...result, content, sends: follows.sends, records, asks, isKept: found !== undefined }
})

/** Runs a call that no tick has made: Reverie's own, while the history is compacted, or read in a dream. */
export const runBuiltInCall = Effect.fnUntraced(function* (
  session: Session,
  job: OpenJob,
  tool: Tool | undefined,
  call: ToolCall,
  written?: Running["written"]
) {
  const now = yield* Clock.currentTimeMillis
  return yield* Semaphore.withPermits(
    session.ownLock,
    1
  )(runOnRecords(session, job, tool, { index: -1, call, now, written }))
})

const indexOf = (job: OpenJob): number => (job.input as { readonly index: number }).index

/** A tool job that is not run again: it took its process with it, or an equal one of the same tick did. */
export const convictedTool = (session: Session, job: OpenJob, by: Conviction, now: number): JobEnd => {
  const { call, id } = calledBy(session, job)
  const found = call ?? { id, tool: "unknown", arguments: {} }
  const result =
    by.times === undefined
      ? refused(found, "Earlier in this task the process ended while this tool ran.")
      : convicted(found, by.times, by.isAlone)
  return toolEnd(job, id, found.tool, result, now, now)
}

/** `times`: how often the process ended with it; undefined where it was another call of the same tool. */
export interface Conviction {
  readonly times: number | undefined
  /** The last time no other tool ran. */
  readonly isAlone: boolean
}

/** A tool job that has no end of its own. */
export const brokenTool = (session: Session, job: OpenJob, reason: string, now: number): JobEnd => {
  const { call, id } = calledBy(session, job)
  const broken: ToolResult = { ok: false, content: `Failed: ${reason}`, sends: [], failure: "threw" }
  return toolEnd(job, id, call?.tool ?? "unknown", broken, now, now)
}

// Requests: the calls of a reply, as the statechart learns of them.
// R1  No one is asked about a call whose arguments do not fit, neither a person nor the tool itself: its model reads that at once.

/** Whether someone may be asked before the tool runs. */
const mayAsk = (tool: Tool, { asks }: Verdict): boolean =>
  asks === true || tool.category === "dangerous" || tool.needsConsent !== undefined

/** What is said of each call before it is asked for, with those among them that do not fit. */
export const judgedCalls = (
  { definition }: Session,
  calls: ReadonlyArray<ToolCall> = [],
  guarded: ReadonlyArray<Verdict> = []
): Effect.Effect<ReadonlyArray<Verdict>> =>
  Effect.forEach(
    calls,
    (call, index) => {
      const verdict = guarded[index] ?? {}
      const tool = definition.toolkit.get(call.tool)
      if (tool === undefined || verdict.refuse !== undefined || !mayAsk(tool, verdict)) return Effect.succeed(verdict)
      return Effect.map(unfitness(tool, call), (unfit) => ({ ...verdict, ...defined({ unfit }) }))
    },
    { concurrency: "unbounded" }
  )

/** What a kind of context leaves out is offered all the same: its call is refused. */
const notAllowed = ({ tool }: ToolCall, allowed: ReadonlyArray<string> | undefined): string | undefined =>
  allowed === undefined || allowed.includes(tool)
    ? undefined
    : `The tool ${tool} can not be called now. Call one of these, or answer: ${allowed.join(", ")}.`

/** What the statechart learns of the calls: categories, what tool rules and hooks say, and what an approval would be bound to. */
export const requestsOf = (
  session: Session,
  calls: ReadonlyArray<ToolCall>,
  guarded: ReadonlyArray<Verdict>
): ReadonlyArray<CallRequest> => {
  const { address, claim, definition } = session
  const { tick } = contextOf(session.decoded)
  const { terminalEndsLoop } = settingsNow(contextOf(session.decoded))
  const verdicts = judgeCalls({
    rules: definition.rules,
    calledThisTick: definition.rules.length === 0 ? [] : toolsOfTick(session),
    calls,
    available: definition.toolkit.names
  })
  const allowed = allowedNow(session)
  return calls.map((call, index): CallRequest => {
    const { ends, refusal = notAllowed(call, allowed) } = verdicts[index] ?? {}
    const { asks: isHookAsking = false, unfit, refuse = refusal ?? unfit } = guarded[index] ?? {}
    const tool = definition.toolkit.get(call.tool)
    const isAsked = isHookAsking && tool !== undefined
    const asks =
      refuse === undefined && (isAsked || tool?.needsConsent?.(call.arguments, session.blocks.known) === true)
    const category = asks ? "dangerous" : (tool?.category ?? "safe_chain")
    // A tool that ends the tick still does when a person was asked first.
    const isLast = isAsked && tool.category === "terminal" && terminalEndsLoop
    const rules = defined({ refused: refuse, ends: ends ?? (isLast ? ("exit" as const) : undefined) })
    if (category !== "dangerous") return { tool: call.tool, category, ...rules }
    const approval = approvalId({ ...approvalSubject(address, tick, call), epoch: claim.epoch })
    const asking = asks ? { asks } : {}
    return { tool: call.tool, category, approval, askedIn: claim.epoch, ...asking, ...rules }
  })
}
