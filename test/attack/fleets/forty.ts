// Forty assistants that only answer: enough to see what all of them together do to a model that is away.

import { defineAssistant, defineFleet } from "reverie"

export const CROWD: ReadonlyArray<string> = Array.from({ length: 40 }, (_, at) => `c-${String(at).padStart(2, "0")}`)

/** Every fourth of them. */
export const SOME: ReadonlyArray<string> = CROWD.filter((_, at) => at % 4 === 0)

/** The shortest pause of an outage; that of the settings when not said. */
const { REVERIE_ATTACK_PAUSE_MILLIS: pause } = process.env
const settings = pause === undefined ? {} : { retryMinMs: Number(pause) }

export default defineFleet({
  assistants: CROWD.map((id) => defineAssistant({ id, instructions: "You say aye.", settings }))
})
