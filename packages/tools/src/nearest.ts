// Nearest: the existing names that a wrong name may have meant.
// Owns the measure: edits to get from one to the other. Leaves the sentence around them to `execute.ts`.
// I1  The work is bounded whatever a model gives as a name.

const MAX_NAME_CHARS = 64
const MAX_NAMES = 5

/** At most five of `names`, the nearest first, in the order given where they are equally near. */
export const nearest = (wrong: string, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const asked = wrong.slice(0, MAX_NAME_CHARS).toLowerCase()
  return names
    .map((name) => ({ name, edits: editsBetween(asked, name.slice(0, MAX_NAME_CHARS).toLowerCase()) }))
    .toSorted((a, b) => a.edits - b.edits)
    .slice(0, MAX_NAMES)
    .map(({ name }) => name)
}

const editsBetween = (a: string, b: string): number => {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const line = [row]
    for (let column = 1; column <= b.length; column++) {
      const change = (above[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      line.push(Math.min(change, (above[column] ?? 0) + 1, (line[column - 1] ?? 0) + 1))
    }
    above = line
  }
  return above[b.length] ?? 0
}
