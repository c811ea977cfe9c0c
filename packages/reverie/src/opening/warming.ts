// Warming: what the first message would otherwise wait for, and everybody with it.
// Owns the list. Leaves loading to those who have something to load.
// W1  Nothing depends on it: what was not loaded here is loaded when it is needed.

import { rulesReady } from "@reverie/memory"
import { Tokens } from "@reverie/model"
import * as Effect from "effect/Effect"
import { nodeRunPlace } from "@reverie/run-place"
import type { Definition } from "@reverie/runtime"
import { FleetDefinitionInvalid } from "../errors.ts"

/** In letters of one byte and of two: patterns are compiled for each of them, when they are used for the third time or so. */
const samples = ["the berth is free", "\u0431\u0435\u0440\u0435\u0433 \u6e2f"]

/** The vocabulary of the tokens, and the rules by which memories are judged. */
export const warmed = Effect.gen(function* () {
  const count = yield* (yield* Tokens).ready
  for (let times = 0; times < 4; times++) for (const sample of samples) count(`${sample} ${times}`)
  yield* rulesReady
})

// ToolModules: the modules that isolated tools of a fleet name.

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
