// Tests: the steps that vitest proves, one a project of vitest.config.ts.
// Owns the counting of tests. Leaves which file belongs to which project to the configuration.
// T1  A skipped test is a failure: it counts as proof and proves nothing.

import { mkdir, readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { allOf, root, run } from "./program.ts"
import type { Outcome, Step } from "./step.ts"

interface Report {
  readonly numTotalTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
}

const folder = join(root, ".reverie/check")
const none: Report = { numTotalTests: 0, numPendingTests: 0, numTodoTests: 0 }

const readReport = async (file: string): Promise<Report> => {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Report
  } catch {
    // Without a report nothing was tested, and a count of none fails the step with vitest's own words.
    return none
  }
}

const prove = async (project: string): Promise<Outcome> => {
  const file = join(folder, `${project}.json`)
  await mkdir(folder, { recursive: true })
  await rm(file, { force: true })
  const reporters = ["--reporter", "dot", "--reporter", "json", "--outputFile.json", file]
  const said = await run("vitest", ["run", "--project", project, ...reporters])
  const { numPendingTests, numTodoTests, numTotalTests } = await readReport(file)
  const skipped = numPendingTests + numTodoTests
  const complaint = skipped === 0 ? "" : `\n${skipped} tests are skipped`
  return { ok: said.code === 0 && skipped === 0, count: numTotalTests, output: `${allOf(said)}${complaint}` }
}

export const testStep = (project: string): Step => ({ name: project, unit: "tests", prove: () => prove(project) })
