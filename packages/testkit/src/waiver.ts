// Waiver: a law that an adapter is known to break, with the reason.
// Owns what excuses a result and what does not. Leaves judging to `law.ts`.
// P2  A waiver names a law, carries a reason, and fails as soon as the law holds.

import type { LawResult } from "./law.ts"

/** Reasons by the ids of laws. */
export type Waivers = Readonly<Record<string, string>>

/** Throws when a waiver names no selected law or gives no reason: it would excuse nothing, or anything. */
export const checkWaivers = (ids: ReadonlyArray<string>, waivers: Waivers): void => {
  for (const [id, reason] of Object.entries(waivers)) {
    if (!ids.includes(id)) throw new Error(`a waiver names ${id}, which is not among the laws to prove`)
    if (reason.trim() === "") throw new Error(`the waiver of ${id} gives no reason`)
  }
}

/** What is wrong with a result, under its waiver if it has one; undefined when nothing is. */
export const complaintOf = (result: LawResult, waiver: string | undefined): string | undefined => {
  if (result.verdict === "inconclusive") return `inconclusive: ${result.reason ?? ""}`
  if (waiver === undefined) return result.verdict === "held" ? undefined : (result.reason ?? "broken")
  return result.verdict === "broken" ? undefined : `the law holds: drop its waiver (${waiver})`
}
