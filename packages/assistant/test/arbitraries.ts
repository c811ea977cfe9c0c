// Arbitraries: random values of the statechart's words, for properties.
// Owns their spread: common cases often, limits and hostile numbers sometimes.

import { type ToolCategory, toolCategories } from "@reverie/protocol"
import * as fc from "fast-check"
import type { CallRequest, Restriction, Settings } from "../src/index.ts"

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
  maxErrors: number,
  approvalMillis: number,
  reportMillis: number,
  parkMinMillis: number,
  parkMaxMillis: number,
  sleepMillis: number,
  compactEnabled: fc.boolean(),
  compactSleepRatio: number,
  compactEmergencyRatio: number
})

const aCategory: fc.Arbitrary<ToolCategory> = fc.constantFrom(...toolCategories)

export const aRestriction: fc.Arbitrary<Restriction> = some<Required<Restriction>>({
  mode: fc.constantFrom("single_action" as const, "react_loop" as const),
  maxIterations: number,
  categories: fc.uniqueArray(aCategory),
  confirmDangerous: fc.boolean()
})

/** Names and approvals at their longest: a tool name of 64 characters, an approval that is a hash. */
export const aRequest: fc.Arbitrary<CallRequest> = fc
  .record({ category: aCategory, name: fc.stringMatching(/^[a-z_]{1,64}$/), approval: fc.nat() })
  .map(({ approval, category, name }) => ({
    tool: name,
    category,
    ...(category === "dangerous" ? { approval: approval.toString(16).padStart(64, "0") } : {})
  }))
