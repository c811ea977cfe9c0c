// Routing: whether a fact is new, says again what is known, or takes the place of something.
// Owns that choice. Leaves what is done with it to whoever asked.
// R1  IGNORE only when the same numbers, months and negation stand in both, and nearly all the words.
// R2  UPDATE only of what holds until further notice, said of the same subject in nearly the same words with another
//     value. What happened once is not undone by what happened another time.
// R3  In doubt ADD: what is kept twice can be joined later, what is lost can not.

import { isPast } from "./grammar.ts"
import { type Gist, gistOf, hasSameValues, overlap, saysTheSame, unasked } from "./likeness.ts"
import { groupsOf } from "./lines.ts"

const RENEWED = 0.75

interface Route {
  readonly fact: string
  readonly action: "ADD" | "UPDATE" | "IGNORE"
  readonly target: string | null
}

/** It tells what happened: one of its first words is a verb in the past. */
const tellsAnEvent = (statement: string): boolean =>
  (
    unasked(statement)
      .toLowerCase()
      .match(/[\p{L}']+/gu) ?? []
  )
    .slice(1, 5)
    .some((word) => word !== "was" && isPast(word))

const isRenewed = (fact: Gist, known: Gist): boolean =>
  fact.first === known.first &&
  fact.values.size > 0 &&
  known.values.size + fact.values.size > 0 &&
  !hasSameValues(fact, known) &&
  overlap(fact.words, known.words) >= RENEWED

const routeOf = (
  id: string,
  text: string,
  known: ReadonlyArray<{ readonly id: string; readonly text: string }>
): Route => {
  const fact = gistOf(text)
  const candidates = known.map((each) => ({ ...each, gist: gistOf(each.text) }))
  const same = candidates.find(({ gist }) => saysTheSame(fact, gist))
  if (same !== undefined) return { fact: id, action: "IGNORE", target: same.id }
  const renewed = tellsAnEvent(text) ? undefined : candidates.find(({ gist }) => isRenewed(fact, gist))
  return renewed === undefined
    ? { fact: id, action: "ADD", target: null }
    : { fact: id, action: "UPDATE", target: renewed.id }
}

export const routed = (data: string): string =>
  JSON.stringify(groupsOf(data).map(({ line, neighbours }) => routeOf(line.id, line.text, neighbours)))
