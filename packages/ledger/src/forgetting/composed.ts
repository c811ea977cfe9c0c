// Composed: texts that are the same, whether their letters are composed or decomposed (NFC, NFD).
// Owns where a pattern is found in a text of any such form. Leaves what is sought to forgetting.ts.
// C1  A pattern that is composed is found in each form, at the signs of the text as it stands; a letter is found whole.
// C2  A text that is composed already, as each in ASCII is, is searched as it stands.

/** Vowels and finals of Hangul, and of Kirat Rai, are joined with what is before them as marks are. */
const CLUSTER = /[^]?[\p{M}\u1160-\u11ff\ud7b0-\ud7ff\u{16d63}-\u{16d6a}]*/gu

export const composed = (text: string): string => text.normalize("NFC")

/** Where something stands in a text: from its first sign to behind its last. */
export type Span = readonly [from: number, to: number]

/** Of each sign of the composed text, and of its end: where what it is made of begins and ends. */
const placesIn = (text: string): ReadonlyArray<Span> => {
  const places: Array<Span> = []
  for (const { 0: cluster, index } of text.matchAll(CLUSTER)) {
    const made = composed(cluster)
    const isSame = made === cluster
    const end = index + cluster.length
    for (let at = 0; at < made.length; at++) places.push(isSame ? [index + at, index + at + 1] : [index, end])
  }
  return places
}

/** Where a pattern of a composed text is found. */
export const spansOf = (pattern: RegExp, text: string): ReadonlyArray<Span> => {
  const made = composed(text)
  const found = [...made.matchAll(pattern)].map(({ 0: { length }, index }): Span => [index, index + length])
  if (made === text || found.length === 0) return found
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
