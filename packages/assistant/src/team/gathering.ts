// Gathering: the same question to several members, and one answer made of theirs.
// Owns collecting. Leaves who is asked to the pattern.
// G1  It ends when everybody has answered, failed or is late; one good answer makes a good one.
// G2  Answers stand in the order of the asks, whichever came first.

import type { Json } from "@reverie/protocol"
import { type Answer, type Ask, type Candidate, type Conclusion, type Move, type Question, saidBy } from "./team.ts"

export interface Gathered {
  readonly said: ReadonlyArray<Answer>
}

/** The asks, tagged with their places. */
export const inOrder = (asks: ReadonlyArray<Ask>): ReadonlyArray<Ask> =>
  asks.map((ask, place) => ({ ...ask, tag: String(place) }))

export const asking = (members: ReadonlyArray<Candidate>, text: string): Pick<Move, "asks"> => ({
  asks: inOrder(members.map(({ id }) => ({ member: id, text })))
})

const placeOf = ({ tag = "" }: Answer): number => Number(tag)

/** With one more, in the order in which they were asked. */
export const gathered = (so: Gathered, { member, outcome, tag = "0", text }: Answer): Gathered => ({
  said: [...so.said, { member, outcome, tag, text }].toSorted((one, other) => placeOf(one) - placeOf(other))
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
