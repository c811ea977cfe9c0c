// Evidence: what an entry says of its commit besides the machine event.
// Owns holding the two against each other. Leaves the state to compact.ts.
// E1  An entry and its own event agree: state, tick and iteration after it, the job it ended, the calls that were asked for,
//     what was told to screens, how the tick ended. What does not is one sentence.

import { contextOf, statusOf } from "@reverie/assistant"
import { type Entry, isJsonObject, type Json } from "@reverie/protocol"
import type { ReplayState, ReplayStep } from "./state.ts"
import { eventTypeOf } from "./frame.ts"

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
