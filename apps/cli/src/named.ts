// Named: the one assistant that a person means.
// Owns ids and their beginnings. Leaves finding them to the reach.
// N1  An id may be given by a beginning that only one has; with several, all of them are told.

import { CommandFailed } from "./failure.ts"
import type { Backend, View } from "./backend/backend.ts"

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
  const known = await backend.beginning("")
  const id = oneOf(
    ids,
    name,
    () =>
      new CommandFailed("unknown-assistant", `there is no assistant "${name}"`, {
        hint: known.length === 0 ? "nobody lives there yet" : `there are ${known.slice(0, 20).join(", ")}`
      })
  )
  const view = await backend.view(id)
  if (view === undefined) throw new CommandFailed("unknown-assistant", `there is no assistant "${id}" any more`)
  return view
}
