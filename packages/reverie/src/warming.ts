// Warming: what the first message would otherwise wait for, and everybody with it.
// Owns the list. Leaves loading to those who have something to load.
// W1  Nothing depends on it: what was not loaded here is loaded when it is needed.

import { rulesReady } from "@reverie/memory"
import { Tokens } from "@reverie/model"
import * as Effect from "effect/Effect"

/** The vocabulary of the tokens, and the rules by which memories are judged. */
export const warmed = Effect.gen(function* () {
  yield* (yield* Tokens).ready
  yield* rulesReady
})
