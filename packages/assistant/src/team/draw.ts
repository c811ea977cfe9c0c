// Draw: a choice that looks random and is the same at every attempt.
// Owns the way from a seed to a number. Leaves the seed, the id of an envelope, to the caller.

import { createHash } from "node:crypto"

/** A whole number from 0 to below `count`. */
const draw = (seed: string, count: number): number =>
  count <= 1 ? 0 : createHash("sha256").update(seed).digest().readUIntBE(0, 6) % count

export const drawn = <A>(seed: string, from: ReadonlyArray<A>): A | undefined => from[draw(seed, from.length)]
