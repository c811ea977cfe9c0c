// FleetRecovery: how long it takes until what a worker held goes on in other hands.
// Owns the measure. Leaves what must be true afterwards to fleet-judge.ts.
// R1  A worker held, of those that it was granted last, the one that had something to do when it was hit: a tick in hand, or an
//     acknowledged event that was not settled.
// R2  The recovery of a wound is the longest time until one of these commits again. One that was taken over by someone who
//     was hit in turn before that has recovered from the first wound with its grant, and counts for the second.
// R3  Told beside it is the time until it committed whatever else was hit meanwhile.

import type { Entry } from "@reverie/protocol"
import { type Evidence, type Grant, holdersIn, linesOf, type Wound } from "./fleet-judge.ts"
import { assistantId, isPosted, numberOf } from "./fleet-scene.ts"

export interface Recovery {
  readonly kind: string
  /** Infinity when one of them never went on. */
  readonly millis: number
  /** Until each of them has committed, however many more were hit (R3). */
  readonly throughAllMillis: number
  /** How many assistants it had in its hands. */
  readonly held: number
}

const IDLE = "awake.idle"

/** Nothing happens here before something comes from elsewhere: mail, or the report of a sub-agent. */
const isWaiting = (status: string): boolean => status === IDLE || status === "retired" || /awaiting/.test(status)

interface EntryHistory {
  readonly entries: ReadonlyArray<Entry>
  /** When each event was acknowledged and settled, in milliseconds since the epoch. */
  readonly waits: ReadonlyArray<{ readonly from: number; readonly until: number }>
}

const chronicles = ({ diaries, entries, epochOffset }: Evidence): ReadonlyMap<string, EntryHistory> => {
  const acks = new Map(linesOf(diaries, "ack").map(({ at, id }) => [id, at + epochOffset]))
  const assistants = [...entries.keys()].filter(isPosted).length
  const byAssistant = new Map<string, Array<string>>()
  for (const id of acks.keys()) {
    const to = assistantId((numberOf(id) ?? 0) % assistants)
    byAssistant.set(to, [...(byAssistant.get(to) ?? []), id])
  }
  return new Map(
    [...entries].map(([assistant, these]) => {
      const settled = new Map(these.flatMap(({ at, settled: ids = [] }) => ids.map(({ id }) => [id as string, at])))
      const waits = (byAssistant.get(assistant) ?? []).map((id) => ({
        from: acks.get(id) ?? 0,
        until: settled.get(id) ?? Number.POSITIVE_INFINITY
      }))
      return [assistant, { entries: these, waits }]
    })
  )
}

const isBusy = ({ entries, waits }: EntryHistory, at: number): boolean => {
  const status = entries.findLast((entry) => entry.at <= at)?.status ?? IDLE
  if (!isWaiting(status)) return true
  return status === IDLE && waits.some(({ from, until }) => from <= at && until > at)
}

/** Of what is sorted by time, the part after a time and before another one. */
const between = <A extends { readonly at: number }>(all: ReadonlyArray<A>, from: number, until: number) =>
  all.filter(({ at }) => at > from && at < until)

export const recoveriesOf = (evidence: Evidence): ReadonlyArray<Recovery> => {
  const { epochOffset, grants } = evidence
  const all = chronicles(evidence)
  const holdersAt = holdersIn(grants)
  const grantsOf = new Map<string, Array<Grant>>()
  for (const grant of grants) grantsOf.set(grant.assistant, [...(grantsOf.get(grant.assistant) ?? []), grant])
  const wounds = evidence.wounds
    .map((wound) => ({ ...wound, at: wound.at + epochOffset }))
    .toSorted((a, b) => a.at - b.at)
  const isHitAgain = ({ at, worker }: Grant, until: number): boolean =>
    between(wounds, at, until).some(({ victims }) => victims.includes(worker))
  const recoveryOf = ({ at, kind, victims }: Wound): Recovery => {
    const held = [...holdersAt(at)].flatMap(([assistant, holder]) => {
      const entryHistory = all.get(assistant)
      if (entryHistory === undefined || !victims.includes(holder) || !isBusy(entryHistory, at)) return []
      const committed = entryHistory.entries.find((entry) => entry.at > at)?.at ?? Number.POSITIVE_INFINITY
      const [taken] = between(grantsOf.get(assistant) ?? [], at, committed)
      const isHit = taken !== undefined && isHitAgain(taken, committed)
      return [{ millis: (isHit ? taken.at : committed) - at, throughAllMillis: committed - at }]
    })
    return {
      kind,
      millis: Math.max(0, ...held.map(({ millis }) => millis)),
      throughAllMillis: Math.max(0, ...held.map(({ throughAllMillis }) => throughAllMillis)),
      held: held.length
    }
  }
  return wounds.map(recoveryOf)
}

const percentile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0
}

export interface RecoveryFigures {
  readonly samples: number
  readonly p50Millis: number
  readonly p99Millis: number
  readonly maxMillis: number
  /** The same, whatever else was hit meanwhile. */
  readonly throughAllP99Millis: number
}

/** Of wounds that hit someone at work; the others have nothing to recover. */
export const figuresOf = (recoveries: ReadonlyArray<Recovery>): RecoveryFigures => {
  const hit = recoveries.filter(({ held }) => held > 0)
  const millis = hit.map((recovery) => recovery.millis)
  const throughAll = hit.map(({ throughAllMillis }) => throughAllMillis)
  return {
    samples: millis.length,
    p50Millis: Math.round(percentile(millis, 0.5)),
    p99Millis: Math.round(percentile(millis, 0.99)),
    maxMillis: Math.round(Math.max(0, ...millis)),
    throughAllP99Millis: Math.round(percentile(throughAll, 0.99))
  }
}
