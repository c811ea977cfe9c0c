// FleetDirectory: who can be written to in the fleet that a worker works for.
// Owns the service. Leaves its content to the fleet's definition, finding someone in it to `assistant`.

import type { Directory } from "@reverie/assistant"
import * as Context from "effect/Context"

/** Empty when no one said who there is: then assistants are reached by their ids alone. */
export const FleetDirectory = Context.Reference<Directory>("@reverie/runtime/FleetDirectory", {
  defaultValue: () => []
})
