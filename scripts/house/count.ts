// Count: one figure of the measure, and whether its bound is kept.
// Owns the shape and the verdict. Leaves what is counted to the other files.
// C1  A count that examined nothing has failed, whatever its bound.

export interface Count {
  readonly name: string
  /** What was looked at: files, names, edges. */
  readonly examined: number
  readonly value: number
  /** The most that `value` may be; without one the count is only reported. */
  readonly most?: number
  /** Every case of what is counted, one a line. */
  readonly found: ReadonlyArray<string>
  readonly figures: Readonly<Record<string, unknown>>
}

/** A line for each count that has failed. */
export const missedBy = (counts: ReadonlyArray<Count>): ReadonlyArray<string> =>
  counts.flatMap(({ examined, most, name, value }) => {
    if (examined === 0) return [`${name}: examined nothing`]
    return most !== undefined && value > most ? [`${name}: ${value}, at most ${most}`] : []
  })
