// Asked: which entries a question is about, whatever their words are.
// Owns who may read what, and the conditions of a question. Adapters may narrow by themselves first; this decides.
// A1  An entry is read by its owner, by those it names and, if it says so, by its tenant's fleet; by no other tenant ever.
// A2  A scope narrows that: own, then those that name the viewer too, then those for the fleet too.
// A3  A list without anything in it is no condition.

import { type Address, sameAddress } from "@reverie/protocol"
import { episodicKinds, type MemoryEntry, type MemoryKind } from "./entry.ts"
import type { RecallQuery, RecallScope } from "./recall.ts"

/** True when the viewer may read an owner's entry in a scope. */
export const mayRead = (
  viewer: Address,
  owner: Address,
  { readers }: Pick<MemoryEntry, "readers">,
  scope: RecallScope
): boolean => {
  if (sameAddress(viewer, owner)) return true
  if (scope === "own" || viewer.tenant !== owner.tenant) return false
  if (typeof readers === "string") return readers === "fleet" && scope === "fleet"
  return readers.includes(viewer.assistant)
}

/** The kinds that a question is answered from. */
export const kindsOf = ({ kinds = [] }: Pick<RecallQuery, "kinds">): ReadonlyArray<MemoryKind> =>
  kinds.length === 0 ? episodicKinds : kinds

/** A name as names are compared. */
export const nameKey = (name: string): string => name.toLowerCase()

const isOneOf = (wanted: ReadonlyArray<string> | undefined, names: ReadonlyArray<string>): boolean => {
  if (wanted === undefined || wanted.length === 0) return true
  const keys = new Set(names.map(nameKey))
  return wanted.some((name) => keys.has(nameKey(name)))
}

/** Kinds of what was said. */
export const spokenKinds = ["message", "answer"] as const satisfies ReadonlyArray<MemoryKind>

const isSpoken: ReadonlySet<MemoryKind> = new Set(spokenKinds)

/** The latest that a memory of a kind may be of. */
export const latestOf = (
  kind: MemoryKind,
  { messagesUntil = Infinity, until = Infinity }: Pick<RecallQuery, "messagesUntil" | "until">
): number => (isSpoken.has(kind) ? Math.min(until, messagesUntil) : until)

/** True when an entry fulfils every condition of a question. */
export const fits = (entry: MemoryEntry, query: RecallQuery): boolean =>
  kindsOf(query).includes(entry.kind) &&
  entry.at >= (query.since ?? Number.NEGATIVE_INFINITY) &&
  entry.at <= latestOf(entry.kind, query) &&
  entry.trust >= (query.minTrust ?? Number.NEGATIVE_INFINITY) &&
  (query.thread === undefined || entry.thread === query.thread) &&
  isOneOf(query.entities, entry.entities) &&
  isOneOf(query.tags, entry.tags)
