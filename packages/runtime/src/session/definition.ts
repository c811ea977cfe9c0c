// Definition: what an assistant is made of, apart from what it has lived through.
// Owns the shape. Leaves its making to the SDK, and its identity to the name stored with each assistant.
// I1  A definition may change between two runs: an assistant takes up the new one with its next tick.

import type { Directory, Listening, PairRate, Settings, SleepSchedule, Team } from "@reverie/assistant"
import type { Retention } from "@reverie/ledger"
import type { MemoryKind, RecallScope, Review, SearchMode } from "@reverie/memory"
import type {
  CompactionConfig,
  ContextBuild,
  DefinesContexts,
  PlaceholderValues,
  PromptTemplate
} from "@reverie/context"
import type { Model, Price } from "@reverie/model"
import type { Address, Purpose, ToolRule } from "@reverie/protocol"
import type { Form, HookTable, Toolkit } from "@reverie/tools"
import * as Context from "effect/Context"

/** How an assistant recalls: by itself with each event, and with its tool where a call does not say otherwise. */
export interface MemoryRequest {
  /** auto, the default: what belongs to an event is recalled and shown with it. */
  readonly recall?: "auto" | "off"
  /** Most memories shown with one event; 8 when not said. */
  readonly maxHits?: number
  /** Most tokens that they may take; 1,500 when not said. */
  readonly maxTokens?: number
  /** How memories are searched; "auto" when not said: by words and meaning where there is an embedder, else by words. */
  readonly mode?: SearchMode
  /** Kinds of memories that are recalled; all but profiles when not said. */
  readonly kinds?: ReadonlyArray<MemoryKind>
  /** Least trust of a memory that is recalled, 0 to 1; a call can not lower it. */
  readonly minTrust?: number
  /**
   * What one person says is kept from the others: a tick that a person begins is shown that person's part of the history, and what was
   * learnt of it. Journal, goals, session memory and memory blocks are the assistant's own, and shown to all. False when not said.
   */
  readonly perPerson?: boolean
}

/** Models that stand in the place of the fleet's, by what is asked. */
export interface DefinitionModels extends Readonly<Partial<Record<Purpose, Model["Service"]>>> {
  /** For what a team asks of it, by the id of the team. */
  readonly forTeams?: ReadonlyMap<string, Model["Service"]>
  /** For sub-agents that work on its tasks, those with a model of their own apart. */
  readonly forSubAgents?: Model["Service"]
  /** What it answers with was chosen for this very definition. */
  readonly isOwn?: true
}

export interface Definition extends DefinesContexts {
  readonly name: string
  readonly systemPrompt: string
  /** The key of the template that component 0 is rendered from; the system prompt alone stands there when not said. */
  readonly template?: string
  /** The key of the template that stands in the place of the system prompt where the tenant has written one. */
  readonly instructionsKey?: string
  readonly persona?: string
  /** The settings that differ from the defaults. */
  readonly settings: Partial<Settings>
  readonly toolkit: Toolkit
  /** Who weighs a task where `settings.assessTask` asks for it; the heuristic when not said. */
  readonly assessWith?: "heuristic" | "model"
  /** How it listens to what is said around it; what differs from the defaults. */
  readonly listening?: Partial<Listening>
  /** How its history is compacted; what differs from the defaults. Whether and when stands in the settings. */
  readonly compaction?: Partial<CompactionConfig>
  /** Its sleep schedule; it goes to sleep by order only when not said. */
  readonly sleep?: SleepSchedule
  /** What of its dreams waits for a person's word; nothing when not said. */
  readonly review?: Review
  /** What becomes of the older part of its life; as its tenant has it when not said. */
  readonly retention?: Retention
  readonly memory?: MemoryRequest
  /** Whose memories it may look into: its own and what others share with it when not said. */
  readonly recallScopes?: ReadonlyArray<RecallScope>
  /** Constraints on the order and number of tool calls in a tick. */
  readonly rules: ReadonlyArray<ToolRule>
  /** How often it may write to another assistant; what differs from the defaults. */
  readonly pairRate?: Partial<PairRate>
  /** What its prompts hold and how much of it; model overrides are applied where the model is known. */
  readonly prompt?: ContextBuild
  /** Which models it asks; the fleet's for what is not named here. */
  readonly modelFor?: DefinitionModels
  /** What its models cost where the prices of the fleet do not name them; as usual when not said. */
  readonly prices?: Price
  /** Which parts of messages its model takes: for counting; all of them when not said. */
  readonly accepts?: ReadonlyArray<string>
  /** It is a team: its ticks are decided by its pattern, and no model is asked. */
  readonly team?: Team
  /** The form that its answers to messages must have. */
  readonly output?: Form
  /** Functions of the user that stand as guardrails, those of the fleet first. */
  readonly hooks?: HookTable
  /** Definitions that its tasks may be handed on to by name, besides its own. */
  readonly specialists?: ReadonlyArray<string>
  /** Size of the context window, in tokens. */
  readonly maxContextTokens: number
  /** Part of the window kept free for the reply, in tokens. */
  readonly reservedResponseTokens: number
}

const DAY_SECONDS = 86_400

/** For the gaps of every text. `tick_rate`: after how many seconds it is woken when nothing arrives; 0 where nothing wakes it. */
const firstValues = ({ assistant, tenant }: Address, { sleep }: Definition): PlaceholderValues => ({
  assistant,
  tenant,
  tick_rate: sleep?.enabled === true ? DAY_SECONDS : 0,
  reflection: ""
})

/** What its prompts are rendered with, as a tick sees it. */
export interface Rendering {
  /** For the gaps in what people wrote. */
  readonly values: PlaceholderValues
  /** Templates that the tenant wrote, by their keys. */
  readonly templates: ReadonlyMap<string, PromptTemplate>
  /** The model is asked for tool calls in JSON. */
  readonly isPlain: boolean
  /** What it did of late, where its prompts show that. */
  readonly activity: string
}

/** The templates of a session that has not read any. */
export const NOT_READ: Rendering["templates"] = new Map()

export const firstRendering = (address: Address, definition: Definition): Rendering => ({
  values: firstValues(address, definition),
  templates: NOT_READ,
  isPlain: false,
  activity: ""
})

export class Definitions extends Context.Service<
  Definitions,
  {
    readonly find: (name: string) => Definition | undefined
  }
>()("@reverie/runtime/Definitions") {}

/** Who can be written to in the fleet that a worker works for. Empty when no one said who there is: then assistants are reached by their ids alone. */
export const FleetDirectory = Context.Reference<Directory>("@reverie/runtime/FleetDirectory", {
  defaultValue: () => []
})
