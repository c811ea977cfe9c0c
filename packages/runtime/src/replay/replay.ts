// Replay: the entries of an assistant told again, frame by frame.
// Owns the course of it, and what speaks against an entry. Leaves one step to state.ts, the comparison of its end to verdict.ts.
// P1  A frame is yielded for every commit of the range, whatever is wrong with it.

import { contextOf, type Settings, statusOf } from "@reverie/assistant"
import { type Entry, isJsonObject, type Json } from "@reverie/protocol"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { CHECKPOINT_COMMITS } from "../commit/turn.ts"
import {
  openReplayState,
  type PausedReplay,
  replayEntry,
  type ReplayState,
  type ReplayStep,
  resumeReplay
} from "./state.ts"
import { type Breakpoint, eventTypeOf, frameOf, isStop, type ReplayFrame, snapshotText } from "./frame.ts"

// Evidence: what an entry says of its commit besides the machine event.
// E1  An entry and its own event agree: state, tick and iteration after it, the job it ended, the calls that were asked for,
//     what was told to screens, how the tick ended. What does not is one sentence.

type JsonObject = { readonly [key: string]: Json }

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

const differs = (what: string, recorded: unknown, replayed: unknown): string | undefined =>
  same(recorded, replayed)
    ? undefined
    : `${what}: recorded is ${JSON.stringify(recorded)}, replayed ${JSON.stringify(replayed)}`

const outputOf = ({ event }: Entry): JsonObject => {
  const output = isJsonObject(event) ? event["output"] : undefined
  return isJsonObject(output) ? output : {}
}

const stateAfter = (entry: Entry, { state }: ReplayStep): string | undefined => {
  const { iteration, tick } = contextOf(state.decoded)
  return (
    differs("the state after", entry.status, statusOf(state.decoded)) ??
    differs("the tick", entry.tick, tick) ??
    differs("the iteration", entry.iteration, iteration)
  )
}

/** The event that ends a job is of that job, and the job was open. */
const jobEnded = (before: ReplayState, entry: Entry): string | undefined => {
  const { cause } = entry
  const type = eventTypeOf(entry)
  // A result that the statechart could not take is answered by a halt.
  if (cause.kind !== "job" || type === "halt") return undefined
  const job = before.jobs.find(({ id }) => id === cause.id)
  if (job === undefined) return `the job ${cause.id} is not open`
  const ends = [`xstate.done.actor.${job.name}`, `xstate.error.actor.${job.name}`]
  return ends.includes(type ?? "") ? undefined : `the event ${type} does not end the job ${cause.id}`
}

/** What the step says of the effect, and what the event says of it. */
const effect = (entry: Entry): string | undefined => {
  const { messages, step } = entry
  const type = eventTypeOf(entry)
  if (step === undefined || type === null || type === "halt") return undefined
  const isDone = type.startsWith("xstate.done.")
  const output = outputOf(entry)
  if (step.kind === "tool") {
    return differs(`whether ${step.name} worked`, step.ok, isDone && output["ok"] === true)
  }
  if (step.kind !== "infer") return undefined
  const asked = messages.flatMap(({ calls = [], role }) => (role === "assistant" ? calls.map(({ tool }) => tool) : []))
  const told = Array.isArray(output["calls"]) ? (output["calls"] as ReadonlyArray<JsonObject>) : []
  return (
    differs("whether the model answered", step.ok, isDone) ??
    differs(
      "the calls of the reply",
      asked,
      told.map(({ tool }) => tool)
    )
  )
}

/** Whose envelope the event is of. */
const envelope = ({ cause, event }: Entry): string | undefined => {
  const named = isJsonObject(event) ? event["envelope"] : undefined
  return cause.kind === "envelope" && named !== undefined ? differs("the envelope", cause.id, named) : undefined
}

const told = ({ emitted = [], tickEnd }: Entry, { commands }: ReplayStep): string | undefined => {
  const events = commands.flatMap((command) => (command._tag === "Emit" ? [command.event] : []))
  const [end] = commands.flatMap((command) =>
    command._tag === "Action" && command.type === "endTick" ? [command.params as JsonObject] : []
  )
  return (
    differs("what was told", emitted.slice(0, events.length), events) ??
    (tickEnd === undefined ? undefined : differs("the end of the tick", tickEnd.outcome, end?.["outcome"]))
  )
}

/** What of an entry does not agree with its event, in one sentence; undefined when all does. */
export const contradiction = (before: ReplayState, step: ReplayStep, entry: Entry): string | undefined =>
  (entry.no === before.no + 1 ? undefined : `commit ${before.no + 1} is missing`) ??
  step.problem ??
  jobEnded(before, entry) ??
  effect(entry) ??
  envelope(entry) ??
  stateAfter(entry, step) ??
  told(entry, step)

/** The entries of one assistant from a number on, its creation when not said; anew each time. */
export type Entries = (from?: number) => AsyncIterable<Entry>

/** Which commits are replayed. */
export interface ReplayRange {
  /** Numbers of commits, both included; the whole life when not said. */
  readonly from?: number
  /** The last commit, included. */
  readonly to?: number
  /** The replay stops after the first such frame, also one before the range. */
  readonly until?: Breakpoint
  /** Frames tell what the statechart keeps after them. */
  readonly snapshots?: boolean
}

/** As the store reads it back. */
const keptSnapshot = ({ decoded }: ReplayState): Json => JSON.parse(snapshotText(decoded)) as Json

export const isFirst = ({ no }: Entry): boolean => no === 1

// Checkpoint: a state in the middle of a life from which a replay can go on, so that what is late in it is not reached from its beginning.
// C1  Frames from a checkpoint on are those of a replay from the creation. One that can not be read is as if it were not there.

/** The key of the nearest checkpoint before a commit; undefined where it is reached from the creation. */
export const checkpointBefore = (no: number): string | undefined => {
  const key = Math.floor((no - 1) / CHECKPOINT_COMMITS) * CHECKPOINT_COMMITS
  return key > 0 ? String(key) : undefined
}

const isPaused = Schema.is(
  Schema.Struct({
    no: Schema.Int,
    snapshot: Schema.Unknown,
    jobs: Schema.Array(Schema.Json),
    timers: Schema.Array(Schema.Json)
  })
)

/** The state of a checkpoint as it is kept; undefined where it can not be gone on from. */
export const resumed = (kept: Json | undefined): ReplayState | undefined =>
  isPaused(kept) ? Result.getOrUndefined(resumeReplay(kept as unknown as PausedReplay)) : undefined

/** What a replay begins with, where it does not begin with the creation. */
export interface ReplayStart {
  /** Of a creation whose entry does not tell them. */
  readonly settings?: Partial<Settings>
  /** A checkpoint of before the range, as it is kept. */
  readonly checkpoint?: Json | undefined
}

/** Frames in the order of their commits. */
export async function* replayFrames(
  entries: Entries,
  { from = 1, snapshots = false, to = Infinity, until }: ReplayRange,
  { checkpoint, settings }: ReplayStart = {}
): AsyncGenerator<ReplayFrame> {
  let state = resumed(checkpoint)
  for await (const entry of entries(state === undefined ? 1 : state.no + 1)) {
    if (entry.no > to) return
    const before: ReplayState = state ?? openReplayState(entry, settings)
    const step = isFirst(entry) ? { state: before, commands: [] } : replayEntry(before, entry)
    const problem = isFirst(entry) ? undefined : contradiction(before, step, entry)
    state = step.state
    if (entry.no < from && until === undefined) continue
    const frame = frameOf(before, step, entry, problem)
    if (entry.no >= from) yield snapshots ? { ...frame, snapshot: keptSnapshot(state) } : frame
    if (isStop(frame, until)) return
  }
}
