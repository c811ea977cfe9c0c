// SubAgent: one line of the snapshot for each sub-agent, and what the statechart asks for on its behalf.
// Owns the shapes. Leaves the steps from one phase to the next to steps.ts, carrying orders out to machine/sub-agents.ts.
// L1  A line is open as long as its grant is: spawning, running, retiring. Every other phase is an end.

import {
  Amount,
  type AssignmentEnd,
  type Insulation,
  insulations,
  toolCategories,
  type ToolCategory
} from "@reverie/protocol"
import * as Schema from "effect/Schema"
import type { Account, Bound, Dimension } from "../budget/account.ts"

/** spawning: its creation is under way. running: it has its task. retiring: ordered to end. lost: its end is not known. */
export const openPhases = ["spawning", "running", "retiring"] as const
export const endPhases = ["completed", "cut", "failed", "cancelled", "lost"] as const
export type SubAgentPhase = (typeof openPhases)[number] | (typeof endPhases)[number]

export interface SubAgent {
  /** The call that handed the task on, or what names an order from outside. */
  readonly call: string
  /** Counts from 1; a retry is another assistant with another grant. */
  readonly tries: number
  readonly phase: SubAgentPhase
  readonly millis: number
  /** Its hard deadline, in milliseconds since the epoch. */
  readonly until: number
  /** When it has ended: what it was granted, and what of that is gone. */
  readonly granted?: Bound
  readonly spent?: Amount
}

export const isOpen = ({ phase }: SubAgent): boolean => openPhases.some((open) => open === phase)

/** The key of its grant in the account. */
export const grantKey = ({ call, tries }: Pick<SubAgent, "call" | "tries">): string => `${call}#${tries}`

export const creationJob = (call: string): string => `child.${call}`

/** What a sub-agent knows of whom it works for; null for an assistant of its own. */
export interface Assignment {
  /** The assistant that sent it. */
  readonly parent: string
  /** The assistant whose memory it may read: the first of the line. */
  readonly owner: string
  readonly call: string
  readonly tries: number
  /** How many levels of sub-agents it may have below itself. */
  readonly depth: number
  readonly millis: number
  readonly until: number
  readonly insulation: Insulation
  /** Definitions of all above it, the nearest last: it has no tool that one of them lacks. */
  readonly above: ReadonlyArray<string>
  /** What the pattern of the tick that sent it allowed; null for everything. */
  readonly categories: ReadonlyArray<ToolCategory> | null
  /** Its soft deadline has passed. */
  readonly late: boolean
}

/** How a task is asked to be handed on: only what the statechart has to know. */
export interface DelegateRequest {
  readonly call: string
  readonly tokens?: number
  readonly calls?: number
  readonly costMicros?: number
  readonly millis?: number
  /** The present, in milliseconds since the epoch. */
  readonly at: number
}

/** The news of a sub-agent. `due`: its time is over. `lost`: it was ordered to end and has not answered. */
export type News =
  | {
      readonly what: "reported"
      readonly call: string
      readonly tries: number
      readonly end: AssignmentEnd
      readonly spent?: Amount
      readonly at: number
    }
  | { readonly what: "due" | "lost"; readonly call: string; readonly tries: number }
  /** Of itself: its soft deadline has passed. */
  | { readonly what: "late" }

/** Why a task is not handed on, under the names a model reads. */
export interface DelegationRefusal {
  readonly success: false
  readonly error: "sub_agents_not_allowed" | "sub_agents_full" | "budget_too_small" | "halted"
  readonly what: "permission" | "depth" | "concurrent" | "time" | Dimension
  readonly limit?: number
  readonly left?: number
  /** Calls whose sub-agents have not ended. */
  readonly open: ReadonlyArray<string>
  readonly instead: string
}

type Named = Pick<SubAgent, "call" | "tries">

/** What a step asks for, in the order in which it is asked. */
export type Order =
  | { readonly order: "spawn"; readonly name: string; readonly call: string }
  | { readonly order: "stop"; readonly name: string }
  | { readonly order: "timer"; readonly id: string; readonly delayMillis: number; readonly news: News }
  | { readonly order: "cancel"; readonly id: string }
  | {
      readonly order: "tell"
      readonly verb: "halt" | "resume" | "retire"
      readonly to: ReadonlyArray<Named>
      readonly reason: string
    }
  | { readonly order: "answer"; readonly index: number }
  | { readonly order: "refuse"; readonly index: number; readonly reason: string }
  | {
      readonly order: "refuseDelegation"
      readonly call: string
      readonly index: number
      readonly refusal: DelegationRefusal
    }

// Stored: the shapes of account, sub-agents and assignment in a persisted snapshot.
// Owns their codecs. Leaves what fits besides them to decide.ts.

const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const limit = Schema.NullOr(count)

const StoredBound = Schema.Struct({ tokens: limit, costMicros: limit, calls: limit }) satisfies Schema.Codec<Bound>

export const StoredAccount = Schema.Struct({
  granted: StoredBound,
  spent: Amount,
  reserved: Amount,
  out: Schema.Record(Schema.String, StoredBound),
  warned: Schema.String
}) satisfies Schema.Codec<Account>

export const StoredSubAgent = Schema.Struct({
  call: Schema.String,
  tries: count,
  phase: Schema.Literals([...openPhases, ...endPhases]),
  millis: Schema.Finite,
  until: Schema.Finite,
  granted: Schema.optionalKey(StoredBound),
  spent: Schema.optionalKey(Amount)
}) satisfies Schema.Codec<SubAgent>

export const StoredAssignment = Schema.Struct({
  parent: Schema.String,
  owner: Schema.String,
  call: Schema.String,
  tries: count,
  depth: count,
  millis: Schema.Finite,
  until: Schema.Finite,
  insulation: Schema.Literals(insulations),
  above: Schema.Array(Schema.String),
  categories: Schema.NullOr(Schema.Array(Schema.Literals(toolCategories))),
  late: Schema.Boolean
}) satisfies Schema.Codec<Assignment>
