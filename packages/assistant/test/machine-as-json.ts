// MachineAsJson: the statechart as JSON, in the form that `createMachine` and the editor of Stately read.
// Owns reading it off the running machine. Leaves writing machine.json to write-machine.ts.
// E1  It holds every state, transition, guard and action, by name: the machine itself has nothing else, but the function
//     that makes the first context. In its place stands the context of a new assistant with default settings.
// E2  The file packages/assistant/machine.json is this very text (machine-json.test.ts).

import type { Json } from "@reverie/protocol"
import { creationContext } from "../src/context.ts"
import { assistantMachine } from "../src/machine.ts"

const named = (key: string, value: unknown): unknown => {
  if (typeof value === "function") throw new Error(`the machine holds a function without a name at ${key}`)
  return value
}

export const machineJson = (): Json => {
  const { context: _, description, id, schemas: __, ...rest } = assistantMachine.config
  return JSON.parse(JSON.stringify({ id, description, context: creationContext({}), ...rest }, named)) as Json
}
