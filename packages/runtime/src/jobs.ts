// Jobs: the durable pieces of work that a decision started.
// Owns running one and making its end into a machine event with its record. Leaves when to run it to tick.ts.
// I1  A job never fails: every failure is an event that the statechart hears.
// I2  What a job found out is used only after the commit that its end brings about.
// I3  A tool job that was open before a crash runs again only when its tool is idempotent, under the same key.

import {
  callId,
  contextOf,
  type InferFailure,
  type Input,
  jobDone,
  jobFailed,
  patternNow,
  type ToolOutput
} from "@reverie/assistant"
import { assemble } from "@reverie/context"
import { Model, type ModelError, type Reply } from "@reverie/model"
import { addressKey, type Json, type OpenJob, type StepRecord } from "@reverie/protocol"
import { approvalId, execute, interrupted, type ToolResult } from "@reverie/tools"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Faults } from "./faults.ts"
import { NoticeHub } from "./notice-hub.ts"
import { callInWindow, type Session } from "./session.ts"
import { inSpan } from "./span.ts"
import type { Material, UncountedMessage } from "./turn.ts"

/** The most calls of one reply that are followed; a longer list is a broken model. */
export const MAX_CALLS = 16

export interface JobEnd {
  readonly job: OpenJob
  readonly event: Input
  readonly messages: ReadonlyArray<UncountedMessage>
  readonly step: StepRecord
  readonly sends?: Material["sends"]
}

const NOTHING_TO_DO = "not part of this version yet"

const failureOf = (error: ModelError): InferFailure => ({
  recovery: error.recovery,
  reason: `${error._tag}: ${error.message}`,
  ...(error._tag === "ModelParked" ? { retryAfterMillis: error.retryAfterMillis } : {})
})

const inferred = (session: Session, job: OpenJob, reply: Reply, now: number, startedAt: number): JobEnd => {
  const context = contextOf(session.decoded)
  const calls = reply.calls.slice(0, MAX_CALLS)
  const requests = calls.map((call) => {
    const category = session.definition.toolkit.get(call.tool)?.category ?? "safe_chain"
    const subject = {
      ...session.address,
      tick: context.tick,
      call: call.id,
      tool: call.tool,
      arguments: call.arguments
    }
    return { tool: call.tool, category, ...(category === "dangerous" ? { approval: approvalId(subject) } : {}) }
  })
  return {
    job,
    event: jobDone("infer", { calls: requests }),
    messages: [{ role: "assistant", content: reply.text, at: now, ...(calls.length === 0 ? {} : { calls }) }],
    step: {
      id: job.id,
      kind: "infer",
      name: "infer",
      ok: true,
      elapsedMillis: now - startedAt,
      usage: reply.usage,
      detail: {
        model: reply.model,
        finish: reply.finish,
        ...(calls.length < reply.calls.length ? { callsLeftOut: reply.calls.length - calls.length } : {})
      }
    }
  }
}

const inferFailed = (job: OpenJob, failure: InferFailure, now: number, startedAt: number): JobEnd => ({
  job,
  event: jobFailed("infer", failure),
  messages: [],
  step: {
    id: job.id,
    kind: "infer",
    name: "infer",
    ok: false,
    elapsedMillis: now - startedAt,
    detail: { error: failure.reason, recovery: failure.recovery }
  }
})

const infer = Effect.fnUntraced(function* (session: Session, job: OpenJob) {
  const { definition } = session
  const context = contextOf(session.decoded)
  const model = yield* Model
  const faults = yield* Faults
  const hub = yield* NoticeHub
  const startedAt = yield* Clock.currentTimeMillis
  const { categories } = patternNow(context)
  const { window } = session
  const assembled = yield* Effect.sync(() =>
    assemble({
      components: session.components,
      window,
      maxContextTokens: definition.maxContextTokens,
      reservedResponseTokens: definition.reservedResponseTokens,
      toolTokens: session.toolTokens,
      count: session.count
    })
  ).pipe(inSpan("context.assemble"))
  if (Result.isFailure(assembled)) {
    const { message, recovery } = assembled.failure
    return inferFailed(job, { recovery, reason: message }, startedAt, startedAt)
  }
  // The next prompt begins as this one did, unless something was added in the meantime.
  if (session.window === window) session.window = assembled.success.window
  yield* faults.at("before-model", session.address)
  const envelope = context.envelope
  const outcome = yield* model
    .infer(
      {
        messages: assembled.success.messages,
        tools: definition.toolkit.offers({ categories }),
        callPrefix: `${context.tick}.${context.iteration}`
      },
      hub.isHeard() && envelope !== null
        ? {
            onText: (text) =>
              hub.tell({
                type: "part",
                address: session.address,
                at: startedAt,
                tick: context.tick,
                envelope: envelope as never,
                text
              })
          }
        : undefined
    )
    .pipe(
      Effect.map((reply) => ({ reply })),
      Effect.catch((error) => Effect.succeed({ failure: failureOf(error) })),
      // A defect in an adapter must not take the assistant with it.
      Effect.catchDefect((defect) =>
        Effect.succeed({
          failure: { recovery: "retry" as const, reason: `the model adapter broke: ${String(defect)}` }
        })
      ),
      inSpan("model.infer")
    )
  yield* faults.at("after-model", session.address)
  const now = yield* Clock.currentTimeMillis
  return "reply" in outcome
    ? inferred(session, job, outcome.reply, now, startedAt)
    : inferFailed(job, outcome.failure, now, startedAt)
})

const toolEnd = (
  job: OpenJob,
  call: string,
  tool: string,
  result: ToolResult,
  now: number,
  startedAt: number
): JobEnd => {
  const pending = result.pending ?? false
  const output: ToolOutput = { ok: result.ok, pending }
  return {
    job,
    event: jobDone(job.name, output),
    messages: pending ? [] : [{ role: "tool", content: result.content, call, name: tool, at: now }],
    step: {
      id: job.id,
      kind: "tool",
      name: tool,
      ok: result.ok,
      elapsedMillis: now - startedAt,
      detail: {
        ...(result.failure === undefined ? {} : { failure: result.failure }),
        ...(pending ? { pending: true, acknowledgement: result.content } : {})
      }
    },
    sends: result.sends
  }
}

const kindOf = (job: OpenJob): StepRecord["kind"] => job.src as StepRecord["kind"]

/** The call that a tool job runs; undefined when the history in memory does not hold it. */
const calledBy = (session: Session, job: OpenJob) => {
  const { iteration, tick } = contextOf(session.decoded)
  const { index } = job.input as { readonly index: number }
  return { id: callId(tick, iteration, index), call: callInWindow(session, index) }
}

const runTool = Effect.fnUntraced(function* (session: Session, job: OpenJob, recovered: boolean) {
  const faults = yield* Faults
  const startedAt = yield* Clock.currentTimeMillis
  const { call, id } = calledBy(session, job)
  const context = contextOf(session.decoded)
  if (call === undefined) {
    const lost = interrupted({ id, tool: "unknown", arguments: {} })
    return toolEnd(job, id, "unknown", lost, startedAt, startedAt)
  }
  const tool = session.definition.toolkit.get(call.tool)
  if (recovered && tool !== undefined && !tool.idempotent) {
    return toolEnd(job, call.id, call.tool, interrupted(call), startedAt, startedAt)
  }
  yield* faults.at("before-tool", session.address)
  const result = yield* execute(tool, call, {
    address: session.address,
    key: `${addressKey(session.address)}/${call.id}`,
    hops: context.hops,
    names: session.definition.toolkit.names
  }).pipe(inSpan("tools.execute", { tool: call.tool }))
  yield* faults.at("after-tool", session.address)
  return toolEnd(job, call.id, call.tool, result, yield* Clock.currentTimeMillis, startedAt)
})

/** Dreams and compactions: answered `skipped`, which the entry and a notice say, until their rooms exist. */
const skipped = (job: OpenJob): JobEnd => {
  const input = job.input as { readonly operation?: string; readonly phase?: string }
  return {
    job,
    event: jobDone(job.name, job.src === "assess" ? { restriction: {} } : { skipped: true }),
    messages: [],
    step: {
      id: job.id,
      kind: kindOf(job),
      name: `${job.src} ${input.operation ?? input.phase ?? ""}`.trim(),
      ok: true,
      elapsedMillis: 0,
      detail: { skipped: NOTHING_TO_DO }
    }
  }
}

/** Runs an open job to its end. `recovered` says that a crash may have cut an earlier run of it off. */
export const runJob = (session: Session, job: OpenJob, recovered: boolean) => {
  switch (job.src) {
    case "infer":
      return infer(session, job)
    case "tool":
      return runTool(session, job, recovered)
    default:
      return Effect.succeed(skipped(job))
  }
}

/** A job that has no end of its own: said to the statechart as its failure. */
export const failedJob = (
  session: Session,
  job: OpenJob,
  failure: { readonly recovery: "retry" | "tell-owner"; readonly reason: string },
  now: number
): JobEnd => {
  if (job.src === "tool") {
    const { call, id } = calledBy(session, job)
    const broken: ToolResult = { ok: false, content: `Failed: ${failure.reason}`, sends: [], failure: "threw" }
    return toolEnd(job, id, call?.tool ?? "unknown", broken, now, now)
  }
  return {
    job,
    event: jobFailed(job.name, failure),
    messages: [],
    step: {
      id: job.id,
      kind: kindOf(job),
      name: job.name,
      ok: false,
      elapsedMillis: 0,
      detail: { error: failure.reason }
    }
  }
}

export const materialOf = (end: JobEnd): Material => ({
  cause: { kind: "job", id: end.job.id },
  event: end.event as unknown as Json,
  messages: end.messages,
  step: end.step,
  ...(end.sends === undefined ? {} : { sends: end.sends })
})
