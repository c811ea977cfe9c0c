// SleepTools: what a model may call while it consolidates, and what a round of such calls comes to.
// Owns the tools of the context `sleep_consolidate`, its loop over one batch, and running its calls. Leaves asking the model
// and reading its answer to dream-job.ts, the tools to `tools`.
// L1  A round's results are committed before the model is shown them: a crash repeats one round and no more, and what was
//     committed is never asked for again.
// L2  It is bounded: the context says how many answers there are at most, MAX_CALLS how many calls; the last answer is
//     asked for without tools.
// L3  A loop belongs to its batch. With another batch it begins anew; what its calls have written stays.
// L4  Only tools of the context run, and only those that may run twice: Reverie's own, or the assistant's of the same name
//     where that one is idempotent.
// L5  What a model reads is what fits: the newest rounds, whole ones.
// L6  Over what dreams have concluded, and nothing else, no tool runs that writes: or every night would feed the next one, and an
//     assistant that no one talks to would grow for ever.
// L7  What is written over a batch names its items: when one of them is forgotten, so is this.

import { contextIn, type ExtractionResult, extractionMessages, RoundMessage, SLEEP_TOOLS } from "@reverie/context"
import type { PromptMessage, Reply, ToolOffer } from "@reverie/model"
import {
  defined,
  type Envelope,
  isJsonObject,
  type Json,
  type Message,
  type OpenJob,
  type RecordChange,
  type ToolCall
} from "@reverie/protocol"
import { wholeId } from "@reverie/memory"
import { memoryTools, noop, refused, selfTools, type Tool } from "@reverie/tools"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { REFLECTION_TIMER } from "../commit/replies.ts"
import { runBuiltInCall } from "../jobs/tool-job.ts"
import type { Session } from "../session/session.ts"
import { inToolSpan } from "../telemetry/chat-span.ts"

/** Most calls over one batch. */
export const MAX_CALLS = 20

/** Of one result, in UTF-16 units. */
const MAX_RESULT_CHARS = 6_000

const named = new Map([noop, ...selfTools, ...memoryTools].map((tool) => [tool.name, tool]))

/** Reverie's own, in the order of the context. */
const sleepTools: ReadonlyArray<Tool> = SLEEP_TOOLS.flatMap((name) => named.get(name) ?? [])

const writing: ReadonlySet<string> = new Set(["add_journal_entry", "store_memory"])

/** As a model learns of them. `isConcluded`: over what dreams have concluded. */
export const sleepOffers = (isConcluded: boolean): ReadonlyArray<ToolOffer> =>
  sleepTools
    .filter(({ name }) => !isConcluded || !writing.has(name))
    .map(({ description, name, parameters }) => ({ name, description, parameters }))

/** What is said of the tools behind the instructions. */
export const toolsText = (isConcluded: boolean): string => {
  const writes = isConcluded
    ? ""
    : ", add_journal_entry for what you conclude, store_memory for a text that is worth keeping whole"
  return `Before you answer you may call tools, ${MAX_CALLS} calls in all: recall_memories or review_journal where a line is
understood only with what is known already${writes}.
Call noop, or no tool, when you answer with the array.`
}

/** What has been done over a batch so far. */
const Loop = Schema.Struct({
  /** The batch: the ids of its items. */
  of: Schema.String,
  answers: Schema.Int,
  calls: Schema.Int,
  /** The last answer that held something to read. */
  text: Schema.String,
  rounds: Schema.Array(RoundMessage)
})
export type Loop = typeof Loop.Type

/** Under this key of the kind `state` stands the loop that is under way. */
export const LOOP_KEY = "consolidation"

const isLoop = Schema.is(Loop)

/** The loop over a batch as it was committed; undefined when it is over another one. */
export const keptLoop = (kept: Json, of: string): Loop | undefined =>
  isLoop(kept) && kept.of === of ? kept : undefined

export const loopChange = (loop: Loop | null): RecordChange => ({
  kind: "state",
  key: LOOP_KEY,
  value: loop === null ? null : (loop as unknown as Json)
})

/** Messages of the rounds as a model reads them: the newest rounds that together have at most so many tokens. */
export const shownRounds = (rounds: ReadonlyArray<Message>, room: number): ReadonlyArray<PromptMessage> => {
  let from = rounds.length
  let tokens = 0
  for (let index = rounds.length - 1; index >= 0; index--) {
    const message = rounds[index]
    tokens += message?.tokens ?? 0
    if (tokens > room) break
    if (message?.role === "assistant") from = index
  }
  return rounds.slice(from).map(({ call, calls, content, name, reasoning, role }): PromptMessage => ({
    role,
    content,
    ...defined({ call, calls, name, reasoning })
  }))
}

const isOffered = ({ definition }: Session, { tool }: ToolCall): boolean =>
  contextIn(definition, "sleep_consolidate").toolFilter?.includes(tool) !== false

const toolOf = ({ definition }: Session, name: string): Tool | undefined => {
  const own = definition.toolkit.get(name)
  return own?.idempotent === true ? own : sleepTools.find((tool) => tool.name === name)
}

/** The dream looks back by itself, and a report would find no call that waits for it. */
const isOfDream = ({ event }: Envelope): boolean =>
  event.type === "report" || (event.type === "timer" && event.name === REFLECTION_TIMER)

/** The report of a call that goes on in the background is its result: what it kept leaves with the same commit. */
const contentOf = (content: string, sends: ReadonlyArray<Envelope>): string => {
  const report = sends.flatMap(({ event }) => (event.type === "report" ? [event.content] : []))[0]
  return (report ?? content).slice(0, MAX_RESULT_CHARS).toWellFormed()
}

/** What a call has written down over a batch, with the items of that. */
const writtenOver =
  (batch: string) =>
  ({ key, kind, value }: RecordChange): RecordChange => {
    if ((kind !== "journal" && kind !== "passage") || !isJsonObject(value)) return { kind, key, value }
    const kept: { readonly [name: string]: Json } = value
    return { kind, key, value: { ...kept, sources: [...new Set(batch.split(" ").map(wholeId))] } }
  }

const runOne = Effect.fnUntraced(function* (
  session: Session,
  job: OpenJob,
  { of }: Loop,
  call: ToolCall,
  isConcluded: boolean
) {
  if (isConcluded && writing.has(call.tool)) {
    return {
      ...refused(call, "Nothing is written over what a dream has concluded: answer with the array."),
      records: []
    }
  }
  const tool = isOffered(session, call) ? toolOf(session, call.tool) : undefined
  if (tool === undefined) return { ...refused(call, "It is no tool of a dream."), records: [] }
  return yield* runBuiltInCall(session, job, tool, call, writtenOver(of)).pipe(inToolSpan(session, tool, call))
})

/** Runs the calls of an answer one after the other: what one has written the next one reads. */
export const runRound = Effect.fnUntraced(function* (
  session: Session,
  job: OpenJob,
  loop: Loop,
  reply: Pick<Reply, "calls" | "reasoning" | "text">,
  isConcluded: boolean
) {
  const { calls } = reply
  const results: Array<ExtractionResult> = []
  const records: Array<RecordChange> = []
  const sends: Array<Envelope> = []
  const run = calls.filter(({ tool }) => tool !== noop.name).slice(0, Math.max(0, MAX_CALLS - loop.calls))
  for (const call of run) {
    const result = yield* runOne(session, job, loop, call, isConcluded)
    results.push({ call, ok: result.ok, content: contentOf(result.content, result.sends) })
    records.push(...(result.records ?? []))
    sends.push(...result.sends.filter((send) => !isOfDream(send)))
  }
  const said = extractionMessages(results, yield* Clock.currentTimeMillis, reply)
  const rounds = [...loop.rounds, ...said.map((message): Message => ({ ...message, tokens: session.count(message) }))]
  return {
    calls: run,
    done: results.filter(({ ok }) => ok).length,
    records,
    sends,
    loop: { ...loop, calls: loop.calls + run.length, rounds } satisfies Loop
  }
})
