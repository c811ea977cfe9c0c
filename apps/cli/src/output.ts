// Output: what goes to stdout and stderr.
// Owns the two streams, colour, and the form of a failure. Leaves the making of texts harmless to plain.ts.
// O1  With --json stdout is exactly one JSON object, whatever happens; everything else goes to stderr.
// O2  A reader that leaves (EPIPE) ends the command quietly; it is no error.
// O3  Colour only on a terminal, and never against NO_COLOR.

import { styleText } from "node:util"
import { CommandFailed, type Failure, failureOf } from "./failure.ts"
import { jsonLine, onOneLine } from "./texts/plain.ts"

type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan" | "magenta" | "blue"

/** A line for anyone who reads the result. */
export const say = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

/** A piece without a line break. */
export const sayPart = (text: string): void => {
  process.stdout.write(text)
}

/** A line for the one who watches. */
export const note = (text: string): void => {
  process.stderr.write(`${text}\n`)
}

/** A piece of a line for the one who watches. */
export const notePart = (text: string): void => {
  process.stderr.write(text)
}

export const sayJson = (value: unknown): void => say(jsonLine(value))

// Node lets FORCE_COLOR win over NO_COLOR; who says no means it.
const isColourless = (process.env["NO_COLOR"] ?? "") !== ""

/** Coloured for stderr, when that is a terminal that wants it. */
export const painted = (style: Style, text: string): string =>
  isColourless ? text : styleText(style, text, { stream: process.stderr })

/** Coloured for stdout, when that is a terminal that wants it: a result that is piped on stays plain. */
export const paintedResult = (style: Style, text: string): string =>
  isColourless ? text : styleText(style, text, { stream: process.stdout })

/** The failure as scripts read it. */
export const failureEnvelope = (failure: Failure): { readonly ok: false; readonly error: Failure } => {
  const { code, exit, hint, message, retryable } = failure
  return { ok: false, error: { code, message, hint, retryable, exit } }
}

const LONGEST_MESSAGE = 600

/** Tells of a failure and answers the exit code. */
export const tellFailure = (error: unknown, asJson: boolean): number => {
  const failure = failureOf(error)
  if (error instanceof CommandFailed && error.silent) return failure.exit
  if (asJson) sayJson(failureEnvelope(failure))
  const message = onOneLine(failure.message, LONGEST_MESSAGE)
  // Who ends it himself has done nothing wrong.
  const isWanted = failure.exit > 128
  note(
    `${painted(isWanted ? "yellow" : "red", "reverie:")} ${message}${failure.hint === "" ? "" : ` (${failure.hint})`}`
  )
  if (process.env["REVERIE_DEBUG"] === "1" && error instanceof Error) note(error.stack ?? "")
  return failure.exit
}

/** Resolves when everything written so far has been handed over. */
export const flushed = async (): Promise<void> => {
  for (const stream of [process.stdout, process.stderr]) {
    if (!stream.writable) continue
    await new Promise<void>((resolve) => {
      stream.once("error", () => resolve())
      stream.write("", () => resolve())
    })
  }
}
