// Composed: texts that are the same, whether their letters are composed or decomposed (NFC, NFD), large or small.
// Owns where a text is found in one of any such form. Leaves what is sought to forgetting.ts.
// C1  A text is found in each form, at the signs of the text as it stands; a letter is found whole.
// C2  A text of plain ASCII is searched as it stands.
// C3  What memory makes of a text is found by it, and the other way round: blanks and ends of lines are one blank, and what no one sees,
//     control characters among it, is not there. A letter that is two in capitals is these two.

/** Vowels and finals of Hangul, and of Kirat Rai, are joined with what is before them as marks are. */
const CLUSTER = /[^]?[\p{M}\u1160-\u11ff\ud7b0-\ud7ff\u{16d63}-\u{16d6a}]*/gu

export const composed = (text: string): string => text.normalize("NFC")

/** What is no more than room between words; and what no one sees, which memory leaves out of all that it keeps (clean-text.ts). */
const BLANKS = /[\t-\r\u0085\u2028\u2029\p{Zs}]+/gu
const HIDDEN =
  /[[\p{Cc}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\ufdd0-\ufdef\ufffe\uffff]--[\t-\r\u0085\u2028\u2029]]+/gv
/** Nothing of it is composed or hidden, and nothing evened but the case of its letters. */
const PLAIN = /^(?: ?[!-~])* ?$/

/** As large letters are written small: a letter that is two of them in capitals is both. */
const cased = (text: string): string => text.toUpperCase().toLowerCase().replaceAll("\u03c2", "\u03c3")

/** A text of which the case of letters, blanks, what is hidden, and whether it is composed, count for nothing. */
export const evened = (text: string): string =>
  PLAIN.test(text) ? text.toLowerCase() : cased(composed(text.replace(HIDDEN, ""))).replace(BLANKS, " ")

/** The same, with what is hidden: of bytes that are no text it stands between texts. */
export const evenedBytes = (text: string): string => cased(composed(text)).replace(BLANKS, " ")

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" }

/** Strings of JSON as they are read: what ends a line stands there as letters. */
export const unescaped = (text: string): string =>
  text.includes("\\")
    ? text.replace(/\\(?:u([\da-f]{4})|(.))/gis, (_, code: string | undefined, sign: string = "") =>
        code === undefined ? (ESCAPES[sign] ?? sign) : String.fromCharCode(Number.parseInt(code, 16))
      )
    : text

/** Where something stands in a text: from its first sign to behind its last. */
export type Span = readonly [from: number, to: number]

/** A text without what is hidden, and where each sign of it, and its end, stood. */
const seenIn = (text: string): { readonly seen: string; readonly at: (place: number) => number } => {
  const seen = text.replace(HIDDEN, "")
  if (seen === text) return { seen, at: (place) => place }
  const stood: Array<number> = []
  let end = 0
  for (const { 0: hidden, index } of [...text.matchAll(HIDDEN), { 0: "", index: text.length }]) {
    for (; end < index; end++) stood.push(end)
    end = index + hidden.length
  }
  return { seen, at: (place) => stood[place] ?? text.length }
}

/** Of each sign of the evened text: where what it is made of begins and ends. */
const placesIn = (text: string): ReadonlyArray<Span> => {
  const { at, seen } = seenIn(text)
  const places: Array<Span> = []
  let isBlank = false
  for (const { 0: cluster, index } of seen.matchAll(CLUSTER)) {
    const made = cased(composed(cluster))
    const isSame = made.length === cluster.length && composed(cluster) === cluster
    for (let sign = 0; sign < made.length; sign++) {
      const [from, length] = isSame ? [index + sign, 1] : [index, cluster.length]
      const place: Span = [at(from), at(from + length - 1) + 1]
      const wasBlank = isBlank
      isBlank = made[sign]?.replace(BLANKS, "") === ""
      if (wasBlank && isBlank) places.push([places.pop()?.[0] ?? place[0], place[1]])
      else places.push(place)
    }
  }
  return places
}

/** Where an evened text is found in another one. */
export const spansOf = (sought: string, text: string): ReadonlyArray<Span> => {
  const made = evened(text)
  const found: Array<Span> = []
  if (sought === "") return found
  for (let at = made.indexOf(sought); at >= 0; at = made.indexOf(sought, at + sought.length))
    found.push([at, at + sought.length])
  if (PLAIN.test(text) || found.length === 0) return found
  const places = placesIn(text)
  return found.map(([from, to]): Span => [places[from]?.[0] ?? text.length, places[to - 1]?.[1] ?? text.length])
}

/** A text with something else in these places, of which each begins where the one before it has ended. */
export const replacedAt = (text: string, spans: ReadonlyArray<Span>, by: string): string => {
  let end = 0
  const parts = spans.map(([from, to]) => {
    const part = text.slice(end, Math.max(end, from))
    end = Math.max(end, to)
    return `${part}${by}`
  })
  return `${parts.join("")}${text.slice(end)}`
}
