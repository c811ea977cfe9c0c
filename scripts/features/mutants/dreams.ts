// Dream mutants: breaks of compaction, of what a dream does in its night, and of what the journal keeps.

import type { Mutant } from "./mutant.ts"

const config = "packages/context/src/compaction/config.ts"
const compaction = "packages/context/src/compaction/compaction.ts"
const split = "packages/context/src/compaction/split.ts"
const extraction = "packages/context/src/compaction/extraction.ts"
const guards = "packages/assistant/src/machine/base.ts"

export const dreamMutants: ReadonlyArray<Mutant> = [
  { row: "F47", file: config, find: "compactPreserveWindow: 20,", put: "compactPreserveWindow: 10," },
  {
    row: "F48",
    file: guards,
    find: "context.signals.tokenRatio >= compactSleepRatio",
    put: "context.signals.tokenRatio >= 0 * compactSleepRatio"
  },
  {
    row: "F49",
    file: "packages/runtime/src/dream/dream-job.ts",
    find: "const steps = [orphans, episodes, conversations] as const",
    put: "const steps = [episodes, orphans, conversations] as const"
  },
  {
    row: "F50",
    file: split,
    find: `if (!force && !(ratio >= threshold)) return skip("below-threshold")`,
    put: ""
  },
  {
    row: "F51",
    file: split,
    find: "Math.min(history.length - window, pendingFrom(history))",
    put: "pendingFrom(history)"
  },
  {
    row: "F52",
    file: "packages/runtime/src/compact/compact-job.ts",
    find: "summaryAsk({ config, messages: piece,",
    put: "summaryAsk({ config, messages: question.history,"
  },
  {
    row: "F53",
    file: "packages/context/src/compaction/marker.ts",
    find: "compacted_count: count,",
    put: "compacted_count: account.count,"
  },
  { row: "F54", file: compaction, find: "      startChange(next),\n", put: "" },
  { row: "F55", file: compaction, find: "      ...archived(input, id, summary)\n", put: "" },
  {
    row: "F56",
    file: guards,
    find: "context.signals.tokenRatio >= compactEmergencyRatio",
    put: "context.signals.tokenRatio >= 1.1 * compactEmergencyRatio"
  },
  {
    row: "F57",
    file: extraction,
    find: "Math.min(MAX_EMERGENCY_ROUNDS, preCompactMaxIterations)",
    put: "preCompactMaxIterations"
  },
  {
    row: "F58",
    file: split,
    find: "return splitHistory(history, { window, stretchTokens })",
    put: "return splitHistory(history, { window: force ? 1 : window, stretchTokens })"
  },
  { row: "F113", file: config, find: "Math.max(0, threshold - AIM_MARGIN)", put: "threshold" },
  {
    row: "F114",
    file: extraction,
    find: "const run = wanted.slice(0, Math.max(0, MAX_CALLS - made))",
    put: "const run = wanted"
  },
  {
    row: "F115",
    file: "packages/assistant/src/self/journal.ts",
    find: "    .filter(({ id }) => consolidated.has(id))\n",
    put: ""
  }
]
