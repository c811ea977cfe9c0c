// Scores: what the entries of a segment have come to, one number each.
// Owns the memory, one for all questions, for none is asked while another one is. Leaves what is added to posting-list.ts.
// S1  Anyone who has a score can be told without a look at those who have none, unless these are few.

export class Scores {
  sums = new Float32Array(1_024)
  /** The numbers of the entries that have a score, as far as `isListed`. */
  touched = new Uint32Array(1_024)
  count = 0
  isListed = true
  #entries = 0

  /** No entry of so many has a score. */
  begin(entries: number): void {
    if (this.sums.length < entries) {
      this.sums = new Float32Array(2 * entries)
      this.touched = new Uint32Array(2 * entries)
    } else if (this.isListed) for (let at = 0; at < this.count; at++) this.sums[this.touched[at] ?? 0] = 0
    else this.sums.fill(0, 0, this.#entries)
    this.#entries = entries
    this.count = 0
    this.isListed = true
  }
}
