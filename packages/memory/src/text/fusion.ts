// Fusion: one order out of two.
// Owns the formula, which is Qdrant's: score = 1 / ((place from 0 + 1) / weight + k - 1). Leaves the two orders to those
// who made them.

/** The k of the literature, 60, as this formula counts. */
export const FUSION_K = 61

/** What the two searches count, the one for words and the one for meaning. */
export const fusionWeights = { lexical: 1, vector: 1 } as const

/** What a place counts that is 1 for the first. */
export const fusedScore = (rank: number, weight: number, k: number = FUSION_K): number => 1 / (rank / weight + k - 1)
