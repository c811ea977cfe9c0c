// Tree: the files of a source tree that the measure counts, and its packages.
// Owns the list of files, what of it is source, and parsing each file at most once. Leaves counting to the other files.
// T1  Source is `src` of packages, adapters and apps. Tests, the testkit, tools and examples only use it: an example is
//     a program of a user, so it neither grows nor shrinks the codebase that a newcomer has to read.
// T2  Where the root is a git repository, git lists the files; elsewhere a walk does, without what is installed or built.

import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs"
import { dirname, join } from "node:path/posix"
import { type Module, moduleOf, roomOf } from "../../test/architecture/repository.ts"
import { type Import, importsOf } from "../../test/architecture/syntax.ts"

export interface TreeFile {
  /** From the root, with forward slashes. */
  readonly path: string
  readonly text: string
  readonly module: () => Module
  readonly imports: () => ReadonlyArray<Import>
}

export interface TreePackage {
  readonly folder: string
  readonly name: string
  /** The file behind each specifier that others may import, e.g. `@reverie/tools/render`. */
  readonly barrels: ReadonlyMap<string, string>
}

export interface Tree {
  readonly listedBy: "git" | "walk"
  readonly files: ReadonlyMap<string, TreeFile>
  readonly source: ReadonlyArray<TreeFile>
  readonly packages: ReadonlyArray<TreePackage>
}

const SOURCE = /^(?:packages\/adapters\/[^/]+|packages\/(?!adapters\/|testkit\/)[^/]+|apps\/[^/]+)\/src\//
const USER = /^(?:packages|apps|examples|test|scripts)\//
const INSTALLED = new Set(["node_modules", "dist"])

export const isSource = (path: string): boolean => SOURCE.test(path)

const git = (root: string, ...args: ReadonlyArray<string>): string =>
  execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 2 ** 26 })

/** Undefined where the root is no repository: a folder somewhere inside another one would have no files at all. */
const listedByGit = (root: string): ReadonlyArray<string> | undefined => {
  try {
    if (realpathSync(git(root, "rev-parse", "--show-toplevel").trimEnd()) !== realpathSync(root)) return undefined
    const all = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate").split("\0")
    return all.filter((path) => path !== "" && existsSync(join(root, path)))
  } catch {
    return undefined
  }
}

const walk = (root: string, folder = ""): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isFile()) return [path]
    return entry.isDirectory() && !INSTALLED.has(entry.name) && !entry.name.startsWith(".") ? walk(root, path) : []
  })

const once = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}

const fileAt = (root: string, path: string): TreeFile => {
  const text = readFileSync(join(root, path), "utf8")
  const module = once(() => moduleOf(path, text))
  return { path, text, module, imports: once(() => importsOf(module())) }
}

const packageAt = (root: string, path: string): TreePackage => {
  const { exports, name } = JSON.parse(readFileSync(join(root, path), "utf8")) as {
    readonly name: string
    readonly exports?: Readonly<Record<string, string>>
  }
  const folder = dirname(path)
  const barrels = Object.entries(exports ?? {}).map(([sub, file]) => [join(name, sub), join(folder, file)] as const)
  return { folder, name, barrels: new Map(barrels) }
}

export const readTree = (root: string): Tree => {
  const listed = listedByGit(root)
  const paths = listed ?? walk(root)
  const code = paths.filter((path) => USER.test(path) && /\.tsx?$/.test(path)).toSorted()
  const files = new Map(code.map((path) => [path, fileAt(root, path)]))
  const manifests = paths.filter((path) => path.endsWith("/package.json") && roomOf(path) === dirname(path))
  return {
    listedBy: listed === undefined ? "walk" : "git",
    files,
    source: [...files.values()].filter(({ path }) => isSource(path)),
    packages: manifests.toSorted().map((path) => packageAt(root, path))
  }
}

/** The file of the tree that a relative import means; undefined for packages and for what is no code. */
export const targetOf = ({ files }: Tree, from: string, to: string | undefined): string | undefined => {
  if (to === undefined || !to.startsWith(".")) return undefined
  const path = join(dirname(from), to)
  return [path, `${path}.ts`, `${path}.tsx`, `${path}/index.ts`].find((each) => files.has(each))
}
