// SleepTime: a watcher that is run when there is a reason to, and not otherwise.
// Owns the triggers and what the watcher learns. Leaves what it makes of that to the watcher.
// S1  The watcher runs only when a trigger is due, and one run at a time: what falls due meanwhile is one later run.
// S2  Nothing is due while nothing has been said since the last run, so a team at rest stays at rest.
// S3  A sender gets the answer at once that its message was noted; what the watcher says stays in the team.

import { type Ask, asPlan, isAvailable, type Move, type Pattern, type Question, saidBy, type Table } from "./team.ts"

/** What makes the watcher of a sleep-time team work. */
export type WatchTrigger =
  /** So long after the first message that the watcher has not seen. */
  | { readonly type: "elapsed"; readonly millis: number }
  /** So many messages that it has not seen. */
  | { readonly type: "messages"; readonly count: number }
  /** A message that the regular expression is found in, small letters or capitals. */
  | { readonly type: "pattern"; readonly pattern: string }

export interface SleepTimeOptions {
  readonly watcher: string
  readonly triggers: ReadonlyArray<WatchTrigger>
  /** The instruction that the watcher gets with the messages. */
  readonly instruction?: string
}

interface Line {
  readonly from: string
  readonly text: string
}

interface Watch {
  readonly unseen: number
  /** When the first unseen message came. */
  readonly since: number
  readonly isMatched: boolean
  readonly isRunning: boolean
  readonly lines: ReadonlyArray<Line>
}

const MAX_LINES = 40
const MAX_LINE_CHARS = 500
const INSTRUCTION = "This was said since you last looked. Do what your task asks of you."

const NEW_WATCH: Watch = { unseen: 0, since: 0, isMatched: false, isRunning: false, lines: [] }

const watchOf = ({ memory }: Table): Watch => (memory as unknown as Watch | null) ?? NEW_WATCH

const matches = (triggers: ReadonlyArray<WatchTrigger>, text: string): boolean =>
  triggers.some((trigger) => trigger.type === "pattern" && new RegExp(trigger.pattern, "iu").test(text))

const noted = (watch: Watch, { at, from, text }: Question, triggers: ReadonlyArray<WatchTrigger>): Watch => ({
  ...watch,
  unseen: watch.unseen + 1,
  since: watch.unseen === 0 ? at : watch.since,
  isMatched: watch.isMatched || matches(triggers, text),
  lines: [...watch.lines, { from, text: text.slice(0, MAX_LINE_CHARS) }].slice(-MAX_LINES)
})

/** The reasons to run the watcher now. */
const dueTriggers = (
  triggers: ReadonlyArray<WatchTrigger>,
  { isMatched, since, unseen }: Pick<Watch, "isMatched" | "since" | "unseen">,
  now: number
): ReadonlyArray<WatchTrigger> =>
  triggers.filter((trigger) => {
    if (unseen === 0) return false
    if (trigger.type === "elapsed") return now - since >= trigger.millis
    return trigger.type === "messages" ? unseen >= trigger.count : isMatched
  })

/** When time alone makes the next run due; null when it never does. */
const dueAt = (triggers: ReadonlyArray<WatchTrigger>, { since, unseen }: Watch): number | null => {
  const times = triggers.flatMap((trigger) => (trigger.type === "elapsed" ? [since + trigger.millis] : []))
  return unseen === 0 || times.length === 0 ? null : Math.min(...times)
}

const reasonOf = (trigger: WatchTrigger): string =>
  trigger.type === "elapsed"
    ? `${trigger.millis / 1_000} s have passed`
    : trigger.type === "messages"
      ? `${trigger.count} messages have come`
      : `something was said of /${trigger.pattern}/`

const askOf = ({ instruction = INSTRUCTION, watcher }: SleepTimeOptions, watch: Watch, why: string): Ask => ({
  member: watcher,
  text: [
    instruction,
    `You are asked because ${why}.`,
    "",
    ...watch.lines.map(({ from, text }) => `${from}: ${text}`)
  ].join("\n")
})

const NOTED = { outcome: "answered", text: "Noted." } as const

/** Runs the watcher when there is a reason; remembers what was said in any case. */
const look = (options: SleepTimeOptions, watch: Watch, { candidates, now }: Table): Move => {
  const { triggers, watcher } = options
  const due = watch.isRunning ? [] : dueTriggers(triggers, watch, now)
  const isThere = candidates.some((each) => each.id === watcher && isAvailable(each))
  const [first] = due
  if (first === undefined || !isThere) {
    const wakeAt = watch.isRunning || first !== undefined ? null : dueAt(triggers, watch)
    return { memory: asPlan(watch), wakeAt }
  }
  const memory = asPlan({ ...NEW_WATCH, isRunning: true })
  return { memory, wakeAt: null, asks: [askOf(options, watch, reasonOf(first))] }
}

export const sleepTime = (options: SleepTimeOptions): Pattern => ({
  name: "sleep-time",
  needs: [options.watcher],
  begin: (question, table) => ({
    ...look(options, noted(watchOf(table), question, options.triggers), table),
    answer: NOTED
  }),
  answered: (_, answer, table) => {
    const watch = { ...watchOf(table), isRunning: false }
    const isDue = dueTriggers(options.triggers, watch, table.now).length > 0
    const wakeAt = isDue ? table.now : dueAt(options.triggers, watch)
    return { memory: asPlan(watch), wakeAt, answer: { outcome: "answered", text: saidBy(answer) }, isOver: true }
  },
  woken: (table) => look(options, watchOf(table), table)
})
