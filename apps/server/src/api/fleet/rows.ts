// Rows: what a list of the fleet shows of one assistant.
// Owns the schemas of rows, counts and budgets. Leaves the endpoints to ../assistants.ts.

import * as Schema from "effect/Schema"
import { Amount, Bound, Id, Spent } from "../words.ts"

export const modes = ["awake", "dreaming", "compacting", "halted", "retired"] as const
/** `attention`: with `descending` those first that need a person, then those that work, then those that did last. */
export const sorts = ["attention", "id", "since", "waiting", "context", "cost", "ticks", "errors"] as const

/** The wait for a model whose server is away; it ends by itself. */
const outageFields = {
  /** Host and port. */
  server: Schema.String,
  /** The first failure. */
  since: Schema.Finite,
  /** Why the last call failed, or was not sent. */
  reason: Schema.String,
  /** When it is tried again at the latest; absent while it is being tried. */
  nextTry: Schema.optionalKey(Schema.Finite)
}

/** The wait of one; any of its servers may end it. */
const OneOutage = Schema.Struct({
  ...outageFields,
  others: Schema.optionalKey(Schema.Array(Schema.String)),
  tries: Schema.Int
})

/** Those that wait for the same server. */
export const Outage = Schema.Struct({ ...outageFields, assistants: Schema.Int })
export type Outage = typeof Outage.Type

/** What a fleet page shows of one. */
export const AssistantRow = Schema.Struct({
  id: Id,
  definition: Schema.String,
  /** The path of the machine state, e.g. `awake.thinking.inferring`. */
  state: Schema.String,
  mode: Schema.Literals(modes),
  /** When it came into this state. */
  since: Schema.Finite,
  ticks: Schema.Int,
  commits: Schema.Int,
  /** Accepted envelopes that have not been handled. */
  waiting: Schema.Int,
  /** When the oldest of them was accepted, where that is known. */
  oldestWaitingAt: Schema.optionalKey(Schema.Finite),
  /** How full its context window was with the last model call, 0 to 1. */
  contextShare: Schema.optionalKey(Schema.Finite),
  /** What it used in the last 24 hours. */
  day: Spent,
  /** What it may still spend, where a budget bounds it. */
  left: Schema.optionalKey(Bound),
  approvals: Schema.Int,
  lastError: Schema.optionalKey(Schema.Struct({ at: Schema.Finite, message: Schema.String })),
  haltReason: Schema.optionalKey(Schema.String),
  outage: Schema.optionalKey(OneOutage),
  subAgents: Schema.Int,
  epoch: Schema.Int
})
export type AssistantRow = typeof AssistantRow.Type

export const Approval = Schema.Struct({ approval: Schema.String, tool: Schema.String, call: Schema.String })

export const AssistantDetail = Schema.Struct({
  ...AssistantRow.fields,
  /** Events that mean something in the present state: what a page may offer as a button. */
  accepts: Schema.Array(Schema.String),
  receives: Schema.Array(Schema.String),
  jobs: Schema.Array(Schema.String),
  timers: Schema.Array(Schema.Struct({ name: Schema.String, dueAt: Schema.Finite })),
  approvalsAsked: Schema.Array(Approval),
  tick: Schema.Int,
  iteration: Schema.Int
})
export type AssistantDetail = typeof AssistantDetail.Type

/** What one may spend in its whole life, and what it has. */
const budgetFields = { granted: Bound, spent: Amount, reserved: Amount }

/** An assistant as it is stored, which no list has to be kept for. */
export const StoredAssistant = Schema.Struct({
  id: Id,
  definition: Schema.String,
  state: Schema.String,
  mode: Schema.Literals(modes),
  /** What it is shown as doing, and the tags of its state: both as the statechart says them. */
  activity: Schema.String,
  tags: Schema.Array(Schema.String),
  accepts: Schema.Array(Schema.String),
  receives: Schema.Array(Schema.String),
  ticks: Schema.Int,
  tick: Schema.Int,
  iteration: Schema.Int,
  epoch: Schema.Int,
  commits: Schema.Int,
  waiting: Schema.Int,
  jobs: Schema.Array(Schema.String),
  timers: Schema.Array(Schema.Struct({ name: Schema.String, dueAt: Schema.Finite })),
  approvals: Schema.Array(Approval),
  budget: Schema.optionalKey(Schema.Struct(budgetFields)),
  subAgents: Schema.Int,
  haltReason: Schema.optionalKey(Schema.String),
  outage: Schema.optionalKey(OneOutage)
})
export type StoredAssistant = typeof StoredAssistant.Type

export const Budget = Schema.Struct({
  assistant: Id,
  ...budgetFields,
  /** How much is used up, 0 to 1, of what is nearest to its end. */
  share: Schema.Finite,
  /** What it used in the last 24 hours. */
  day: Spent,
  /** When it will be used up at the pace of the last day; null where nothing was used in it. */
  endsAt: Schema.NullOr(Schema.Finite)
})
export type Budget = typeof Budget.Type

/** How many are in each mode and in states that someone wants to see at once. */
export const Counts = Schema.Struct({
  total: Schema.Int,
  idle: Schema.Int,
  thinking: Schema.Int,
  acting: Schema.Int,
  awaitingApproval: Schema.Int,
  dreaming: Schema.Int,
  compacting: Schema.Int,
  halted: Schema.Int,
  retired: Schema.Int,
  /** Longer in a busy state than any model call or tool takes. */
  stuck: Schema.Int,
  /** More than four fifths of the context window are full. */
  nearlyFull: Schema.Int,
  /** More than four fifths of the budget are used or reserved. */
  nearlySpent: Schema.Int,
  /** What waits in all their mailboxes. */
  waiting: Schema.Int
})
export type Counts = typeof Counts.Type
