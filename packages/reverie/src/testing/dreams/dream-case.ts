// DreamCase: a conversation with what is to be learnt of it.
// Owns its form. Leaves dreaming and judging to eval-dreams.ts.

/** Words that a fact must have: whom it is about, then what, each in any of the forms between bars; a form begins a word. */
export type FactLabel = readonly [who: string, ...what: ReadonlyArray<string>]

/** A conversation, and what is to be learnt of it. */
export interface DreamCase {
  /** Cases of one kind are counted together. */
  readonly kind: string
  /** All on Thursday 29 February 2024, a minute apart. */
  readonly said: ReadonlyArray<readonly [speaker: string, text: string]>
  /** What has to be learnt. */
  readonly learn?: ReadonlyArray<FactLabel>
  /** What is true as well, and counts neither for nor against. */
  readonly may?: ReadonlyArray<FactLabel>
}
