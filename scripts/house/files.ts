// Files: how many there are, how long they are, how many lie in one folder, and which are small parts of another.
// Owns these three counts of source. Leaves the forms of an import to test/architecture.

import { dirname } from "node:path/posix"
import type { Count } from "./count.ts"
import { targetOf, type Tree, type TreeFile } from "./tree.ts"

const MAX_IN_FOLDER = 12
const SMALL_LINES = 60

const linesOf = ({ text }: TreeFile): number => text.split("\n").length - (text.endsWith("\n") || text === "" ? 1 : 0)

/** The middle of two where there is no middle one. */
const median = (sorted: ReadonlyArray<number>): number => {
  const half = sorted.length / 2
  return ((sorted[Math.ceil(half) - 1] ?? 0) + (sorted[Math.floor(half)] ?? 0)) / 2
}

/** The smallest that a share of all do not exceed. */
const percentile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.ceil(sorted.length * share) - 1] ?? 0

export const sizes = ({ source }: Tree): Count => {
  const sorted = source.map(linesOf).toSorted((one, other) => one - other)
  const lines = sorted.reduce((sum, each) => sum + each, 0)
  const figures = { files: source.length, lines, median: median(sorted), p90: percentile(sorted, 0.9) }
  return { name: "source", examined: source.length, value: source.length, found: [], figures }
}

/** Only what lies directly in a folder is seen at one glance. */
export const folders = ({ source }: Tree): Count => {
  const counts = new Map<string, number>()
  for (const { path } of source) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  const sorted = [...counts].toSorted(([, one], [, other]) => other - one)
  const flat = sorted.filter(([, count]) => count > MAX_IN_FOLDER)
  return {
    name: "flat folders",
    examined: counts.size,
    value: sorted[0]?.[1] ?? 0,
    most: MAX_IN_FOLDER,
    found: flat.map(([folder, count]) => `${folder}: ${count}`),
    figures: { folders: counts.size, tooFlat: flat.length }
  }
}

/** Files that one other file alone imports, and that are short enough to be a part of it. Tests do not count as importers. */
export const merges = (tree: Tree): Count => {
  const importers = new Map<string, Set<string>>()
  for (const file of tree.source) {
    for (const { to } of file.imports()) {
      const target = targetOf(tree, file.path, to)
      if (target !== undefined) importers.set(target, (importers.get(target) ?? new Set()).add(file.path))
    }
  }
  const candidates = tree.source.filter((file) => importers.get(file.path)?.size === 1 && linesOf(file) <= SMALL_LINES)
  const onlyByBarrel = candidates.filter(({ path }) => [...(importers.get(path) ?? [])][0]?.endsWith("/index.ts"))
  return {
    name: "small files with one importer",
    examined: tree.source.length,
    value: candidates.length,
    found: candidates.map(({ path }) => path),
    figures: { onlyByBarrel: onlyByBarrel.length }
  }
}
