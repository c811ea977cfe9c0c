// Rule: one way to pose as an instruction, by name.
// Owns how patterns are written. Leaves the patterns to the lists of rules.
// P1  A space in a pattern, outside a class of characters, also stands for the end of a line.

export interface Rule {
  readonly name: string
  readonly matches: (reading: string) => boolean
}

/** Patterns are written as they are read. */
export const r = String.raw

/** Whatever stands between two words of one sentence. */
export const GAP = "[^.!?]{0,40}?"

/** A class of characters, an escape, or a space. */
const part = /\[(?:[^\]\\]|\\.)*\]|\\.| /g

export const rule = (name: string, patterns: ReadonlyArray<string>): Rule => {
  const all = patterns.map(
    (pattern) =>
      new RegExp(
        pattern.replace(part, (each) => (each === " " ? r`[ \n]` : each)),
        "u"
      )
  )
  return { name, matches: (reading) => all.some((pattern) => pattern.test(reading)) }
}
