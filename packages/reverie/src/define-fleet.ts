// DefineFleet: the assistants and teams of one deployment.
// Owns the checks across them. Leaves each one's own to define-assistant.ts and define-team.ts.
// I1  A wrong description throws at once, with one sentence that names what is wrong.

import { type AssistantId, defined } from "@reverie/protocol"
import { type AssistantDefinition, refuse } from "./define-assistant.ts"
import { flawOfTeams, type TeamDefinition } from "./define-team.ts"
import { flawOfTerms, type Terms } from "./fleet/limits.ts"

export interface FleetDefinition extends Terms {
  /** Teams are among them. */
  readonly assistants: ReadonlyArray<AssistantDefinition>
  /** Who gets what is addressed to nobody: the first assistant when not said. */
  readonly reception: AssistantId
}

export const defineFleet = (
  options: {
    readonly assistants: ReadonlyArray<AssistantDefinition>
    readonly teams?: ReadonlyArray<TeamDefinition>
    readonly reception?: string
  } & Terms
): FleetDefinition => {
  const [first] = options.assistants
  if (first === undefined) return refuse("fleet", "it has no assistants")
  const assistants = [...options.assistants, ...(options.teams ?? [])]
  const ids = new Set(assistants.map((assistant) => assistant.id))
  if (ids.size < assistants.length) refuse("fleet", "two assistants have the same id")
  const flaw = flawOfTeams(assistants)
  if (flaw !== undefined) refuse("fleet", flaw)
  const missing = assistants.flatMap(({ id, specialists = [] }) =>
    specialists.filter((name) => !ids.has(name as AssistantId)).map((name) => `the specialist "${name}" of ${id}`)
  )
  if (missing.length > 0) refuse("fleet", `${missing.join(", ")} is none of its assistants`)
  const { prices, tenants } = options
  const flawOfLimits = flawOfTerms(options)
  if (flawOfLimits !== undefined) refuse("fleet", flawOfLimits)
  const reception = assistants.find((assistant) => assistant.id === (options.reception ?? first.id))
  if (reception === undefined) return refuse("fleet", `its reception "${options.reception}" is none of its assistants`)
  return Object.freeze({
    assistants,
    reception: reception.id,
    ...defined({ tenants, prices })
  })
}
