// DefineAssistant: how a user describes an assistant.
// Owns the checks of a description and its defaults. Leaves living to the runtime.
// I1  A wrong description throws at once, with one sentence that names the assistant.
// I2  What is written is what holds: a name that does not exist, a value outside its range, a time zone, tool or part of a
//     prompt that there is none of are refused, and nothing is brought into its range in silence.

import { createHash } from "node:crypto"
import {
  changedSettings,
  DEFAULT_SETTINGS,
  type Listening,
  type PairRate,
  scheduleOf,
  type Settings,
  settingsOf
} from "@reverie/assistant"
import type { CompactionConfig, ContextBuild } from "@reverie/context"
import {
  type BlockDraft,
  flawOfDraft,
  PLAIN_TEXT,
  readBlockSchema,
  recallScopes as known,
  type RecallScope,
  type Review
} from "@reverie/memory"
import type { Retention } from "@reverie/ledger"
import { AssistantId, type ToolRule, defined } from "@reverie/protocol"
import type { MemoryRequest } from "@reverie/runtime"
import { acceptForm, flawOfRules, type Hooks, noop, placedHooks, type Tool, toolkitOf } from "@reverie/tools"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { AnswerSchema } from "./letter.ts"
import { type ContextsOption, contextsOf, flawOfContexts } from "./options/contexts.ts"
import { FleetDefinitionInvalid } from "./errors.ts"
import { type AssistantModels, flawOfModels, type ModelOptions } from "./models/models.ts"
import { assistantShape, flawOfOptions } from "./options/shape.ts"
import { flawOfSpending, type SpendingOptions, spendingSettings, spendingTools } from "./options/sub-agents.ts"

/** What can be said of how an assistant works. Durations are in milliseconds. */
export interface AssistantSettings {
  /** More than one tool call at once, and more than one step a tick. True when left out. */
  readonly multiStep?: boolean
  /** A tool with `needsApproval: true` waits for a person. True when left out. */
  readonly requireApproval?: boolean
  /** A tool with `final: true` ends the tick. True when left out. */
  readonly stopOnFinal?: boolean
  /** The task is assessed before the first model call; `assessWith` says by what. False when left out. */
  readonly assessTask?: boolean
  /**
   * Tries of one model call before its tick fails, and failed ticks in a row before the assistant halts; 1 to 100, 5 when left
   * out. An outage of the model counts as neither.
   */
  readonly maxErrors?: number
  /** How long an approval is waited for; 24 hours when left out. After that the call is denied. */
  readonly approvalMs?: number
  /** How long the report of a `background` tool is waited for; one hour when left out. */
  readonly reportMs?: number
  /** Shortest pause after a failed model call; 1,000 when left out. */
  readonly retryMinMs?: number
  /** Longest pause after a failed model call; 300,000 when left out. */
  readonly retryMaxMs?: number
  /** How long a sleep lasts that names no end; 4 hours when left out. */
  readonly sleepMs?: number
  /** Pause between two steps of a dream, in place of that of `sleep`. */
  readonly dreamPauseMs?: number
  /** The history is compacted when the window fills. True when left out. */
  readonly compactEnabled?: boolean
  /** Share of the context window, 0 to 1, at which a dreaming assistant compacts; 0.7 when left out. */
  readonly compactSleepRatio?: number
  /** Share of the context window, 0 to 1, at which an awake assistant compacts before anything else; 0.8 when left out. */
  readonly compactEmergencyRatio?: number
}

/** The hours of sleep of an assistant. */
export interface SleepOption {
  /** False keeps the hours and does not sleep. True when left out. */
  readonly enabled?: boolean
  /** The hour at which the night begins, 0 to 23, on the clocks of the time zone; 2 when left out. */
  readonly startHour?: number
  /** Hours that a night lasts, more than 0, at most 23; 4 when left out. */
  readonly durationHours?: number
  /** Pause between two steps of a dream, in milliseconds; 60,000 when left out, 0 for none (the sources' `tick_rate_sleep`). */
  readonly dreamPauseMs?: number
  /** A name of the IANA database, as `Europe/Berlin`; `UTC` when left out. */
  readonly timeZone?: string
  /**
   * What of its dreams waits for a person's word, with or without hours of sleep. none: nothing, all is applied. uncertain: what
   * replaces a fact, comes from someone less believed than a person or a tool, or is put away. all: everything that is learnt or put
   * away. "none" when left out. What waits stands in the account of its dream: `fleet.memory.acceptDream` and `undoDream`.
   */
  readonly review?: Review
}

/** A block that an assistant is created with. */
export type CreatedBlock = Omit<BlockDraft, "owner">

/** Characters that a key of a template may have, and how many. */
const KEY = /^[A-Za-z0-9._-]{1,64}$/

/**
 * The key of the template in `fleet.prompts` that stands in the place of the instructions of a definition: `instructions.<id>`, or
 * a digest of the id where that is no key.
 * @example await fleet.prompts.createTemplate({ key: instructionsKey("desk"), name: "Desk", content: "You are brief." })
 */
export const instructionsKey = (id: string): string => {
  const key = `instructions.${id}`
  return KEY.test(key) ? key : `instructions.${createHash("sha256").update(id).digest("hex").slice(0, 40)}`
}

/** What `defineAssistant` takes. */
export interface AssistantOptions extends SpendingOptions, ModelOptions {
  /** Its address: letters, digits and `. _ : @ # + -`, at most 128 characters. */
  readonly id: string
  /**
   * What the model learns about the assistant and its work: the first part of every prompt. A template that a tenant keeps under
   * `instructionsKey(id)` of `fleet.prompts` stands in its place from the next message on; sub-agents keep these words.
   */
  readonly instructions: string
  /**
   * The key of the template in `fleet.prompts` that every prompt begins with, before the instructions or around its gap
   * `{instructions}`; `default` when left out. A model without tool calls is given the one with `_fallback` behind its key.
   */
  readonly template?: string
  /** Who it is: manner, voice. A part of the prompt of its own, which sub-agents do not inherit; most need `instructions` alone. */
  readonly persona?: string
  /**
   * The form that its answers to messages must have: a zod 4, valibot, arktype or Effect Schema, or a JSON Schema, of an object.
   * One that does not fit is asked for again, twice at most. A form that a message asks for takes its place.
   */
  readonly output?: AnswerSchema
  /**
   * Labels of all its assistants, for people: lists of the fleet are filtered and summed by them. At most 32, of 1 to 64 letters,
   * digits and `. _ : -`, each once. None when left out.
   */
  readonly tags?: ReadonlyArray<string>
  /** What it can do, besides the tools that come with `subAgents`. */
  readonly tools?: ReadonlyArray<Tool>
  /**
   * Guardrails: functions of yours at five places of a tick, which may change what they see, refuse it with a reason, or have a
   * person asked. Those of the fleet are called first.
   */
  readonly hooks?: Hooks
  /** Model calls that one tick may make, 1 to 100; 5 when left out (the sources' `max_iterations_per_tick`). */
  readonly maxSteps?: number
  /** What assesses a task where `settings.assessTask` asks for it; a heuristic when left out. */
  readonly assessWith?: "heuristic" | "model"
  /** How it listens to what is said in rooms and channels; a message without a channel is always for it. */
  readonly listening?: Partial<Listening>
  /** Its hours of sleep, in which it dreams. It sleeps by order only when left out. */
  readonly sleep?: SleepOption
  /**
   * What becomes of the older part of its ledger, each night and with `fleet.vacuum`: after the newest 1,000 entries it is compressed, and
   * reads as before, when left out.
   */
  readonly retention?: Retention
  /** How often it may write to another assistant: 60 messages (`perPair`) in 10 minutes (`windowMs`) for the two together. */
  readonly messageRate?: Partial<PairRate>
  /** Constraints on the order and number of tool calls in a tick; the model reads them. */
  readonly toolRules?: ReadonlyArray<ToolRule>
  /** Size of the model's context window, in tokens. 100,000 when left out. */
  readonly maxContextTokens?: number
  /** Part of the window kept free for the answer, in tokens. 4,000 when left out. */
  readonly reservedResponseTokens?: number
  /** How its history is compacted when the window fills; whether and when stands in `settings`. */
  readonly compaction?: Partial<CompactionConfig>
  /**
   * What its prompts hold, beyond the window: tokens of memory blocks (`memoryTokens`) and of history (`historyTokens`), messages
   * (`maxMessagesCap`, `keepRecent`), schemas and descriptions of blocks, lines of what it did of late (`activityEntriesLimit`),
   * and other limits by the name of the model (`modelOverrides`).
   */
  readonly prompt?: ContextBuild
  /** Memories that are recalled with each event: up to 8 of up to 1,500 tokens when left out. */
  readonly memory?: MemoryRequest
  /** Memory blocks it is created with: each is made once, and then belongs to it. */
  readonly blocks?: ReadonlyArray<CreatedBlock>
  /** Whose memories it may look into: its own and what others share with it when left out. */
  readonly recallScopes?: ReadonlyArray<RecallScope>
  /** Switches, limits and durations that have good defaults. */
  readonly settings?: AssistantSettings
  /**
   * Kinds of context: changes of the seven that there are (`tick_event`, `tick_autonomous`, `reflection`, `reflection_cont`,
   * `goal_decompose`, `pre_compaction`, `sleep_consolidate`), and kinds of your own, which a message asks for with `context`.
   */
  readonly contexts?: ContextsOption
}

/** What `defineAssistant` returns: checked, and ready for `defineFleet`. */
export interface AssistantDefinition extends AssistantModels {
  /** The memory blocks that it is created with. */
  readonly blocks?: ReadonlyArray<CreatedBlock>
  /** The labels of its assistants. */
  readonly tags?: ReadonlyArray<string>
}

const DEFAULT_CONTEXT_TOKENS = 100_000
const DEFAULT_RESPONSE_TOKENS = 4_000

export const refuse = (subject: string, problem: string): never => {
  throw new FleetDefinitionInvalid({ subject, message: `${subject}: ${problem}` })
}

/** What an id of an assistant or a tenant looks like, for who gave another one. */
export const ID_FORM = "1 to 128 letters, digits and . _ : @ # + -"

const SECOND_MILLIS = 1_000

/** The words of the engine, in which settings are stored. */
export const settingNames: { readonly [Name in keyof Required<AssistantSettings>]: keyof Settings } = {
  multiStep: "multiAction",
  requireApproval: "confirmDangerous",
  stopOnFinal: "terminalEndsLoop",
  assessTask: "assessTask",
  maxErrors: "maxErrors",
  approvalMs: "approvalMs",
  reportMs: "reportMs",
  retryMinMs: "parkMinMs",
  retryMaxMs: "parkMaxMs",
  sleepMs: "sleepMs",
  dreamPauseMs: "sleepTickMs",
  compactEnabled: "compactEnabled",
  compactSleepRatio: "compactSleepRatio",
  compactEmergencyRatio: "compactEmergencyRatio"
}

const isSettingName = (name: string): name is keyof AssistantSettings => Object.hasOwn(settingNames, name)

const flawOfPauses = ({ settings = {} }: AssistantOptions): string | undefined => {
  const { retryMaxMs = DEFAULT_SETTINGS.parkMaxMs, retryMinMs = 0 } = settings
  return retryMinMs > retryMaxMs
    ? `its settings.retryMinMs is ${retryMinMs}, and more than its retryMaxMs, ${retryMaxMs}`
    : undefined
}

const engineSettings = ({ maxSteps, settings = {} }: AssistantOptions): Partial<Settings> => {
  const said = Object.entries(settings).flatMap(([name, value]) =>
    isSettingName(name) && value !== undefined ? [[settingNames[name], value]] : []
  )
  return { ...Object.fromEntries(said), ...defined({ maxIterations: maxSteps }) }
}

const sleepScheduleOf = ({ dreamPauseMs, durationHours, enabled = true, startHour, timeZone }: SleepOption) =>
  scheduleOf({
    enabled,
    ...defined({
      sleepStartHour: startHour,
      sleepDurationHours: durationHours,
      tickRateSleepSeconds: dreamPauseMs === undefined ? undefined : dreamPauseMs / SECOND_MILLIS,
      timeZone
    })
  })

/** Hours of sleep that are named are meant; the pace of the dreams is one of the statechart's settings. */
const sleepAndSettings = (options: AssistantOptions) => {
  const { sleep } = options
  const settings = { ...spendingSettings(options), ...engineSettings(options) }
  if (sleep === undefined) return { settings: changedSettings(settingsOf(settings)) }
  const schedule = sleepScheduleOf(sleep)
  const sleepTickMs = schedule.enabled ? schedule.tickRateSleepSeconds * SECOND_MILLIS : 0
  return {
    sleep: schedule,
    settings: changedSettings(settingsOf({ sleepTickMs, ...settings })),
    ...defined({ review: sleep.review })
  }
}

const TAG = /^[A-Za-z0-9._:-]{1,64}$/
const MOST_TAGS = 32

const flawOfTags = ({ tags = [] }: AssistantOptions): string | undefined => {
  const odd = tags.find((tag) => !TAG.test(tag))
  if (odd !== undefined) return `its tag ${JSON.stringify(odd)} must have 1 to 64 letters, digits and . _ : -`
  const twice = tags.find((tag, index) => tags.indexOf(tag) !== index)
  if (twice !== undefined) return `it has the tag ${JSON.stringify(twice)} twice`
  return tags.length > MOST_TAGS ? `it has ${tags.length} tags, and at most ${MOST_TAGS} are allowed` : undefined
}

const decodeId = Schema.decodeUnknownOption(AssistantId)

const flawOfScopes = ({ recallScopes = [] }: AssistantOptions): string | undefined => {
  const unknown = recallScopes.find((scope) => !known.includes(scope))
  return unknown === undefined ? undefined : `its recallScopes must be among ${known.join(", ")}`
}

const flawOfOwnModels = (options: AssistantOptions): string | undefined => {
  const flaw = flawOfModels(options)
  return flaw === undefined ? undefined : `its ${flaw}`
}

/**
 * Describes an assistant.
 * @throws FleetDefinitionInvalid with one sentence that names the assistant and what is wrong with it
 * @example
 * const clerk = defineAssistant({ id: "clerk", instructions: "You keep the list of ships.", tools: [findBerth] })
 */
export const defineAssistant = (options: AssistantOptions): AssistantDefinition => {
  const id = Option.getOrElse(decodeId(options.id), () =>
    refuse(`assistant ${JSON.stringify(options.id)}`, `its id must have ${ID_FORM}`)
  )
  const misshapen = flawOfOptions("defineAssistant", options, assistantShape(settingNames))
  if (misshapen !== undefined) refuse(`assistant "${id}"`, misshapen)
  if (options.instructions.trim() === "") refuse(`assistant "${id}"`, "its instructions are empty")
  const { maxContextTokens = DEFAULT_CONTEXT_TOKENS, maxSteps = DEFAULT_SETTINGS.maxIterations } = options
  const reservedResponseTokens = Math.round(
    options.reservedResponseTokens ?? Math.min(DEFAULT_RESPONSE_TOKENS, maxContextTokens / 4)
  )
  if (!(reservedResponseTokens > 0 && reservedResponseTokens < maxContextTokens)) {
    refuse(`assistant "${id}"`, "the answer's share of the context window leaves nothing for the question")
  }
  const form = options.output === undefined ? undefined : acceptForm(options.output)
  if (typeof form === "string") return refuse(`assistant "${id}"`, form)
  const toolkit = toolkitOf([...(options.tools ?? []), ...spendingTools(options, options.tools ?? []), noop])
  const flaw =
    flawOfRules(options.toolRules ?? [], toolkit.names) ??
    flawOfPauses(options) ??
    flawOfScopes(options) ??
    flawOfTags(options) ??
    flawOfBlocks(id, options.blocks ?? []) ??
    flawOfSpending(options) ??
    flawOfOwnModels(options) ??
    flawOfContexts(options.contexts, { maxSteps, toolNames: toolkit.names })
  if (flaw !== undefined) refuse(`assistant "${id}"`, flaw)
  return Object.freeze({
    id,
    name: id,
    systemPrompt: options.instructions,
    template: options.template ?? "default",
    instructionsKey: instructionsKey(id),
    ...defined({ persona: options.persona, tags: options.tags }),
    ...sleepAndSettings(options),
    rules: options.toolRules ?? [],
    ...defined({
      assessWith: options.assessWith,
      listening: options.listening,
      pairRate: options.messageRate,
      compaction: options.compaction,
      memory: options.memory,
      prompt: options.prompt,
      blocks: options.blocks,
      recallScopes: options.recallScopes,
      specialists: options.subAgents?.assistants,
      output: form,
      hooks: placedHooks(`assistant "${id}"`, options.hooks),
      model: options.model,
      models: options.models,
      prices: options.prices,
      retention: options.retention,
      subAgentModel: options.subAgents?.model
    }),
    ...defined({ contexts: contextsOf(options.contexts, maxSteps) }),
    toolkit,
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
