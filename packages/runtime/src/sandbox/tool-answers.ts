// ToolAnswers: what a tool call is answered with where no tool may run.
// Owns the choice: a stub, what was recorded, or a refusal. Leaves recording to the ledger.
// A1  No tool is run, whatever is called.
// A2  A call of the tick is answered by the recorded run with the same tool and arguments, with everything that run
//     changed; one of an earlier tick lends its words only. Equal calls get their results in the recorded order, and the
//     last one again when there are no more.
// A3  A stub for a call goes before one for its tool, and either before what was recorded. One that names both answers that
//     call of that tool alone: where another tool is called in its place, it is of no account.

import { callId, contextOf, jobDone, type ToolOutput } from "@reverie/assistant"
import {
  isJsonObject,
  type Envelope,
  type Json,
  type OpenJob,
  type StepRecord,
  type ToolCall,
  defined
} from "@reverie/protocol"
import { canonicalJson, execute } from "@reverie/tools"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { JobEnd } from "../jobs/job-end.ts"
import { callInWindow, type Session } from "../session/session.ts"

import { indexOfJob, type RecordedRun, type RecordedTick, resultOf } from "./recorded-tick.ts"
import type { UncountedMessage } from "../commit/commit-draft.ts"

const NOT_RECORDED = "not recorded: a fork runs no tools"

/** A given answer, to every call of a tool or to one call by its id. */
export interface ToolStub {
  /** The name of a tool: every call of it gets this answer, where `call` is not said. */
  readonly tool?: string
  /** The id of one call: that call alone gets this answer, where it is one of `tool` or `tool` is not said. */
  readonly call?: string
  /** What the model reads as the result. */
  readonly content: string
  /** Whether the run is reported to have worked; true when not said. */
  readonly ok?: boolean
}

/** Where an answer is from. `unknown-tool`: there was nothing to run. */
export type AnsweredBy = "stub" | "recorded" | "earlier" | "refused" | "unknown-tool"

export interface ToolAnswers {
  readonly answer: (session: Session, job: OpenJob) => Effect.Effect<JobEnd>
  /** By the id of the call. */
  readonly given: ReadonlyMap<string, AnsweredBy>
}

const keyOf = ({ arguments: args, malformed, tool }: ToolCall): string =>
  `${tool} ${malformed === undefined ? canonicalJson(args) : `malformed ${malformed}`}`

/** What the runtime sends by itself with a commit is sent again by itself. */
const isOfRun = ({ event }: Envelope): boolean => {
  if (event.type === "message") return event.answers === undefined
  if (event.type === "report") return event.assignment === undefined
  return event.type !== "halt" && event.type !== "resume" && event.type !== "retire"
}

const grouped = <A>(all: ReadonlyArray<A>, key: (each: A) => string): Map<string, Array<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const each of all) groups.set(key(each), [...(groups.get(key(each)) ?? []), each])
  return groups
}

/** The words that an equal call was answered with before the tick; the newest ones. */
const earlierWords = (recorded: RecordedTick, call: ToolCall): string | undefined => {
  const key = keyOf(call)
  for (let index = recorded.prefix.length - 1; index >= 0; index--) {
    for (const { calls = [] } of recorded.prefix[index]?.messages ?? []) {
      const same = calls.find((each) => keyOf(each) === key)
      const answer = same === undefined ? undefined : answerTo(recorded, index, same.id)
      if (answer !== undefined) return answer
    }
  }
  return undefined
}

/** A call's answer stands soon after it. */
const answerTo = ({ prefix }: RecordedTick, from: number, call: string): string | undefined => {
  for (let index = from; index < prefix.length; index++) {
    const answer = prefix[index]?.messages.find((message) => message.role === "tool" && message.call === call)
    if (answer !== undefined) return answer.content
  }
  return undefined
}

interface Ending {
  readonly output: ToolOutput
  readonly content: string | undefined
  readonly detail?: StepRecord["detail"]
  readonly run?: RecordedRun
}

const outputIn = ({ entry }: RecordedRun): ToolOutput => {
  const output = isJsonObject(entry.event) ? entry.event["output"] : undefined
  return isJsonObject(output) ? (output as unknown as ToolOutput) : { ok: false, pending: false }
}

const asRecorded = (run: RecordedRun): Ending => {
  const { step } = run.entry
  return {
    output: outputIn(run),
    content: resultOf(run)?.content,
    ...defined({ detail: step?.detail === undefined ? undefined : step.detail }),
    run
  }
}

const inWords = (content: string, ok: boolean, detail: { readonly [key: string]: Json }): Ending => ({
  output: { ok, pending: false },
  content,
  detail
})

const endOf = (job: OpenJob, call: string, tool: string, ending: Ending, now: number): JobEnd => {
  const { content, detail, output, run } = ending
  const parts = run === undefined ? undefined : resultOf(run)?.parts
  const message: UncountedMessage = {
    role: "tool",
    content: content ?? "",
    call,
    name: tool,
    at: now,
    ...defined({ parts })
  }
  const records = run?.entry.records
  return {
    job,
    event: jobDone(job.name, output),
    messages: content === undefined ? [] : [message],
    step: {
      id: job.id,
      kind: "tool",
      name: tool,
      ok: output.ok,
      elapsedMs: 0,
      detail: detail ?? {}
    },
    ...defined({ records }),
    sends: (run?.entry.sends ?? []).filter(isOfRun)
  }
}

export const toolAnswers = (recorded: RecordedTick, stubs: ReadonlyArray<ToolStub> = []): ToolAnswers => {
  const given = new Map<string, AnsweredBy>()
  const runs = grouped(recorded.runs, ({ call }) => keyOf(call))
  const stubFor = ({ id, tool }: ToolCall) =>
    stubs.find((stub) => stub.call === id && (stub.tool === undefined || stub.tool === tool)) ??
    stubs.find((stub) => stub.call === undefined && stub.tool === tool)
  const nextRun = (call: ToolCall): RecordedRun | undefined => {
    const left = runs.get(keyOf(call)) ?? []
    const exact = left.findIndex((run) => run.call.id === call.id)
    if (left.length <= 1) return left[0]
    return left.splice(Math.max(0, exact), 1)[0]
  }
  const chosen = Effect.fnUntraced(function* (session: Session, call: ToolCall) {
    const say = (by: AnsweredBy, ending: Ending): Ending => {
      given.set(call.id, by)
      return ending
    }
    const stub = stubFor(call)
    if (stub !== undefined) return say("stub", inWords(stub.content, stub.ok ?? true, { by: "stub" }))
    const run = nextRun(call)
    if (run !== undefined) return say("recorded", asRecorded(run))
    const { toolkit } = session.definition
    const tool = toolkit.get(call.tool)
    if (tool === undefined || call.malformed !== undefined) {
      // Nothing is run for a call that names no tool, or that can not be read.
      const names = { address: session.address, key: call.id, hops: 0, names: toolkit.names }
      const { content, failure, ok } = yield* execute(tool, call, names)
      return say("unknown-tool", inWords(content, ok, failure === undefined ? {} : { failure }))
    }
    const words = earlierWords(recorded, call)
    if (words !== undefined) return say("earlier", inWords(words, true, { by: "earlier" }))
    return say("refused", inWords(`Refused: ${NOT_RECORDED}`, false, { failure: "refused" }))
  })
  return {
    given,
    answer: Effect.fnUntraced(function* (session, job) {
      const { iteration, tick } = contextOf(session.decoded)
      const index = indexOfJob(job.name)
      const call = callInWindow(session, index)
      const now = yield* Clock.currentTimeMillis
      const id = call?.id ?? callId(tick, iteration, index)
      const ending =
        call === undefined ? inWords(NOT_RECORDED, false, { failure: "refused" }) : yield* chosen(session, call)
      return endOf(job, id, call?.tool ?? "unknown", ending, now)
    })
  }
}
