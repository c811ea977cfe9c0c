// Mutate: breaks rows in copies of the tree, one at a time, and looks which tests die of it.
// Owns the copies, the runs and the judgement. Leaves the breaks to mutants/.
// B1  The tree itself is never changed. A copy has the sources, and links to the packages that are installed.
// B2  Only a test that was run and failed kills: a file that can not be loaded, or a run without a test, kills nothing.
// B3  A test that fails in the copy as it is kills nothing either: each test is run there once before it judges.
//     Files are run so once for all rows that they prove; a mutant runs those of their tests alone that can cite its row.
// B4  Tests that drive a running fleet judge first; the others of a row are run where none of those died.

import { spawn } from "node:child_process"
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { root } from "../check/program.ts"
import { citationsIn, type Results } from "./citations.ts"
import { drivesFleet, filesOfTree, isFleetTest, type Proving, provingIn } from "./proving.ts"
import { flawOf, type Mutant, mutated } from "./mutants/mutant.ts"

export interface Killed {
  readonly row: string
  readonly file: string
  /** Tests that died, `file > group > title`; none: it survived. */
  readonly died: ReadonlyArray<string>
  /** One of them drives a running fleet. */
  readonly fleet: boolean
  /** Tests that were run. */
  readonly ran: number
  readonly problem?: string
}

/** Links of the workspace lead into the copy, all others to what is installed. */
const linkPackages = (from: string, to: string): void => {
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) {
    const source = join(from, name)
    if (name.startsWith("@") && lstatSync(source).isDirectory()) linkPackages(source, join(to, name))
    else symlinkSync(lstatSync(source).isSymbolicLink() ? readlinkSync(source) : source, join(to, name))
  }
}

const packageFolders = ["node_modules", "test/node_modules", "packages/adapters/mcp/node_modules"]

const copyOf = async (files: ReadonlyArray<string>): Promise<string> => {
  const copy = mkdtempSync(join(tmpdir(), "reverie-mutants-"))
  for (const file of files) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(root, file), join(copy, file), { errorOnExist: false, force: true })
  }
  for (const folder of packageFolders) linkPackages(join(root, folder), join(copy, folder))
  return copy
}

/** Test files in which a title may cite a row, or that a mutant names: those that drive a fleet, and the others. */
const filesFor = ({ row, tests = [] }: Mutant, proving: Proving): ReadonlyArray<ReadonlyArray<string>> => {
  const files = proving
    .filter(({ file, rows }) => rows.has(row) || tests.some((part) => file.includes(part)))
    .map(({ file }) => file)
  return [files.filter(drivesFleet), files.filter((file) => !drivesFleet(file))].filter(({ length }) => length > 0)
}

const testsIn = async (copy: string, files: ReadonlyArray<string>, title?: string): Promise<Results> => {
  const report = join(copy, "mutants.json")
  rmSync(report, { force: true })
  const titled = title === undefined ? [] : ["-t", title]
  const reporting = ["--silent", "--reporter", "json", "--outputFile", report]
  const vitest = join(copy, "node_modules/vitest/vitest.mjs")
  const child = spawn(process.execPath, [vitest, "run", ...files, ...titled, ...reporting], {
    cwd: copy,
    stdio: "ignore"
  })
  await new Promise((resolve) => child.once("close", resolve))
  try {
    return JSON.parse(readFileSync(report, "utf8")) as Results
  } catch {
    return { testResults: [] }
  }
}

const outcomesIn = (results: Results, copy: string) =>
  results.testResults.flatMap(({ assertionResults, name }) =>
    assertionResults
      .filter(({ status }) => status === "passed" || status === "failed")
      .map(({ ancestorTitles, status, title }) => ({
        test: [relative(copy, name), ...ancestorTitles, title].join(" > "),
        status
      }))
  )

/** Of the tests that cite the row, or stand in the files. */
const outcomesOf = (results: Results, copy: string, row: string, files: ReadonlyArray<string>) => {
  const ran = outcomesIn(results, copy)
  const citing = new Set(
    citationsIn(results, `${copy}/`).cited.flatMap((each) => (each.row === row ? [each.test] : []))
  )
  return ran.filter(({ test }) => citing.has(test) || files.some((part) => test.split(" > ")[0]?.includes(part)))
}

/** What one mutant is judged in, and by. */
interface Judging {
  readonly copy: string
  readonly proving: Proving
  /** Tests that fail in the copy as it is, by the files. */
  readonly failing: Map<string, ReadonlySet<string>>
}

type Judged = Pick<Killed, "died" | "ran">

/** Titles that cite any row, and those that can cite one: by its id, or in a range. */
const CITING = String.raw`(^|[^\w])F\d+`
const citing = (row: string): string => String.raw`(^|[^\w])(${row}(?!\w)|F\d+\s?[-–]\s?F?\d)`

const failingIn = async (copy: string, files: ReadonlyArray<string>, title?: string): Promise<ReadonlySet<string>> => {
  const outcomes = outcomesIn(await testsIn(copy, files, title), copy)
  return new Set(outcomes.flatMap(({ status, test }) => (status === "failed" ? [test] : [])))
}

/** What dies of a mutant among the tests of some files. */
const diedIn = async ({ copy, failing }: Judging, mutant: Mutant, files: ReadonlyArray<string>): Promise<Judged> => {
  const { file, row, tests = [] } = mutant
  const isWhole = tests.length > 0
  const judged = [isWhole, ...files].join(" ")
  const before = failing.get(judged) ?? (await failingIn(copy, files, isWhole ? undefined : CITING))
  failing.set(judged, before)
  const path = join(copy, file)
  const source = readFileSync(path, "utf8")
  try {
    writeFileSync(path, mutated(mutant, source))
    const results = await testsIn(copy, files, isWhole ? undefined : citing(row))
    const ran = outcomesOf(results, copy, row, tests)
    const died = ran.flatMap(({ status, test }) => (status === "failed" && !before.has(test) ? [test] : []))
    return { died, ran: ran.length }
  } finally {
    writeFileSync(path, source)
  }
}

/** One mutant in a copy, which is whole again afterwards. */
const broken = async (judging: Judging, mutant: Mutant): Promise<Killed> => {
  const { file, row } = mutant
  const none: Killed = { row, file, died: [], fleet: false, ran: 0 }
  const flaw = flawOf(mutant, judging.copy)
  if (flaw !== undefined) return { ...none, problem: flaw }
  let ran = 0
  const parts = filesFor(mutant, judging.proving)
  for (const files of parts) {
    const judged = await diedIn(judging, mutant, files)
    ran += judged.ran
    if (judged.died.length > 0) return { ...none, died: judged.died, fleet: judged.died.some(isFleetTest), ran }
  }
  if (ran > 0) return { ...none, ran }
  return { ...none, problem: parts.length === 0 ? "no test cites the row" : "no test was run" }
}

/** All of them, `workers` at a time. `tell` hears of each as it is judged. */
export const killedBy = async (
  mutants: ReadonlyArray<Mutant>,
  workers: number,
  tell: (killed: Killed) => void
): Promise<ReadonlyArray<Killed>> => {
  const waiting = [...mutants]
  const all: Array<Killed> = []
  const files = await filesOfTree()
  const proving = provingIn(root, files)
  const work = async () => {
    const copy = await copyOf(files)
    const judging: Judging = { copy, proving, failing: new Map() }
    try {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const killed = await broken(judging, next)
        all.push(killed)
        tell(killed)
      }
    } finally {
      rmSync(copy, { recursive: true, force: true })
    }
  }
  await Promise.all(Array.from({ length: Math.min(workers, mutants.length) }, work))
  return all
}
