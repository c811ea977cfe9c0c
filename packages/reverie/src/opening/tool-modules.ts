// ToolModules: the modules that isolated tools of a fleet name.
// Owns finding out, before anything is opened, that one of them is not there.

import { nodeRunPlace } from "@reverie/run-place"
import type { Definition } from "@reverie/runtime"
import { FleetDefinitionInvalid } from "../errors.ts"

/** Throws with the first one that can not be run. */
export const assertModules = (definitions: ReadonlyArray<Pick<Definition, "toolkit">>): void => {
  for (const { toolkit } of definitions) {
    for (const name of toolkit.names) {
      const module = toolkit.get(name)?.isolated?.module
      const flaw = module === undefined ? undefined : nodeRunPlace.flawOf(module)
      const subject = `tool ${JSON.stringify(name)}`
      if (flaw !== undefined) throw new FleetDefinitionInvalid({ subject, message: `${subject}: ${flaw}` })
    }
  }
}
