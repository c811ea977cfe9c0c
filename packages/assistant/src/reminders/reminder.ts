// Reminder: a rule of an assistant, and what became of each of its times.
// Owns setting, changing and cancelling one, and what is due of it at a moment. Leaves times to occurrences.ts, writing to the
// commit that carries the record.
// R1  A time is due once. Up to `after` each is accounted for: sent, or skipped with its reason; none lies after it.
// R2  What is due late is decided by the policy: once sends the newest, skip what is due now, all each of them.
// R3  A time in quiet hours is skipped, or put off to their end; of those put off to one moment the newest counts.
// R4  While one time of a rule waits to be heard, no further one is sent, unless the policy is all.
// R5  A change counts from its moment on: no time before it comes again, and a time that waits is not heard.

import { type CatchUpPolicy, defined, type Json, type ReminderNeed, type ReminderRule } from "@reverie/protocol"
import * as Result from "effect/Result"
export { nextTime, quietUntil, shownTime, type Times, timesOf } from "./occurrences.ts"
import { nextTime, type QuietHours, quietUntil, shownTime, type Times, timesOf } from "./occurrences.ts"

/** One time of a reminder, or several in a row that ended alike. */
export interface ReminderLine {
  /** The time itself, in milliseconds since the epoch. */
  readonly due: number
  /** The last of several. */
  readonly until?: number
  /** How many times in a row this line stands for. */
  readonly count: number
  /** `sent`: it is in the mailbox. `ran`: it began a tick. `skipped`: it did not come. */
  readonly outcome: "sent" | "ran" | "skipped"
  /** Why it was skipped. */
  readonly reason?: string
  /** When it was decided. */
  readonly at: number
}

/** A reminder, as it is kept. Times are milliseconds since the epoch. */
export interface Reminder extends Times {
  /** Its name among the reminders of its assistant. */
  readonly id: string
  /** Grows with each change. */
  readonly revision: number
  /** What the assistant is reminded of. */
  readonly note: string
  /** What becomes of times that passed while no process worked. */
  readonly catchUp: CatchUpPolicy
  /** Hours of the day in which it does not come. */
  readonly quiet?: QuietHours
  /** What must be true when its time comes; otherwise that time is skipped. */
  readonly onlyWhen?: ReadonlyArray<ReminderNeed>
  /** `done`: it never comes again. */
  readonly state: "active" | "done" | "cancelled"
  /** When it was set or changed last. */
  readonly setAt: number
  /** The name of a person or the id of an assistant. */
  readonly setBy: string
  /** Every time up to here is accounted for. */
  readonly after: number
  /** Its next time that is not skipped, and when something is to be done. */
  readonly next: { readonly due: number; readonly wakeAt: number } | null
  /** The time that was sent and is not heard yet. */
  readonly waiting: number | null
  /** When a time of it last began a tick. */
  readonly ranAt: number | null
  /** Times that began a tick or wait in the mailbox. */
  readonly sent: number
  /** Times that did not come, each with a reason in `log`. */
  readonly skipped: number
  /** The newest lines; all of them stand in the ledger. */
  readonly log: ReadonlyArray<ReminderLine>
}

export const MAX_LINES = 20
export const MAX_REMINDERS = 100
/** Later than this, a time is late. */
export const GRACE_MILLIS = 60_000
/** Most times decided by one commit, and most that one commit sends. */
const MAX_DECIDED = 1_000
const MAX_SENT = 50

const CAUGHT_UP = "missed, and a newer time of it is due"
const MISSED = "missed: it came too late to be told"
const QUIET = "quiet hours"
const PUT_OFF = "quiet hours: put off to the same moment as a newer time"
const STILL_WAITS = "the time before it still waits to be heard"

type Rule = Pick<Reminder, "quiet" | "catchUp"> & Times

/** A time, and when it is to run; a reason when it is skipped whatever the policy. */
interface Due {
  readonly due: number
  readonly runAt: number
  readonly reason?: string
}

const dueOf = (rule: Rule, due: number): Due => {
  const over = rule.quiet === undefined ? undefined : quietUntil(rule.quiet, rule.timeZone, due)
  if (over === undefined) return { due, runAt: due }
  if (rule.quiet?.policy === "skip") return { due, runAt: due, reason: QUIET }
  const newer = nextTime(rule, due)
  return newer !== undefined && newer <= over ? { due, runAt: over, reason: PUT_OFF } : { due, runAt: over }
}

/** When something is to be done next: the first time that is not skipped anyway. */
const nextOf = (rule: Rule, after: number): Reminder["next"] => {
  let due = nextTime(rule, after)
  for (let looked = 0; due !== undefined; looked++) {
    const { reason, runAt } = dueOf(rule, due)
    const newer = reason === undefined || looked >= MAX_DECIDED ? undefined : nextTime(rule, due)
    if (newer === undefined) return { due, wakeAt: runAt }
    due = newer
  }
  return null
}

const countOf = (lines: ReadonlyArray<ReminderLine>, isSkip: boolean): number =>
  lines.reduce((sum, { count, outcome }) => sum + ((outcome === "skipped") === isSkip ? count : 0), 0)

/** Lines in a row that ended alike become one. */
const joined = (lines: ReadonlyArray<ReminderLine>): ReadonlyArray<ReminderLine> => {
  const all: Array<ReminderLine> = []
  for (const line of lines) {
    const last = all.at(-1)
    if (last === undefined || last.outcome !== "skipped" || last.reason !== line.reason) all.push(line)
    else all[all.length - 1] = { ...last, until: line.until ?? line.due, count: last.count + line.count }
  }
  return all
}

/** What is due of a reminder. */
export interface Fired {
  readonly reminder: Reminder
  /** Times to be sent. */
  readonly sent: ReadonlyArray<{ readonly due: number; readonly runAt: number }>
  /** What became of each time that was decided. */
  readonly lines: ReadonlyArray<ReminderLine>
}

/** The times up to now that are not decided yet. */
const dueUpTo = (reminder: Reminder, now: number) => {
  const found: Array<Due> = []
  const limit = reminder.state !== "active" ? 0 : reminder.catchUp === "all" ? MAX_SENT : MAX_DECIDED
  let after = reminder.after
  while (found.length < limit) {
    const due = nextTime(reminder, after)
    if (due === undefined || due > now) return { found, hasMore: false }
    const each = dueOf(reminder, due)
    if (each.runAt > now) return { found, hasMore: false }
    found.push(each)
    after = due
  }
  return { found, hasMore: true }
}

/** Decides what is due at a moment. */
export const fire = (reminder: Reminder, now: number): Fired => {
  const { found, hasMore } = dueUpTo(reminder, now)
  const newest = hasMore ? undefined : found.findLast(({ reason }) => reason === undefined)
  const reasonFor = (each: Due): string | undefined => {
    if (each.reason !== undefined || reminder.catchUp === "all") return each.reason
    if (reminder.catchUp === "skip" && each.runAt < now - GRACE_MILLIS) return MISSED
    if (each !== newest) return CAUGHT_UP
    return reminder.waiting === null ? undefined : STILL_WAITS
  }
  const decided = found.map((each) => ({ ...each, reason: reasonFor(each) }))
  const sent = decided.filter(({ reason }) => reason === undefined)
  const lines = joined(
    decided.map(({ due, reason }) => ({
      due,
      count: 1,
      at: now,
      outcome: reason === undefined ? ("sent" as const) : ("skipped" as const),
      ...defined({ reason })
    }))
  )
  const after = found.at(-1)?.due ?? reminder.after
  const next = reminder.state === "active" ? nextOf(reminder, after) : null
  return {
    sent: sent.map(({ due, runAt }) => ({ due, runAt })),
    lines,
    reminder: {
      ...reminder,
      after,
      next,
      state: next === null && reminder.state === "active" ? "done" : reminder.state,
      waiting: sent.at(-1)?.due ?? reminder.waiting,
      sent: reminder.sent + countOf(lines, false),
      skipped: reminder.skipped + countOf(lines, true),
      log: joined([...reminder.log, ...lines]).slice(-MAX_LINES)
    }
  }
}

/** Who sets a reminder, when, and the time zone where the rule says none. */
export interface Setting {
  readonly now: number
  readonly by: string
  readonly timeZone: string
}

/** A reminder as it is set, or in the place of the one before; a failure is one sentence. */
export const setReminder = (
  id: string,
  rule: ReminderRule,
  { by, now, timeZone }: Setting,
  before?: Reminder
): Result.Result<Reminder, string> =>
  Result.map(timesOf(rule, rule.timeZone ?? timeZone, now), (times) => {
    const { catchUp = "once", note, onlyWhen, quiet } = rule
    const shape = { ...times, catchUp, ...defined({ quiet }) }
    return {
      ...shape,
      id,
      note,
      ...defined({ onlyWhen: onlyWhen?.length === 0 ? undefined : onlyWhen }),
      revision: (before?.revision ?? 0) + 1,
      state: "active",
      setAt: now,
      setBy: by,
      after: now,
      next: nextOf(shape, now),
      waiting: null,
      ranAt: before?.ranAt ?? null,
      sent: before?.sent ?? 0,
      skipped: before?.skipped ?? 0,
      log: before?.log ?? []
    }
  })

/** The reminder after its cancellation. Its next time is skipped with that reason; those after it never become due. */
export const cancelReminder = (reminder: Reminder, now: number, by: string): Reminder => {
  const line: ReadonlyArray<ReminderLine> =
    reminder.next === null
      ? []
      : [{ due: reminder.next.due, count: 1, outcome: "skipped", reason: `cancelled by ${by}`, at: now }]
  return {
    ...reminder,
    revision: reminder.revision + 1,
    state: "cancelled",
    after: Math.max(now, reminder.after),
    next: null,
    waiting: null,
    skipped: reminder.skipped + line.length,
    log: [...reminder.log, ...line].slice(-MAX_LINES)
  }
}

const isReminder = (value: Json): boolean =>
  typeof value === "object" && value !== null && "revision" in value && "log" in value

/** Of the records of the kind `reminder`, by when they are due next. */
export const remindersIn = (records: ReadonlyMap<string, Json>): ReadonlyArray<Reminder> =>
  [...records.values()]
    .filter(isReminder)
    .map((value) => value as unknown as Reminder)
    .toSorted((a, b) => (a.next?.wakeAt ?? Infinity) - (b.next?.wakeAt ?? Infinity) || (a.id < b.id ? -1 : 1))

/** What the model reads of a time that was to run at a moment and is heard now. */
export const reminderText = ({ id, note, timeZone }: Reminder, due: number, runAt: number, now: number): string => {
  const late = Math.floor((now - runAt) / GRACE_MILLIS)
  const hours = Math.floor(late / 60)
  const said = hours > 0 ? `${hours} h ${late % 60} min` : `${late} min`
  return `[reminder ${id}, due ${shownTime(due, timeZone)}${late > 0 ? `, ${said} late` : runAt > due ? ", put off by quiet hours" : ""}] ${note}`
}

/** When a reminder is due, in words. */
export const ruleText = ({ at, cron, rrule, timeZone }: Times): string =>
  at !== undefined
    ? `at ${shownTime(at, timeZone)}`
    : `${cron === undefined ? `rrule ${rrule}` : `cron ${cron}`} (${timeZone})`
