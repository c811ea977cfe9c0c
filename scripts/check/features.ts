// Features: the step that holds every row of the finished issues to a passing test that cites it.
// Owns nothing but the counting. Leaves the judgement to scripts/features, the runs to the test steps.

import { citationsIn } from "../features/citations.ts"
import { coverageOf, tableOf } from "../features/coverage.ts"
import { joined } from "../features/results.ts"
import { rows } from "../features/rows.ts"
import { root } from "./program.ts"
import type { Outcome, Step } from "./step.ts"
import { ranProject, testProjects } from "./tests.ts"

const prove = async (): Promise<Outcome> => {
  const reports: Array<Awaited<ReturnType<typeof ranProject>>["report"]> = []
  for (const project of testProjects) reports.push((await ranProject(project)).report)
  const citations = citationsIn(joined(reports), root)
  const coverage = coverageOf(rows, citations)
  return { ok: coverage.ok, count: citations.cited.length, output: tableOf(coverage) }
}

export const features: Step = { name: "features", unit: "citations", prove }
