// WrittenCall: a tool call as it stands in the history, with its very arguments.
// Owns finding it. A person who decides about a call must see what exactly would run.

import type { Backend } from "../backend/backend.ts"
import { onOneLine } from "./plain.ts"

/** How far back a call is looked for, in entries. */
const MOST_ENTRIES = 200

const LONGEST_CALL = 400

type Source = Pick<Backend, "view" | "entries">

/** The arguments of a call, as JSON; undefined when it is too far back. */
const writtenArguments = async (
  source: Source,
  assistant: string,
  call: string
): Promise<{ readonly tool: string; readonly json: string } | undefined> => {
  const commits = (await source.view(assistant))?.commits ?? 0
  const entries = await source.entries(assistant, Math.max(1, commits - MOST_ENTRIES + 1), MOST_ENTRIES)
  for (const { messages } of entries.toReversed()) {
    for (const { calls = [] } of messages) {
      const found = calls.find(({ id }) => id === call)
      if (found !== undefined) return { tool: found.tool, json: JSON.stringify(found.arguments) }
    }
  }
  return undefined
}

/** The call with its arguments on one line. */
export const writtenCall = async (source: Source, assistant: string, call: string): Promise<string> => {
  const found = await writtenArguments(source, assistant, call)
  return found === undefined ? `call ${call}` : onOneLine(`${found.tool} ${found.json}`, LONGEST_CALL)
}
