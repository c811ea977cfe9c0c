// Reminders: times that an assistant is to be reminded of something, set and cancelled by a program.
// Owns `fleet.reminders`. Leaves rules to `assistant`, and hearing an order to the runtime.
// R1  What is no rule is refused before anything is sent.
// R2  An order is durable when it resolves; the worker of the assistant follows it, also while the assistant is halted.
// R3  Orders about one reminder are followed in the order in which they were given: a cancellation may come before the order that it
//     is about was taken up.

import type { Reminder } from "@reverie/assistant/reminders"
import { MAX_PENDING, Mailbox } from "@reverie/mailbox"
import { defined, type Receipt, ReminderRule } from "@reverie/protocol"
import { reminderRules } from "@reverie/tools"
import * as Clock from "effect/Clock"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ReminderInvalid, ReminderUnknown } from "../errors.ts"
import { inWords } from "../letter.ts"
import type { OrderOptions, Post } from "./ordering.ts"
import type { Core } from "./entry-source.ts"

/** When to remind, and of what: exactly one of `at`, `inMs`, `cron` and `rrule`. */
export interface ReminderRequest extends Omit<ReminderRule, "at" | "inMs"> {
  /** A clock time in the time zone (`2026-11-24T09:00`), one with an offset, a date, or milliseconds since the epoch. */
  readonly at?: string | Date | number
  /** So many milliseconds after the order was accepted. */
  readonly inMs?: number
}

/** The reading of `fleet.reminders`. */
export interface ReminderReadings {
  /** The reminders of an assistant, the next one first; those that are done or cancelled last. Rejects with IdInvalid. */
  readonly list: (id: string) => Promise<ReadonlyArray<Reminder>>
}

/** `fleet.reminders`: times that an assistant is to be reminded of something. */
export interface FleetReminders extends ReminderReadings {
  /**
   * Sets a reminder, or changes the one of that id. Rejects with ReminderInvalid and UnknownAssistant.
   * @example await fleet.reminders.set("desk", "standup", { cron: "0 9 * * 1-5", timeZone: "Europe/Berlin", note: "Ask for news." })
   */
  readonly set: (to: string, reminder: string, request: ReminderRequest, options?: OrderOptions) => Promise<Receipt>
  /** Cancels a reminder; a time of it that still waits is dropped. Rejects with ReminderUnknown when there is none. */
  readonly cancel: (to: string, reminder: string, options?: OrderOptions) => Promise<Receipt>
}

export const remindersIn = ({ records }: Core): ReminderReadings => ({
  list: async (id) => {
    const rows = await records(id, ["reminder"])
    const { remindersIn: read } = await reminderRules()
    return read(new Map(rows.map(({ key, value }) => [key, value])))
  }
})

const decodeRule = Schema.decodeUnknownResult(ReminderRule)

const invalid = (reminder: string, problem: string) => new ReminderInvalid({ reminder, message: problem })

const ruleOf = (reminder: string, { at, inMs, ...request }: ReminderRequest): ReminderRule => {
  const text = at === undefined || typeof at === "string" ? at : new Date(at).toISOString()
  const rule = decodeRule({ ...request, ...defined({ at: text, inMs }) })
  if (Result.isFailure(rule)) throw invalid(reminder, `reminder ${reminder}: ${inWords(rule.failure.message)}`)
  return rule.success
}

const isActive = async ({ list }: ReminderReadings, to: string, reminder: string): Promise<boolean> =>
  (await list(to)).some(({ id, state }) => id === reminder && state === "active")

/** Whether an order that sets it waits to be heard. It waits until its commit: asked before the records are, none is missed. */
const isOrdered = async ({ address, run }: Core, to: string, reminder: string): Promise<boolean> => {
  const waiting = await run(Mailbox.use((mailbox) => mailbox.pending(address(to), ["control"], MAX_PENDING)))
  return waiting.some(
    (each) =>
      "event" in each &&
      each.event.type === "remind" &&
      each.event.reminder === reminder &&
      each.event.rule !== undefined
  )
}

export const openReminders = (core: Core, post: Post): FleetReminders => {
  const reading = remindersIn(core)
  return {
    ...reading,
    set: async (to, reminder, request, options = {}) => {
      const rule = ruleOf(reminder, request)
      const { timesOf } = await reminderRules()
      const now = await core.run(Clock.currentTimeMillis)
      const times = timesOf(rule, rule.timeZone ?? "UTC", now)
      if (Result.isFailure(times)) throw invalid(reminder, `reminder ${reminder}: ${times.failure}`)
      return post(to, { type: "remind", reminder, rule }, { from: "person", ...options })
    },
    cancel: async (to, reminder, options = {}) => {
      const isThere = (await isOrdered(core, to, reminder)) || (await isActive(reading, to, reminder))
      if (!isThere) {
        const message = `${to} has no active reminder ${JSON.stringify(reminder)}`
        throw new ReminderUnknown({ assistant: to, reminder, message })
      }
      return post(to, { type: "remind", reminder }, { from: "person", ...options })
    }
  }
}
