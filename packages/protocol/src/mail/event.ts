// Event: what can arrive at an assistant, as it crosses the wire.
// Owns the closed list of events and the lane each travels in. Leaves their meaning to the statechart.
// I1  Every event has exactly one lane, and a lane keeps its order.
// I2  A halted assistant still receives the control lane, a waiting one the reply lane: neither is ever stuck behind mail.

import * as Schema from "effect/Schema"
import { ContentPart, MAX_PARTS, partText } from "./part.ts"

// Assignment: a task that an assistant hands to a sub-agent, and what comes back.
// E1  Amounts are whole numbers and never negative; a bound that is null is none.
// E2  Limits that are wished for can only narrow what would be granted without them.

const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const atLeastOne = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))

/** What model calls cost. Money is in millionths of a unit. */
export const Amount = Schema.Struct({ tokens: count, costMicros: count, calls: count })
export type Amount = typeof Amount.Type

/**
 * What a sub-agent learns of the one that sends it. orchestrator: the task alone, under a specialist's prompt. none: also
 * its goals, the recent conversation and its state. delegate: the task and its three foremost goals; the sub-agent keeps
 * its own personality.
 */
export const insulations = ["none", "orchestrator", "delegate"] as const
export type Insulation = (typeof insulations)[number]

/** Longest task, in UTF-16 units. */
export const MAX_TASK_CHARS = 32_000

const somethingSaid = Schema.isPattern(/\S/, { message: "must not be empty" })

/** What is asked for when a task is handed on. */
export const AssignmentRequest = Schema.Struct({
  task: Schema.String.check(somethingSaid, Schema.isMaxLength(MAX_TASK_CHARS)),
  /** The name of an assistant's definition; that of the one who asks when not said. */
  specialist: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(128))),
  /** orchestrator when not said. */
  insulation: Schema.optionalKey(Schema.Literals(insulations)),
  tokens: Schema.optionalKey(atLeastOne),
  calls: Schema.optionalKey(atLeastOne),
  costMicros: Schema.optionalKey(atLeastOne),
  seconds: Schema.optionalKey(atLeastOne)
})
export type AssignmentRequest = typeof AssignmentRequest.Type

/** completed: done. cut: ended with what it had, because a limit was reached. */
const assignmentEnds = ["completed", "cut", "failed", "cancelled"] as const
export type AssignmentEnd = (typeof assignmentEnds)[number]

const text = Schema.String.check(Schema.isMaxLength(MAX_TASK_CHARS))

/** What a sub-agent sends home, once. */
export const AssignmentReport = Schema.Struct({
  end: Schema.Literals(assignmentEnds),
  /** True whenever it is not the whole of what was asked for because a limit was reached. */
  cut: Schema.Boolean,
  summary: text,
  output: Schema.optionalKey(text),
  artefacts: Schema.Array(text),
  followUp: Schema.Array(text),
  /** Its own model calls and those of its sub-agents. */
  spent: Amount,
  reason: Schema.optionalKey(text)
})
export type AssignmentReport = typeof AssignmentReport.Type

/** Longest text of one message, in UTF-16 units. Longer ones are refused at the door. */
export const MAX_MESSAGE_CHARS = 1_000_000

const reason = Schema.optionalKey(Schema.String.check(Schema.isMaxLength(2_000)))

/** The name of the kind of context that it is handled in; the one for its type when not said. */
const contextName = Schema.optionalKey(Schema.String.check(Schema.isMaxLength(64)))

/** Longest JSON text of an answer's form. */
export const MAX_FORM_CHARS = 32_768

/** The form that an answer must have: a JSON Schema of an object. */
const AnswerForm = Schema.Record(Schema.String, Schema.Json).check(
  Schema.makeFilter((form) => JSON.stringify(form).length <= MAX_FORM_CHARS, {
    message: `expected a form of at most ${MAX_FORM_CHARS} characters of JSON`
  })
)
export type AnswerForm = typeof AnswerForm.Type

/** How the way of a message that wanted an answer ended. */
export const answerOutcomes = ["answered", "silent", "failed"] as const
export type AnswerOutcome = (typeof answerOutcomes)[number]

/**
 * Someone says something. `channel` tells a direct message from one overheard in a room. `at` is when it was said, in
 * milliseconds since the epoch, where that is not now; `blocks` are ids of memory blocks it refers to. `wantsAnswer`: what
 * its tick comes to is sent to the assistant that sent it. `answers` names the envelope that this is the answer to. `output`
 * is the form that the answer must have. `parts` are images, files and audio, whose bytes were kept before it.
 */
const MessageEvent = Schema.Struct({
  type: Schema.Literal("message"),
  context: contextName,
  text: Schema.String.check(Schema.isMaxLength(MAX_MESSAGE_CHARS)),
  channel: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(128))),
  at: Schema.optionalKey(Schema.Int),
  blocks: Schema.optionalKey(Schema.Array(Schema.String.check(Schema.isMaxLength(128))).check(Schema.isMaxLength(32))),
  output: Schema.optionalKey(AnswerForm),
  parts: Schema.optionalKey(Schema.Array(ContentPart).check(Schema.isMaxLength(MAX_PARTS))),
  wantsAnswer: Schema.optionalKey(Schema.Literal(true)),
  answers: Schema.optionalKey(
    Schema.Struct({
      envelope: Schema.String.check(Schema.isMaxLength(256)),
      outcome: Schema.Literals(answerOutcomes)
    })
  )
})

// Reminder: a time that an assistant or a person asked for, as it crosses the wire.

/** What a reminder of its own is called: it stands in ids of envelopes. */
const reminderId = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, {
    message: "must have 1 to 64 letters, digits and . _ -, and begin with a letter or a digit"
  }),
  Schema.isMaxLength(64)
)
const clockTime = Schema.String.check(
  Schema.isPattern(/^([01]\d|2[0-3]):[0-5]\d$/, { message: "must be a clock time from 00:00 to 23:59" })
)
const short = Schema.String.check(Schema.isMaxLength(256))

/** once: of several that are due, the newest runs. skip: only what is due now. all: each. */
export const catchUpPolicies = ["once", "skip", "all"] as const
export type CatchUpPolicy = (typeof catchUpPolicies)[number]

/** What a rule may look for before it asks the model: something overheard, a journal entry, an open goal. */
export const reminderNeeds = ["ambient", "journal", "goals"] as const
export type ReminderNeed = (typeof reminderNeeds)[number]

/**
 * When to remind, and of what. Exactly one of `at` (`2026-11-24T09:00` in the time zone, or with an offset), `inMs`,
 * `cron` (five fields) and `rrule` (RFC 5545, from `start` on).
 */
export const ReminderRule = Schema.Struct({
  note: Schema.String.check(somethingSaid, Schema.isMaxLength(1_500)),
  at: Schema.optionalKey(short),
  inMs: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0))),
  cron: Schema.optionalKey(short),
  rrule: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(1_000))),
  start: Schema.optionalKey(short),
  /** A name of the IANA database; that of the sleep schedule when not said, else UTC. */
  timeZone: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(64))),
  /** Hours in which it does not remind, on the clocks of the time zone; `later` puts it off to their end. */
  quiet: Schema.optionalKey(
    Schema.Struct({ from: clockTime, until: clockTime, policy: Schema.Literals(["skip", "later"]) })
  ),
  /** once when not said. */
  catchUp: Schema.optionalKey(Schema.Literals(catchUpPolicies)),
  /** Without any of these the model is not asked. */
  onlyWhen: Schema.optionalKey(Schema.Array(Schema.Literals(reminderNeeds)).check(Schema.isMaxLength(3)))
})
export type ReminderRule = typeof ReminderRule.Type

/** Sets a reminder, or changes the one of that id; without a rule it is cancelled. */
const RemindEvent = Schema.Struct({
  type: Schema.Literal("remind"),
  reminder: reminderId,
  rule: Schema.optionalKey(ReminderRule)
})

/** A time the assistant asked for has come, or an autonomous tick is due. `reminder`: which rule, and the time it was due. */
const TimerEvent = Schema.Struct({
  type: Schema.Literal("timer"),
  context: contextName,
  name: Schema.String.check(Schema.isMaxLength(128)),
  note: reason,
  reminder: Schema.optionalKey(Schema.Struct({ revision: Schema.Int, due: Schema.Int, runAt: Schema.Int }))
})

/**
 * An order to sleep. `forMs` bounds it, or `until`, in milliseconds since the epoch: heard after that, it means
 * nothing any more. Without either the assistant sleeps as long as its settings say.
 */
const SleepEvent = Schema.Struct({
  type: Schema.Literal("sleep"),
  forMs: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0))),
  until: Schema.optionalKey(Schema.Int)
})

/** An order to compact the older part of the history, however much of the window it takes. */
const CompactEvent = Schema.Struct({ type: Schema.Literal("compact") })

/** Takes a compaction of the history back: what the model sees is again what it saw before. */
const UndoCompactionEvent = Schema.Struct({
  type: Schema.Literal("undoCompaction"),
  /** The id of the compaction. */
  compaction: Schema.String.check(Schema.isMaxLength(128))
})

/** Ends the hold that an undo has on the history: it is compacted again when its time comes. */
const ReleaseHistoryEvent = Schema.Struct({ type: Schema.Literal("releaseHistory") })

/** Takes a passage out of the archival memory, and out of what is found. */
const DeletePassageEvent = Schema.Struct({
  type: Schema.Literal("deletePassage"),
  /** The id of the passage. */
  passage: Schema.String.check(Schema.isMaxLength(128))
})

/** Releases a fact from quarantine: a person has read it, and it may be used. */
const ReleaseFactEvent = Schema.Struct({
  type: Schema.Literal("releaseFact"),
  /** The id of the fact. */
  fact: Schema.String.check(Schema.isMaxLength(128))
})

/** Retires a fact: a person says that it does not hold. It is found no more, and not learnt again from where it was learnt. */
const RetireFactEvent = Schema.Struct({
  type: Schema.Literal("retireFact"),
  /** The id of the fact. */
  fact: Schema.String.check(Schema.isMaxLength(128)),
  /** Why; it stands with the fact. */
  reason
})

/** A person writes a fact: in the place of one that is wrong, or beside all others. */
const WriteFactEvent = Schema.Struct({
  type: Schema.Literal("writeFact"),
  text: Schema.String.check(Schema.isMaxLength(2_000)),
  /** The id of the fact that it corrects. */
  fact: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(128)))
})

/**
 * A person writes into the profile of someone: in the place of an attribute, beside all others where none is named, or nothing at all where
 * there is no text, which removes it. `undo` takes the last of these acts on the attribute back.
 */
const WriteProfileEvent = Schema.Struct({
  type: Schema.Literal("writeProfile"),
  /** The id of the profile, or a name that leads to it. */
  entity: Schema.String.check(Schema.isMaxLength(128)),
  /** The id of the attribute. */
  attribute: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(128))),
  text: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(2_000))),
  undo: Schema.optionalKey(Schema.Boolean)
})

/** Takes back what a dream made of the memory, or some of it: it is then as it was before that night. */
const UndoDreamEvent = Schema.Struct({
  type: Schema.Literal("undoDream"),
  /** The id of the dream. */
  dream: Schema.String.check(Schema.isMaxLength(128)),
  /** What of it, as its account names them (`fact/fact_12_0`, `entity/ann`); all of it when not said. */
  items: Schema.optionalKey(
    Schema.Array(Schema.String.check(Schema.isMaxLength(300))).check(Schema.isMaxLength(1_000))
  ),
  /** Why; it stands with the facts that are retired. */
  reason
})

/** Lets what waits of a dream for a person's word be done: what it proposed holds, what it would put away is put away. */
const AcceptDreamEvent = Schema.Struct({
  type: Schema.Literal("acceptDream"),
  dream: UndoDreamEvent.fields.dream,
  /** What of it, as its account names them; all that waits when not said. */
  items: UndoDreamEvent.fields.items
})

const WakeEvent = Schema.Struct({ type: Schema.Literal("wake"), reason })

/**
 * The later answer to an ASYNC_REQUIRED tool call or a sub-agent. `call` names the call; without it the oldest open
 * call of `tool` is meant. `assignment` stands in the report of a sub-agent, and `content` is then its form for the model.
 */
const ReportEvent = Schema.Struct({
  type: Schema.Literal("report"),
  call: Schema.optionalKey(Schema.String),
  tool: Schema.optionalKey(Schema.String),
  outcome: Schema.Literals(["reported", "failed"]),
  content: Schema.String.check(Schema.isMaxLength(MAX_MESSAGE_CHARS)),
  assignment: Schema.optionalKey(AssignmentReport)
})

/** Hands a task to a new sub-agent of the assistant, as its own `delegate_task` would. */
const DelegateEvent = Schema.Struct({ type: Schema.Literal("delegate"), ...AssignmentRequest.fields })

/** A person's decision about one tool call. Without `approval` the oldest one asked is meant. */
const ApprovalEvent = Schema.Struct({
  type: Schema.Literal("approval"),
  approval: Schema.optionalKey(Schema.String),
  decision: Schema.Literals(["approved", "denied"]),
  note: reason
})

const HaltEvent = Schema.Struct({ type: Schema.Literal("halt"), reason })
/** Ends one tick, and nothing else: it names the tick, so that a late one ends no other. */
const StopEvent = Schema.Struct({
  type: Schema.Literal("stop"),
  tick: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
  reason
})
const ResumeEvent = Schema.Struct({ type: Schema.Literal("resume"), reason })
/** The definition has changed in a way that counts even at rest: its sleep schedule. */
const RefreshEvent = Schema.Struct({ type: Schema.Literal("refresh") })
const RetireEvent = Schema.Struct({ type: Schema.Literal("retire"), reason })

const most = Schema.optionalKey(
  Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000_000_000 })))
)

/** What it may spend on model calls in all: null is any amount, and what is left out stays as it is. */
const BudgetEvent = Schema.Struct({ type: Schema.Literal("budget"), tokens: most, costMicros: most, calls: most })

/** Whatever can arrive at an assistant. */
export const Event = Schema.Union([
  MessageEvent,
  TimerEvent,
  SleepEvent,
  CompactEvent,
  UndoCompactionEvent,
  ReleaseHistoryEvent,
  DeletePassageEvent,
  ReleaseFactEvent,
  RetireFactEvent,
  WriteFactEvent,
  WriteProfileEvent,
  UndoDreamEvent,
  AcceptDreamEvent,
  WakeEvent,
  ReportEvent,
  DelegateEvent,
  ApprovalEvent,
  HaltEvent,
  StopEvent,
  ResumeEvent,
  RefreshEvent,
  RemindEvent,
  BudgetEvent,
  RetireEvent
])
export type Event = typeof Event.Type
export type EventType = Event["type"]

/** control: orders about the assistant itself. reply: answers it waits for. mail: what is heard at rest. */
export const LANES = ["control", "reply", "mail"] as const
export type Lane = (typeof LANES)[number]

const laneByType: Readonly<Record<EventType, Lane>> = {
  halt: "control",
  stop: "control",
  resume: "control",
  refresh: "control",
  remind: "control",
  budget: "control",
  retire: "control",
  delegate: "control",
  wake: "reply",
  report: "reply",
  approval: "reply",
  message: "mail",
  timer: "mail",
  sleep: "mail",
  compact: "mail",
  undoCompaction: "mail",
  releaseHistory: "mail",
  deletePassage: "mail",
  releaseFact: "mail",
  retireFact: "mail",
  writeFact: "mail",
  writeProfile: "mail",
  undoDream: "mail",
  acceptDream: "mail"
}

export const laneOf = (event: Event): Lane => laneByType[event.type]

/** A text with its parts in words, a line each behind it. */
export const textWithParts = (text: string, parts: ReadonlyArray<ContentPart> = [], why?: string): string =>
  parts.length === 0 ? text : [...(text === "" ? [] : [text]), ...parts.map((part) => partText(part, why))].join("\n")
