// Fate: every choice of a simulated world, drawn from one seed.
// Owns the generator. The same seed gives the same choices in the same order.

export interface Fate {
  readonly chance: (probability: number) => boolean
  /** A whole number from `low` to `high`, both included. */
  readonly between: (low: number, high: number) => number
  readonly pick: <A>(choices: ReadonlyArray<A>) => A
}

/** mulberry32: 32 bits of state, enough for a world of some thousand choices. */
export const fateOf = (seed: number): Fate => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1))
  return {
    chance: (probability) => next() < probability,
    between,
    pick: (choices) => {
      const choice = choices[between(0, choices.length - 1)]
      if (choice === undefined) throw new Error("nothing to pick from")
      return choice
    }
  }
}
