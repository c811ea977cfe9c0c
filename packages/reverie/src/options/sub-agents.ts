// SubAgentsOption: how a user says what sub-agents an assistant may have, and what it may spend.
// Owns the checks and the way into the statechart's settings. Leaves admission to the statechart.
// O1  Naming the option is meaning it: sub-agents are allowed unless `enabled` is false.
// O2  A limit that is left out has the default of the settings.
// O3  A limit that is named holds as it was named, or is refused.

import { chargedPrice, type Price, type Tariff } from "@reverie/model"
import { defined } from "@reverie/protocol"
import { MAX_SUB_AGENTS, settingRanges, type Settings } from "@reverie/assistant"
import { delegateTools, type Tool } from "@reverie/tools"
import { flawOfModel, type ModelChoice } from "../models/model-choice.ts"
import { flag, flawOfShape, oneOf, type Shape, shaped, texts, whole } from "./shape.ts"

/** What sub-agents an assistant may have. */
export interface SubAgentsOption {
  /** True when left out. */
  readonly enabled?: boolean
  /** How many may be open at once, 0 to 100; 3 when left out (the sources' `sub_agent_budget`). */
  readonly maxConcurrent?: number
  /** Levels of sub-agents below this assistant, 1 to 8; 1 when left out: sub-agents have none of their own. */
  readonly maxDepth?: number
  /** What becomes of a task whose sub-agent failed. The model reads why when left out (`report`). */
  readonly onFailure?: "report" | "retry" | "give-up"
  /** How often a task is handed on again, 1 to 10; 1 when left out, and only with `onFailure: "retry"`. */
  readonly maxRetries?: number
  /** Ids of other assistants of the fleet, from whose definitions sub-agents may be created. */
  readonly assistants?: ReadonlyArray<string>
  /** The model of its sub-agents, those apart whose definition names one of its own; as it answers itself when left out. */
  readonly model?: ModelChoice
  /** The most that one sub-agent may spend. */
  readonly budget?: SubAgentBudget
  /** How long a sub-agent that must end has to say what it spent, in milliseconds; 60,000 when left out. */
  readonly graceMs?: number
}

/** The most that one sub-agent may spend. */
export interface SubAgentBudget {
  /** 50,000 when left out. */
  readonly tokens?: number
  /** Model calls; 20 when left out. */
  readonly calls?: number
  /** Milliseconds until it must have ended; 300,000 when left out. */
  readonly timeoutMs?: number
  /** In millionths of a unit; no bound when left out. Each model that it may ask needs a price. */
  readonly costMicros?: number
}

/** What the ticks of an assistant may spend in its whole life, sub-agents included. No bound where one is left out. */
export interface BudgetOption {
  /** Tokens of prompts and replies together. */
  readonly tokens?: number
  /** Model calls. */
  readonly calls?: number
  /** In millionths of a unit. Each model that it may ask needs a price: of the fleet, of `prices`, or its usual one. */
  readonly costMicros?: number
}

/** What tokens cost, in millionths of a unit for a million of them. */
export interface PricesOption {
  /** Tokens of the prompt. */
  readonly inputMicros: number
  /** Of those that come out of the provider's cache; the share that is usual for the model when left out, else all. */
  readonly cachedInputMicros?: number
  /** Tokens of the reply. */
  readonly outputMicros: number
}

/** The options about spending of `defineAssistant`. */
export interface SpendingOptions {
  /** Sub-agents that it may hand tasks on to; none when left out, and `{}` allows them with all defaults. */
  readonly subAgents?: SubAgentsOption
  /** What its ticks may spend in its whole life. No bound when left out. */
  readonly budget?: BudgetOption
  /** What its models cost where the prices of the fleet do not name them. As usual when left out. */
  readonly prices?: PricesOption
}

/** None of it is no budget: to leave it out says that. */
const atLeastOne = (name: keyof typeof settingRanges) => whole(1, settingRanges[name][1])

const amountShape: Shape = {
  tokens: atLeastOne("budgetTokens"),
  calls: atLeastOne("budgetCalls"),
  costMicros: atLeastOne("budgetCostMicros")
}

const spendingShape: Shape = {
  subAgents: shaped("subAgents", {
    enabled: flag,
    maxConcurrent: whole(0, MAX_SUB_AGENTS),
    maxDepth: atLeastOne("subAgentDepth"),
    onFailure: oneOf("report", "retry", "give-up"),
    maxRetries: atLeastOne("subAgentRetries"),
    assistants: texts,
    model: (value) => {
      const flaw = flawOfModel(value)
      return flaw === undefined ? undefined : `model ${flaw}`
    },
    budget: shaped("budget", { ...amountShape, timeoutMs: atLeastOne("subAgentMs") }),
    graceMs: atLeastOne("subAgentGraceMs")
  }),
  budget: shaped("budget", amountShape),
  prices: shaped("prices", {
    inputMicros: whole(...settingRanges.inputPriceMicros),
    cachedInputMicros: whole(...settingRanges.inputPriceMicros),
    outputMicros: whole(...settingRanges.outputPriceMicros)
  })
}

const isAllowed = ({ subAgents }: SpendingOptions): boolean => subAgents !== undefined && subAgents.enabled !== false

export const flawOfSpending = (options: SpendingOptions): string | undefined => {
  const { budget = {}, prices, subAgents = {} } = options
  const flaw = flawOfShape("its", { budget, prices, subAgents }, spendingShape)
  if (flaw !== undefined) return flaw.replace(/^its\./, "its ")
  const { maxRetries, onFailure = "report" } = subAgents
  if (maxRetries !== undefined && onFailure !== "retry") return 'its subAgents.maxRetries need onFailure: "retry"'
  return undefined
}

// Pricing: what a budget of cost reserves for a call.
// P1  It is reserved at the dearest price at which any model that may answer would be charged: by the prices of the fleet, else by
//     those of the assistant, else as usual.
// P2  A budget of cost over a model whose price no one knows could not be kept, and is refused.

/** True where something of what it may spend is bound by cost. */
export const isCosted = ({ budgetCostMicros = 0, subAgentCostMicros = 0 }: Partial<Settings>): boolean =>
  budgetCostMicros + subAgentCostMicros > 0

/** The settings that reserve for calls of these models; a text names the first model whose price no one knows. */
export const reservingSettings = (
  models: ReadonlyArray<string>,
  tariff: Tariff,
  own: Price | undefined
): Pick<Settings, "inputPriceMicros" | "outputPriceMicros"> | string => {
  const prices = models.map((model) => chargedPrice(tariff, own, model))
  const unknown = prices.indexOf(undefined)
  const most = (of: "inputMicros" | "outputMicros") => Math.max(0, ...prices.map((price) => price?.[of] ?? 0))
  return unknown < 0
    ? { inputPriceMicros: most("inputMicros"), outputPriceMicros: most("outputMicros") }
    : (models[unknown] ?? "")
}

const said = <Key extends keyof Settings>(key: Key, value: Settings[Key] | undefined): Partial<Settings> =>
  value === undefined ? {} : ({ [key]: value } as Partial<Settings>)

/** What the options come to among the statechart's settings. */
export const spendingSettings = (options: SpendingOptions): Partial<Settings> => {
  const { budget = {}, prices, subAgents } = options
  const { budget: each = {}, graceMs, maxConcurrent, maxDepth, maxRetries, onFailure } = subAgents ?? {}
  return {
    ...defined({ subAgents: subAgents === undefined ? undefined : isAllowed(options) }),
    ...said("subAgentBudget", maxConcurrent),
    ...said("subAgentDepth", maxDepth),
    ...said("subAgentTokens", each.tokens),
    ...said("subAgentCalls", each.calls),
    ...said("subAgentMs", each.timeoutMs),
    ...said("subAgentCostMicros", each.costMicros),
    ...said("subAgentGraceMs", graceMs),
    ...said("subAgentRetries", onFailure === "retry" ? (maxRetries ?? 1) : undefined),
    ...said("subAgentGiveUp", onFailure === "give-up" ? true : undefined),
    ...said("budgetTokens", budget.tokens),
    ...said("budgetCalls", budget.calls),
    ...said("budgetCostMicros", budget.costMicros),
    ...said("inputPriceMicros", prices?.inputMicros),
    ...said("outputPriceMicros", prices?.outputMicros)
  }
}

/** The tools that go with it, those apart that are there already. */
export const spendingTools = (options: SpendingOptions, tools: ReadonlyArray<Tool>): ReadonlyArray<Tool> =>
  isAllowed(options) ? delegateTools.filter((tool) => !tools.includes(tool)) : []
