// Deal: whom to take of many that wait, so that no tenant hides another one.
// Owns the order. Leaves finding who waits to stores.

/** At most `limit` of those that wait, in the order of waiting: one of each tenant, then the next one of each. */
export const dealt = <Row>(rows: ReadonlyArray<Row>, tenantOf: (row: Row) => string, limit: number): Array<Row> => {
  if (rows.length <= limit) return [...rows]
  const rounds: Array<Array<Row>> = []
  const dealtTo = new Map<string, number>()
  for (const row of rows) {
    const round = dealtTo.get(tenantOf(row)) ?? 0
    dealtTo.set(tenantOf(row), round + 1)
    const others = rounds[round]
    if (others === undefined) rounds.push([row])
    else others.push(row)
  }
  return rounds.flat().slice(0, limit)
}
