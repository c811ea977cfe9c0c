// Clip: long texts, cut for a list or bounded for a page.
// Owns where a text is cut. Leaves which text is long to the groups.
// K1  A text that was cut ends with `…`, and no character is cut in two.

/** A bound of a text; none where texts are told whole. */
export const boundOf = (isWhole: boolean, maxChars: number): number => (isWhole ? Infinity : maxChars)

/** In UTF-16 units. */
export const LIST_CHARS = 300
export const TEXT_CHARS = 4_000
export const WHOLE_CHARS = 200_000

export const clip = (text: string, maxChars: number = LIST_CHARS): string => {
  if (text.length <= maxChars) return text
  const end = maxChars - 1
  const last = text.charCodeAt(end - 1)
  const isHalf = last >= 0xd800 && last <= 0xdbff
  return `${text.slice(0, isHalf ? end - 1 : end)}…`
}

/** As JSON, the same of every text in it, however deep. */
export const clipAll = (value: unknown, maxChars: number): unknown => {
  if (typeof value === "string") return clip(value, maxChars)
  if (Array.isArray(value)) return value.map((each) => clipAll(each, maxChars))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => (each === undefined ? [] : [[key, clipAll(each, maxChars)]]))
  )
}
