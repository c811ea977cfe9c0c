// Plain: words of a server, cut to length.
// Owns the cuts. Leaves taking out what a terminal would obey and what a reader can not see to `protocol`.
// P2  A cut never splits a character, and says how much was left out.

import { plain } from "@reverie/protocol"

/** On one line, at most so many UTF-16 units. */
export const oneLine = (text: string, limit: number): string => {
  const line = plain(text.slice(0, limit * 4))
    .replaceAll(/\s+/gu, " ")
    .trim()
  return line.length <= limit
    ? line
    : `${line
        .slice(0, limit - 3)
        .toWellFormed()
        .replace(/\ufffd$/u, "")}...`
}

/** At most so many bytes of UTF-8, the note included. */
export const cutBytes = (text: string, maxBytes: number): string => {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxBytes) return text
  const whole = Buffer.from(text)
  let end = Math.max(0, maxBytes - 100)
  // A byte 10xxxxxx goes on with the character before it.
  while (end > 0 && ((whole[end] ?? 0) & 0xc0) === 0x80) end--
  return `${whole.toString("utf8", 0, end)}\n[Cut here: only the first ${end} of ${bytes} bytes are shown.]`
}
