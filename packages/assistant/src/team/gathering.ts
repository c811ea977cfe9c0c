// Gathering: the same question to several members, and one answer made of theirs.
// Owns collecting. Leaves who is asked to the pattern.
// G1  It ends when everybody has answered, failed or is late; one good answer makes a good one.

import type { Json } from "@reverie/protocol"
import { type Answer, type Candidate, type Conclusion, type Move, type Question, saidBy } from "./team.ts"

export interface Gathered {
  readonly said: ReadonlyArray<Answer>
}

export const asking = (members: ReadonlyArray<Candidate>, text: string): Pick<Move, "asks"> => ({
  asks: members.map(({ id }) => ({ member: id, text }))
})

/** With one more. */
export const gathered = (so: Gathered, answer: Answer): Gathered => ({
  said: [...so.said, { member: answer.member, outcome: answer.outcome, text: answer.text }]
})

export const isComplete = ({ asks }: Question): boolean => Object.keys(asks).length === 0

/** One speaks for itself; several are named. */
export const together = ({ said }: Gathered): Conclusion => {
  const outcome = said.some((each) => each.outcome === "answered")
    ? "answered"
    : said.some((each) => each.outcome === "silent")
      ? "silent"
      : "failed"
  const [only, ...others] = said
  return only !== undefined && others.length === 0 && only.outcome === "answered"
    ? { outcome, text: only.text }
    : { outcome, text: said.map(saidBy).join("\n") }
}

export const asPlan = (plan: object): Json => plan as Json
