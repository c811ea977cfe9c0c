// Paths: how many files a reader meets who follows one piece of work.
// Owns the bounds, the grouping and the table. Leaves doing and watching to walk.ts, in a process each.
// P3  Each piece of work has its bound, and one that entered nothing has failed.
// P4  Files stand under their package, the package with the most first.

import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { roomOf } from "../../test/architecture/repository.ts"
import { missedBy } from "./count.ts"

const WORKS = {
  answer: { name: "one short answer", most: 80 },
  dream: { name: "one dream", most: 95 },
  task: { name: "one delegated task", most: 120 }
} as const

type WorkName = keyof typeof WORKS
const workNames = Object.keys(WORKS) as ReadonlyArray<WorkName>

export interface Path {
  readonly name: string
  readonly files: number
  readonly most: number
  readonly packages: Readonly<Record<string, ReadonlyArray<string>>>
}

export interface PathsReport {
  readonly ok: boolean
  readonly missed: ReadonlyArray<string>
  readonly paths: Readonly<Record<string, Path>>
}

const byPackage = (files: ReadonlyArray<string>): Path["packages"] => {
  const groups = Object.entries(Object.groupBy(files, roomOf)).map(([room, own = []]) => [room, own] as const)
  return Object.fromEntries(groups.toSorted(([, one], [, other]) => other.length - one.length))
}

export const pathsReportOf = (entered: Readonly<Record<WorkName, ReadonlyArray<string>>>): PathsReport => {
  const paths = workNames.map((work) => {
    const files = entered[work]
    return [work, { ...WORKS[work], files: files.length, packages: byPackage(files) }] as const
  })
  const missed = missedBy(
    paths.map(([, { files, most, name }]) => ({ name, most, value: files, examined: files, found: [], figures: {} }))
  )
  return { ok: missed.length === 0, missed, paths: Object.fromEntries(paths) }
}

/** Nothing of the environment but where programs and temporary files lie: a key would choose another model. */
const bareEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    ["PATH", "HOME", "TMPDIR"].flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    })
  )

const enteredBy = async (folder: string, work: WorkName): Promise<ReadonlyArray<string>> => {
  const args = ["--disable-warning=ExperimentalWarning", join(folder, "scripts/house/walk.ts"), work]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env: bareEnvironment() })
  return JSON.parse(stdout) as ReadonlyArray<string>
}

/** One after the other: they measure calls and no time, but a busy machine could let a lease be renewed meanwhile. */
export const pathsIn = async (folder: string): Promise<PathsReport> => {
  const answer = await enteredBy(folder, "answer")
  const dream = await enteredBy(folder, "dream")
  return pathsReportOf({ answer, dream, task: await enteredBy(folder, "task") })
}

export const pathsTableOf = ({ missed, paths }: PathsReport): string => {
  const lines = Object.values(paths).flatMap(({ files, most, name, packages }) => [
    `${name}: ${files} files, at most ${most}`,
    ...Object.entries(packages).flatMap(([room, own]) => [
      `  ${room}: ${own.length}`,
      ...own.map((path) => `    ${path.slice(room.length + 1)}`)
    ]),
    ""
  ])
  return [...lines, ...(missed.length === 0 ? ["every bound is kept"] : missed)].join("\n")
}
