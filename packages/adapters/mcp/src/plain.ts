// Plain: words of a server as plain text.
// Owns taking out what a terminal would obey and what a reader can not see. Leaves what the words mean to the reader.
// P1  What comes out has no escape sequence, no control character but newline and tab, and no hidden character; the
//     joiner and the selectors that emoji and some scripts need stay.
// P2  A cut never splits a character, and says how much was left out.

/** Control sequences: CSI, OSC and their like up to their end, and lone escapes. */
const sequences =
  // oxlint-disable-next-line no-control-regex -- it looks for control characters
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/gu
// oxlint-disable-next-line no-control-regex -- it looks for control characters
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/gu
const hidden =
  /\u034f|[\u180b-\u180f]|\u00ad|\u061c|[\u115f\u1160]|[\u17b4\u17b5]|[\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f]|[\u3164\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu

export const plain = (text: string): string =>
  text.toWellFormed().replaceAll("\r\n", "\n").replace(sequences, "").replace(controls, "").replace(hidden, "")

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
