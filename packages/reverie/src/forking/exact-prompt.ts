// ExactPrompt: the messages and tools that a model was shown with one call, made again.
// Owns marking each with the part that it belongs to, and how far it is known to be the same. Leaves making it to the
// sandbox, in which the tick goes its recorded way once more.
// X1  A part is exact when the recorded report has it with the same messages and tokens; recalled memories by their ids
//     besides. Where no report was recorded nothing is exact.
// X2  The prompts are those that reached the model, not those that were written down for it.
// X3  Texts are bounded; what was cut says how long it was.

import { FORM_PLACE, inReadingOrder } from "@reverie/context"
import type { Prompt, ToolOffer } from "@reverie/model"
import { type Entry, type ToolCall, defined } from "@reverie/protocol"
import type { RecordedTick, Shown } from "@reverie/runtime"
import { type ContextReport, contextReportOf } from "../views/context-report.ts"
import type { FleetDefinition } from "../fleet-options.ts"
import { MAX_SHOWN_CHARS } from "./errors.ts"
import { liveAgain } from "./sandbox.ts"
import type { TickSources } from "./tick-source.ts"

/** One part of a prompt, with its words. */
export interface PromptPart {
  /** The number of its component. */
  readonly id: number
  /** The key of its component. */
  readonly key: string
  /** How many messages it came to. */
  readonly messages: number
  /** How many tokens these have now. */
  readonly tokens: number
  /** As the report of then has it; null where it has no such part. */
  readonly recordedTokens: number | null
  /** It has the words of then. */
  readonly exact: boolean
}

/** One message that a model was shown. */
export interface ShownMessage {
  /** Of which part it is. */
  readonly part: { readonly id: number; readonly key: string }
  /** Who speaks. */
  readonly role: Prompt["messages"][number]["role"]
  /** What it says. */
  readonly content: string
  /** How long the content is, in UTF-16 units; more than is here where it was cut. */
  readonly chars: number
  /** Who speaks, of a user message; the tool, of a tool message. */
  readonly name?: string
  /** The tool calls of a message of the assistant. */
  readonly calls?: ReadonlyArray<ToolCall>
  /** The call that a tool message answers. */
  readonly call?: string
  /** It has the words of then. */
  readonly exact: boolean
}

/** The exact prompt of one model call. */
export interface TickPrompt {
  /** The id of the assistant. */
  readonly assistant: string
  /** The number of the tick. */
  readonly tick: number
  /** The model call of the tick, from 1 on. */
  readonly iteration: number
  /** Calls of the model for this iteration before this one, which had failed. */
  readonly attempt: number
  /** When the model had answered, in milliseconds since the epoch. */
  readonly at: number
  /** The model that answered; absent where none did. */
  readonly model?: string
  /** What it was shown, in its order. */
  readonly messages: ReadonlyArray<ShownMessage>
  /** What it was offered. */
  readonly tools: ReadonlyArray<ToolOffer>
  /** The offered tools are those of then. */
  readonly toolsExact: boolean
  /** The parts of the prompt, in their order. */
  readonly parts: ReadonlyArray<PromptPart>
  /** Parts of then that are in this prompt no more. */
  readonly missing: ReadonlyArray<string>
  /** How many of the parts have the words of then. */
  readonly exactParts: number
  /** Everything is exact, and nothing is missing. */
  readonly exact: boolean
  /** Why the tick could not be gone through to its end; the prompts up to there are here. */
  readonly diverged?: string
}

/** Which prompt is meant. */
export interface PromptQuestion {
  /** The id of the assistant. */
  readonly assistant: string
  /** The number of the tick. */
  readonly tick: number
  /** Most text of one message, in UTF-16 units. */
  readonly maxChars?: number
}

const recalledIn = ({ step }: Entry): string => JSON.stringify(step?.detail?.["recalled"] ?? [])

/** Parts whose text comes from what was recalled. */
const recalledParts: ReadonlySet<string> = new Set(["semantic_memories", "entity_context"])

interface Pair {
  readonly recorded: Entry
  readonly rebuilt: Entry | undefined
}

const partsOf = (recorded: ContextReport | undefined, rebuilt: ContextReport, isRecalled: boolean) =>
  rebuilt.parts.map(({ id, key, messages, tokens }): PromptPart => {
    const same = recorded?.parts.find((part) => part.id === id && part.key === key)
    const isSame = same !== undefined && same.tokens === tokens && same.messages === messages
    return {
      id,
      key,
      messages,
      tokens,
      recordedTokens: same?.tokens ?? null,
      exact: isSame && (isRecalled || !recalledParts.has(key))
    }
  })

type Owner = Pick<PromptPart, "id" | "key" | "exact">

/** What a hook put there stands in the ledger word for word. */
const BY_HOOK: Owner = { id: -1, key: "hook", exact: true }

/** The messages in their order, each with its part: parts are read one after the other, and hooks changed them after that. */
const messagesOf = (
  { messages }: Prompt,
  parts: ReadonlyArray<PromptPart>,
  { hooks = [] }: Entry,
  maxChars: number
): ReadonlyArray<ShownMessage> => {
  const made = inReadingOrder(parts).flatMap((part) => Array.from({ length: part.messages }, () => part))
  // A form is said in words behind everything else, to a model that does not read it by itself.
  const form = parts.find(({ key }) => key === FORM_PLACE.key)
  const edits = hooks.flatMap(({ edits = [] }) => edits.toReversed())
  const owners = edits.reduce<ReadonlyArray<Owner>>(
    (now, { add, at, drop }) => now.toSpliced(at, drop, ...add.map(() => BY_HOOK)),
    form === undefined || edits.length === 0 ? made : [...made, form]
  )
  return messages.map(({ call, calls, content, name, role }, index): ShownMessage => {
    const { exact, id, key } = owners[index] ?? form ?? { id: -1, key: "unknown", exact: false }
    return {
      part: { id, key },
      role,
      content: content.slice(0, maxChars).toWellFormed(),
      chars: content.length,
      ...defined({ name, calls, call }),
      exact
    }
  })
}

const promptOf = (
  question: PromptQuestion,
  { prompt, iteration }: Shown,
  pair: Pair,
  attempt: number
): TickPrompt | undefined => {
  const { recorded: then, rebuilt: again } = pair
  const recorded = contextReportOf(then)
  const rebuilt = again === undefined ? recorded : contextReportOf(again)
  if (rebuilt === undefined) return undefined
  // Without a report of its own nothing is known of the prompt but that it was made.
  const known = again === undefined ? undefined : recorded
  const parts = partsOf(known, rebuilt, again !== undefined && recalledIn(again) === recalledIn(then))
  const missing = (recorded?.parts ?? [])
    .filter(({ id, key }) => !parts.some((part) => part.id === id && part.key === key))
    .map(({ key }) => key)
  const toolsExact = known !== undefined && known.toolTokens === rebuilt.toolTokens
  const exactParts = parts.filter(({ exact }) => exact).length
  const model = then.step?.detail?.["model"]
  return {
    assistant: question.assistant,
    tick: question.tick,
    iteration,
    attempt,
    at: then.at,
    ...defined({ model: typeof model === "string" ? model : undefined }),
    messages: messagesOf(prompt, parts, then, Math.min(MAX_SHOWN_CHARS, question.maxChars ?? MAX_SHOWN_CHARS)),
    tools: prompt.tools,
    toolsExact,
    parts,
    missing,
    exactParts,
    exact: toolsExact && missing.length === 0 && exactParts === parts.length
  }
}

const jobOf = ({ cause }: Entry): string | undefined => (cause.kind === "job" ? cause.id : undefined)

/** The recorded model calls that left a report, each with the commit of the same job in the tick gone through again. */
const pairsOf = (recorded: RecordedTick, entries: ReadonlyArray<Entry>): ReadonlyArray<Pair> =>
  recorded.entries
    .filter((entry) => contextReportOf(entry) !== undefined)
    .map((then) => ({ recorded: then, rebuilt: entries.find((entry) => jobOf(entry) === jobOf(then)) }))

/** The prompts of a tick, one for each recorded model call that left a report. Rejects with UnknownAssistant or ForkRefused. */
export const promptsOfTick = async (
  records: TickSources,
  fleet: FleetDefinition,
  question: PromptQuestion
): Promise<ReadonlyArray<TickPrompt>> => {
  const source = await records.replay.source(question.assistant, question.tick)
  const lived = await liveAgain(source, { fleet, model: "recorded", order: "recorded" })
  const { reason } = lived.end
  const seen = new Map<number, number>()
  return pairsOf(source.recorded, lived.entries).flatMap((pair): ReadonlyArray<TickPrompt> => {
    const shown = lived.shown.find(({ job }) => job === jobOf(pair.recorded))
    if (shown === undefined) return []
    const attempt = seen.get(shown.iteration) ?? 0
    seen.set(shown.iteration, attempt + 1)
    const prompt = promptOf(question, shown, pair, attempt)
    return prompt === undefined ? [] : [reason === "" ? prompt : { ...prompt, diverged: reason }]
  })
}

/** The prompt of one iteration, the last attempt at it; of the last iteration when none is named. */
export const promptOfTick = async (
  records: TickSources,
  fleet: FleetDefinition,
  question: PromptQuestion & { readonly iteration?: number }
): Promise<TickPrompt | undefined> => {
  const { iteration } = question
  const prompts = await promptsOfTick(records, fleet, question)
  return prompts.findLast((prompt) => iteration === undefined || prompt.iteration === iteration)
}
