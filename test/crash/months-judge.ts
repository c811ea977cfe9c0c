// MonthsJudge: what must be true of a directory of the months lane after a kill, and after what went on from there.
// Owns the questions. Leaves killing to months.ts.
// J1  Each acknowledged message was settled once, and its words are there, or it is forgotten as a whole.
// J2  Where a receipt is, no byte of what it is of is in any file, or row: database, log, segments, index, queue.
// J3  A forgetting without a receipt took place wholly or not at all.
// J4  The life replays, and what is archived reads.
// J5  Every segment in the directory apart is one that the store refers to.

import { exportFleet, type Fleet } from "reverie"
import { evidenceIn, letters, reachedBy } from "./months-life.ts"
import type { MonthsPlace } from "./months-place.ts"
import { SLEEPER } from "./night-life.ts"

export interface Judged {
  readonly problems: ReadonlyArray<string>
  /** What was looked at, so that a look at nothing is none. */
  readonly looked: {
    readonly acknowledged: number
    readonly scanned: number
    readonly receipts: number
    readonly segments: number
    readonly entries: number
  }
}

/** J2, before anything is opened: nothing has had a chance to clear up. */
export const bytesLeft = async (data: string, place: MonthsPlace): Promise<ReadonlyArray<string>> => {
  const problems: Array<string> = []
  for (const round of evidenceIn(data).receipts) {
    for (const { canary } of reachedBy(Number(round))) {
      for (const where of await place.holding(canary))
        problems.push(`${canary} is in ${where}, and its receipt is there`)
    }
  }
  return problems
}

const exported = async ({ from }: MonthsPlace): Promise<string> => {
  let text = ""
  for await (const line of exportFleet({ from })) text += `${line}\n`
  return text
}

/** A round that was asked to be forgotten and has no receipt: all of its words, or none. */
const halfForgotten = async (data: string, place: MonthsPlace, text: string): Promise<ReadonlyArray<string>> => {
  const { asked, receipts } = evidenceIn(data)
  const problems: Array<string> = []
  for (const round of asked) {
    if (receipts.has(round)) continue
    const reached = reachedBy(Number(round))
    const kept = reached.filter(({ canary }) => text.includes(canary))
    if (kept.length === reached.length) continue
    if (kept.length !== 0) problems.push(`round ${round} is half forgotten`)
    else
      for (const { canary } of reached) {
        for (const where of await place.holding(canary)) problems.push(`${canary} is forgotten, and left in ${where}`)
      }
  }
  return problems
}

/** Of an open fleet that has nothing left to do. */
export const judged = async (fleet: Fleet, data: string, place: MonthsPlace): Promise<Judged> => {
  const { acknowledged, asked, receipts } = evidenceIn(data)
  const entries = await fleet.history.entries(SLEEPER, 1, 100_000)
  const settled = entries.flatMap(({ entry }) => (entry.settled ?? []).map(({ id }) => id as string))
  const said = entries.flatMap(({ entry }) => entry.messages.map(({ content }) => content)).join("\n")
  const goes = new Set([...asked].flatMap((round) => reachedBy(Number(round)).map(({ id }) => id)))
  const text = await exported(place)
  const problems = [
    ...(await bytesLeft(data, place)),
    ...(await halfForgotten(data, place, text)),
    ...letters.flatMap(({ canary, id }) => {
      if (!acknowledged.has(id)) return []
      const times = settled.filter((each) => each === id).length
      if (times !== 1) return [`${id} was settled ${times} times`]
      return goes.has(id) || (said.includes(canary) && text.includes(canary)) ? [] : [`${id} is lost`]
    }),
    ...((await fleet.replay.verify(SLEEPER)).equal ? [] : ["it does not replay"]),
    ...place.astray()
  ]
  const looked = {
    acknowledged: acknowledged.size,
    receipts: receipts.size,
    ...(await place.size()),
    entries: entries.length
  }
  return { problems, looked }
}
