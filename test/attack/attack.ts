// Attack: one thing a hostile tool, operator, client, model or disk does to a running fleet, and what it cost.
// Owns the shape of an attack and of its result, and the verdict. The servers and clients are in scene.ts.
// A1  An attack speaks HTTP, CLI and files only, like someone outside.
// A2  An attack that had nothing acknowledged and nothing checked has failed: it proved nothing.
// A3  Nothing acknowledged may be lost or handled twice, and no message of a neighbour may be dead-lettered.
// A4  Each planted fault names the attack that has to find it; an attack that passes in spite of it is a failure.

import type { Scene } from "./scene.ts"

export interface Finding {
  /** Messages that were answered with 202. */
  readonly acknowledged: number
  /** Acknowledged messages that are in no committed tick, and not in the dead letters either. */
  readonly lost: number
  /** Messages that were handled more than once. */
  readonly duplicated: number
  /** Dead-lettered messages of neighbours, who did nothing wrong. */
  readonly innocents: number
  /** The longest time that the event loop of the server was held in one piece, where it was measured. */
  readonly holdMillis?: number
  /** From the end of the attack to the first proof that all is well again. */
  readonly recoverSeconds?: number
  /** What must hold besides the counts: each sentence with whether it held. */
  readonly checks: ReadonlyArray<Check>
  /** What came of each case, in rows and columns, for a person who reads the report. */
  readonly table?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

export interface Check {
  readonly says: string
  readonly ok: boolean
  /** What was seen, for a person who reads the report. */
  readonly seen?: string
}

export interface Attack {
  readonly name: string
  /** The item of the list of defects that it belongs to. */
  readonly item: number
  readonly says: string
  /** Part of `npm test`. */
  readonly isShort?: boolean
  /** It counts moments, and so has nothing of its lane beside it. */
  readonly isTimed?: boolean
  /** Why it cannot run here; undefined when it can. */
  readonly wants?: () => string | undefined
  readonly run: (scene: Scene, options: { readonly isShort: boolean }) => Promise<Finding>
}

/** A fault planted into the server; the attack of that name has to fail with it. */
export interface Plant {
  readonly name: string
  readonly attack: string
  /** A module that the server loads before anything else (plants/). */
  readonly module: string
}

export interface Verdict extends Finding {
  readonly name: string
  readonly item: number
  readonly ok: boolean
  readonly seconds: number
  /** What is wrong, in sentences; empty when ok. */
  readonly problems: ReadonlyArray<string>
}

const problemsOf = ({ acknowledged, checks, duplicated, innocents, lost }: Finding): ReadonlyArray<string> => [
  ...(acknowledged === 0 && checks.length === 0 ? ["nothing was acknowledged and nothing was checked"] : []),
  ...(lost > 0 ? [`${lost} acknowledged messages are lost`] : []),
  ...(duplicated > 0 ? [`${duplicated} messages were handled twice`] : []),
  ...(innocents > 0 ? [`${innocents} messages of neighbours were dead-lettered`] : []),
  ...checks.flatMap(({ ok, says, seen }) => (ok ? [] : [`not so: ${says}${seen === undefined ? "" : ` (${seen})`}`]))
]

export const verdictOf = (attack: Attack, finding: Finding, seconds: number): Verdict => {
  const problems = problemsOf(finding)
  return { name: attack.name, item: attack.item, ok: problems.length === 0, seconds, problems, ...finding }
}

/** An attack that could not be carried through has failed. */
export const brokenVerdict = (attack: Attack, error: unknown, seconds: number): Verdict => {
  const problem = error instanceof Error ? (error.stack ?? error.message) : String(error)
  const none = { acknowledged: 0, lost: 0, duplicated: 0, innocents: 0, checks: [] }
  return { name: attack.name, item: attack.item, ok: false, seconds, problems: [`it broke off: ${problem}`], ...none }
}
