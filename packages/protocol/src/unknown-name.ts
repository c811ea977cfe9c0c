// UnknownName: what is said of a name that there is none of: in a program, a request, a definition.
// Owns the words, and which name was probably meant. Leaves what has no such name to the sentence they stand in.
// N1  The names that there are stand in it, and the nearest one where it differs in a few letters.

const MAX_SHOWN_CHARS = 60

/** Letters to put in, leave out, change, or swap with their neighbour, to make one word of the other. */
const distance = (one: string, other: string): number => {
  const rows = [Array.from({ length: other.length + 1 }, (_, index) => index)]
  for (let at = 1; at <= one.length; at++) {
    const [before = [], last = []] = [rows[at - 2], rows[at - 1]]
    const row = [at]
    for (let to = 1; to <= other.length; to++) {
      const isSame = one[at - 1] === other[to - 1]
      const isSwapped = at > 1 && to > 1 && one[at - 1] === other[to - 2] && one[at - 2] === other[to - 1]
      const changed = Math.min((last[to] ?? 0) + 1, (row[to - 1] ?? 0) + 1, (last[to - 1] ?? 0) + (isSame ? 0 : 1))
      row.push(isSwapped ? Math.min(changed, (before[to - 2] ?? 0) + 1) : changed)
    }
    rows.push(row)
  }
  return rows.at(-1)?.at(-1) ?? 0
}

/** The name that was probably meant; undefined where none is near. */
const nearest = (name: string, known: ReadonlyArray<string>): string | undefined => {
  const [written, near] = [name.toLowerCase(), Math.max(1, Math.floor(name.length / 3))]
  const all = known.map((each) => ({ each, far: distance(written, each.toLowerCase().slice(0, MAX_SHOWN_CHARS)) }))
  return all.toSorted((a, b) => a.far - b.far).find(({ far }) => far <= near)?.each
}

/** For after `there is no` or `has no`. */
export const unknownName = (name: string, known: ReadonlyArray<string>): string => {
  const shown = name.slice(0, MAX_SHOWN_CHARS).toWellFormed()
  const meant = nearest(shown, known)
  const question = meant === undefined ? "" : `; did you mean ${JSON.stringify(meant)}?`
  return `${JSON.stringify(shown)}; there are ${known.length === 0 ? "none" : known.join(", ")}${question}`
}
