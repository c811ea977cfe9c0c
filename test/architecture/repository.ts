// Repository: what is in it, as the laws of architecture see it: rooms, their manifests, their modules as syntax trees.
// Owns reading and parsing. Leaves judging to the rules, one a file, each a pure function from modules to faults.
// H1  A module that does not parse is a fault of its own, never a module without findings.
// H2  A rule sees a planted module exactly as it sees a real one: both come through `moduleOf`.

import { readFileSync } from "node:fs"
import { execFileSync } from "node:child_process"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseSync, type Program } from "oxc-parser"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** What a rule found: where, and what to do about it. */
export interface Fault {
  readonly where: string
  readonly what: string
}

export interface Module {
  /** From the root, with forward slashes. */
  readonly path: string
  /** The folder with the package.json it belongs to, from the root; empty for the root's own scripts. */
  readonly room: string
  readonly text: string
  readonly program: Program
}

export interface Room {
  readonly folder: string
  readonly name: string
  readonly dependencies: ReadonlyArray<string>
  /** What only a clone with its tools has. */
  readonly chosen?: ReadonlyArray<string>
}

export interface Repository {
  readonly rooms: ReadonlyArray<Room>
  readonly modules: ReadonlyArray<Module>
}

const roomPattern = /^(packages\/adapters\/[^/]+|packages\/[^/]+|apps\/[^/]+|examples\/[^/]+|test)(?=\/)/

export const roomOf = (path: string): string => roomPattern.exec(path)?.[1] ?? ""

export const moduleOf = (path: string, text: string): Module => {
  const { errors, program } = parseSync(path, text)
  const [broken] = errors
  if (broken !== undefined) throw new Error(`${path} does not parse: ${broken.message}`)
  return { path, room: roomOf(path), text, program }
}

/** Every file that is, or is about to be, part of the repository. */
export const filesOfRepository = (...patterns: ReadonlyArray<string>): ReadonlyArray<string> => {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", ...patterns]
  const deleted = execFileSync("git", ["ls-files", "-z", "--deleted"], { cwd: root, encoding: "utf8" }).split("\0")
  const all = execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\0")
  return all.filter((path) => path !== "" && !deleted.includes(path))
}

export const readText = (path: string): string => readFileSync(join(root, path), "utf8")

const roomAt = (manifest: string): Room => {
  const {
    name,
    dependencies = {},
    devDependencies = {},
    peerDependencies = {}
  } = JSON.parse(readText(manifest)) as {
    readonly name: string
    readonly dependencies?: Readonly<Record<string, string>>
    readonly devDependencies?: Readonly<Record<string, string>>
    readonly peerDependencies?: Readonly<Record<string, string>>
  }
  return {
    folder: dirname(manifest),
    name,
    dependencies: Object.keys(dependencies),
    chosen: Object.keys({ ...devDependencies, ...peerDependencies })
  }
}

const isSource = (path: string): boolean => path.includes("/src/") || path.startsWith("examples/")

export const readRepository = (): Repository => ({
  rooms: filesOfRepository("*/package.json").map(roomAt),
  modules: filesOfRepository("packages/*.ts", "apps/*.ts", "apps/*.tsx", "examples/*.ts")
    .filter((path) => isSource(path) && roomOf(path) !== "" && basename(dirname(path)) !== "fixtures")
    .map((path) => moduleOf(path, readText(path)))
})

export const isAdapter = (module: Module): boolean => module.path.startsWith("packages/adapters/")
