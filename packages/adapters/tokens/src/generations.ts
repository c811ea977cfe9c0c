// Generations: what was found out about short texts, remembered within a bound.
// Owns forgetting. A Map whose oldest key is deleted for each new one gets slower by thousands of times while it is full,
// so nothing is deleted: the older half goes as a whole.
// G1  At most `most` texts are remembered; of those that were noted, the newest half is always among them.
// G2  What is remembered keeps nothing else in memory: a part of a text would keep the whole text, a megabyte for a word.

/** The engine copies shorter parts by itself. */
const COPIED_CHARS = 12

const apartFromItsText = (text: string): string =>
  text.length <= COPIED_CHARS ? text : Buffer.from(text, "utf16le").toString("utf16le")

export class Generations {
  readonly #half: number
  #young = new Map<string, number>()
  #old: ReadonlyMap<string, number> = new Map()

  constructor(most: number) {
    this.#half = Math.max(1, Math.floor(most / 2))
  }

  get(text: string): number | undefined {
    return this.#young.get(text) ?? this.#old.get(text)
  }

  note(text: string, value: number): void {
    if (this.#young.size >= this.#half) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(apartFromItsText(text), value)
  }
}
