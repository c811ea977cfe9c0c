// DefinitionView: a definition of the fleet as a person or a page wants to see it.
// Owns what is shown of one. Leaves its making to define-assistant.ts and define-team.ts.
// D1  A view is JSON: no function, no schema object, nothing that two processes would read differently.
// D2  A kind of context is shown as it holds: with the limits that the settings of the assistant leave of it.

import {
  type ExecutionMode,
  type PairRate,
  selectPattern,
  type Settings,
  settingsOf,
  type SleepSchedule
} from "@reverie/assistant"
import {
  compactionConfig,
  type CompactionConfig,
  contentOverride,
  contextIn,
  type ContextTypeConfig,
  contextTypes,
  RESERVED_COMPONENTS,
  STATIC_COMPONENTS
} from "@reverie/context"
import type { RecallScope } from "@reverie/memory"
import { type Json, type ToolCategory, type ToolRule, defined } from "@reverie/protocol"
import type { MemoryRequest } from "@reverie/runtime"
import type { AssistantDefinition } from "../define-assistant.ts"
import { modelText } from "../models/model-choice.ts"

/** A tool of a definition. */
export interface ToolView {
  /** The name that the model calls. */
  readonly name: string
  /** Whether a person approves its calls, whether it ends the tick, whether its result comes later. */
  readonly category: ToolCategory
  /** What the model reads of it. */
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: { readonly [key: string]: Json }
  /** Running it twice under one key does no more than running it once. */
  readonly idempotent: boolean
  /** How long a run may take, in milliseconds. */
  readonly timeoutMs: number
}

/** The team of a definition. */
export interface TeamView {
  /** The name of the pattern. */
  readonly pattern: string
  /** Each with its role, and what a specialist is for. */
  readonly members: ReadonlyArray<{ readonly id: string; readonly role: string; readonly domain?: string }>
}

/** A kind of context of a definition: what a model is shown in it, and what it may do. Null stands for all. */
export interface ContextKindView {
  /** By which a message asks for it. */
  readonly name: string
  /** For people. */
  readonly description: string
  /** It is none of the seven that every assistant has. */
  readonly isOwn: boolean
  /** How it works: `react_loop`, `plan_execute` or `single_action`. */
  readonly mode: ExecutionMode
  /** Model calls that it allows at most. */
  readonly maxSteps: number
  /** Keys of the parts of its prompt, in their order. */
  readonly components: ReadonlyArray<string>
  /** The text that stands in the place of a part, by its key. */
  readonly overrides: { readonly [component: string]: string }
  /** Names of the tools that may be called in it. */
  readonly tools: ReadonlyArray<string> | null
  /** Categories of the tools that may be called in it. */
  readonly toolCategories: ReadonlyArray<ToolCategory> | null
  /** Most tokens of a prompt; null for what the window has room for. */
  readonly tokenBudget: number | null
  /** Dangerous calls wait for a person. */
  readonly requireApproval: boolean
  /** A final tool ends the tick. */
  readonly stopOnFinal: boolean
  /** More than one tool call, and more than one step. */
  readonly multiStep: boolean
  /** Tasks may be handed on to sub-agents. */
  readonly subAgents: boolean
  /** Names of the timers that are handled in it. */
  readonly timers: ReadonlyArray<string>
}

/** A definition as a person or a page wants to see it. */
export interface DefinitionView {
  /** The name under which assistants are created from it. */
  readonly name: string
  /** It answers by asking its members. */
  readonly isTeam: boolean
  /** The labels of its assistants. */
  readonly tags: ReadonlyArray<string>
  /** Its instructions. */
  readonly systemPrompt: string
  /** Who it is to be, in its own words. */
  readonly persona?: string
  /** Those of the definition, each once. */
  readonly tools: ReadonlyArray<ToolView>
  /** The form of its answers, as JSON Schema. */
  readonly output?: { readonly [key: string]: Json }
  /** The settings that differ from the defaults. */
  readonly settings: Partial<Settings>
  /** Which tools must or may follow one another. */
  readonly rules: ReadonlyArray<ToolRule>
  /** Its hours of sleep. */
  readonly sleep?: SleepSchedule
  /** What is recalled for it by itself. */
  readonly memory?: MemoryRequest
  /** What of the way its history is compacted differs from the defaults. */
  readonly compaction?: Partial<CompactionConfig>
  /** What of the limit on messages between two assistants differs from the default. */
  readonly pairRate?: Partial<PairRate>
  /** Whose memories it may search, where that is narrowed. */
  readonly recallScopes?: ReadonlyArray<RecallScope>
  /** Definitions that its tasks may be handed on to, besides its own. */
  readonly specialists: ReadonlyArray<string>
  /** Names that it is called by, besides its id. */
  readonly names: ReadonlyArray<string>
  /** The labels of the memory blocks it is created with. */
  readonly blocks: ReadonlyArray<string>
  /** Its members and their pattern, of a team. */
  readonly team?: TeamView
  /** The kinds of context that its events and nights are handled in: the seven of every assistant, then those of its own. */
  readonly contexts: ReadonlyArray<ContextKindView>
  /** What it asks where it names a model of its own, by purpose, in words without any key; `model` for all others. */
  readonly models: { readonly [purpose: string]: string }
  /** The context window, in tokens. */
  readonly maxContextTokens: number
  /** What of it is kept free for the reply, in tokens. */
  readonly reservedResponseTokens: number
}

const toolsOf = ({ toolkit }: AssistantDefinition): ReadonlyArray<ToolView> =>
  toolkit.names.flatMap((name) => {
    const tool = toolkit.get(name)
    if (tool === undefined) return []
    const { category, description, idempotent, parameters, timeoutMs } = tool
    return [{ name, category, description, parameters, idempotent, timeoutMs }]
  })

const teamOf = ({ team }: AssistantDefinition): { readonly team?: TeamView } =>
  team === undefined
    ? {}
    : {
        team: {
          pattern: team.pattern.name,
          members: team.members.map(({ domain, id, role }) => ({
            id,
            role,
            ...defined({ domain })
          }))
        }
      }

const keys = new Map([...STATIC_COMPONENTS, ...RESERVED_COMPONENTS].map(({ id, key }) => [id, key]))

const kindOf = (definition: AssistantDefinition, config: ContextTypeConfig): ContextKindView => {
  const { pattern } = selectPattern(settingsOf(definition.settings), config)
  // A dream and an extraction are no ticks: they have bounds of their own.
  const bounds: Readonly<Record<string, number>> = {
    sleep_consolidate: config.maxIterations,
    pre_compaction: compactionConfig(definition.compaction).preCompactMaxIterations
  }
  const overridden = Object.keys(config.componentOverrides).flatMap((key) => {
    const content = contentOverride(config, key)
    return content === null ? [] : [[key, content]]
  })
  return {
    name: config.contextType,
    description: config.description,
    isOwn: !contextTypes.some((type) => type === config.contextType),
    mode: pattern.mode,
    maxSteps: bounds[config.contextType] ?? pattern.maxIterations,
    components: config.enabledComponents.toSorted((a, b) => a - b).flatMap((id) => keys.get(id) ?? []),
    overrides: Object.fromEntries(overridden),
    tools: config.toolFilter,
    toolCategories: config.allowedToolCategories,
    tokenBudget: config.tokenBudget,
    requireApproval: pattern.confirmDangerous,
    stopOnFinal: pattern.terminalEndsLoop,
    multiStep: pattern.multiTool,
    subAgents: pattern.subAgents,
    timers: config.timers ?? []
  }
}

const contextsOf = (definition: AssistantDefinition): ReadonlyArray<ContextKindView> =>
  [...new Set([...contextTypes, ...Object.keys(definition.contexts ?? {})])].flatMap((name) => {
    const config = contextIn(definition, name)
    return config === undefined ? [] : [kindOf(definition, config)]
  })

const modelsOf = ({
  model,
  models = {},
  seatModels = {},
  subAgentModel
}: AssistantDefinition): DefinitionView["models"] => {
  const seats = Object.entries(seatModels).map(([member, choice]) => [`member ${member}`, choice] as const)
  const all = [["model", model], ...Object.entries(models), ["subAgents", subAgentModel], ...seats] as const
  return Object.fromEntries(all.flatMap(([name, choice]) => (choice === undefined ? [] : [[name, modelText(choice)]])))
}

/** A definition as `fleet.definitions()` shows it, where no fleet is open. */
export const definitionViewOf = (definition: AssistantDefinition): DefinitionView => {
  const { compaction, memory, pairRate, persona, recallScopes, sleep } = definition
  return {
    name: definition.name,
    isTeam: definition.team !== undefined,
    tags: definition.tags ?? [],
    systemPrompt: definition.systemPrompt,
    ...defined({ persona }),
    tools: toolsOf(definition),
    ...defined({ output: definition.output?.document }),
    settings: definition.settings,
    rules: definition.rules,
    ...defined({ sleep, memory, compaction, pairRate, recallScopes }),
    specialists: definition.specialists ?? [],
    names: definition.listening?.names ?? [],
    blocks: (definition.blocks ?? []).map(({ label }) => label),
    ...teamOf(definition),
    contexts: contextsOf(definition),
    models: modelsOf(definition),
    maxContextTokens: definition.maxContextTokens,
    reservedResponseTokens: definition.reservedResponseTokens
  }
}
