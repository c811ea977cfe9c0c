// CheckOutages: what must be true of a world whose model was away for a while.
// Owns the judgement over every entry that tells of an outage. Leaves what it may cost to check-sub-agents.ts.
// C17 An outage of the model ends no tick, settles nothing and halts no one, whatever its length; and nothing is given up for
//     want of an answer, since nothing but an outage fails so often here.

import { type Settings, statusOf } from "@reverie/assistant"
import { addressKey, type Entry } from "@reverie/protocol"
import type { Resident } from "../memory-disk.ts"
import { entriesOf } from "./check-sub-agents.ts"
import { statesOf } from "./lives.ts"
import { NO_ANSWER } from "./weather.ts"

const tellsOfOutage = ({ event }: Entry): boolean =>
  (event as { readonly error?: { readonly outage?: unknown } } | null)?.error?.outage !== undefined

const endedBy = (entries: ReadonlyArray<Entry>, settings: Partial<Settings>): ReadonlyArray<string> => {
  const states = statesOf(entries, settings)
  return entries.flatMap((entry, index) => {
    const [before, after] = [states[index - 1], states[index]]
    if (!tellsOfOutage(entry) || before === undefined || after === undefined) return []
    const isHalted = statusOf(after) === "halted" && statusOf(before) !== "halted"
    const ended = [
      ...(entry.tickEnd === undefined ? [] : [`ended its tick as ${entry.tickEnd.outcome}`]),
      ...((entry.settled ?? []).length === 0 ? [] : ["settled what it was at work on"]),
      ...(isHalted ? ["halted it"] : [])
    ]
    return ended.map((what) => `an outage, entry ${entry.no}, ${what}`)
  })
}

const givenUp = (entries: ReadonlyArray<Entry>): ReadonlyArray<string> =>
  entries.flatMap(({ settled = [] }) =>
    settled.flatMap(({ id, outcome, reason }) =>
      outcome === "dead" && reason?.includes(NO_ANSWER) === true ? [`${id} was given up: ${reason}`] : []
    )
  )

export const checkOutages = (resident: Resident, settings: Partial<Settings>): ReadonlyArray<string> => {
  const entries = entriesOf(resident)
  const problems = [...(entries.some(tellsOfOutage) ? endedBy(entries, settings) : []), ...givenUp(entries)]
  return problems.map((problem) => `C17 ${addressKey(resident.address)}: ${problem}`)
}
