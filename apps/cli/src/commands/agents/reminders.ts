// Reminders: the reminders of one assistant, listed, set and cancelled from outside.
// Owns what is shown of them. Leaves judging a rule to the fleet.
// E1  Setting and cancelling end with 0 when the order is durable, and tell what came of it where someone works.

import { defined } from "@reverie/protocol"
import { CommandFailed } from "../../failure.ts"
import { named } from "../../named.ts"
import { say, sayJson } from "../../output.ts"
import { pageOf, tellList, type ListOptions } from "../../texts/list.ts"
import { plain } from "../../texts/plain.ts"
import type { Backend } from "../../backend/backend.ts"
import { findBackend, type Where } from "../../backend/find-backend.ts"
import type { Stop } from "../../running/stop.ts"
import { followed, type OrderOptions } from "./orders.ts"

type Shown = Awaited<ReturnType<Backend["reminders"]>>[number]

const shownAt = (at: number, timeZone: string): string =>
  `${new Intl.DateTimeFormat("en-GB", { timeZone, dateStyle: "medium", timeStyle: "short" }).format(at)} ${timeZone}`

const ruleOf = ({ at, cron, rrule, timeZone }: Shown): string =>
  at === undefined ? (cron ?? rrule ?? "") : `at ${shownAt(at, timeZone)}`

const linesOf = (reminder: Shown): ReadonlyArray<string> => {
  const { id, log, nextAt, note, sent, skipped, state, timeZone } = reminder
  const last = log.at(-1)
  const next = nextAt === null ? state : `next ${shownAt(nextAt, timeZone)}`
  const told = last === undefined ? "" : `; last ${last.outcome}${last.reason === undefined ? "" : `, ${last.reason}`}`
  return [`${id}  ${ruleOf(reminder)}  ${next}`, `  ${note}`, `  ${sent} sent, ${skipped} skipped${told}`]
}

export const list = async (name: string, options: Where & ListOptions, stop: Stop): Promise<number> => {
  await using backend = await findBackend(options, "look", stop)
  const { id } = await named(backend, name)
  const find = async () => {
    const { items, next } = pageOf(await backend.reminders(id), options)
    const text = items.length === 0 ? `${id} has no reminders` : items.flatMap(linesOf).join("\n")
    return { key: "reminders", items, next, beside: { assistant: id }, text: plain(text) }
  }
  return await tellList(options, find, backend)
}

interface SetOptions extends OrderOptions {
  readonly at?: string
  readonly in?: number
  readonly cron?: string
  readonly rrule?: string
  readonly start?: string
  readonly timeZone?: string
  readonly quiet?: string
  readonly inQuiet: "later" | "skip"
  readonly catchUp?: "once" | "skip" | "all"
  readonly onlyWhen?: ReadonlyArray<"ambient" | "journal" | "goals">
}

const quietIn = ({ inQuiet, quiet }: SetOptions) => {
  if (quiet === undefined) return undefined
  const [from = "", until = ""] = quiet.split("-")
  if (!/^\d\d:\d\d$/.test(from) || !/^\d\d:\d\d$/.test(until)) {
    throw new CommandFailed("usage", `--quiet takes hours as 22:00-07:00, and not ${JSON.stringify(quiet)}`)
  }
  return { from, until, policy: inQuiet }
}

/** What stands there after an order, where someone works. */
const tell = async (backend: Backend, id: string, reminder: string, options: OrderOptions): Promise<number> => {
  await followed(backend, id, options)
  const found = (await backend.reminders(id)).find((each) => each.id === reminder)
  if (options.json) sayJson({ ok: true, assistant: id, reminder: found ?? null })
  else say(plain(found === undefined ? `${reminder} is accepted` : linesOf(found).join("\n")))
  return 0
}

const tellTrial = (id: string, would: object, { json }: OrderOptions): number => {
  if (json) sayJson({ ok: true, dryRun: true, would, assistant: id })
  else say(plain(`would tell ${id}: ${JSON.stringify(would)}`))
  return 0
}

export const set = async (name: string, reminder: string, note: string, options: SetOptions, stop: Stop) => {
  await using backend = await findBackend(options, "order", stop)
  const { id } = await named(backend, name)
  const { at, catchUp, cron, onlyWhen, rrule, start, timeZone } = options
  const inMs = options.in === undefined ? undefined : options.in * 1_000
  const given = { at, catchUp, cron, inMs, onlyWhen, quiet: quietIn(options), rrule, start, timeZone }
  const rule = { note, ...defined(given) }
  if (options.dryRun) return tellTrial(id, { reminder, rule }, options)
  await backend.within(backend.setReminder(id, reminder, rule, options.id))
  return await tell(backend, id, reminder, options)
}

export const cancel = async (name: string, reminder: string, options: OrderOptions, stop: Stop) => {
  await using backend = await findBackend(options, "order", stop)
  const { id } = await named(backend, name)
  if (options.dryRun) return tellTrial(id, { cancel: reminder }, options)
  await backend.within(backend.cancelReminder(id, reminder, options.id))
  return await tell(backend, id, reminder, options)
}
