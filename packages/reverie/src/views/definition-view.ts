// DefinitionView: a definition of the fleet as a person or a page wants to see it.
// Owns what is shown of one. Leaves its making to define-assistant.ts and define-team.ts.
// D1  A view is JSON: no function, no schema object, nothing that two processes would read differently.

import type { PairRate, Settings, SleepSchedule } from "@reverie/assistant"
import type { CompactionConfig } from "@reverie/context"
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

/** A definition as a person or a page wants to see it. */
export interface DefinitionView {
  /** The name under which assistants are created from it. */
  readonly name: string
  /** It answers by asking its members. */
  readonly isTeam: boolean
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

export const definitionViewOf = (definition: AssistantDefinition): DefinitionView => {
  const { compaction, memory, pairRate, persona, recallScopes, sleep } = definition
  return {
    name: definition.name,
    isTeam: definition.team !== undefined,
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
    models: modelsOf(definition),
    maxContextTokens: definition.maxContextTokens,
    reservedResponseTokens: definition.reservedResponseTokens
  }
}
