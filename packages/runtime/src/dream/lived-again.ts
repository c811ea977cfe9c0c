// LivedAgain: what a model could not or would not read in one night, to be read in another.
// Owns the groups that wait, and how they are taken apart. Leaves what of a life they are to lived.ts.
// G1  What was not read is not lost: it waits, and keeps nothing behind it from being read.
// G2  A group waits for another night. Read in vain again, it is halved, so that one message alone is what is given up in the end.
// G3  At most MAX_WAITING things wait; what is given up is reported.

import { isJsonObject, type Json, type RecordChange } from "@reverie/protocol"

/** Under this key of the kind `state` stand the groups. */
export const AGAIN_KEY = "lived-again"

const MAX_WAITING = 1_000

export interface Group {
  /** Ids of messages, and of entries of the journal. */
  readonly of: ReadonlyArray<string>
  /** The tick of the dream that could not read it. */
  readonly night: number
}

const isId = (id: Json): id is string => typeof id === "string"

const groupIn = (value: Json): ReadonlyArray<Group> => {
  if (!isJsonObject(value)) return []
  const { night, of } = value
  return Array.isArray(of) && typeof night === "number" ? [{ of: (of as ReadonlyArray<Json>).filter(isId), night }] : []
}

export const groupsIn = (kept: Json | undefined): ReadonlyArray<Group> =>
  Array.isArray(kept) ? (kept as ReadonlyArray<Json>).flatMap(groupIn) : []

export const againChange = (groups: ReadonlyArray<Group>): RecordChange => ({
  kind: "state",
  key: AGAIN_KEY,
  value: groups.length === 0 ? null : groups.map(({ night, of }) => ({ night, of: [...of] }))
})

/** What waits after a group was read in vain in a night, and how much was given up. `waited`: it had waited before. */
export const postponed = (
  waiting: ReadonlyArray<Group>,
  { night, of }: Group,
  waited: boolean
): { readonly waiting: ReadonlyArray<Group>; readonly lost: number } => {
  const half = Math.ceil(of.length / 2)
  const parts = waited ? [of.slice(0, half), of.slice(half)].filter(({ length }) => length > 0) : [of]
  const isFull = waiting.reduce((sum, each) => sum + each.of.length, of.length) > MAX_WAITING
  if (isFull || (waited && of.length === 1)) return { waiting, lost: of.length }
  return { waiting: [...waiting, ...parts.map((part) => ({ of: part, night }))], lost: 0 }
}
