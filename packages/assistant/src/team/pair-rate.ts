// PairRate: how often two assistants may write to each other.
// Owns the count and the verdict on one more message. Leaves keeping the count to the sender's records.
// P1  Each of two may write half of what the pair may exchange within the window, so the pair never exceeds it, however
//     their messages cross. The times are the sender's own record: they change with its commits and survive a restart.
// P2  People, timers and answers are not counted: an answer exists only once for each message that was.
// P3  A refusal says when the next message may go.

import { isJsonObject, type Json } from "@reverie/protocol"

export interface PairRate {
  /** Messages that two assistants may exchange within the window, both ways together; answers not counted. */
  readonly perPair: number
  readonly windowMillis: number
}

const DEFAULT_PAIR_RATE: PairRate = { perPair: 60, windowMillis: 600_000 }

/** A rate of its own where it is given; nonsense is brought into the range. */
export const pairRateOf = (chosen: Partial<PairRate> = {}): PairRate => {
  const { perPair, windowMillis } = { ...DEFAULT_PAIR_RATE, ...chosen }
  const whole = (count: number, least: number) => (Number.isFinite(count) ? Math.max(least, Math.floor(count)) : least)
  return { perPair: whole(perPair, 2), windowMillis: whole(windowMillis, 1) }
}

/** When the messages of the window were written, the oldest first. */
export const timesOf = (record: Json | undefined): ReadonlyArray<number> => {
  const times = isJsonObject(record ?? null) ? (record as { readonly times?: Json }).times : undefined
  return Array.isArray(times) ? times.filter((time) => typeof time === "number") : []
}

const share = ({ perPair }: PairRate): number => Math.floor(perPair / 2)

/** Those of the times that still count. */
const counted = (rate: PairRate, times: ReadonlyArray<number>, now: number): ReadonlyArray<number> =>
  times.filter((time) => time > now - rate.windowMillis && time <= now).slice(-share(rate))

/** When one more message may go: now, or later. */
export const mayWriteAt = (rate: PairRate, times: ReadonlyArray<number>, now: number): number => {
  const recent = counted(rate, times, now)
  const oldest = recent[0]
  return recent.length < share(rate) || oldest === undefined ? now : oldest + rate.windowMillis
}

/** The record after one more message. */
export const written = (rate: PairRate, times: ReadonlyArray<number>, now: number): ReadonlyArray<number> => [
  ...counted(rate, times, now),
  now
]

/** Why a message does not go, and when it may. */
export const rateRefusal = (rate: PairRate, to: string, retryAt: number): string =>
  `you and ${to} may exchange ${rate.perPair} messages within ${rate.windowMillis / 1_000} s, and your half of them is ` +
  `used up; you may write to ${to} again at ${new Date(retryAt).toISOString()}`
