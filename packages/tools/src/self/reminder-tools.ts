// ReminderTools: set_reminder, list_reminders, cancel_reminder.
// Owns what the model is offered. Leaves what a rule is to `assistant`, setting it to the order that follows from the run.
// I1  A run changes nothing itself: its order leaves with the commit of its result and is heard once, as one of a person is.
// I2  What is no rule is refused at once, with one sentence that says what is wrong.
// I3  The libraries of rules are loaded with the first run, or the first reminder of the process.

import type * as reminders from "@reverie/assistant/reminders"
import type { Reminder } from "@reverie/assistant/reminders"
import { defined, type Json, ReminderRule } from "@reverie/protocol"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Tool, ToolRun } from "../tool.ts"
import { selfTool, text } from "./self-tool.ts"

export type ReminderRules = typeof reminders

let loaded: ReminderRules | undefined

const load = async (): Promise<ReminderRules> => (loaded = await import("@reverie/assistant/reminders"))

/** Loaded once in a process; at hand, it needs no waiting. */
export const reminderRules = (): ReminderRules | Promise<ReminderRules> => loaded ?? load()

/** What is made of the rules: at once where they are loaded. */
const withRules = <A>(use: (rules: ReminderRules) => A): A | Promise<A> => {
  const rules = reminderRules()
  return rules instanceof Promise ? rules.then(use) : use(rules)
}

const name = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._-]*$/), Schema.isMaxLength(64)).annotate({
  description: "A short name, such as call-mum; setting the same name again changes it"
})
const said = (description: string) => Schema.optionalKey(Schema.String.annotate({ description }))
const { catchUp, onlyWhen } = ReminderRule.fields

const Wanted = Schema.Struct({
  name,
  note: text(1_500, "What you will read when the time has come"),
  at: said("A clock time of the person, 2026-11-24T09:00"),
  in_minutes: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5_256_000 }))),
  cron: said("Five fields, minute hour day month weekday: 0 9 * * 1-5"),
  rrule: said("A calendar rule of RFC 5545: FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17;BYMINUTE=0"),
  time_zone: said("The person's time zone, such as Europe/Berlin"),
  quiet_from: said("Quiet hours begin, 22:00"),
  quiet_until: said("Quiet hours end, 07:00; what falls into them comes then"),
  catch_up: catchUp,
  only_when: onlyWhen
})
type Wanted = typeof Wanted.Type

const ruleOf = (wanted: Wanted): Record<string, unknown> => ({
  note: wanted.note,
  ...defined({
    at: wanted.at,
    inMs: wanted.in_minutes === undefined ? undefined : wanted.in_minutes * 60_000,
    cron: wanted.cron,
    rrule: wanted.rrule,
    timeZone: wanted.time_zone,
    catchUp: wanted.catch_up,
    onlyWhen: wanted.only_when,
    quiet:
      wanted.quiet_from === undefined || wanted.quiet_until === undefined
        ? undefined
        : { from: wanted.quiet_from, until: wanted.quiet_until, policy: "later" }
  })
})

/** What the rule would leave out in silence. */
const flawOfQuiet = ({ quiet_from, quiet_until }: Wanted): string | undefined =>
  (quiet_from === undefined) === (quiet_until === undefined)
    ? undefined
    : "quiet hours need both quiet_from and quiet_until"

/** A reminder that is kept from the one who speaks is none here, and its name is taken. */
const flawOfName = (
  { name: id }: Wanted,
  all: ReadonlyMap<string, Json>,
  { remindersIn }: ReminderRules
): string | undefined =>
  all.has(id) && !remindersIn(all).some((each) => each.id === id)
    ? `the name ${id} is taken; choose another`
    : undefined

const decodeRule = Schema.decodeUnknownResult(ReminderRule)

const viewOf = ({ next, ...reminder }: Reminder, { ruleText, shownTime }: ReminderRules) => ({
  name: reminder.id,
  note: reminder.note,
  when: ruleText(reminder),
  state: reminder.state,
  ...defined({ next: next === null ? undefined : shownTime(next.wakeAt, reminder.timeZone) })
})

const setReminderTool = selfTool({
  name: "set_reminder",
  description:
    "Sets a reminder for yourself, or changes the one of that name: at a time, in a while, or again and again by a cron " +
    "rule or an RRULE. Say exactly one of at, in_minutes, cron, rrule. With only_when you are asked only if there is " +
    "something new: overheard messages, journal entries, open goals.",
  input: Wanted,
  run: (wanted, { now, records }: ToolRun) =>
    withRules((rules) => {
      const flaw = flawOfQuiet(wanted) ?? flawOfName(wanted, records.read("reminder"), rules)
      if (flaw !== undefined) return { success: false, error: flaw }
      const rule = Result.mapError(decodeRule(ruleOf(wanted)), ({ message }) => message)
      // The order is judged again where it is heard; a zone that is not said is then that of the sleep schedule.
      const set = Result.flatMap(rule, (given) =>
        rules.setReminder(wanted.name, given, { now, by: "", timeZone: "UTC" })
      )
      if (Result.isFailure(set)) return { success: false, error: set.failure }
      records.write("reminder", wanted.name, ruleOf(wanted) as Json)
      // In which zone it will be, and so when, is known here only where the rule says it.
      const view = viewOf(set.success, rules)
      return { success: true, ...(wanted.time_zone === undefined ? { name: view.name, note: view.note } : view) }
    })
})

const listRemindersTool = selfTool({
  name: "list_reminders",
  description: "Lists your reminders, the next one first.",
  run: (_none, { records }) =>
    withRules((rules) => ({
      reminders: rules
        .remindersIn(records.read("reminder"))
        .filter(({ state }) => state === "active")
        .map((reminder) => viewOf(reminder, rules))
    }))
})

const cancelReminderTool = selfTool({
  name: "cancel_reminder",
  description: "Cancels one of your reminders.",
  input: Schema.Struct({ name }),
  run: ({ name: id }, { records }) =>
    withRules(({ remindersIn }) => {
      const found = remindersIn(records.read("reminder")).find((each) => each.id === id && each.state === "active")
      if (found === undefined) return { success: false, error: `there is no reminder ${id}; list_reminders names them` }
      records.write("reminder", id, null)
      return { success: true, cancelled: id }
    })
})

/** The tools by which an assistant sets reminders for itself. They are among `selfTools`. */
export const reminderTools: ReadonlyArray<Tool> = [setReminderTool, listRemindersTool, cancelReminderTool]
