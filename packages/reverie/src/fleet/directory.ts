// Directory: who can be written to in a fleet, out of its definition.
// Owns gathering ids, names and seats. Leaves finding by names to `assistant`.

import type { Directory, Seat } from "@reverie/assistant"
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
