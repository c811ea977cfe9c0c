// EventLog: the life of an assistant in eleven kinds of event.
// Owns the closed list and how entries of the ledger become its lines. Leaves storing and showing them to the code that compacts.
// I1  A pure fold: the same entries in the same order give the same events, so a log can be built again at any time.
// I2  Begun at creation it is complete. Begun later, a goal first seen counts as created when its id names that tick.
//
// Every kind can be derived. ConfigurationChanged only in part: settings arrive with the next piece of mail, and the
// assistant's own prompt as a record, but a definition's persona, prompt and tools are code and stand in no entry.
// Nor does an entry say who halted or retired the assistant: that stands in the envelope of its cause.

import { type Entry, isJsonObject, type Json } from "@reverie/protocol"
import type { Goal } from "./goals/goals.ts"
import { goalsOf } from "./goals/goals.ts"
import { reflectionIn } from "./reflection.ts"
import { SELF_PROMPT_KEY } from "./session-memory.ts"

export const logEventTypes = [
  "AssistantCreated",
  "ToolExecuted",
  "GoalCreated",
  "GoalUpdated",
  "GoalCompleted",
  "ReflectionRecorded",
  "EmergencyStopTriggered",
  "EmergencyStopCleared",
  "TickCompleted",
  "ConfigurationChanged",
  "AssistantArchived"
] as const
export type LogEventType = (typeof logEventTypes)[number]

export interface LogEvent {
  readonly type: LogEventType
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The entry it was read from. */
  readonly entry: number
  readonly tick: number
  readonly detail: { readonly [key: string]: Json }
}

/** What has to be remembered from one entry to the next. */
export interface EventLog {
  readonly status: string
  /** Whether each known goal is completed. */
  readonly goals: ReadonlyMap<string, boolean>
  readonly lastReflection: string | null
}

export const emptyLog: EventLog = { status: "", goals: new Map(), lastReflection: null }

type Told = Pick<LogEvent, "type" | "detail">

const stepEvents = ({ step, tickEnd }: Entry): ReadonlyArray<Told> => [
  ...(step?.kind === "tool"
    ? [
        {
          type: "ToolExecuted",
          detail: { tool: step.name, ok: step.ok, elapsed_millis: step.elapsedMs }
        } satisfies Told
      ]
    : []),
  ...(tickEnd === undefined
    ? []
    : [{ type: "TickCompleted", detail: { outcome: tickEnd.outcome, iterations: tickEnd.iterations } } satisfies Told])
]

const goalEvent = (goal: Goal, known: boolean | undefined, tick: number): Told => {
  const { description, id, progress, status } = goal
  const isNew = known === undefined && id.startsWith(`goal_${tick}_`)
  if (isNew) return { type: "GoalCreated", detail: { goal: id, description } }
  const completed = status === "completed" && known !== true
  return completed
    ? { type: "GoalCompleted", detail: { goal: id, description } }
    : { type: "GoalUpdated", detail: { goal: id, status, progress } }
}

/** Of several changes of one goal in one entry the last one counts, as it does for the record. */
const changedGoals = (entry: Entry): ReadonlyMap<string, Goal> =>
  goalsOf(
    new Map(
      (entry.records ?? []).flatMap(({ key, kind, value }) =>
        kind === "goal" && value !== null ? [[key, value] as const] : []
      )
    )
  )

const lastReflectionIn = (entry: Entry, last: string | null): string | null =>
  reflectionIn(entry)?.last_reflection ?? last

const configurationEvents = ({ event, records = [] }: Entry): ReadonlyArray<Told> => {
  const settings = isJsonObject(event) ? event["settings"] : undefined
  const written = records.some(({ key, kind }) => kind === "prompt" && key === SELF_PROMPT_KEY)
  return [
    ...(settings === undefined ? [] : [{ type: "ConfigurationChanged", detail: { settings } } satisfies Told]),
    ...(written ? [{ type: "ConfigurationChanged", detail: { prompt: SELF_PROMPT_KEY } } satisfies Told] : [])
  ]
}

const stateEvents = (before: string, after: string): ReadonlyArray<Told> => {
  if (before === after || before === "") return []
  if (after === "halted") return [{ type: "EmergencyStopTriggered", detail: { from: before } }]
  if (after === "retired") return [{ type: "AssistantArchived", detail: { from: before } }]
  return before === "halted" ? [{ type: "EmergencyStopCleared", detail: { to: after } }] : []
}

/** The events of the next entry, and what to remember for the one after it. */
export const logged = (
  log: EventLog,
  entry: Entry
): { readonly log: EventLog; readonly events: ReadonlyArray<LogEvent> } => {
  const changed = changedGoals(entry)
  const lastReflection = lastReflectionIn(entry, log.lastReflection)
  const told: ReadonlyArray<Told> = [
    ...(entry.cause.kind === "creation" ? [{ type: "AssistantCreated", detail: {} } satisfies Told] : []),
    ...configurationEvents(entry),
    ...stepEvents(entry).filter(({ type }) => type === "ToolExecuted"),
    ...[...changed.values()].map((goal) => goalEvent(goal, log.goals.get(goal.id), entry.tick)),
    ...(lastReflection === log.lastReflection
      ? []
      : [{ type: "ReflectionRecorded", detail: { at: lastReflection } } satisfies Told]),
    ...stepEvents(entry).filter(({ type }) => type === "TickCompleted"),
    ...stateEvents(log.status, entry.status)
  ]
  const goals =
    changed.size === 0
      ? log.goals
      : new Map([...log.goals, ...[...changed.values()].map(({ id, status }) => [id, status === "completed"] as const)])
  return {
    log: { status: entry.status, goals, lastReflection },
    events: told.map((each) => ({ ...each, at: entry.at, entry: entry.no, tick: entry.tick }))
  }
}

/** The whole log of these entries. */
export const eventLogOf = (entries: Iterable<Entry>, from: EventLog = emptyLog): ReadonlyArray<LogEvent> => {
  const events: Array<LogEvent> = []
  let log = from
  for (const entry of entries) {
    const step = logged(log, entry)
    log = step.log
    events.push(...step.events)
  }
  return events
}
