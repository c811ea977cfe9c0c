// Retired: the words that the project gave up, counted in all of its code, tests included.
// Owns the counting. Leaves the words, where they count and what is allowed to scripts/check/words.

import { LISTS, retiredIn } from "../check/words.ts"
import type { Count } from "./count.ts"
import type { Tree } from "./tree.ts"

export const retiredInTree = ({ files }: Tree): Count => {
  const looked = [...files.values()].filter(({ path }) => !LISTS.has(path))
  const found = looked.flatMap((file) => retiredIn(file))
  return {
    name: "retired words",
    examined: looked.length,
    value: found.length,
    most: 0,
    found: found.map(({ line, path, word }) => `${path}:${line} ${word}`),
    figures: { files: new Set(found.map(({ path }) => path)).size }
  }
}
