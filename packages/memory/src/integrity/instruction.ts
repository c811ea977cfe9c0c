// Instruction: whether a text poses as an instruction to the model that will read it.
// Owns the answer. Leaves the wordings to the lists of rules, disguises to disguise.ts, and what becomes of such a text to
// admit.ts and as-data.ts. That people tell each other what to do is no instruction to a model, and most of what anybody
// remembers.
// R1  Deterministic: the first rule in the order of the lists is the answer.
// R2  A gap between two words of a rule is bounded and ends with the sentence: a long text costs little more than reading.
// R3  A wording that no rule knows passes: this is one wall of several. The others are the trust of an origin, and that
//     whatever is recalled is shown as data.

import { longWork } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { readingsOf } from "./disguise.ts"
import { foreignRules } from "./foreign-rules.ts"
import { instructionRules } from "./instruction-rules.ts"

const rules = [...instructionRules, ...foreignRules]

/** Short texts in letters of one byte and of two: the engine compiles a pattern for each of them. */
const samples = ["a b", "\u0430 b"]

/** What a rule costs to compile, by what reading a character costs. */
const RULE_WORK = 100_000

/**
 * Has the engine compile the rules, one after the other: together they hold the event loop for a tenth of a second when
 * the first text is judged. Done once; a text is judged the same without it.
 */
export const rulesReady: Effect.Effect<void> = Effect.runSync(
  Effect.cached(
    Effect.gen(function* () {
      for (const { matches } of rules) {
        yield* longWork.roomForSlice
        longWork.note(RULE_WORK)
        for (let times = 0; times < 3; times++) for (const sample of samples) matches(sample)
      }
    })
  )
)

/** The name of the first rule that the text breaks; undefined when it poses as no instruction. */
export const instructionIn = (text: string): string | undefined => {
  const readings = readingsOf(text)
  return rules.find(({ matches }) => readings.some(matches))?.name
}
