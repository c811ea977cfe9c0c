// Paging: a long list that is already in memory, page by page, the newest first.
// Owns the order and the cursor. Leaves reading the list to the groups.
// P1  Walking from page to page shows everything that was there all the while exactly once, whatever comes and goes.

import { Malformed } from "../api/index.ts"

export interface Dated {
  readonly id: string
  readonly at: number
}

const isBehind = (one: Dated, other: Dated): boolean => one.at < other.at || (one.at === other.at && one.id > other.id)

const compare = (one: Dated, other: Dated): number => (isBehind(one, other) ? 1 : -1)

const cursorOf = ({ at, id }: Dated): string => `${at} ${id}`

const readCursor = (cursor: string): Dated => {
  const [, at, id] = /^(-?\d+(?:\.\d+)?(?:e\+\d+)?) (.+)$/s.exec(cursor) ?? []
  if (at === undefined || id === undefined) throw new Malformed({ message: "this is no cursor of this list" })
  return { at: Number(at), id }
}

/** In the order of a list: the newest first. */
export const newestFirst = <A>(items: ReadonlyArray<A>, datedOf: (item: A) => Dated): ReadonlyArray<A> =>
  items.toSorted((one, other) => compare(datedOf(one), datedOf(other)))

/** `items` are in the order of a list. */
export const pageOf = <A>(
  items: ReadonlyArray<A>,
  datedOf: (item: A) => Dated,
  { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number }
): { readonly items: ReadonlyArray<A>; readonly next: string | null } => {
  const last = cursor === undefined ? undefined : readCursor(cursor)
  const rest = last === undefined ? items : items.filter((item) => isBehind(datedOf(item), last))
  const shown = rest.slice(0, limit)
  const end = shown.at(-1)
  return { items: shown, next: end === undefined || shown.length === rest.length ? null : cursorOf(datedOf(end)) }
}
