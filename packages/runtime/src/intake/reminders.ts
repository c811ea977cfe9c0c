// Reminders: the reminders of an assistant, as its commits carry them.
// Owns the timer of what is due next, setting and cancelling by order, the envelopes of times that have come, and what is noted
// of each. Leaves rules, quiet hours and catching up to `assistant`.
// M1  The timer stands exactly where a reminder has a next time, and at the first of these.
// M2  A time becomes one envelope with an id of its rule and its moment, sent by the commit that takes the time off the rule:
//     however often the process dies, it is accepted once.
// M3  What is not sent, or sent and not heard, stands in the record with the reason, by the same commit.
// M4  Nothing of the libraries is loaded before a reminder is set or due.

import { contextOf, goalsOf } from "@reverie/assistant"
import type { Reminder, ReminderLine } from "@reverie/assistant/reminders"
import {
  type AcceptedEnvelope,
  defined,
  type Envelope,
  ENVELOPE_VERSION,
  EnvelopeId,
  type Event,
  type Json,
  type OpenTimer,
  type RecordChange
} from "@reverie/protocol"
import { reminderRules, type ReminderRules } from "@reverie/tools"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { CommitDraft, TurnInput } from "../commit/commit-draft.ts"
import type { CommitView } from "../commit/commit-view.ts"
import { recordsOf, recordsWith, type ShownRecords } from "../session/own-records.ts"
import type { Session } from "../session/session.ts"

/** What decides about reminders; loaded once in a process. */
const loadReminders: Effect.Effect<ReminderRules> = Effect.suspend(() => {
  const rules = reminderRules()
  return rules instanceof Promise ? Effect.promise(() => rules) : Effect.succeed(rules)
})

/** The timer of what is due next. */
export const REMINDER_TIMER = "reminders"

/** Reminders that are over stay listed, the newest of them. */
const MAX_OVER = 50

const reminderOn = (own: ShownRecords, id: string): Reminder | undefined =>
  recordsOf(own, "reminder").get(id) as unknown as Reminder | undefined

const written = (reminder: Reminder): RecordChange => ({
  kind: "reminder",
  key: reminder.id,
  value: reminder as unknown as Json
})

// Setting.

interface Answer {
  readonly outcome: "handled" | "ignored"
  readonly reason: string
  readonly records: ReadonlyArray<RecordChange>
}

const refusedFor = (reason: string): Answer => ({ outcome: "ignored", reason, records: [] })

/** Of those that are over, the ones for which there is no room. */
const surplusOf = (all: ReadonlyArray<Reminder>): ReadonlyArray<RecordChange> =>
  all
    .filter(({ state, waiting }) => state !== "active" && waiting === null)
    .toSorted((a, b) => b.after - a.after)
    .slice(MAX_OVER)
    .map(({ id }) => ({ kind: "reminder", key: id, value: null }))

/** Sets, changes or cancels a reminder, as the order says; refused, it changes nothing. */
export const remindersSet = Effect.fnUntraced(function* (
  session: Session,
  { acceptedAt, from }: AcceptedEnvelope,
  { reminder: id, rule }: Extract<Event, { readonly type: "remind" }>,
  now: number
) {
  const { MAX_REMINDERS, cancelReminder, remindersIn, ruleText, setReminder } = yield* loadReminders
  if (contextOf(session.decoded).assignment !== null) return refusedFor("a sub-agent has its task and no reminders")
  const before = reminderOn(session.own, id)
  if (rule === undefined) {
    if (before?.state !== "active") return refusedFor(`there is no active reminder ${id}`)
    return {
      outcome: "handled",
      reason: `cancelled: ${id}`,
      records: [written(cancelReminder(before, now, from))]
    } satisfies Answer
  }
  const others = remindersIn(recordsOf(session.own, "reminder")).filter((each) => each.id !== id)
  if (others.filter(({ state }) => state === "active").length >= MAX_REMINDERS) {
    return refusedFor(`it has ${MAX_REMINDERS} reminders already: cancel one first`)
  }
  // A while begins when the order was accepted. What a change replaces has been decided up to `after`.
  const since = Math.max(acceptedAt === 0 ? now : Math.min(acceptedAt, now), before?.after ?? 0)
  const setting = { now: since, by: from, timeZone: session.definition.sleep?.timeZone ?? "UTC" }
  const set = setReminder(id, rule, setting, before)
  if (Result.isFailure(set)) return refusedFor(`not set: ${set.failure}`)
  return {
    outcome: "handled",
    reason: `set: ${id} ${ruleText(set.success)}`,
    records: [written(set.success), ...surplusOf(others)]
  } satisfies Answer
})

// Firing.

const envelopeOf = (
  session: Session,
  { id, revision }: Reminder,
  due: number,
  runAt: number,
  note: string
): Envelope => ({
  v: ENVELOPE_VERSION,
  id: EnvelopeId.make(`reminder/${id}/${revision}/${new Date(due).toISOString()}`),
  to: session.address,
  from: "clock",
  event: { type: "timer", name: id, note, reminder: { revision, due, runAt } },
  hops: 0
})

/** What is written when the timer fires: an envelope for each time that is sent, and what became of the others. */
export const firedReminders = Effect.fnUntraced(function* (session: Session, now: number) {
  const { fire, reminderText, remindersIn } = yield* loadReminders
  const fired = remindersIn(recordsOf(session.own, "reminder"))
    .filter(({ next }) => next !== null && next.wakeAt <= now)
    .map((before) => ({ before, ...fire(before, now) }))
  const turnInput: TurnInput = {
    cause: { kind: "timer", name: REMINDER_TIMER },
    event: null,
    messages: [],
    records: fired.map(({ reminder }) => written(reminder)),
    sends: fired.flatMap(({ before, sent }) =>
      sent.map(({ due, runAt }) => envelopeOf(session, before, due, runAt, reminderText(before, due, runAt, now)))
    ),
    emitted: fired.flatMap(({ before: { id, revision }, lines }) =>
      lines.map((line) => ({ type: "reminder-due", reminder: id, revision, ...line }))
    )
  }
  return turnInput
})

// Hearing.

const isSince = (value: Json, key: string, since: number): boolean => {
  const at = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined
  const millis = typeof at === "string" ? Date.parse(at) : at
  return typeof millis === "number" && millis > since
}

/** Whether there is any of what a reminder looks for, since it last began a tick. */
const isNeeded = (own: ShownRecords, { onlyWhen, ranAt, setAt }: Reminder): boolean => {
  const since = ranAt ?? setAt
  return (onlyWhen ?? []).some((need) => {
    switch (need) {
      case "ambient":
        return [...recordsOf(own, "ambientMessages").values()].some((value) => isSince(value, "at", since))
      case "journal":
        return [...recordsOf(own, "journal").values()].some((value) => isSince(value, "timestamp", since))
      case "goals":
        return [...goalsOf(recordsOf(own, "goal")).values()].some(({ status }) => status === "active")
    }
  })
}

/** Why a time that was sent begins no tick; undefined when it does. */
export const whyNoReminder = (
  { own }: Pick<Session, "own">,
  id: string,
  { revision }: { readonly revision: number }
): { readonly outcome: "handled" | "ignored"; readonly reason: string } | undefined => {
  const reminder = reminderOn(own, id)
  if (reminder === undefined || reminder.state === "cancelled") {
    return { outcome: "ignored", reason: "the reminder was cancelled before this was heard" }
  }
  if (reminder.revision !== revision) {
    return { outcome: "ignored", reason: "the reminder was changed before this was heard" }
  }
  if (reminder.onlyWhen === undefined || isNeeded(own, reminder)) return undefined
  return { outcome: "handled", reason: `nothing to do: there is nothing new of ${reminder.onlyWhen.join(", ")}` }
}

/** The line of a time that was sent, once it is heard. */
const heardLine = (line: ReminderLine, due: number, now: number, skipped: string | undefined): ReminderLine => {
  if (line.due !== due || line.outcome !== "sent") return line
  return skipped === undefined
    ? { ...line, outcome: "ran", at: now }
    : { ...line, outcome: "skipped", reason: skipped, at: now }
}

/** What a time that is heard leaves in the record of its reminder. */
const heardChange = (draft: CommitDraft, { arrival, isTaken, now, session }: CommitView) => {
  if (arrival?.event.type !== "timer" || arrival.event.reminder === undefined) return []
  const { due } = arrival.event.reminder
  const reminder = reminderOn(recordsWith(session.own, draft.records ?? []), arrival.event.name)
  if (reminder === undefined) return []
  const settled = draft.settled?.find(({ id }) => id === arrival.id)
  const skipped = isTaken ? undefined : (settled?.reason ?? "it was not taken up")
  return [
    written({
      ...reminder,
      waiting: reminder.waiting === due ? null : reminder.waiting,
      ranAt: isTaken ? now : reminder.ranAt,
      log: reminder.log.map((line) => heardLine(line, due, now, skipped))
    })
  ]
}

/** What is noted of a time that is heard, and the timer of what is due next. */
export const noteReminders = (draft: CommitDraft, view: CommitView): Partial<CommitDraft> => {
  const records = [...(draft.records ?? []), ...heardChange(draft, view)]
  const all = [
    ...recordsOf(recordsWith(view.session.own, records), "reminder").values()
  ] as unknown as ReadonlyArray<Reminder>
  const dueAt = Math.min(...all.map(({ next }) => next?.wakeAt ?? Infinity))
  const others = draft.timers.filter(({ name }) => name !== REMINDER_TIMER)
  const timers: ReadonlyArray<OpenTimer> =
    dueAt === Infinity || draft.status === "retired"
      ? others
      : [...others, { name: REMINDER_TIMER, dueAt, event: { type: REMINDER_TIMER } }]
  return { timers, ...defined({ records: records.length === 0 ? undefined : records }) }
}
