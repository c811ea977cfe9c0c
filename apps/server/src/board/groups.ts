// Groups: what the assistants of one definition, or in one state, come to.
// Owns the sums. Leaves the rows to board.ts, and whom a filter means to choice.ts.
// G1  By definition and state each assistant is in one group, and what all groups come to is what the list of the same filter does;
//     by label it is in one for each of its labels.
// G2  One look over all rows answers it, and it holds one sum a group.

import type { FleetGroup, groupings } from "../api/index.ts"
import { type Filter, meaning, needsPerson, type Tags } from "./choice.ts"
import { type Row, together } from "./row.ts"

export type Grouping = (typeof groupings)[number]

export interface GroupQuestion extends Filter {
  readonly by?: Grouping
  readonly limit: number
  readonly tags?: Tags
}

type Sum = { -readonly [Name in keyof FleetGroup]: FleetGroup[Name] }

/** A mode; of an awake one what it does. */
const stateOf = (path: string): string => {
  const [mode = "", what] = path.split(".")
  return mode === "awake" && what !== undefined ? `${mode}.${what}` : mode
}

const keysBy: Readonly<Record<Grouping, (row: Row, tags: Tags) => ReadonlyArray<string>>> = {
  definition: ({ definition }) => [definition],
  state: ({ state }) => [stateOf(state)],
  tag: ({ definition }, tags) => tags.get(definition) ?? []
}

const emptySum = (key: string): Sum => ({
  key,
  assistants: 0,
  working: 0,
  needPerson: 0,
  halted: 0,
  approvals: 0,
  waiting: 0,
  day: { tokens: 0, costMicros: 0, calls: 0, unpricedCalls: 0 }
})

const add = (sum: Sum, row: Row, now: number): void => {
  sum.assistants++
  if (row.isWorking) sum.working++
  if (needsPerson(row, now)) sum.needPerson++
  if (row.class === "halted") sum.halted++
  sum.approvals += row.approvals
  sum.waiting += row.waiting
  sum.day = together(sum.day, row.day)
}

export const groupsOf = (
  rows: Iterable<Row>,
  { by = "definition", limit, tags = new Map(), ...filter }: GroupQuestion,
  now: number
): { readonly by: Grouping; readonly items: ReadonlyArray<FleetGroup>; readonly matched: number } => {
  const isMeant = meaning(filter, tags)
  const keysOf = keysBy[by]
  const sums = new Map<string, Sum>()
  for (const row of rows) {
    if (!isMeant(row)) continue
    for (const key of keysOf(row, tags)) {
      const known = sums.get(key)
      const sum = known ?? emptySum(key)
      if (known === undefined) sums.set(key, sum)
      add(sum, row, now)
    }
  }
  const sorted = [...sums.values()].toSorted((a, b) => b.assistants - a.assistants || (a.key < b.key ? -1 : 1))
  return { by, items: sorted.slice(0, limit), matched: sorted.length }
}
