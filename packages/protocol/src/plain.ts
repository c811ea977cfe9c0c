// Plain: words of others as plain text.
// Owns what a terminal would obey and what a reader can not see. Leaves what the words mean to the reader, cuts to callers.
// P1  What comes out of `plain` has no escape sequence, no control character but newline and tab, and no hidden character;
//     the joiners and selectors that emoji and some scripts need stay, which `plainForTerminal` takes out as well.
// P2  What is left reads as before: line breaks, tabs and every visible character stay.
// P3  JSON keeps its meaning: what could act on a terminal is written as \u escapes.

/** Control sequences: CSI, OSC and their like up to their end, and lone escapes. */
const sequences =
  // oxlint-disable-next-line no-control-regex -- it looks for control characters
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/gu
// oxlint-disable-next-line no-control-regex -- it looks for control characters
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/gu
const hidden =
  /\u034f|[\u180b-\u180f]|\u00ad|\u061c|[\u115f\u1160]|[\u17b4\u17b5]|[\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f]|[\u3164\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu
/** Joiners and variation selectors: a terminal shows them as nothing, or as a width of its own. */
const joiners = /\u200c|\u200d|[\ufe00-\ufe0f]/gu

export const plain = (text: string): string =>
  text.toWellFormed().replaceAll("\r\n", "\n").replace(sequences, "").replace(controls, "").replace(hidden, "")

/** The text without anything that acts on a terminal. */
export const plainForTerminal = (text: string): string => plain(text).replace(joiners, "")

const escaped = (unit: string): string =>
  [...Array(unit.length).keys()].map((index) => `\\u${unit.charCodeAt(index).toString(16).padStart(4, "0")}`).join("")

/** One line of JSON that a terminal can be shown. */
export const jsonForTerminal = (value: unknown): string =>
  JSON.stringify(value).replace(controls, escaped).replace(hidden, escaped).replace(joiners, escaped)
