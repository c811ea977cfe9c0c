// Arbitraries: random values of the statechart's words, for properties.
// Owns their spread: common cases often, limits and hostile numbers sometimes.

import { type ToolCategory, toolCategories } from "@reverie/protocol"
import * as fc from "fast-check"
import {
  type CallRequest,
  executionModes,
  type InferFailure,
  type OutageSeen,
  type Restriction,
  type Settings,
  type Signals,
  type ToolOutput
} from "../src/index.ts"

/** One seed for all, so that a run can be repeated; another one may find more. */
export const RUNS = { seed: 4_711, numRuns: 200 }

/** For tests of many thousand decisions: a busy machine is no failure. */
export const PATIENT = { timeout: 120_000 }

const number = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(0, 1, -1, NaN, Infinity, -Infinity, 2.5))

/** A record in which any key may be missing. */
const some = <T extends object>(model: { readonly [Key in keyof T]-?: fc.Arbitrary<T[Key]> }) =>
  fc.record(model, { requiredKeys: [] }) as unknown as fc.Arbitrary<Partial<T>>

/** Settings as a person might give them: every number may be absurd. */
export const anySettings: fc.Arbitrary<Partial<Settings>> = some<Settings>({
  multiAction: fc.boolean(),
  maxIterations: number,
  confirmDangerous: fc.boolean(),
  terminalEndsLoop: fc.boolean(),
  assessTask: fc.boolean(),
  subAgents: fc.boolean(),
  subAgentBudget: number,
  subAgentDepth: number,
  subAgentTokens: number,
  subAgentCalls: number,
  subAgentCostMicros: number,
  subAgentMs: number,
  subAgentGraceMs: number,
  subAgentRetries: number,
  subAgentGiveUp: fc.boolean(),
  budgetTokens: number,
  budgetCalls: number,
  budgetCostMicros: number,
  inputPriceMicros: number,
  outputPriceMicros: number,
  maxErrors: number,
  approvalMs: number,
  reportMs: number,
  parkMinMs: number,
  parkMaxMs: number,
  sleepMs: number,
  sleepTickMs: number,
  compactEnabled: fc.boolean(),
  compactSleepRatio: number,
  compactEmergencyRatio: number
})

const aCategory: fc.Arbitrary<ToolCategory> = fc.constantFrom(...toolCategories)

export const aRestriction: fc.Arbitrary<Restriction> = some<Required<Omit<Restriction, "sources" | "eventClass">>>({
  mode: fc.constantFrom(...executionModes),
  maxIterations: number,
  categories: fc.uniqueArray(aCategory),
  confirmDangerous: fc.boolean(),
  terminalEndsLoop: fc.boolean(),
  subAgents: fc.boolean()
})

/** Names and approvals at their longest: a tool name of 64 characters, an approval that is a hash. */
export const aRequest: fc.Arbitrary<CallRequest> = fc
  .record({ category: aCategory, name: fc.stringMatching(/^[a-z_]{1,64}$/), approval: fc.nat() })
  .map(({ approval, category, name }) => ({
    tool: name,
    category,
    ...(category === "dangerous" ? { approval: approval.toString(16).padStart(64, "0") } : {})
  }))

export const aReply = fc.oneof(
  { weight: 1, arbitrary: fc.constant({ calls: [] as ReadonlyArray<CallRequest> }) },
  { weight: 1, arbitrary: fc.constant({ calls: [] as ReadonlyArray<CallRequest>, misshapen: true as const }) },
  { weight: 1, arbitrary: fc.constant({ calls: [] as ReadonlyArray<CallRequest>, refused: true as const }) },
  { weight: 3, arbitrary: fc.array(aRequest, { minLength: 1, maxLength: 4 }).map((calls) => ({ calls })) },
  { weight: 1, arbitrary: fc.array(aRequest, { minLength: 5, maxLength: 16 }).map((calls) => ({ calls })) }
)

/** What the runtime saw of a server that is not well. */
const anOutage: fc.Arbitrary<OutageSeen> = fc.record(
  {
    server: fc.constantFrom("127.0.0.1:9", "models.example:8443"),
    at: fc.nat(200_000),
    spread: fc.double({ min: 0, max: 1, noNaN: true }),
    withheld: fc.constant(true as const),
    alone: fc.constant(true as const),
    named: fc.constantFrom("all" as const, "one" as const)
  },
  { requiredKeys: ["server", "at", "spread"] }
)

export const aFailure: fc.Arbitrary<InferFailure> = fc
  .record({
    recovery: fc.constantFrom(
      "retry" as const,
      "retry" as const,
      "park" as const,
      "tell-owner" as const,
      "stop" as const
    ),
    reason: fc.string({ maxLength: 400 }),
    retryAfterMs: fc.option(fc.nat(10_000_000)),
    outage: fc.option(anOutage, { freq: 2 })
  })
  .map(({ outage, retryAfterMs, ...rest }) => ({
    ...rest,
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
    ...(outage === null ? {} : { outage })
  }))

export const aToolOutput: fc.Arbitrary<ToolOutput> = fc.record({
  ok: fc.oneof(fc.constant(true), fc.boolean()),
  pending: fc.oneof(fc.constant(false), fc.constant(false), fc.boolean())
})

export const someSignals: fc.Arbitrary<Signals> = fc.record({
  tokenRatio: fc.constantFrom(0, 0.3, 0.69, 0.7, 0.79, 0.8, 1.2),
  mailWaiting: fc.oneof(fc.constant(false), fc.constant(false), fc.boolean())
})

/** What an assessment can ask for once it has been through JSON. */
export const aStoredRestriction = aRestriction.filter(
  ({ maxIterations }) => maxIterations === undefined || Number.isFinite(maxIterations)
)

/** Settings of an assistant that is in use: mostly the defaults, compaction as often as not. */
export const usualSettings: fc.Arbitrary<Partial<Settings>> = some<Settings>({
  multiAction: fc.constantFrom(true, true, true, false),
  maxIterations: fc.integer({ min: 1, max: 10 }),
  confirmDangerous: fc.boolean(),
  terminalEndsLoop: fc.boolean(),
  assessTask: fc.boolean(),
  subAgents: fc.constantFrom(true, true, true, false),
  subAgentBudget: fc.integer({ min: 0, max: 5 }),
  subAgentDepth: fc.integer({ min: 0, max: 2 }),
  subAgentTokens: fc.integer({ min: 1, max: 100_000 }),
  subAgentCalls: fc.integer({ min: 1, max: 30 }),
  subAgentCostMicros: fc.constantFrom(0, 0, 1_000),
  subAgentMs: fc.integer({ min: 1, max: 100_000 }),
  subAgentGraceMs: fc.integer({ min: 1, max: 60_000 }),
  subAgentRetries: fc.integer({ min: 0, max: 2 }),
  subAgentGiveUp: fc.boolean(),
  budgetTokens: fc.constantFrom(0, 0, 0, 300, 20_000, 400_000),
  budgetCalls: fc.constantFrom(0, 0, 0, 1, 5),
  budgetCostMicros: fc.constantFrom(0, 0, 0, 1_000),
  inputPriceMicros: fc.constantFrom(0, 250_000),
  outputPriceMicros: fc.constantFrom(0, 2_000_000),
  maxErrors: fc.integer({ min: 1, max: 6 }),
  approvalMs: fc.integer({ min: 1, max: 100_000 }),
  reportMs: fc.integer({ min: 1, max: 100_000 }),
  parkMinMs: fc.integer({ min: 1, max: 5_000 }),
  parkMaxMs: fc.integer({ min: 1, max: 60_000 }),
  sleepMs: fc.integer({ min: 1, max: 100_000 }),
  sleepTickMs: fc.constantFrom(0, 0, 60_000),
  compactEnabled: fc.boolean(),
  compactSleepRatio: fc.constantFrom(0.5, 0.7, 0.75),
  compactEmergencyRatio: fc.constantFrom(0.75, 0.8)
})
