// DefineAssistant: how a user describes an assistant.
// Owns the checks of a description and its defaults. Leaves living to the runtime.
// I1  A wrong description throws at once, with one sentence that names the assistant.

import {
  changedSettings,
  type Listening,
  type PairRate,
  scheduleOf,
  type Settings,
  settingsOf,
  type SleepSchedule
} from "@reverie/assistant"
import type { CompactionConfig } from "@reverie/context"
import {
  type BlockDraft,
  flawOfDraft,
  PLAIN_TEXT,
  readBlockSchema,
  recallScopes as known,
  type RecallScope
} from "@reverie/memory"
import { AssistantId, type ToolRule, defined } from "@reverie/protocol"
import type { Definition, MemoryRequest } from "@reverie/runtime"
import { flawOfRules, noop, type Tool, toolkitOf } from "@reverie/tools"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { FleetDefinitionInvalid } from "./errors.ts"
import { flawOfSpending, type SpendingOptions, spendingSettings, spendingTools } from "./sub-agents-option.ts"

/** A block that an assistant is created with. */
export type CreatedBlock = Omit<BlockDraft, "owner">

export interface AssistantOptions extends SpendingOptions {
  /** Its address: letters, digits and `. _ : @ # + -`, at most 128 characters. */
  readonly id: string
  /** What it is told about itself and its work. */
  readonly prompt: string
  /** Who it is: manner, voice. */
  readonly persona?: string
  readonly tools?: ReadonlyArray<Tool>
  /** Who weighs a task where `settings.assessTask` asks for it; a heuristic when not said. */
  readonly assessWith?: "heuristic" | "model"
  /** How it listens to what is said in rooms and channels; a message without a channel is always for it. */
  readonly listening?: Partial<Listening>
  /** Its sleep schedule, in which it dreams. It sleeps by order only when not said. */
  readonly sleep?: Partial<SleepSchedule>
  /** How often it may write to another assistant; 60 messages in 10 minutes for the two together when not said. */
  readonly pairRate?: Partial<PairRate>
  /** Constraints on the order and number of tool calls in a tick; the model is told of them. */
  readonly rules?: ReadonlyArray<ToolRule>
  /** Size of the model's context window, in tokens. 100,000 when not said. */
  readonly maxContextTokens?: number
  /** Part of the window kept free for the answer, in tokens. 4,000 when not said. */
  readonly reservedResponseTokens?: number
  /** How its history is compacted when the window fills; whether and when stands in `settings`. */
  readonly compaction?: Partial<CompactionConfig>
  /** What comes to its mind by itself: up to 8 memories of up to 1,500 tokens with each event when not said. */
  readonly memory?: MemoryRequest
  /** Memory blocks it is created with: each is made once, and then belongs to it. */
  readonly blocks?: ReadonlyArray<CreatedBlock>
  /** Whose memories it may look into: its own and what others share with it when not said. */
  readonly recallScopes?: ReadonlyArray<RecallScope>
  /** Limits and switches; see `Settings`. */
  readonly settings?: Partial<Settings>
}

export interface AssistantDefinition extends Definition {
  readonly id: AssistantId
  readonly blocks?: ReadonlyArray<CreatedBlock>
}

const DEFAULT_CONTEXT_TOKENS = 100_000
const DEFAULT_RESPONSE_TOKENS = 4_000

export const refuse = (subject: string, problem: string): never => {
  throw new FleetDefinitionInvalid({ subject, message: `${subject}: ${problem}` })
}

/** What an id of an assistant or a tenant looks like, for whoever gave another one. */
export const ID_FORM = "1 to 128 letters, digits and . _ : @ # + -"

const SECOND_MILLIS = 1_000

/** Whoever names sleep schedule means to sleep; the pace of the dreams is one of the statechart's settings. */
const sleepAndSettings = (options: AssistantOptions) => {
  const { sleep } = options
  const settings = { ...spendingSettings(options), ...options.settings }
  if (sleep === undefined) return { settings: changedSettings(settingsOf(settings)) }
  const schedule = scheduleOf({ enabled: true, ...sleep })
  const sleepTickMillis = schedule.enabled ? schedule.tickRateSleepSeconds * SECOND_MILLIS : 0
  return { sleep: schedule, settings: changedSettings(settingsOf({ sleepTickMillis, ...settings })) }
}

const decodeId = Schema.decodeUnknownOption(AssistantId)

const isWhole = (count: number | undefined): boolean =>
  count === undefined || (Number.isSafeInteger(count) && count > 0)

const flawOfMemory = ({ memory = {}, recallScopes = [] }: AssistantOptions): string | undefined => {
  const { maxHits, maxTokens, recall = "auto" } = memory
  if (recall !== "auto" && recall !== "off") return `its memory.recall must be auto or off`
  if (!isWhole(maxHits) || !isWhole(maxTokens)) return "its memory needs whole numbers of at least 1"
  const unknown = recallScopes.find((scope) => !known.includes(scope))
  return unknown === undefined ? undefined : `its recallScopes must be among ${known.join(", ")}`
}

/**
 * @example
 * const clerk = defineAssistant({ id: "clerk", prompt: "You keep the list of ships.", tools: [listShips] })
 */
export const defineAssistant = (options: AssistantOptions): AssistantDefinition => {
  const id = Option.getOrElse(decodeId(options.id), () =>
    refuse(`assistant ${JSON.stringify(options.id)}`, `its id must have ${ID_FORM}`)
  )
  if (options.prompt.trim() === "") refuse(`assistant "${id}"`, "its prompt is empty")
  const maxContextTokens = Math.round(options.maxContextTokens ?? DEFAULT_CONTEXT_TOKENS)
  const reservedResponseTokens = Math.round(
    options.reservedResponseTokens ?? Math.min(DEFAULT_RESPONSE_TOKENS, maxContextTokens / 4)
  )
  if (!(reservedResponseTokens > 0 && reservedResponseTokens < maxContextTokens)) {
    refuse(`assistant "${id}"`, "the answer's share of the context window leaves nothing for the question")
  }
  const flaw =
    flawOfRules(options.rules ?? []) ??
    flawOfMemory(options) ??
    flawOfBlocks(id, options.blocks ?? []) ??
    flawOfSpending(options)
  if (flaw !== undefined) refuse(`assistant "${id}"`, flaw)
  return Object.freeze({
    id,
    name: id,
    systemPrompt: options.prompt,
    ...defined({ persona: options.persona }),
    ...sleepAndSettings(options),
    rules: options.rules ?? [],
    ...defined({
      assessWith: options.assessWith,
      listening: options.listening,
      pairRate: options.pairRate,
      compaction: options.compaction,
      memory: options.memory,
      blocks: options.blocks,
      recallScopes: options.recallScopes,
      specialists: options.subAgents?.specialists === undefined ? undefined : options.subAgents.specialists
    }),
    toolkit: toolkitOf([...(options.tools ?? []), ...spendingTools(options, options.tools ?? []), noop]),
    maxContextTokens,
    reservedResponseTokens
  })
}

/** What is wrong with the blocks of a definition, in one sentence; undefined when nothing is. */
const flawOfBlocks = (owner: AssistantId, blocks: ReadonlyArray<CreatedBlock>): string | undefined => {
  const labels = blocks.map(({ label }) => label)
  const twice = labels.find((label, index) => labels.indexOf(label) !== index)
  if (twice !== undefined) return `two of its blocks are called ${JSON.stringify(twice)}`
  return blocks
    .map((block) => {
      const schema = readBlockSchema(block.schema ?? PLAIN_TEXT)
      const flaw = flawOfDraft({ ...block, owner }) ?? (Result.isFailure(schema) ? schema.failure : undefined)
      return flaw === undefined ? undefined : `its block ${JSON.stringify(block.label)}: ${flaw}`
    })
    .find((flaw) => flaw !== undefined)
}
