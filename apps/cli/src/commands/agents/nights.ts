// Nights: an assistant is sent to sleep or told to compact its history, or asked about its window and its last dream.
// Owns `dream` and `compact`. Leaves sleeping and compaction to the statechart.
// N1  The order to compact is durable when the command ends with 0; what has come of it by then is told, and why nothing has.
// N2  With --dry-run nothing is told: how full the window is, is read.

import { dreamsText } from "../../texts/memory-text.ts"
import { named } from "../../named.ts"
import { say, sayJson } from "../../output.ts"
import { onOneLine, plain } from "../../texts/plain.ts"
import { findBackend } from "../../backend/find-backend.ts"
import type { Backend, Entry } from "../../backend/backend.ts"
import type { Stop } from "../../running/stop.ts"
import { counted, percent } from "../../texts/table.ts"
import { followed, giveOrder, type OrderOptions, watching } from "./orders.ts"

export interface DreamOptions extends OrderOptions {
  readonly report?: boolean
  /** Seconds. */
  readonly for?: number
}

export const dream = async (name: string, options: DreamOptions, stop: Stop): Promise<number> => {
  if (options.report === true) {
    await using backend = await findBackend(options, "look", stop)
    const { id } = await named(backend, name)
    const began = ({ value }: { readonly value: unknown }) =>
      typeof value === "object" && value !== null ? Number(Reflect.get(value, "began_at") ?? 0) : 0
    const last = (await backend.dreams(id)).toSorted((a, b) => began(a) - began(b)).at(-1)
    if (options.json) sayJson({ ok: true, assistant: id, dream: last?.value ?? null })
    else say(plain(dreamsText(id, last === undefined ? [] : [last])))
    return 0
  }
  await using backend = await findBackend(options, "order", stop)
  const bound = options.for === undefined ? {} : { forMillis: Math.max(1, Math.round(options.for * 1_000)) }
  return await giveOrder(backend, await named(backend, name), { type: "order", order: "sleep", ...bound }, options)
}

const tellWindow = async (backend: Backend, id: string, json: boolean): Promise<number> => {
  const report = await backend.contextReport(id, {})
  const compacted = (await backend.compactions(id)).filter(({ undone_at }) => undone_at === undefined)
  const share = report?.share ?? 0
  const window = { tokens: report?.tokens ?? 0, limit: report?.limit ?? 0, share }
  if (json) sayJson({ ok: true, dryRun: true, assistant: id, window, compactions: compacted.length })
  else say(plain(`${id}: ${percent(share)} of its window is used, ${counted(compacted.length, "compaction")} so far`))
  return 0
}

/** More than a compaction ever takes. */
const MAX_COMMITS = 500

/** Why nothing was compacted, as the commits since the order say it; undefined where they do not. */
const whyNot = (entries: ReadonlyArray<Entry>, envelope: string): string | undefined => {
  const passed = entries.flatMap(({ settled = [] }) => settled).find(({ id }) => id === envelope)
  const detail = entries.findLast(({ step }) => step?.kind === "compact")?.step?.detail
  const told = passed?.reason ?? detail?.["skipped"] ?? detail?.["error"]
  return typeof told === "string" ? told : undefined
}

export const compact = async (name: string, options: OrderOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, options.dryRun ? "look" : "order", stop)
  const { commits, id } = await named(backend, name)
  if (options.dryRun) return await tellWindow(backend, id, options.json)
  const known = new Set((await backend.compactions(id)).map((each) => each.id))
  watching(backend, id, options.json)
  const key = options.id === undefined ? {} : { id: options.id }
  const { envelope, outcome } = await backend.within(backend.order(id, "compact", key))
  await followed(backend, id, options)
  const made = (await backend.compactions(id)).find((each) => each.trigger === "order" && !known.has(each.id))
  const skipped = made === undefined ? whyNot(await backend.entries(id, commits + 1, MAX_COMMITS), envelope) : undefined
  if (options.json) {
    const why = skipped === undefined ? {} : { skipped }
    sayJson({ ok: true, receipt: outcome, envelope, assistant: id, compaction: made?.id ?? null, ...why })
  } else if (made !== undefined) {
    const { after, before, compacted_count: count } = made
    say(plain(`${id}: ${made.id} compacted ${counted(count, "message")}, ${before.tokens} → ${after.tokens} tokens`))
  } else {
    const told = outcome === "duplicate" ? "was told so before" : "is told to compact its history; it does at rest"
    say(onOneLine(`${id} ${skipped === undefined ? told : `compacted nothing: ${skipped}`}`))
  }
  return 0
}
