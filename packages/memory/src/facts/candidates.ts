// Candidates: the known facts that a new one may concern.
// Owns nearness by shared rare words. Leaves judging what is near to the model, and what says the same to apply-routes.ts.
// N1  Only facts that hold are found. The order is total: nearness, then the younger, then the id.
// N2  A word is worth the more, the fewer facts have it; a fact counts by the part of its words that is shared.
// N3  Built once for many questions: 5,000 facts and 20 questions take a fraction of a second.

import { type Ask, askLine, type Task } from "@reverie/protocol"
import type { Fact } from "../fact.ts"
import { queryTerms } from "../text/index.ts"

export const MAX_CANDIDATES = 5

/** Something to be asked about, and the known facts nearest to it. */
export interface Neighbourhood {
  readonly id: string
  readonly text: string
  readonly near: ReadonlyArray<Fact>
}

export interface Sought {
  readonly text: string
  readonly entities: ReadonlyArray<string>
  /** A fact that is not to be found: itself. */
  readonly except?: string
}

export interface FactIndex {
  readonly near: (sought: Sought, limit?: number) => ReadonlyArray<Fact>
}

const termsIn = ({ entities, text }: Pick<Fact, "text" | "entities">): ReadonlyArray<string> =>
  queryTerms([text, ...entities].join(" ")).map(({ term }) => term)

interface Posting {
  readonly places: Array<number>
}

export const factIndex = (facts: Iterable<Fact>): FactIndex => {
  const active = [...facts].filter(({ state }) => state === "active")
  const terms = active.map(termsIn)
  const postings = new Map<string, Posting>()
  for (const [place, each] of terms.entries()) {
    for (const term of each) {
      const posting = postings.get(term)
      if (posting === undefined) postings.set(term, { places: [place] })
      else posting.places.push(place)
    }
  }
  const rarity = (term: string): number => Math.log(1 + active.length / (postings.get(term)?.places.length ?? 1))
  const lengths = terms.map((each) => Math.hypot(...each.map(rarity)))

  const nearness = (sought: Sought): ReadonlyMap<number, number> => {
    const shared = new Map<number, number>()
    for (const term of termsIn(sought)) {
      const weight = rarity(term) ** 2
      for (const place of postings.get(term)?.places ?? []) shared.set(place, (shared.get(place) ?? 0) + weight)
    }
    return shared
  }

  const near = (sought: Sought, limit: number = MAX_CANDIDATES): ReadonlyArray<Fact> =>
    [...nearness(sought)]
      .flatMap(([place, shared]) => {
        const fact = active[place]
        return fact === undefined || fact.id === sought.except ? [] : [{ fact, score: shared / (lengths[place] ?? 1) }]
      })
      .toSorted((a, b) => b.score - a.score || b.fact.at - a.fact.at || (a.fact.id < b.fact.id ? -1 : 1))
      .slice(0, limit)
      .map(({ fact }) => fact)

  return { near }
}

/** A question about each that has neighbours; undefined when none has. */
export const neighbourAsk = (
  task: Task,
  instructions: string,
  questions: ReadonlyArray<Neighbourhood>
): Ask | undefined => {
  const lines = questions
    .filter(({ near }) => near.length > 0)
    .flatMap(({ id, near, text }) => [askLine(id, text), ...near.map((fact) => `  ${askLine(fact.id, fact.text)}`)])
  return lines.length === 0 ? undefined : { task, instructions, data: lines.join("\n") }
}
