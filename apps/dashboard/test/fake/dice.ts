// Dice: chance with a seed, so that the same fleet is shown every time.

export interface Dice {
  /** 0 to 1. */
  readonly next: () => number
  readonly below: (limit: number) => number
  readonly one: <Value>(of: ReadonlyArray<Value>) => Value
}

export const dice = (seed: number): Dice => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return { next, below, one: (of) => of[below(of.length)] as (typeof of)[number] }
}
