// Top: the best of many, of whom most are not among them.
// Owns keeping them apart. Leaves what is good to whoever gives the scores.
// T1  Of two with the same score the one that was offered first stays.

/** An entry: the key of its row, and the number under which its words are kept where it was found by them. */
export interface Scored {
  readonly row: number
  readonly doc: number | undefined
  readonly score: number
}

/** A heap with the worst of the best on top. */
export class Top {
  readonly #most: number
  readonly #floor: number
  readonly #best: Array<Scored> = []

  /** What is not above the floor is not good at all. */
  constructor(most: number, floor: number = 0) {
    this.#most = most
    this.#floor = floor
  }

  /** As many as there can be: others may have been left out. */
  get isFull(): boolean {
    return this.#best.length === this.#most
  }

  /** Only what is above it is taken. */
  get bar(): number {
    return this.isFull ? (this.#best[0]?.score ?? this.#floor) : this.#floor
  }

  offer(row: number, doc: number | undefined, score: number): void {
    if (!(score > this.bar)) return
    const scored = { row, doc, score }
    if (this.isFull) this.#sink(scored)
    else this.#rise(scored)
  }

  /** The best first. What was offered twice is there twice. */
  sorted(): ReadonlyArray<Scored> {
    return this.#best.toSorted((a, b) => b.score - a.score || (b.doc ?? 0) - (a.doc ?? 0))
  }

  #rise(scored: Scored): void {
    const best = this.#best
    let at = best.push(scored) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = best[above]
      if (parent === undefined || parent.score <= scored.score) break
      best[at] = parent
      at = above
    }
    best[at] = scored
  }

  #sink(scored: Scored): void {
    const best = this.#best
    let at = 0
    while (true) {
      const [left, right] = [best[2 * at + 1], best[2 * at + 2]]
      const isRight = left !== undefined && right !== undefined && right.score < left.score
      const below = isRight ? right : left
      if (below === undefined || below.score >= scored.score) break
      best[at] = below
      at = 2 * at + (isRight ? 2 : 1)
    }
    best[at] = scored
  }
}
