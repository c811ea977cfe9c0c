// RoundJudge: the verdict on a round of a composed deployment.
// Owns the rules. Leaves what became of each message to the judge of the attacks, the round itself to round.ts.
// R1  Every acknowledged message is the cause of exactly one commit, and there is no dead letter.
// R2  A phase in which nothing was acknowledged proves nothing, and neither does a round without phases.
// R3  What may not be refused was not: while the database is there, everything is taken in.
// R4  What was looked at is as it has to be.

import type { Judged } from "../attack/judge.ts"
import type { Phase } from "./load.ts"

export interface Look {
  readonly says: string
  readonly ok: boolean
  readonly seen?: string
}

export interface RoundSeen {
  readonly phases: ReadonlyArray<Phase>
  /** Phases in which the API or the database is away for a while. */
  readonly mayRefuse: ReadonlySet<string>
  readonly looks: ReadonlyArray<Look>
  readonly judged: Judged
}

export interface RoundVerdict {
  readonly ok: boolean
  readonly lines: ReadonlyArray<string>
}

const refusedIn = ({ refused }: Phase): string =>
  Object.entries(refused)
    .map(([status, count]) => `${count} with ${status === "0" ? "no answer" : status}`)
    .join(", ")

const phaseLine = (phase: Phase): string => {
  const refused = refusedIn(phase)
  return `${phase.name}: ${phase.acknowledged} of ${phase.sent} acknowledged${refused === "" ? "" : `; ${refused}`}`
}

const phaseProblems = ({ mayRefuse, phases }: RoundSeen): ReadonlyArray<string> => [
  ...(phases.length === 0 ? ["nothing was sent: nothing was proved"] : []),
  ...phases.flatMap((phase) => {
    if (phase.acknowledged === 0) return [`${phase.name}: nothing was acknowledged, which proves nothing`]
    if (phase.acknowledged === phase.sent || mayRefuse.has(phase.name)) return []
    return [`${phase.name}: ${phase.sent - phase.acknowledged} were refused (${refusedIn(phase)})`]
  })
]

const messageProblems = ({ judged, phases }: RoundSeen): ReadonlyArray<string> => {
  const { acknowledged, duplicated, innocents, lost, remarks } = judged
  const counted = phases.reduce((sum, phase) => sum + phase.acknowledged, 0)
  return [
    ...(acknowledged === counted ? [] : [`${counted} were acknowledged, and ${acknowledged} were judged`]),
    ...(lost > 0 ? [`${lost} acknowledged messages are in no commit`] : []),
    ...(duplicated > 0 ? [`${duplicated} messages are the cause of more than one commit`] : []),
    ...(innocents > 0 ? [`${innocents} messages were dead-lettered`] : []),
    ...(lost + innocents > 0 ? remarks : [])
  ]
}

export const verdictOfRound = (seen: RoundSeen): RoundVerdict => {
  const { judged, looks, phases } = seen
  const wrong = looks.flatMap(({ ok, says, seen: what }) =>
    ok ? [] : [`not so: ${says}${what === undefined ? "" : ` (${what})`}`]
  )
  const problems = [...phaseProblems(seen), ...messageProblems(seen), ...wrong]
  const { acknowledged, duplicated, innocents, lost, recoverSeconds } = judged
  return {
    ok: problems.length === 0,
    lines: [
      ...phases.map(phaseLine),
      `${looks.filter(({ ok }) => ok).length} of ${looks.length} looks are as they have to be`,
      `${acknowledged} acknowledged, ${lost} lost, ${duplicated} duplicated, ${innocents} dead letters; ` +
        `all were handled ${recoverSeconds} s after the last`,
      ...problems.map((problem) => `FAILED: ${problem}`)
    ]
  }
}
