// Extraction: breaks of extraction, compaction and the journal (F59-F65, F105, F106, F113-F115).
// Owns these breaks. Leaves making and judging them to mutate.ts.

import type { Mutant } from "./mutant.ts"

const extraction = "packages/context/src/compaction/extraction.ts"
const extracting = "packages/runtime/src/compact/extracting.ts"

export const extractionMutants: ReadonlyArray<Mutant> = [
  {
    row: "F59",
    file: extraction,
    find: `  if (question.history.length < MIN_EXTRACTION_MESSAGES) return skip("too-short")\n`,
    put: ""
  },
  {
    row: "F60",
    file: extracting,
    find: "const history = [...question.history.map(({ message }) => message), ...rounds]",
    put: "const history = [...question.history.slice(-5).map(({ message }) => message), ...rounds]"
  },
  { row: "F61", file: extraction, find: `  if (!calls.every(isListed)) return { run, end: "other-tool" }\n`, put: "" },
  {
    row: "F62",
    file: extraction,
    find: `facts_recorded: before.facts_recorded + recorded("add_journal_entry")`,
    put: `facts_recorded: recorded("add_journal_entry")`
  },
  {
    row: "F63",
    file: "packages/runtime/src/prompt/layers.ts",
    find: `statusOf(decoded) === "compacting.extracting"`,
    put: `statusOf(decoded) === "compacting.replacing"`
  },
  {
    row: "F64",
    file: "packages/assistant/src/machine.ts",
    find: `      initial: "extracting",`,
    put: `      initial: "summarizing",`
  },
  {
    row: "F65",
    file: "packages/runtime/src/session/session.ts",
    find: "return conversationTokens(session.window) + beside",
    put: "return session.window.tokens"
  },
  {
    row: "F105",
    file: "packages/runtime/src/compact/compact-job.ts",
    find: "draftOf({ split: plan, trigger, threshold, ratio, earlier, strategy: config.strategy })",
    put: `draftOf({ split: plan, trigger, threshold, ratio, earlier, strategy: { type: "truncate" } })`
  },
  {
    row: "F106",
    file: "packages/context/src/compaction/split.ts",
    find: "const kept = turns.filter((turn) => turn.isOpen || (turn === around && turn.hasCalls))",
    put: "const kept = turns.filter((turn) => turn.isOpen)"
  },
  {
    row: "F113",
    file: "packages/context/src/compaction/split.ts",
    find: "const aimed = (aimOf(threshold) - MARKER_SHARE) * maxContextTokens",
    put: "const aimed = Infinity"
  },
  {
    row: "F114",
    file: extraction,
    find: "const run = wanted.slice(0, Math.max(0, MAX_CALLS - made))",
    put: "const run = wanted.slice(0, MAX_CALLS)"
  },
  {
    row: "F115",
    file: "packages/assistant/src/self/journal.ts",
    find: "if (entries.size <= MAX_ENTRIES) return []",
    put: "if (entries.size <= 2 * MAX_ENTRIES) return []"
  }
]
