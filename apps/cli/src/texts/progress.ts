// Progress: what happens in a fleet, told a line at a time to the one who watches.
// Owns how a line looks. Leaves which notices are worth one, and its words, to the SDK, counting to report.ts.
// P1  Everything that came from a message, a model or a tool is made harmless and fits on its line: no terminal breaks it.
// P2  Data stands there as words: no line holds JSON.

import { withoutJson } from "@reverie/protocol"
import { type Notice, Sentences } from "reverie"
import { note, painted } from "../output.ts"
import { onOneLine } from "./plain.ts"

/** Where no one says how wide the terminal is. */
const WIDTH = 110
/** In a narrower one a line is broken all the same: less of it says nothing. */
const LEAST = 30

const colours = { said: undefined, tool: "cyan", warn: "yellow", bad: "red", heard: "dim", note: "dim" } as const

const sentences = new Sentences()

/** The line for a notice, of so many letters; undefined when it needs none. */
const lineOf = (notice: Notice, room: number): string | undefined => {
  const sentence = sentences.of(notice)
  if (sentence === undefined) return undefined
  const { lead, subject, text, tone } = sentence
  // What one writes here to decide it.
  const words = notice.type === "approval-asked" ? `${text} (${notice.approval})` : withoutJson(text)
  const told = subject === undefined ? words : `${withoutJson(subject)}: ${words}`
  const rest = onOneLine(told, Math.max(LEAST, room - (lead === "" ? 0 : lead.length + 1)))
  const colour = colours[tone]
  if (colour === "dim") return painted(colour, `${lead} ${rest}`.trim())
  return [colour === undefined ? lead : painted(colour, lead), rest].filter((part) => part !== "").join(" ")
}

const NAME_WIDTH = 10
const EVERY = 100

/** Tells a notice. */
export const tellNotice = (notice: Notice): void => {
  const name = onOneLine(notice.address.assistant).padEnd(NAME_WIDTH)
  const line = lineOf(notice, (process.stderr.columns ?? WIDTH) - name.length - 1)
  if (line !== undefined) note(`${painted("bold", name)} ${line}`)
}

/** For long courses: only trouble gets a line of its own, and each hundredth tick a count. */
export const sparingly = (): ((notice: Notice) => void) => {
  let ticks = 0
  return (notice) => {
    if (notice.type === "tick-ended") {
      ticks++
      if (ticks % EVERY === 0) note(painted("dim", `${ticks} runs`))
    }
    const isTrouble =
      notice.type === "model-failed" ||
      (notice.type === "emitted" && notice.event.type === "model-away") ||
      notice.type === "approval-asked" ||
      (notice.type === "envelope-settled" && notice.outcome === "dead") ||
      (notice.type === "state-changed" && notice.status === "halted")
    if (isTrouble) tellNotice(notice)
  }
}
