// SubAgentsOption: how a user says what sub-agents an assistant may have, and what it may spend.
// Owns the checks and the way into the statechart's settings. Leaves admission to the statechart.
// O1  Naming the option is meaning it: sub-agents are allowed unless `enabled` is false.
// O2  A limit that is not said has the default of the settings.

import { defined } from "@reverie/protocol"
import { MAX_SUB_AGENTS, type Settings } from "@reverie/assistant"
import { delegateTools, type Tool } from "@reverie/tools"

export interface SubAgentsOption {
  /** True when not said. */
  readonly enabled?: boolean
  /** How many may be open at once; 3 when not said. */
  readonly budget?: number
  /** Levels of sub-agents below this assistant; 1 when not said: sub-agents have none of their own. */
  readonly depth?: number
  /** What becomes of a task whose sub-agent failed. The model is told of it when not said. */
  readonly onFailure?: "report" | "retry" | "giveUp"
  /** How often a task is handed on again; 1 when not said, and only with `onFailure: "retry"`. */
  readonly retries?: number
  /** Other assistants of the fleet whose definitions tasks may be handed on to, by their names. */
  readonly specialists?: ReadonlyArray<string>
  /** The most that one sub-agent gets: 50,000 tokens, 20 model calls and 300 seconds when not said. */
  readonly limits?: {
    readonly tokens?: number
    readonly calls?: number
    readonly seconds?: number
    /** In millionths of a unit; no bound when not said. Needs `prices`. */
    readonly costMicros?: number
  }
}

/** What its ticks may spend in its whole life, sub-agents included. */
export interface BudgetOption {
  readonly tokens?: number
  readonly calls?: number
  readonly costMicros?: number
}

/** What tokens cost, in millionths of a unit for a million of them. */
export interface PricesOption {
  readonly inputMicros: number
  readonly outputMicros: number
}

export interface SpendingOptions {
  readonly subAgents?: SubAgentsOption
  readonly budget?: BudgetOption
  readonly prices?: PricesOption
}

const SECOND_MILLIS = 1_000

const isCount = (value: number | undefined, least = 1): boolean =>
  value === undefined || (Number.isSafeInteger(value) && value >= least)

const isAllowed = ({ subAgents }: SpendingOptions): boolean => subAgents !== undefined && subAgents.enabled !== false

export const flawOfSpending = (options: SpendingOptions): string | undefined => {
  const { budget = {}, prices, subAgents = {} } = options
  const { limits = {}, onFailure = "report", retries } = subAgents
  if (!isCount(subAgents.budget, 0) || (subAgents.budget ?? 0) > MAX_SUB_AGENTS) {
    return `its subAgents.budget must be a whole number of at most ${MAX_SUB_AGENTS}`
  }
  if (!["report", "retry", "giveUp"].includes(onFailure))
    return "its subAgents.onFailure must be report, retry or giveUp"
  if (retries !== undefined && onFailure !== "retry") return 'its subAgents.retries need onFailure: "retry"'
  const counts = [subAgents.depth, retries, ...Object.values(limits), ...Object.values(budget)]
  if (!counts.every((count) => isCount(count))) return "its budget and limits must be whole numbers of at least 1"
  const isPriced = prices !== undefined && prices.inputMicros + prices.outputMicros > 0
  const isCosted = limits.costMicros !== undefined || budget.costMicros !== undefined
  return isCosted && !isPriced ? "a limit of costMicros needs its prices" : undefined
}

const said = <Key extends keyof Settings>(key: Key, value: Settings[Key] | undefined): Partial<Settings> =>
  value === undefined ? {} : ({ [key]: value } as Partial<Settings>)

/** What the options come to among the statechart's settings. */
export const spendingSettings = (options: SpendingOptions): Partial<Settings> => {
  const { budget = {}, prices, subAgents } = options
  const { limits = {}, onFailure, retries } = subAgents ?? {}
  return {
    ...defined({ subAgents: subAgents === undefined ? undefined : isAllowed(options) }),
    ...said("subAgentBudget", subAgents?.budget),
    ...said("subAgentDepth", subAgents?.depth),
    ...said("subAgentTokens", limits.tokens),
    ...said("subAgentCalls", limits.calls),
    ...said("subAgentMillis", limits.seconds === undefined ? undefined : limits.seconds * SECOND_MILLIS),
    ...said("subAgentCostMicros", limits.costMicros),
    ...said("subAgentRetries", onFailure === "retry" ? (retries ?? 1) : undefined),
    ...said("subAgentGiveUp", onFailure === "giveUp" ? true : undefined),
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
