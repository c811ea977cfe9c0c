// Instruction: whether a text poses as an instruction to the model that will read it.
// Owns the answer. Leaves the wordings to the lists of rules, disguises to disguise.ts, and what becomes of such a text to
// admit.ts and as-data.ts. That people tell each other what to do is no instruction to a model, and most of what anybody
// remembers.
// R1  Deterministic: the first rule in the order of the lists is the answer.
// R2  A gap between two words of a rule is bounded and ends with the sentence: a long text costs little more than reading.
// R3  A wording that no rule knows passes: this is one wall of several. The others are the trust of an origin, and that
//     whatever is recalled is shown as data.

import { readingsOf } from "./disguise.ts"
import { foreignRules } from "./foreign-rules.ts"
import { instructionRules } from "./instruction-rules.ts"

const rules = [...instructionRules, ...foreignRules]

/** The name of the first rule that the text breaks; undefined when it poses as no instruction. */
export const instructionIn = (text: string): string | undefined => {
  const readings = readingsOf(text)
  return rules.find(({ matches }) => readings.some(matches))?.name
}
