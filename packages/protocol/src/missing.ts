// Missing: what is said of what is not there: a name, a package.
// Owns the words. Leaves where they stand, and when, to the callers.

import * as Schema from "effect/Schema"

// OptionalPackage: a package that only those install who use it.
// Owns the one sentence that is said where it is missing. Leaves what needs it, and when, to its callers.
// O1  Only a package of the list that is not installed is called missing; any other failure to load stays what it was.

/**
 * Something was asked for that needs a package which is not installed. The developer must install it.
 * @example if (error instanceof PackageMissing) console.error(error.message)
 */
export class PackageMissing extends Schema.TaggedError<PackageMissing>()("PackageMissing", {
  packages: Schema.Array(Schema.String),
  message: Schema.String
}) {
  readonly recovery = "stop" as const
}

const isMissing = (error: unknown, packages: ReadonlyArray<string>): boolean => {
  if (!(error instanceof Error) || !String(Reflect.get(error, "code")).endsWith("MODULE_NOT_FOUND")) return false
  const [, wanted = ""] = /(?:package|module) '([^']+)'/.exec(error.message) ?? []
  return packages.some((name) => wanted === name || wanted.startsWith(`${name}/`))
}

/** Loads what stands on these packages; `what` is the subject of the sentence, e.g. `Redis`. */
export const loadWith = async <A>(
  what: string,
  packages: ReadonlyArray<string>,
  load: () => Promise<A>
): Promise<A> => {
  try {
    return await load()
  } catch (error) {
    if (!isMissing(error, packages)) throw error
    const message = `${what} needs a package that is not installed: npm i ${packages.join(" ")}`
    throw new PackageMissing({ packages, message })
  }
}

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
