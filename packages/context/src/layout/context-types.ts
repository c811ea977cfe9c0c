// ContextTypes: for what a model is asked, and what it gets and may do then.
// Owns the seven kinds of context (F1-F13), finding those that a definition changes or adds (F118), the wording that some
// put in a component's place (F14), and which parts come out. Leaves composing the execution pattern to `assistant`.
// C1  `toolFilter` null offers every tool, an empty list none (A5).
// C2  Looking up an override never throws, whatever stands there (F15).

import type { ContextLayer } from "@reverie/assistant"
import { isJsonObject } from "@reverie/protocol"
import { isStaticId, orderedStaticIds, PLACES, reservedComponent, staticBefore } from "./scheme.ts"

export const contextTypes = [
  "tick_event",
  "tick_autonomous",
  "reflection",
  "reflection_cont",
  "sleep_consolidate",
  "goal_decompose",
  "pre_compaction"
] as const
export type ContextType = (typeof contextTypes)[number]

/** Everything that is said of one kind of context (F2). What a tick may do in it is the second layer of the pattern. */
export interface ContextTypeConfig extends ContextLayer {
  readonly name: string
  readonly description: string
  readonly enabledComponents: ReadonlyArray<number>
  /** By the key of a component: `{ content }` takes the place of its content. */
  readonly componentOverrides: Readonly<Record<string, unknown>>
  /** Names of tools. Null for all. */
  readonly toolFilter: ReadonlyArray<string> | null
  /** Most tokens a prompt may have. Null for what the window has room for. */
  readonly tokenBudget: number | null
  /** Names of timers that are handled in it. */
  readonly timers?: ReadonlyArray<string>
}

/** The tools of a context that looks at itself (F10). */
export const REFLECTION_TOOLS = ["noop", "add_journal_entry", "review_journal"] as const
/** The tools of a context that sleeps (F11). */
export const SLEEP_TOOLS = [...REFLECTION_TOOLS, "recall_memories", "store_memory"] as const
/** The tools of a context that saves what compaction would lose (F12). */
export const PRE_COMPACTION_TOOLS = ["noop", "add_journal_entry", "update_entity_observation"] as const

const SELF_REFLECTION = `You are looking back on your own recent work. Nobody waits for an answer.

Go through what you did and what you wrote in your journal, and ask yourself:
1. Which patterns do I see in my work?
2. What works well, and should stay as it is?
3. Which mistakes have I made more than once?
4. What should I change from now on?

Use the journal tools: read what you need with review_journal, write down each insight with add_journal_entry, and call
noop when there is nothing left to note.

{reflection}`

/** What the source documents leave open (A6). */
const usual = {
  componentOverrides: {},
  toolFilter: null,
  tokenBudget: null,
  executionMode: "react_loop",
  allowedToolCategories: null,
  terminalEndsLoop: true,
  dangerousRequiresConfirm: false,
  allowsMultiTool: true,
  allowsSubAgents: false
} as const

const { conversationHistory, goals, pendingEvent, semanticMemories, systemPrompt, toolResult } = PLACES

const idsOf = (...places: ReadonlyArray<{ readonly id: number }>): ReadonlyArray<number> => places.map(({ id }) => id)

const all: ReadonlyArray<ContextTypeConfig & { readonly contextType: ContextType }> = [
  {
    ...usual,
    contextType: "tick_event",
    name: "Event",
    description: "Something arrived and is dealt with.",
    enabledComponents: orderedStaticIds(),
    maxIterations: 5,
    allowsSubAgents: true
  },
  {
    ...usual,
    contextType: "tick_autonomous",
    name: "Own initiative",
    description: "Nothing arrived; the assistant goes after its goals.",
    enabledComponents: orderedStaticIds(),
    maxIterations: 5,
    allowsSubAgents: true
  },
  {
    ...usual,
    contextType: "reflection",
    name: "Reflection",
    description: "The assistant looks at its own work.",
    enabledComponents: idsOf(systemPrompt, pendingEvent, toolResult),
    componentOverrides: { system_prompt: { content: SELF_REFLECTION } },
    toolFilter: REFLECTION_TOOLS,
    maxIterations: 3
  },
  {
    ...usual,
    contextType: "reflection_cont",
    name: "Reflection, continued",
    description: "Goes on with a reflection after a tool has answered.",
    enabledComponents: idsOf(systemPrompt, toolResult),
    componentOverrides: { system_prompt: { content: SELF_REFLECTION } },
    toolFilter: REFLECTION_TOOLS,
    maxIterations: 2
  },
  {
    ...usual,
    contextType: "sleep_consolidate",
    name: "Consolidation",
    description: "Turns the journal into memory while the assistant sleeps.",
    enabledComponents: idsOf(systemPrompt, semanticMemories),
    toolFilter: SLEEP_TOOLS,
    maxIterations: 10
  },
  {
    ...usual,
    contextType: "goal_decompose",
    name: "Breaking down a goal",
    description: "Finds the subtasks of a goal.",
    enabledComponents: idsOf(systemPrompt, goals, pendingEvent),
    toolFilter: [],
    executionMode: "single_action",
    maxIterations: 1,
    allowsMultiTool: false
  },
  {
    ...usual,
    contextType: "pre_compaction",
    name: "Before compaction",
    description: "Saves facts from a conversation that is about to be summarised.",
    enabledComponents: idsOf(systemPrompt, conversationHistory, pendingEvent, toolResult),
    toolFilter: PRE_COMPACTION_TOOLS,
    maxIterations: 5
  }
]

const byType = new Map<string, ContextTypeConfig>(all.map((config) => [config.contextType, config]))

export const getContextType = (contextType: ContextType): ContextTypeConfig =>
  byType.get(contextType) ?? (all[0] as ContextTypeConfig)

/** For a word that comes from outside; undefined when it names no kind of context. */
export const findContextType = (contextType: string): ContextTypeConfig | undefined => byType.get(contextType)

/** What a definition says of kinds of context: those it has changed, and those of its own. */
export interface DefinesContexts {
  readonly contexts?: Readonly<Record<string, ContextTypeConfig>>
}

/** The kind of that name as a definition has it; undefined when it names none, which none of the seven does. */
export function contextIn(definition: DefinesContexts, contextType: ContextType): ContextTypeConfig
export function contextIn(definition: DefinesContexts, contextType: string): ContextTypeConfig | undefined
export function contextIn({ contexts = {} }: DefinesContexts, contextType: string): ContextTypeConfig | undefined {
  return Object.hasOwn(contexts, contextType) ? contexts[contextType] : byType.get(contextType)
}

/** What takes the place of a component's content in this context; null when nothing does (F15). */
export const contentOverride = (config: ContextTypeConfig, key: string): string | null => {
  const overrides = config.componentOverrides
  const override = Object.hasOwn(overrides, key) ? overrides[key] : undefined
  if (!isJsonObject(override) || !Object.hasOwn(override, "content")) return null
  const { content } = override
  return typeof content === "string" ? content : null
}

/** Of some named things, those that the context's tool filter lets through. */
export const allowedTools = <Named extends { readonly name: string }>(
  { toolFilter }: Pick<ContextTypeConfig, "toolFilter">,
  tools: ReadonlyArray<Named>
): ReadonlyArray<Named> => (toolFilter === null ? tools : tools.filter(({ name }) => toolFilter.includes(name)))

// Inclusion: which components a context has.
// I1  Nothing that is not enabled is ever in (F19).
// I2  A static component is in when the context lists its id; a reserved one when the context lists its companion's.
// I3  What is plugged in is in when the context lists its id, or that of the static component it stands behind (A4).

interface Includable {
  readonly id: number
  readonly enabled: boolean
  /** What it was plugged in behind; found from its id when not said. */
  readonly afterStatic?: number
}

export const isIncluded = (
  { afterStatic, enabled, id }: Includable,
  enabledComponents: ReadonlyArray<number> | undefined
): boolean => {
  if (!enabled) return false
  if (enabledComponents === undefined || enabledComponents.includes(id)) return true
  if (isStaticId(id)) return false
  return enabledComponents.includes(reservedComponent(id)?.companion ?? afterStatic ?? staticBefore(id))
}

// Reading: the order in which a model reads the parts of a prompt.
// R1  It is that of the ids, but what changes with the event is read behind the conversation, right before the event: a provider's prompt cache
//     knows a prompt up to the first token that changed. Memories stand last, for they are shown with that event only.

/** Parts that change with the event: entities, memories, surroundings, goals. */
const lateIds: ReadonlySet<number> = new Set([
  PLACES.entityContext.id,
  PLACES.semanticMemories.id,
  PLACES.contextBuffer.id,
  PLACES.goals.id
])

export const isLate = (id: number): boolean => lateIds.has(id)

interface Numbered {
  readonly id: number
}

/** More than any id. */
const ALL_IDS = 10_000

const rankOf = ({ id }: Numbered): number => {
  if (!isLate(id)) return id
  return PLACES.pendingEvent.id - 1 + (id === PLACES.semanticMemories.id ? ALL_IDS - 1 : id) / ALL_IDS
}

/** Parts in the order in which a model reads them. */
export const inReadingOrder = <Part extends Numbered>(parts: ReadonlyArray<Part>): ReadonlyArray<Part> =>
  parts.toSorted((a, b) => rankOf(a) - rankOf(b))
