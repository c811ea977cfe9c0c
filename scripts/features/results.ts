// Results: the outcomes of tests, from a run made now or from files of runs made before.
// Owns the run and the reading. Leaves what the outcomes mean to citations.ts.

import { mkdir, readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { allOf, root, run } from "../check/program.ts"
import type { Results } from "./citations.ts"
import { filesOfTree, provingIn } from "./proving.ts"

export const readResults = async (file: string): Promise<Results> => JSON.parse(await readFile(file, "utf8")) as Results

export const joined = (all: ReadonlyArray<Results>): Results => ({
  testResults: all.flatMap(({ testResults }) => testResults)
})

const folder = join(root, ".reverie")
const file = join(folder, "features.json")

/** Runs, in every project, the tests that cite a row, of the files that can: the others can not change what is reported. */
export const runCiting = async (): Promise<Results> => {
  await mkdir(folder, { recursive: true })
  await rm(file, { force: true })
  const citing = String.raw`\bF[0-9]`
  const files = provingIn(root, await filesOfTree()).flatMap(({ file: test, rows }) => (rows.size > 0 ? [test] : []))
  const reporting = ["--silent", "--reporter", "json", "--outputFile", file]
  const said = await run("vitest", ["run", ...files, "-t", citing, ...reporting])
  try {
    return await readResults(file)
  } catch {
    throw new Error(`vitest left no results (code ${said.code})\n${allOf(said)}`)
  }
}
