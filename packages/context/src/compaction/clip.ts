// Clip: a text brought to a length.
// Owns where it is cut. Leaves what it may have to whoever shows it.
// L1  Never longer than it may be, and never cut through a character.
// L2  A longer text keeps its beginning and, of a summary, more of its end: what came last matters most.

const ELLIPSIS = "…"

const halved = (text: string): boolean => /[\ud800-\udbff]$/.test(text)

const headOf = (text: string, chars: number): string => {
  const head = text.slice(0, chars)
  return halved(head) ? head.slice(0, -1) : head
}

const tailOf = (text: string, chars: number): string => {
  const tail = text.slice(text.length - chars)
  return /^[\udc00-\udfff]/.test(tail) ? tail.slice(1) : tail
}

/** The beginning of a text, with an ellipsis where it was cut. In UTF-16 units. */
export const bounded = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : `${headOf(text, Math.max(0, maxChars - 1))}${ELLIPSIS}`

const GAP = "\n[…]\n"
const HEAD_SHARE = 1 / 3

/** The beginning and the end of a text, cut between lines where there are any near. */
export const endsOf = (text: string, maxChars: number): string => {
  if (text.length <= maxChars) return text
  const room = maxChars - GAP.length
  if (room < 3) return bounded(text, maxChars)
  const headChars = Math.floor(room * HEAD_SHARE)
  const head = headOf(text, headChars)
  const tail = tailOf(text, room - headChars)
  const headLine = head.lastIndexOf("\n")
  const tailLine = tail.indexOf("\n")
  return (
    (headLine > head.length / 2 ? head.slice(0, headLine) : head) +
    GAP +
    (tailLine >= 0 && tailLine < tail.length / 2 ? tail.slice(tailLine + 1) : tail)
  )
}
