// Top: the best of many, of whom most are not among them.
// Owns keeping them apart. Leaves the order to the caller.
// T1  Of two in the same place the one that was offered first stays.

/** A heap with the worst of the best on top. */
export class Top<A extends { readonly score: number }> {
  readonly #most: number
  readonly #order: (a: A, b: A) => number
  readonly #best: Array<A> = []

  /** \`order\` is below 0 where the first is better. By it a greater score is better. */
  constructor(most: number, order: (a: A, b: A) => number) {
    this.#most = most
    this.#order = order
  }

  /** As many as there can be: others may have been left out. */
  get isFull(): boolean {
    return this.#best.length === this.#most
  }

  /** What has a lower score is not taken. */
  get bar(): number {
    return this.worst?.score ?? -Infinity
  }

  /** What is not better is not taken; undefined as long as everything is. */
  get worst(): A | undefined {
    return this.isFull ? this.#best[0] : undefined
  }

  offer(each: A): void {
    const [worst] = this.#best
    if (!this.isFull) this.#rise(each)
    else if (worst !== undefined && this.#order(each, worst) < 0) this.#sink(each)
  }

  /** The best first. */
  sorted(): ReadonlyArray<A> {
    return this.#best.toSorted(this.#order)
  }

  #rise(each: A): void {
    const best = this.#best
    let at = best.push(each) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = best[above]
      if (parent === undefined || this.#order(parent, each) >= 0) break
      best[at] = parent
      at = above
    }
    best[at] = each
  }

  #sink(each: A): void {
    const best = this.#best
    let at = 0
    while (true) {
      const [left, right] = [best[2 * at + 1], best[2 * at + 2]]
      const isRight = left !== undefined && right !== undefined && this.#order(right, left) > 0
      const below = isRight ? right : left
      if (below === undefined || this.#order(below, each) <= 0) break
      best[at] = below
      at = 2 * at + (isRight ? 2 : 1)
    }
    best[at] = each
  }
}
