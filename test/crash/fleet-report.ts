// FleetReport: what a run of the fleet's crash lane has shown, and why it is not enough.
// Owns the bounds. Leaves the figures to fleet-judge.ts and fleet-recovery.ts.
// L2  A run that inflicted fewer faults than asked for, missed a kind of them, acknowledged fewer events, or in which too
//     few assistants had to be taken over, fails: it proved nothing.

import { type Evidence, type FleetVerdict, isFaultless, judgeFleet } from "./fleet-judge.ts"
import { type Nemesis, nemesesOf } from "./fleet-nemeses.ts"
import { figuresOf, recoveriesOf, type RecoveryFigures } from "./fleet-recovery.ts"

/** What a run was to show. */
export interface Asked {
  readonly kills: number
  readonly events: number
}

export interface FleetReport extends FleetVerdict {
  readonly ok: boolean
  /** Why it is not ok, one sentence each. */
  readonly complaints: ReadonlyArray<string>
  readonly kills: number
  readonly killsByKind: Readonly<Record<string, number>>
  /** Assistants that were at work when their worker was hit, and went on in other hands. */
  readonly takenOver: number
  /** From the kill of a worker until everything it held goes on. */
  readonly recovery: RecoveryFigures
  readonly recoveryByKind: Readonly<Record<string, RecoveryFigures>>
  readonly seconds: number
  readonly servers: string
}

const RECOVERY_P99_MILLIS = 10_000
const isOfWorker = (kind: string): boolean => kind === "kill" || kind === "clock" || kind.startsWith("at ")

const grouped = <A>(values: ReadonlyArray<A>, by: (value: A) => string): ReadonlyMap<string, ReadonlyArray<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const value of values) groups.set(by(value), [...(groups.get(by(value)) ?? []), value])
  return groups
}

export const reportOf = (
  evidence: Evidence,
  { events, kills: asked }: Asked,
  rested: boolean,
  mishaps: ReadonlyArray<string>
): Omit<FleetReport, "seconds" | "servers"> => {
  const verdict = judgeFleet(evidence)
  const recoveries = recoveriesOf(evidence)
  const byKind = grouped(recoveries, ({ kind }) => kind)
  const recovery = figuresOf(recoveries.filter(({ kind }) => isOfWorker(kind)))
  const kills = evidence.wounds.length
  const takenOver = recoveries.reduce((sum, { held, kind }) => sum + (isOfWorker(kind) ? held : 0), 0)
  const missed = nemesesOf(asked).filter((nemesis) => ![...byKind.keys()].some((kind) => isKind(nemesis, kind)))
  const complaints = [
    ...(isFaultless(verdict) ? [] : ["what must be 0 is not"]),
    ...(rested ? [] : ["the fleet did not come to rest"]),
    ...mishaps.map((mishap) => `a process ended by itself: ${mishap}`),
    ...(kills < asked ? [`only ${kills} of ${asked} faults`] : []),
    ...(missed.length > 0 ? [`no ${missed.join(", ")}`] : []),
    ...(verdict.acknowledged < events ? [`only ${verdict.acknowledged} of ${events} events`] : []),
    ...(verdict.subAgents === 0 ? ["no sub-agent"] : []),
    ...(takenOver < asked / 2 ? [`only ${takenOver} assistants were taken over`] : []),
    ...(recovery.p99Millis > RECOVERY_P99_MILLIS ? [`recovery p99 is ${recovery.p99Millis} ms`] : [])
  ]
  return {
    ok: complaints.length === 0,
    complaints,
    kills,
    killsByKind: Object.fromEntries([...byKind].map(([kind, these]) => [kind, these.length])),
    takenOver,
    recovery,
    recoveryByKind: Object.fromEntries([...byKind].map(([kind, these]) => [kind, figuresOf(these)])),
    ...verdict
  }
}

/** A process that was to die at a point, and did not pass it in time, died where it was. */
const isKind = (nemesis: Nemesis, kind: string): boolean => {
  if (nemesis === "point") return kind.startsWith("at ") && !kind.endsWith("-accept")
  return nemesis === "producer" ? kind.endsWith("-accept") : kind === nemesis
}
