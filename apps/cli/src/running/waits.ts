// Waits: models whose servers are away, as a person is told of them.
// Owns the words. Leaves which assistants there are to the reach.
// W1  Each says the server, since when, why, and when it is tried again, in one line.

import type { OutageView } from "reverie"
import { onOneLine } from "../texts/plain.ts"
import type { ListedView } from "../backend/backend.ts"
import { counted } from "../texts/table.ts"

const time = (at: number): string => new Date(at).toISOString().slice(11, 19)
const day = (at: number): string => new Date(at).toISOString().slice(0, 19).replace("T", " ")

const nextOf = ({ nextTry }: Pick<OutageView, "nextTry">): string =>
  nextTry === undefined ? "it is being tried now" : `tried again by ${time(nextTry)} UTC`

/** What one waits for. */
export const waitText = (outage: OutageView): string =>
  onOneLine(
    `waits for the model at ${outage.server}, away since ${day(outage.since)} UTC; ${nextOf(outage)}; ${outage.reason}`,
    300
  )

/** The state of one, for a table. */
export const stateText = ({
  haltReason,
  outage,
  state
}: Pick<ListedView, "haltReason" | "outage" | "state">): string => {
  if (haltReason !== undefined) return onOneLine(`${state}: ${haltReason}`, 60)
  return outage === undefined ? onOneLine(state, 60) : onOneLine(`${state}: waits for ${outage.server}`, 80)
}

/** One line for each server that is away, the one that most wait for first. */
export const outageLines = (views: ReadonlyArray<Pick<ListedView, "outage">>): ReadonlyArray<string> => {
  const byServer = new Map<string, Array<OutageView>>()
  for (const { outage } of views) {
    if (outage !== undefined) byServer.set(outage.server, [...(byServer.get(outage.server) ?? []), outage])
  }
  return [...byServer.values()]
    .toSorted((a, b) => b.length - a.length)
    .flatMap((waits) => {
      const [first] = waits
      if (first === undefined) return []
      const since = Math.min(...waits.map((wait) => wait.since))
      const nextTry = Math.min(...waits.map((wait) => wait.nextTry ?? Infinity))
      const next = nextOf(nextTry === Infinity ? {} : { nextTry })
      const who = `${counted(waits.length, "assistant")} ${waits.length === 1 ? "waits" : "wait"}`
      return [
        onOneLine(
          `the model at ${first.server} has not answered since ${day(since)} UTC: ${first.reason}; ${who}, ${next}`,
          300
        )
      ]
    })
}
