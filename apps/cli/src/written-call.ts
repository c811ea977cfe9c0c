// WrittenCall: a tool call as it stands in the history, with its very arguments.
// Owns finding it. A person who decides about a call must see what exactly would run.

import type { Records } from "reverie"
import { onOneLine } from "./plain.ts"

/** How far back a call is looked for, in entries. */
const MOST_ENTRIES = 200

const LONGEST_CALL = 400

/** The call with its arguments on one line. */
export const writtenCall = async (records: Records, assistant: string, call: string): Promise<string> => {
  const version = (await records.inspect(assistant))?.version ?? 0
  const rows = await records.entries(assistant, Math.max(1, version - MOST_ENTRIES + 1), MOST_ENTRIES)
  for (const { entry } of rows.toReversed()) {
    for (const { calls = [] } of entry.messages) {
      const found = calls.find(({ id }) => id === call)
      if (found !== undefined) return onOneLine(`${found.tool} ${JSON.stringify(found.arguments)}`, LONGEST_CALL)
    }
  }
  return `call ${call}`
}
