// Ties: the links between facts, which always go both ways.
// Owns tying two facts, the number of links a fact may have, and where a link leads when its fact holds no longer.
// Leaves which facts are tied to link.ts and apply-routes.ts.
// T1  Of two facts that hold, both have the link or neither has. No fact is linked with itself, or twice with another.
// T2  A fact has at most MAX_LINKS. A link that finds no room is not made; a contradiction takes the place of the last.
// T3  A link to a superseded fact leads to the one that took its place; one to a fact that is retired, held back or
//     missing leads nowhere.

import type { Fact } from "../fact.ts"

export const MAX_LINKS = 8
const MAX_WHY_CHARS = 80

/** Facts by id that are being changed. */
export type Draft = Map<string, Fact>

const untie = (draft: Draft, id: string, other: string): void => {
  const fact = draft.get(id)
  if (fact !== undefined) draft.set(id, { ...fact, links: fact.links.filter(({ to }) => to !== other) })
}

const makeRoom = (draft: Draft, id: string): void => {
  const last = draft.get(id)?.links.at(-1)
  if (last === undefined || (draft.get(id)?.links.length ?? 0) < MAX_LINKS) return
  untie(draft, id, last.to)
  untie(draft, last.to, id)
}

/** Ties two facts; false when they are tied already or there is no room. */
export const tie = (draft: Draft, a: string, b: string, why: string, isUrgent: boolean = false): boolean => {
  const ends = [draft.get(a), draft.get(b)]
  if (a === b || ends.some((fact) => fact?.state !== "active")) return false
  if (draft.get(a)?.links.some(({ to }) => to === b) === true) return false
  if (isUrgent) for (const id of [a, b]) makeRoom(draft, id)
  else if (ends.some((fact) => (fact?.links.length ?? 0) >= MAX_LINKS)) return false
  const told = Array.from(why).slice(0, MAX_WHY_CHARS).join("")
  for (const [id, to] of [
    [a, b],
    [b, a]
  ] as const) {
    const fact = draft.get(id)
    if (fact !== undefined) draft.set(id, { ...fact, links: [...fact.links, { to, why: told }] })
  }
  return true
}

/** The fact that holds in the place of the named one: itself, or what superseded it; undefined when nothing does. */
export const standsFor = (facts: ReadonlyMap<string, Fact>, id: string): Fact | undefined => {
  const seen = new Set<string>()
  let fact = facts.get(id)
  while (fact?.state === "superseded" && fact.superseded_by !== undefined && !seen.has(fact.id)) {
    seen.add(fact.id)
    fact = facts.get(fact.superseded_by)
  }
  return fact?.state === "active" ? fact : undefined
}

/** The facts that differ, in the order of the draft. */
export const changedIn = (draft: Draft, before: ReadonlyMap<string, Fact>): ReadonlyArray<Fact> =>
  [...draft.values()].filter((fact) => before.get(fact.id) !== fact)

export const byId = (facts: Iterable<Fact>): ReadonlyMap<string, Fact> =>
  new Map([...facts].map((fact) => [fact.id, fact]))
