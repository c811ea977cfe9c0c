// Directory: who can be written to in a fleet, out of its definition.
// Owns gathering ids, names and seats, and the one that a target means. Leaves finding by names to `assistant`.

import { type Directory, reach, type Seat } from "@reverie/assistant"
import { TargetAmbiguous } from "../errors.ts"
import type { FleetDefinition } from "../fleet-options.ts"

export const directoryOf = ({ assistants }: Pick<FleetDefinition, "assistants">): Directory => {
  const seats = new Map<string, Array<Seat>>()
  for (const { id: group, team } of assistants) {
    for (const { id, role } of team?.members ?? []) {
      const taken = seats.get(id) ?? []
      taken.push({ group, role })
      seats.set(id, taken)
    }
  }
  return assistants.map(({ id, listening, team }) => ({
    id,
    names: listening?.names ?? [],
    seats: seats.get(id) ?? [],
    isTeam: team !== undefined
  }))
}

/** The assistant that a target means. What the definition does not know may still be in the store, under its id. */
export const targetIn = (directory: Directory, target: string): string => {
  const reached = reach(directory, target)
  if ("refused" in reached) {
    if (reached.refused === "unknown") return target
    throw new TargetAmbiguous({ message: reached.reason, candidates: reached.candidates })
  }
  const [only, ...others] = reached.ids
  if (only !== undefined && others.length === 0) return only
  const message = `"${target}" means ${reached.ids.length}: write to one of them, or to all with sendAll`
  throw new TargetAmbiguous({ message, candidates: reached.ids })
}
