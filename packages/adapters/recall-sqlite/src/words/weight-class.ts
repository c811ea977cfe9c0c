// WeightClass: how much a term weighs in an entry, in one of a few steps.
// Owns the steps. Leaves weights to the text module.
// W1  A weight comes back as that of its class, at most a fifteenth off.

/** No weight is below the first, none above the last. */
const LEAST = 0.05
const MOST = 2.2
const CLASSES = 36
const STEP = Math.log(MOST / LEAST) / (CLASSES - 1)

export const classOf = (weight: number): number =>
  Math.min(Math.max(Math.round(Math.log(weight / LEAST) / STEP), 0), CLASSES - 1)

/** By class. */
export const classWeights: ReadonlyArray<number> = Array.from(
  { length: CLASSES },
  (_, index) => LEAST * Math.exp(index * STEP)
)
