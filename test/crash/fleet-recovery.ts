// FleetRecovery: how long it takes until what a worker held goes on in other hands.
// Owns the measure. Leaves what must be true afterwards to fleet-judge.ts.
// R1  A worker held, of those that it was granted last, whoever had something to do when it was hit: a tick in hand, or an
//     acknowledged event that was not settled.
// R2  The recovery of a wound is the longest time until one of these commits again, whatever else was hit meanwhile.

import type { Entry } from "@reverie/protocol"
import { type Evidence, holdersIn, linesOf, type Wound } from "./fleet-judge.ts"
import { assistantId, isPosted, numberOf } from "./fleet-scene.ts"

export interface Recovery {
  readonly kind: string
  /** Infinity when one of them never went on. */
  readonly millis: number
  /** How many assistants it had in its hands. */
  readonly held: number
}

const IDLE = "awake.idle"

/** Nothing happens here before something comes from elsewhere: mail, or the report of a sub-agent. */
const isWaiting = (status: string): boolean => status === IDLE || status === "retired" || /awaiting/.test(status)

interface Chronicle {
  readonly entries: ReadonlyArray<Entry>
  /** When each event was acknowledged and settled, in milliseconds since the epoch. */
  readonly waits: ReadonlyArray<{ readonly from: number; readonly until: number }>
}

const chronicles = ({ diaries, entries, epochOffset }: Evidence): ReadonlyMap<string, Chronicle> => {
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

const isBusy = ({ entries, waits }: Chronicle, at: number): boolean => {
  const status = entries.findLast((entry) => entry.at <= at)?.status ?? IDLE
  if (!isWaiting(status)) return true
  return status === IDLE && waits.some(({ from, until }) => from <= at && until > at)
}

export const recoveriesOf = (evidence: Evidence): ReadonlyArray<Recovery> => {
  const all = chronicles(evidence)
  const holdersAt = holdersIn(evidence.grants)
  const recoveryOf = ({ at, kind, victims }: Wound): Recovery => {
    const wall = at + evidence.epochOffset
    const held = [...holdersAt(wall)].flatMap(([assistant, holder]) => {
      const chronicle = all.get(assistant)
      return chronicle !== undefined && victims.includes(holder) && isBusy(chronicle, wall) ? [chronicle] : []
    })
    const millis = held.map(
      ({ entries }) => (entries.find((entry) => entry.at > wall)?.at ?? Number.POSITIVE_INFINITY) - wall
    )
    return { kind, millis: Math.max(0, ...millis), held: held.length }
  }
  return evidence.wounds.toSorted((a, b) => a.at - b.at).map(recoveryOf)
}

export const percentile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0
}

export interface RecoveryFigures {
  readonly samples: number
  readonly p50Millis: number
  readonly p99Millis: number
  readonly maxMillis: number
}

/** Of wounds that hit somebody at work; the others have nothing to recover. */
export const figuresOf = (recoveries: ReadonlyArray<Recovery>): RecoveryFigures => {
  const millis = recoveries.flatMap(({ held, millis: each }) => (held === 0 ? [] : [each]))
  return {
    samples: millis.length,
    p50Millis: Math.round(percentile(millis, 0.5)),
    p99Millis: Math.round(percentile(millis, 0.99)),
    maxMillis: Math.round(Math.max(0, ...millis))
  }
}
