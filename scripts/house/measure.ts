// Measure: every count of a tree, the bounds, and the table that a person reads.
// Owns which counts there are and their order. Leaves counting to the other files.

import { circles } from "./circles.ts"
import { type Count, missedBy } from "./count.ts"
import { type Edge, edgesWithoutLabel } from "./edges.ts"
import { unusedExports } from "./exports.ts"
import { folders, merges, sizes } from "./files.ts"
import { retiredInTree } from "./retired.ts"
import { spreads } from "./spreads.ts"
import type { Tree } from "./tree.ts"

export interface Report {
  readonly ok: boolean
  /** A line for each bound that is missed, and for each count that examined nothing. */
  readonly missed: ReadonlyArray<string>
  readonly listedBy: Tree["listedBy"]
  /** The most that each count may be. */
  readonly bounds: Readonly<Record<string, number>>
  readonly figures: Readonly<Record<string, Omit<Count, "name" | "most">>>
}

export const measure = (tree: Tree, edges: ReadonlyArray<Edge>): Report => {
  const counts = [
    sizes(tree),
    folders(tree),
    unusedExports(tree),
    merges(tree),
    spreads(tree),
    retiredInTree(tree),
    edgesWithoutLabel(edges),
    circles(tree)
  ]
  const missed = missedBy(counts)
  return {
    ok: missed.length === 0,
    missed,
    listedBy: tree.listedBy,
    bounds: Object.fromEntries(counts.flatMap(({ most, name }) => (most === undefined ? [] : [[name, most]]))),
    figures: Object.fromEntries(counts.map(({ most: _, name, ...rest }) => [name, rest]))
  }
}

/** Numbers in one line, of a list its length; the lists themselves are for `--json`. */
const inLine = (figures: Count["figures"]): string =>
  Object.entries(figures)
    .flatMap(([name, value]) => {
      if (typeof value === "number") return [`${name} ${value}`]
      if (Array.isArray(value)) return [`${name} ${value.length}`]
      if (typeof value !== "object" || value === null) return []
      const numbers = Object.entries(value).filter(([, each]) => typeof each === "number")
      return numbers.map(([key, each]) => `${key} ${String(each)}`)
    })
    .join(", ")

export const tableOf = ({ bounds, figures, missed }: Report): string => {
  const rows = Object.entries(figures).map(([name, { figures: more, value }]) => {
    const bound = bounds[name]
    const most = bound === undefined ? "" : `<= ${bound}`
    return `${name.padEnd(30)} ${String(value).padStart(6)} ${most.padStart(6)}  ${inLine(more)}`.trimEnd()
  })
  return [...rows, "", ...(missed.length === 0 ? ["every bound is kept"] : missed)].join("\n")
}
