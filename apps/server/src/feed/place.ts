// Place: how far whoever listens has come in the outbox.
// Owns its form as the id of an event. Leaves events to frame.ts.
// P1  The last notice of an entry has the position of the entry as its id: a whole number.
// P2  One before it has a number between the position before and that position, so that whoever is cut off in the middle
//     of an entry goes on in the middle. Ids only grow.

export interface Place {
  /** Everything up to this position has been told. */
  readonly seq: number
  /** And so many notices of the entry right after it. */
  readonly told: number
}

/** More notices of one entry than this share the last number. */
const STEPS = 1_000

/** The id of a notice; `left` counts those of the same entry that come after it. */
export const idOf = (seq: number, index: number, left: number): string =>
  left === 0 ? String(seq) : `${seq - 1}.${String(Math.min(index + 1, STEPS - 1)).padStart(3, "0")}`

/** Undefined for what can be no place. */
export const placeIn = (id: string): Place | undefined => {
  const [, seq, told = "0"] = /^(\d{1,15})(?:\.(\d{3}))?$/.exec(id) ?? []
  return seq === undefined ? undefined : { seq: Number(seq), told: Number(told) }
}
