// Manners: heads, names and sizes of files, and the number of entries at the root.
// Owns the rules about a file as a file. Leaves what is in it to the other rules.
// N1  Every module says first what it owns; only index.ts, errors.ts and main.ts need not; no invariant is called as a row is.
// N2  No room, folder or file is called after nothing (utils, common, ...), no class after its shape (Manager, ...).
// N3  No file has more than 400 lines, the root at most 20 entries.

import { basename } from "node:path/posix"
import type { Fault, Module } from "./repository.ts"
import { lineOf, type Node, nodesOf, treeOf } from "./syntax.ts"

const MAX_FILE_LINES = 400
const MAX_ROOT_ENTRIES = 20

const headless = new Set(["index.ts", "errors.ts", "main.ts"])

/** The names of invariants stand in titles of tests, where F and a number is a row of the inventory. */
export const rowNameFaults = (modules: ReadonlyArray<Module>): ReadonlyArray<Fault> =>
  modules
    .filter(({ text }) => /^\/\/ F\d+ {2}/m.test(text))
    .map(({ path }) => ({
      where: path,
      what: "calls an invariant F and a number, as rows are called; take another letter"
    }))

export const headFaults = (modules: ReadonlyArray<Module>): ReadonlyArray<Fault> =>
  modules
    .filter(({ path, text }) => !headless.has(basename(path)) && !/^\/\/ [A-Z]/.test(text))
    .map(({ path }) => ({ where: path, what: "does not say first what it owns (// Noun: ...)" }))

const emptyWords = new Set([
  "util",
  "utils",
  "common",
  "shared",
  "core",
  "helper",
  "helpers",
  "interface",
  "interfaces"
])
const shapeWords = /(^|[-_.])(manager|helper|impl|utils?)$/i

const isEmptyName = (segment: string): boolean => {
  const stem = segment.replace(/(\.(test|property|laws))*\.[a-z]+$/, "")
  return emptyWords.has(stem) || shapeWords.test(stem)
}

export const nameFaults = (paths: ReadonlyArray<string>): ReadonlyArray<Fault> =>
  paths.flatMap((path) => {
    const empty = path.split("/").filter(isEmptyName)
    const named = empty.map((segment) => ({ where: path, what: `"${segment}" names nothing; say which noun it is` }))
    const kebab = !/\.(ts|tsx|mjs)$/.test(path) || /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)*$/.test(basename(path))
    return kebab ? named : [...named, { where: path, what: "a file is a noun in kebab-case" }]
  })

const declared = (node: Node): string | undefined => {
  if (!/^(Class|Function)Declaration$|^VariableDeclarator$|^TS(Interface|TypeAlias)Declaration$/.test(node.type)) {
    return undefined
  }
  return (node["id"] as { readonly name?: string } | null)?.name
}

export const shapeFaults = (modules: ReadonlyArray<Module>): ReadonlyArray<Fault> =>
  modules.flatMap((module) =>
    [...nodesOf(treeOf(module))].flatMap((node) => {
      const name = declared(node)
      if (name === undefined || !/[a-z](Manager|Helper|Impl|Utils?)$/.test(name)) return []
      return [{ where: lineOf(module, node), what: `${name} is named after its shape; say what it is` }]
    })
  )

export const sizeFaults = (
  files: ReadonlyArray<{ readonly path: string; readonly text: string }>
): ReadonlyArray<Fault> =>
  files.flatMap(({ path, text }) => {
    const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0)
    return lines > MAX_FILE_LINES ? [{ where: path, what: `${lines} lines, at most ${MAX_FILE_LINES}` }] : []
  })

export const rootFaults = (paths: ReadonlyArray<string>): ReadonlyArray<Fault> => {
  const entries = [...new Set(paths.map((path) => path.split("/")[0] ?? path))]
  if (entries.length <= MAX_ROOT_ENTRIES) return []
  return [
    { where: "/", what: `${entries.length} entries at the root, at most ${MAX_ROOT_ENTRIES}: ${entries.join(" ")}` }
  ]
}
