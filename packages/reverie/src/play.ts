// Play: sends a written course of events to a fleet.
// Owns the order. Leaves acceptance to the fleet.
// P1  Letters are accepted in the order of the script, each once, however often it is played.
// P2  Mail is sent without waiting. What is heard in between (an approval, a report, an order) is sent when the fleet
//     has come to rest on everything before it: only then is there something to approve, to report on, to halt.

import type { Fleet } from "./fleet.ts"
import { isMail } from "./letter.ts"
import type { ScriptLine } from "./script.ts"

/** How many letters are on their way at once: their acceptance shares fsyncs. */
const IN_FLIGHT = 256

export interface Played {
  readonly accepted: number
  readonly duplicates: number
}

export interface PlayOptions {
  /** Ends playing between two letters, also while it waits for rest, with what has been played so far. */
  readonly signal?: AbortSignal
}

/** Letters in groups that may be sent together: mail as long as it lasts, anything else alone. */
const groupsOf = function* (letters: ReadonlyArray<ScriptLine>): Generator<ReadonlyArray<ScriptLine>> {
  let mail: Array<ScriptLine> = []
  for (const letter of letters) {
    const alone = !isMail(letter)
    if (alone || mail.length === IN_FLIGHT) {
      if (mail.length > 0) yield mail
      mail = []
    }
    if (alone) yield [letter]
    else mail.push(letter)
  }
  if (mail.length > 0) yield mail
}

const restOf = async (fleet: Fleet, signal: AbortSignal | undefined): Promise<void> => {
  if (signal === undefined) return fleet.rest()
  const aborted = Promise.withResolvers<void>()
  const abort = (): void => aborted.resolve()
  signal.addEventListener("abort", abort)
  if (signal.aborted) abort()
  const rest = fleet.rest()
  // Nobody hears of it any more when the playing was ended.
  rest.catch(() => {})
  await Promise.race([rest, aborted.promise]).finally(() => signal.removeEventListener("abort", abort))
}

export const play = async (
  fleet: Fleet,
  letters: ReadonlyArray<ScriptLine>,
  options: PlayOptions = {}
): Promise<Played> => {
  let accepted = 0
  let duplicates = 0
  for (const group of groupsOf(letters)) {
    const [first] = group
    if (first !== undefined && !isMail(first)) await restOf(fleet, options.signal)
    if (options.signal?.aborted === true) break
    const receipts = await Promise.all(group.map(({ event, from, id, to }) => fleet.post(to, event, { id, from })))
    for (const { outcome } of receipts) {
      if (outcome === "accepted") accepted++
      else duplicates++
    }
  }
  return { accepted, duplicates }
}
