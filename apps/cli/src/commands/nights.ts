// Nights: an assistant is sent to sleep, or asked about its folding and its last dream.
// Owns `dream` and `compact`. Leaves sleeping and folding to the statechart.
// N1  Folding begins by itself, when the window is as full as the settings say: there is no order for it, and none is
//     invented here.

import { CommandFailed } from "../failure.ts"
import { dreamsText } from "../memory-text.ts"
import { named } from "../named.ts"
import { say, sayJson } from "../output.ts"
import { plain } from "../plain.ts"
import { findReach } from "../reach/find-reach.ts"
import type { Stop } from "../stop.ts"
import { counted, percent } from "../table.ts"
import { giveOrder, type OrderOptions } from "./orders.ts"

export interface DreamOptions extends OrderOptions {
  readonly report?: boolean
  /** Seconds. */
  readonly for?: number
}

export const dream = async (name: string, options: DreamOptions, stop: Stop): Promise<number> => {
  if (options.report === true) {
    await using reach = await findReach(options, "look", stop)
    const { id } = await named(reach, name)
    const began = ({ value }: { readonly value: unknown }) =>
      typeof value === "object" && value !== null ? Number(Reflect.get(value, "began_at") ?? 0) : 0
    const last = (await reach.dreams(id)).toSorted((a, b) => began(a) - began(b)).at(-1)
    if (options.json) sayJson({ ok: true, assistant: id, dream: last?.value ?? null })
    else say(plain(dreamsText(id, last === undefined ? [] : [last])))
    return 0
  }
  await using reach = await findReach(options, "order", stop)
  const bound = options.for === undefined ? {} : { forMillis: Math.max(1, Math.round(options.for * 1_000)) }
  return await giveOrder(reach, await named(reach, name), { type: "order", order: "sleep", ...bound }, options)
}

export const compact = async (name: string, options: OrderOptions, stop: Stop): Promise<number> => {
  await using reach = await findReach(options, "look", stop)
  const { id } = await named(reach, name)
  const report = await reach.contextReport(id, {})
  const folded = (await reach.compactions(id)).filter(({ undone_at }) => undone_at === undefined)
  const share = report?.share ?? 0
  if (options.dryRun) {
    const window = { tokens: report?.tokens ?? 0, limit: report?.limit ?? 0, share }
    if (options.json) sayJson({ ok: true, dryRun: true, assistant: id, window, compactions: folded.length })
    else say(plain(`${id}: ${percent(share)} of its window is used, ${counted(folded.length, "folding")} so far`))
    return 0
  }
  throw new CommandFailed(
    "not-possible",
    `${id} folds its history by itself; ${percent(share)} of its window is used`,
    {
      hint: "--dry-run tells how full it is; the settings compactSleepRatio and compactEmergencyRatio say when it begins"
    }
  )
}
