// Named: the one assistant that a person means, and the call that it asks a person about.
// Owns ids and their beginnings, and a call as it stands in the history. Leaves finding them to the backend.
// N1  An id may be given by a beginning that only one has; with several, all of them are reported.

import { CommandFailed } from "./failure.ts"
import type { Backend, View } from "./backend/backend.ts"
import { onOneLine } from "./texts/plain.ts"

/** The one of several ids that is meant, by itself or by its beginning. */
export const oneOf = (ids: ReadonlyArray<string>, wanted: string, onNone: () => CommandFailed): string => {
  if (ids.includes(wanted)) return wanted
  const [first, ...others] = wanted === "" ? [] : ids.filter((id) => id.startsWith(wanted))
  if (first === undefined) throw onNone()
  if (others.length === 0) return first
  throw new CommandFailed("usage", `"${wanted}" is the beginning of ${[first, ...others].join(", ")}`, {
    hint: "say more of it"
  })
}

export const named = async (backend: Backend, name: string): Promise<View> => {
  const exact = name === "" ? undefined : await backend.view(name)
  if (exact !== undefined) return exact
  const ids = await backend.beginning(name)
  // Who is there is a hint of the failure alone.
  const known = ids.length === 0 ? await backend.beginning("") : []
  const id = oneOf(
    ids,
    name,
    () =>
      new CommandFailed("unknown-assistant", `there is no assistant "${name}"`, {
        hint: known.length === 0 ? "there are no assistants yet" : `there are ${known.slice(0, 20).join(", ")}`
      })
  )
  const view = await backend.view(id)
  if (view === undefined) throw new CommandFailed("unknown-assistant", `there is no assistant "${id}" any more`)
  return view
}

// WrittenCall: a tool call as it stands in the history, with its very arguments.
// Owns finding it. A person who decides about a call must see what exactly would run.

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
  const { items: entries } = await source.entries(assistant, Math.max(1, commits - MOST_ENTRIES + 1), MOST_ENTRIES)
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
