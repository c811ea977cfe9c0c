// ReplayState: an assistant told again from its entries, one commit after the other.
// Owns the step from one commit to the next. Leaves what is shown of it to frame.ts, what speaks against it to replay.ts.
// R1  Only the statechart is asked: no model, no tool, no clock, no store, and nothing is sent.
// R2  Replaying a beginning of the ledger and then the rest of it is replaying the whole of it, whatever stands between.
// R3  An entry without a machine event changes nothing but the number.

import {
  creation,
  decide,
  type Decoded,
  type Input,
  persist,
  restore,
  type Settings,
  statusOf,
  type SnapshotUnfit,
  type SubAgentStart
} from "@reverie/assistant"
import type { Bundle } from "@reverie/ledger"
import {
  type Command,
  defined,
  type Entry,
  ENTRY_VERSION,
  isJsonObject,
  type Json,
  LANES,
  type OpenJob,
  type OpenTimer,
  STATE_VERSION
} from "@reverie/protocol"
import * as Result from "effect/Result"
import { jobsAfter, timersAfter } from "../commit/turn.ts"

// Beginning: the state in which an assistant was created, as its ledger tells it.
// B1  What the entry says of settings and commission is what the creation was decided with.
// B2  A life that was forgotten begins retired: one entry is all that is left of it.
// B3  An entry that says nothing of settings was written before they were recorded: then anyone who replays names them.

interface Beginning {
  readonly decoded: Decoded
  /** Whether the entry told the settings. */
  readonly isRecorded: boolean
}

type Created = { readonly settings?: Partial<Settings>; readonly forgotten?: true } & Partial<SubAgentStart>

const retired = (decoded: Decoded): Decoded => decide(decoded, { type: "retire" }).next

/** `settings`: for an entry that says nothing of them. */
export const beginningOf = ({ event }: Entry, settings: Partial<Settings> = {}): Beginning => {
  const created: Created = isJsonObject(event) ? (event as unknown as Created) : {}
  const { assignment, granted } = created
  const subAgentStart = assignment === undefined || granted === undefined ? undefined : { assignment, granted }
  const { next } = creation(created.settings ?? settings, subAgentStart)
  return {
    decoded: created.forgotten === true ? retired(next) : next,
    isRecorded: created.settings !== undefined
  }
}

/** An assistant after a commit. Hours of sleep are no business of the statechart's: their timer is not among these. */
export interface ReplayState {
  readonly no: number
  readonly decoded: Decoded
  readonly jobs: ReadonlyArray<OpenJob>
  readonly timers: ReadonlyArray<OpenTimer>
}

/** One commit told again. */
export interface ReplayStep {
  readonly state: ReplayState
  readonly commands: ReadonlyArray<Command>
  /** Why the event could not be decided; the state is then that of before. */
  readonly problem?: string
}

/** The state of the entry of a creation. `settings`: for an entry that does not tell them. */
export const openReplayState = (creation: Entry, settings?: Partial<Settings>): ReplayState => ({
  no: creation.no,
  decoded: beginningOf(creation, settings).decoded,
  jobs: [],
  timers: []
})

const decided = (before: Decoded, event: Json) => {
  if (event === null) return { next: before, commands: [] }
  try {
    return decide(before, event as unknown as Input)
  } catch (cause) {
    const problem = `the statechart broke on its event: ${cause instanceof Error ? cause.message : String(cause)}`
    return { next: before, commands: [], problem }
  }
}

/** The same assistant one commit later. */
export const replayEntry = (state: ReplayState, { at, cause, event, no }: Entry): ReplayStep => {
  const decision = decided(state.decoded, event)
  const { commands, next } = decision
  const timers = cause.kind === "timer" ? state.timers.filter(({ name }) => name !== cause.name) : state.timers
  return {
    state: {
      no,
      decoded: next,
      jobs: jobsAfter(state.jobs, commands, no),
      timers: timersAfter(timers, commands, at)
    },
    commands,
    ...defined({ problem: "problem" in decision ? decision.problem : undefined })
  }
}

/** A state as data, to be gone on with later. */
export interface PausedReplay {
  readonly no: number
  readonly snapshot: Json
  readonly jobs: ReadonlyArray<OpenJob>
  readonly timers: ReadonlyArray<OpenTimer>
}

export const pauseReplay = ({ decoded, jobs, no, timers }: ReplayState): PausedReplay => ({
  no,
  snapshot: persist(decoded),
  jobs,
  timers
})

/** An older snapshot is raised as a worker does who claims the assistant. */
export const resumeReplay = ({ jobs, no, snapshot, timers }: PausedReplay): Result.Result<ReplayState, SnapshotUnfit> =>
  Result.map(restore(snapshot), (decoded) => ({ no, decoded, jobs, timers }))

// Forgetting: what stands in the place of a life of which nothing is to be known any more.

/** Created and retired at once, by the settings of before: it has no mail, no memory and no text, and verifies like any life. */
export const forgottenLife = ({ head, parts }: Bundle, at: number): Bundle => {
  // Limits are of those who run the fleet, and hold for whatever it does from now on.
  if (head.kind === "tenant") return { head, parts: parts.filter(({ kind }) => kind === "limit") }
  const first = parts.find((part) => part.kind === "entry")?.entry as unknown as Entry | undefined
  const settings = (isJsonObject(first?.event) ? first.event["settings"] : undefined) ?? {}
  const event = { settings, forgotten: true } as const
  const entry = {
    v: ENTRY_VERSION,
    no: 1,
    at,
    epoch: 0,
    tick: 0,
    iteration: 0,
    cause: { kind: "creation" },
    event
  } as const
  const { decoded } = beginningOf(entry as unknown as Entry)
  const status = statusOf(decoded)
  // Of a state that can not be read not even the definition is known: it bears the name of most.
  const known = isJsonObject(head.state)
    ? head.state
    : ({ v: STATE_VERSION, definition: head.address.assistant } as const)
  const state = { ...known, snapshot: persist(decoded), jobs: [], timers: [], receives: LANES, status }
  return {
    head: { ...head, version: 1, handled: { control: 0, reply: 0, mail: 0 }, state },
    parts: [{ kind: "entry", entry: { ...entry, status, messages: [] } }]
  }
}
