// Admit: whether a fact may be used.
// Owns holding back what poses as an instruction, and the bounds of trust. Leaves routing what is admitted to
// `facts/route.ts`.
// Q1  A fact that poses as an instruction, in its words or its names, is quarantined and says by which rule.
// Q2  Trust is within 0 and what its origin is worth at the most.
// Q3  Admitting is idempotent, and never releases what is already held back.

import { type Fact, type Origin, trustOf } from "../fact.ts"
import { cleanLine } from "./clean-text.ts"
import { instructionIn } from "./instruction.ts"

/** How far something is believed: as far as it is said to be, but no further than its origin. */
export const trustIn = ({ type }: Origin, trust: number = 1): number =>
  Number.isNaN(trust) ? 0 : Math.min(trustOf[type], Math.max(0, trust))

/** Why something that breaks a rule is held back. */
export const heldBecause = (rule: string): string => `poses as an instruction: ${rule}`

export const admitFact = (fact: Fact): Fact => {
  const bounded: Fact = {
    ...fact,
    text: cleanLine(fact.text),
    entities: fact.entities.map(cleanLine),
    trust: trustIn(fact.origin, fact.trust)
  }
  if (bounded.state !== "active") return bounded
  // Judged as it came: on one line a mark of a role would be a word like any other.
  const rule = [fact.text, ...fact.entities].map(instructionIn).find((found) => found !== undefined)
  return rule === undefined ? bounded : { ...bounded, state: "quarantined", reason: heldBecause(rule) }
}
