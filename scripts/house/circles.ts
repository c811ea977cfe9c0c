// Circles: files that import each other.
// Owns finding them. Leaves the forms of an import to test/architecture.
// C1  A circle is counted once, however many ways lead around in it.
// C2  Every circle counts: no file of it can be read first. It is one of types when the imports that remain at run time, with
//     `import()` among them, go around nowhere in it; one of values when they alone go around all of it; otherwise it is mixed.

import type { Count } from "./count.ts"
import { targetOf, type Tree } from "./tree.ts"

type Arrows = ReadonlyMap<string, ReadonlySet<string>>

/** Groups of more than one file in which each is reached from each (Tarjan), each sorted. */
const circlesIn = (arrows: Arrows): ReadonlyArray<ReadonlyArray<string>> => {
  const numbers = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: Array<string> = []
  const found: Array<ReadonlyArray<string>> = []
  const visit = (file: string): number => {
    const number = numbers.size
    numbers.set(file, number)
    open.push(file)
    let low = number
    for (const target of arrows.get(file) ?? []) {
      const known = numbers.get(target)
      if (known === undefined) low = Math.min(low, visit(target))
      else if (open.includes(target)) low = Math.min(low, lowest.get(target) ?? known)
    }
    lowest.set(file, low)
    if (low === number) {
      const group = open.splice(open.indexOf(file))
      if (group.length > 1) found.push(group.toSorted())
    }
    return low
  }
  for (const file of arrows.keys()) if (!numbers.has(file)) visit(file)
  return found
}

const arrowsOf = (tree: Tree, isTypeCounted: boolean): Arrows =>
  new Map(
    tree.source.map((file) => [
      file.path,
      new Set(
        file.imports().flatMap(({ to, typeOnly }) => {
          const target = typeOnly && !isTypeCounted ? undefined : targetOf(tree, file.path, to)
          return target === undefined || target === file.path ? [] : [target]
        })
      )
    ])
  )

const kindOf = (circle: ReadonlyArray<string>, ofValues: ReadonlyArray<ReadonlyArray<string>>): string => {
  const within = ofValues.filter(([first = ""]) => circle.includes(first))
  if (within.length === 0) return "types"
  return within.length === 1 && within[0]?.length === circle.length ? "values" : "mixed"
}

export const circles = (tree: Tree): Count => {
  const ofValues = circlesIn(arrowsOf(tree, false))
  const all = circlesIn(arrowsOf(tree, true))
  return {
    name: "circles",
    examined: tree.source.length,
    value: all.length,
    most: 0,
    found: all.map((circle) => `${kindOf(circle, ofValues)}: ${circle.join(", ")}`),
    figures: {}
  }
}
