// Forgetting: what may stand in the place of a life in which something is to be known no more.
// Owns the judging of a rewritten life, and the account of what went.
// G1  A rewritten life is a whole bundle of the same assistant and has nowhere more than there was.
// G2  What went is counted by kind and never named: an account of it holds no text.

import { type Address, LANES } from "@reverie/protocol"
import * as Result from "effect/Result"
import { type Bundle, type BundlePart, flawOfBundle } from "./bundle-part.ts"
import type { BundlePlace } from "./bundles.ts"
import type { BundleRefused } from "./errors.ts"
import { nobodyAt, refused, whoOf } from "./present.ts"

const GROWING = [...LANES.map((lane) => `envelope ${lane}`), "entry", "dead-letter"]

const nameOf = (part: BundlePart): string => (part.kind === "envelope" ? `envelope ${part.lane}` : part.kind)

const countsOf = (
  parts: ReadonlyArray<BundlePart>,
  name: (part: BundlePart) => string
): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const part of parts) counts.set(name(part), (counts.get(name(part)) ?? 0) + 1)
  return counts
}

/** What a change makes of a life, where that may stand in its place. */
const judged = (life: Bundle, change: (life: Bundle) => Bundle): Result.Result<Bundle, BundleRefused> => {
  const made = change(life)
  const [before, after] = [countsOf(life.parts, nameOf), countsOf(made.parts, nameOf)]
  const grown = GROWING.find((name) => (after.get(name) ?? 0) > (before.get(name) ?? 0))
  const flaw =
    flawOfBundle(made) ??
    (whoOf(made.head) === whoOf(life.head) ? undefined : `it would be ${whoOf(made.head)}`) ??
    (grown === undefined ? undefined : `it would have more of this than before: ${grown}`)
  return flaw === undefined ? Result.succeed(made) : Result.fail(refused("broken", whoOf(life.head), flaw))
}

/** What is put in which place; refused where nothing is there. */
export const rewritten = (
  place: BundlePlace,
  there: Bundle | undefined,
  change: (there: Bundle) => Bundle
): Result.Result<{ readonly there: Bundle; readonly made: Bundle }, BundleRefused> => {
  if (there === undefined) return Result.fail(nobodyAt(place as Address))
  return Result.map(judged(there, change), (made) => ({ there, made }))
}

/** The digests that a rewritten life refers to no more. */
export const droppedDigests = (life: Bundle, made: Bundle): ReadonlyArray<string> => {
  const kept = new Set(made.parts.flatMap((part) => (part.kind === "blob" ? [part.digest] : [])))
  return life.parts.flatMap((part) => (part.kind === "blob" && !kept.has(part.digest) ? [part.digest] : []))
}

/** How many parts of each kind are not what they were, by kind: gone, or with something else in their place. */
export const goneBetween = (life: Bundle, made: Bundle): Readonly<Record<string, number>> => {
  const left = countsOf(made.parts, (part) => JSON.stringify(part))
  const used = new Map<string, number>()
  const gone = life.parts.filter((part) => {
    const text = JSON.stringify(part)
    used.set(text, (used.get(text) ?? 0) + 1)
    return (used.get(text) ?? 0) > (left.get(text) ?? 0)
  })
  return Object.fromEntries([...countsOf(gone, ({ kind }) => kind)].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
