// Mutate: breaks rows in copies of the tree, one at a time, and looks which tests die of it.
// Owns the copies, the runs and the judgement. Leaves the breaks to mutants/.
// B1  The tree itself is never changed. A copy has the sources, and links to the packages that are installed.
// B2  Only a test that was run and failed kills: a file that can not be loaded, or a run without a test, kills nothing.
// B3  A test that fails in the copy as it is kills nothing either: each test is run there once before it judges.

import { spawn } from "node:child_process"
import {
  cpSync,
  existsSync,
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
import { root, run } from "../check/program.ts"
import { citationsIn, type Results, rowsIn } from "./citations.ts"
import { flawOf, type Mutant, mutated } from "./mutants/mutant.ts"

export interface Killed {
  readonly row: string
  readonly file: string
  /** Tests that died, `file > group > title`; none: it survived. */
  readonly died: ReadonlyArray<string>
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

/** The files of the tree, those among them that git does not know yet. */
const filesOfTree = async (): Promise<ReadonlyArray<string>> => {
  const listed = await run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
  return listed.stdout.split("\0").filter((each) => existsSync(join(root, each)) && each !== "")
}

const copyOf = async (files: ReadonlyArray<string>): Promise<string> => {
  const copy = mkdtempSync(join(tmpdir(), "reverie-mutants-"))
  for (const file of files) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(root, file), join(copy, file), { errorOnExist: false, force: true })
  }
  for (const folder of packageFolders) linkPackages(join(root, folder), join(copy, folder))
  return copy
}

/** Test files in which a title may cite a row, or that a mutant names. */
const filesFor = (copy: string, { row, tests = [] }: Mutant, all: ReadonlyArray<string>): ReadonlyArray<string> =>
  all
    .filter((file) => file.endsWith(".test.ts"))
    .filter(
      (file) =>
        tests.some((part) => file.includes(part)) || rowsIn(readFileSync(join(copy, file), "utf8")).includes(row)
    )

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

const outcomesOf = (results: Results, copy: string, row: string, files: ReadonlyArray<string>) => {
  const ran = results.testResults.flatMap(({ assertionResults, name }) =>
    assertionResults
      .filter(({ status }) => status === "passed" || status === "failed")
      .map(({ ancestorTitles, status, title }) => ({
        test: [relative(copy, name), ...ancestorTitles, title].join(" > "),
        status
      }))
  )
  const citing = new Set(
    citationsIn(results, `${copy}/`).cited.flatMap((each) => (each.row === row ? [each.test] : []))
  )
  return ran.filter(({ test }) => citing.has(test) || files.some((part) => test.split(" > ")[0]?.includes(part)))
}

/** One mutant in a copy, which is whole again afterwards. */
const broken = async (
  copy: string,
  all: ReadonlyArray<string>,
  mutant: Mutant,
  failing: Map<string, ReadonlySet<string>>
): Promise<Killed> => {
  const { file, row, tests = [] } = mutant
  const flaw = flawOf(mutant, copy)
  if (flaw !== undefined) return { row, file, died: [], ran: 0, problem: flaw }
  const files = filesFor(copy, mutant, all)
  if (files.length === 0) return { row, file, died: [], ran: 0, problem: "no test cites the row" }
  const title = tests.length > 0 ? undefined : String.raw`(^|[^\w])F\d+`
  const judge = async () => outcomesOf(await testsIn(copy, files, title), copy, row, tests)
  const judged = [row, ...tests].join(" ")
  const before =
    failing.get(judged) ?? new Set((await judge()).flatMap((each) => (each.status === "failed" ? [each.test] : [])))
  failing.set(judged, before)
  const path = join(copy, file)
  const source = readFileSync(path, "utf8")
  try {
    writeFileSync(path, mutated(mutant, source))
    const ran = await judge()
    const died = ran.flatMap(({ status, test }) => (status === "failed" && !before.has(test) ? [test] : []))
    return { row, file, died, ran: ran.length, ...(ran.length === 0 ? { problem: "no test was run" } : {}) }
  } finally {
    writeFileSync(path, source)
  }
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
  const work = async () => {
    const copy = await copyOf(files)
    const failing = new Map<string, ReadonlySet<string>>()
    try {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const killed = await broken(copy, files, next, failing)
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
