// Rule: one way to pose as an instruction, by name.
// Owns how patterns are written. Leaves the patterns to the lists of rules.
// P1  A space in a pattern, outside a class of characters, also stands for the end of a line.
// P2  Whatever the text, a pattern takes a bounded number of steps for each of its characters: what repeats without a bound
//     begins at few places, or can not be split in several ways.

export interface Rule {
  readonly name: string
  readonly patterns: ReadonlyArray<RegExp>
  readonly matches: (reading: string) => boolean
}

/** Patterns are written as they are read. */
export const r = String.raw

/** Whatever stands between two words of one sentence. */
export const GAP = "[^.!?]{0,40}?"

/** A class of characters, an escape, or a space. */
const part = /\[(?:[^\]\\]|\\.)*\]|\\.| /g

/** `also`: what no pattern finds in time that grows with the text alone. */
export const rule = (
  name: string,
  patterns: ReadonlyArray<string>,
  also: (reading: string) => boolean = () => false
): Rule => {
  const all = patterns.map(
    (pattern) =>
      new RegExp(
        pattern.replace(part, (each) => (each === " " ? r`[ \n]` : each)),
        "u"
      )
  )
  return { name, patterns: all, matches: (reading) => all.some((pattern) => pattern.test(reading)) || also(reading) }
}
