// Extraction: before a history is compacted, the assistant may write down what must not be lost (F59-F62).
// Owns what it is asked, which calls of a reply are followed, when it ends, and what it comes to. Leaves asking, running
// the tools and committing a round to the runtime.
// X1  It happens only where a compaction follows (A13), and never keeps one from following (A18).
// X2  A call outside the list is not run, and ends it; the others of the same reply are run.
// X3  What the next round is shown of this one is calls with their results, and it goes with the compaction: none of it
//     stands in the history, or takes a place of what is kept there (F114).
// X5  All rounds together run at most MAX_CALLS calls, one a reply or several (F114); what is beyond is not run.
// X4  Only journal entries that were really written count as facts; observations are counted apart (A19).

import type { Reply } from "@reverie/model"
import { defined, isJsonObject, parseJson, taskLine, type ToolCall } from "@reverie/protocol"
import * as Result from "effect/Result"
import { PRE_COMPACTION_TOOLS } from "../layout/context-types.ts"
import type { UncountedMessage } from "../layout/component.ts"
import type { CompactionConfig } from "./config.ts"
import type { CompactionTrigger, Extraction, ExtractionEnd } from "./record.ts"
import { type CompactionQuestion, planCompaction, skip, type Skipped, type Split } from "./split.ts"

/** A shorter history is not worth it (F59). */
const MIN_EXTRACTION_MESSAGES = 5

/** Most calls of one extraction, all rounds together. */
const MAX_CALLS = 10

/** Most rounds of an emergency, in which a sender waits (A15). */
const MAX_EMERGENCY_ROUNDS = 3

const EXTRACTION_PROMPT = `The older part of this conversation is about to be compacted into a summary. You will keep its meaning, but not its wording.

Go through everything you can see above and save now what must not be lost: facts about people, places and things,
promises and deadlines, decisions, exact values (numbers, dates, names, ids) that you may need, and what is not finished.
Write each with add_journal_entry, or with update_entity_observation when it is about somebody or something you know.
Save nothing that your journal holds already, and nothing that only says how to behave. You have ${MAX_CALLS} calls in all, so
begin with what matters most.

Nobody reads your answer. Call noop when nothing is left to save.`

/** The event that is pending in the context `pre_compaction`. */
export const extractionText = ({ preCompactPrompt }: Pick<CompactionConfig, "preCompactPrompt">): string =>
  `${taskLine("extract")}\n${preCompactPrompt ?? EXTRACTION_PROMPT}`

export const extractionRounds = (
  { preCompactMaxIterations }: Pick<CompactionConfig, "preCompactMaxIterations">,
  trigger: CompactionTrigger
): number =>
  trigger === "emergency" ? Math.min(MAX_EMERGENCY_ROUNDS, preCompactMaxIterations) : preCompactMaxIterations

/** Whether there is an extraction: what will be compacted, or why nothing is extracted. */
export const planExtraction = (
  question: CompactionQuestion,
  { preCompactExtractionEnabled }: Pick<CompactionConfig, "preCompactExtractionEnabled">
): Split | Skipped => {
  if (!preCompactExtractionEnabled) return skip("disabled")
  if (question.history.length < MIN_EXTRACTION_MESSAGES) return skip("too-short")
  return planCompaction(question)
}

/** How the calls of a round are named: `<prefix>.<index>`, like no call of any tick. `no`: the entry that began its job. */
export const extractionPrefix = (no: number): string => `fold.${no}`

export interface ExtractionRound {
  /** The calls that are run, and stand in the history with their results. */
  readonly run: ReadonlyArray<ToolCall>
  /** Why this round is the last one; undefined when there is another one. */
  readonly end?: ExtractionEnd
}

const isListed = ({ tool }: ToolCall): boolean => PRE_COMPACTION_TOOLS.some((name) => name === tool)
const isNoop = ({ tool }: ToolCall): boolean => tool === "noop"

/** What becomes of a reply. Rounds count from 1. `made`: calls that the rounds before it have run. */
export const judgeRound = (
  calls: ReadonlyArray<ToolCall>,
  round: number,
  cap: number,
  made: number = 0
): ExtractionRound => {
  const wanted = calls.filter((call) => isListed(call) && !isNoop(call))
  const run = wanted.slice(0, Math.max(0, MAX_CALLS - made))
  if (calls.length === 0) return { run, end: "no-tool-call" }
  if (!calls.every(isListed)) return { run, end: "other-tool" }
  if (calls.some(isNoop)) return { run, end: "noop" }
  return round >= cap || made + run.length >= MAX_CALLS ? { run, end: "cap" } : { run }
}

/** How one call of a round ended. */
export interface ExtractionResult {
  readonly call: ToolCall
  readonly ok: boolean
  readonly content: string
}

/** A run may end well and yet say that it did nothing. */
const hasSucceeded = ({ content, ok }: ExtractionResult): boolean => {
  const said = ok ? parseJson(content) : Result.fail("")
  return ok && !(Result.isSuccess(said) && isJsonObject(said.success) && said.success["success"] === false)
}

export const NO_EXTRACTION: Extraction = {
  success: true,
  facts_recorded: 0,
  observations_recorded: 0,
  iterations: 0,
  ended_by: null
}

export const callsMade = ({ calls_made }: Extraction): number => calls_made ?? 0

/** After one more round. */
export const afterRound = (
  before: Extraction,
  { end }: ExtractionRound,
  results: ReadonlyArray<ExtractionResult>
): Extraction => {
  const recorded = (tool: string): number =>
    results.filter((result) => result.call.tool === tool && hasSucceeded(result)).length
  return {
    success: true,
    facts_recorded: before.facts_recorded + recorded("add_journal_entry"),
    observations_recorded: before.observations_recorded + recorded("update_entity_observation"),
    iterations: before.iterations + 1,
    calls_made: callsMade(before) + results.length,
    ended_by: end ?? null
  }
}

/** After a round that could not be: what was recorded before it stays. */
export const afterFailedRound = (before: Extraction): Extraction => ({
  ...before,
  success: false,
  iterations: before.iterations + 1,
  ended_by: "failure"
})

/** What was thought before calls; nothing of it where the reply is not shown as it was: its parts have their places in it. */
const reasoningOf = (
  { calls, reasoning, text }: Pick<Reply, "calls" | "reasoning" | "text">,
  results: ReadonlyArray<ExtractionResult>
) => (text === "" && calls.length === results.length ? reasoning : undefined)

/** What the rounds after it are shown of a round; nothing when nothing was run. The text of the reply is addressed to no one. */
export const extractionMessages = (
  results: ReadonlyArray<ExtractionResult>,
  now: number,
  reply: Pick<Reply, "calls" | "reasoning" | "text">
): ReadonlyArray<UncountedMessage> =>
  results.length === 0
    ? []
    : [
        {
          role: "assistant",
          content: "",
          calls: results.map(({ call }) => call),
          at: now,
          ...defined({ reasoning: reasoningOf(reply, results) })
        },
        ...results.map(({ call, content }): UncountedMessage => ({
          role: "tool",
          content,
          call: call.id,
          name: call.tool,
          at: now
        }))
      ]
