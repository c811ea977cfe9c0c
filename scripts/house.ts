// House: the measure of the codebase, and how much of it one piece of work enters.
// `npm run -s house` prints a table, with `-- --json` one JSON object; `-- --paths` the files entered by a short answer, a
// dream and a delegated task. `--root DIR` measures another checkout. Exit code 0: every bound is kept.
// 1: one is missed, or something was not examined. 2: asked wrongly.

import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import { root } from "./check/program.ts"
import type { Edge } from "./house/edges.ts"
import { measure, tableOf } from "./house/measure.ts"
import { pathsIn, pathsTableOf } from "./house/paths.ts"
import { readTree, type Tree } from "./house/tree.ts"

const readArguments = () => {
  const { values } = parseArgs({
    options: {
      json: { type: "boolean", default: false },
      paths: { type: "boolean", default: false },
      root: { type: "string", default: root }
    }
  })
  return { ...values, root: resolve(values.root) }
}

/** Loaded from the tree that is measured: its chart is what it runs. A tree without one has no edges. */
const edgesOf = async (folder: string, { files }: Tree): Promise<ReadonlyArray<Edge>> => {
  const assistant = "packages/assistant/src/index.ts"
  if (!files.has(assistant)) return []
  const { chartOf } = (await import(pathToFileURL(resolve(folder, assistant)).href)) as {
    readonly chartOf: () => { readonly edges: ReadonlyArray<Edge> }
  }
  return chartOf().edges
}

const main = async ({ json, paths, root: folder }: ReturnType<typeof readArguments>): Promise<number> => {
  const print = (report: { readonly ok: boolean }, table: string): number => {
    process.stdout.write(`${json ? JSON.stringify(report, null, 2) : table}\n`)
    return report.ok ? 0 : 1
  }
  if (paths) {
    const report = await pathsIn(folder)
    return print(report, pathsTableOf(report))
  }
  const tree = readTree(folder)
  const report = measure(tree, await edgesOf(folder, tree))
  return print(report, tableOf(report))
}

const failWith = (code: number) => (error: unknown) => {
  process.stderr.write(`house: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = code
}

try {
  const given = readArguments()
  await main(given).then((code) => (process.exitCode = code), failWith(1))
} catch (error) {
  failWith(2)(error)
}
