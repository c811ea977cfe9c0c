// Piped: a message that comes by standard input.

import { CommandFailed } from "./failure.ts"

const MOST_CHARS = 1_000_000

/** What was said as an argument, else what is piped in; fails when it is neither. */
export const saidOrPiped = async (said: string | undefined, what: string): Promise<string> => {
  if (said !== undefined && said !== "-") return said
  if (process.stdin.isTTY) throw new CommandFailed("usage", `${what} is missing`)
  let text = ""
  process.stdin.setEncoding("utf8")
  for await (const chunk of process.stdin as AsyncIterable<string>) {
    text += chunk
    if (text.length > MOST_CHARS) throw new CommandFailed("usage", `${what} has more than ${MOST_CHARS} characters`)
  }
  if (text.trim() === "") throw new CommandFailed("usage", `${what} is missing`, { hint: "say it, or pipe it in" })
  return text.replace(/\r?\n$/, "")
}
