// Weights: how much a term says about an entry, and how much it says at all.
// Owns BM25 over the three fields body, context and facts. Leaves finding entries to adapters.
// W1  What a term weighs in an entry follows from that entry alone, so it can be written down once.
// W2  The score of an entry is the sum, over the terms of the question, of rarity times weight.

/** How fast a term that comes again stops saying more. */
const K1 = 1.2
/** How much a long entry is marked down. */
const B = 0.75
/** Terms of a usual entry with what was said around it. A constant, so that W1 holds. */
const USUAL_LENGTH = 100

/** What a term counts by the field it stands in. */
const fieldWeights = { body: 1, context: 0.4, facts: 1 } as const

/** The terms of an entry, field by field, in any order and as often as they stand there. */
export interface Fields {
  readonly body: ReadonlyArray<string>
  readonly context: ReadonlyArray<string>
  readonly facts: ReadonlyArray<string>
}

/** What a term weighs that is counted so often, by the weights of its fields, in so long an entry. */
const weightOf = (count: number, length: number): number =>
  (count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / USUAL_LENGTH))

/** Each term of an entry with its weight. */
export const termWeights = ({ body, context, facts }: Fields): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  const count = (terms: ReadonlyArray<string>, weight: number): void => {
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + weight)
  }
  count(body, fieldWeights.body)
  count(context, fieldWeights.context)
  count(facts, fieldWeights.facts)
  const length = body.length + context.length + facts.length
  for (const [term, counted] of counts) counts.set(term, weightOf(counted, length))
  return counts
}

/** How much a term says that is in so many of so many entries: BM25's idf, never below 0. */
export const rarity = (entries: number, having: number): number =>
  Math.log((entries - having + 0.5) / (having + 0.5) + 1)
