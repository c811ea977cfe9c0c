// Decide: the pure step of an assistant.
// Owns the way from (snapshot, event) to (snapshot, commands). Leaves running commands and keeping time to the runtime.
// I1  Nothing runs and no timer is armed: every effect comes out as a command, in the order in which it was asked for.
// I2  Deciding twice on the same snapshot and event gives the same bytes.
// I3  A snapshot that does not fit the statechart is an error, never a silently different assistant.

import type { Command, Json, Lane } from "@reverie/protocol"
import * as Result from "effect/Result"
import { createActor, initialTransition, type Snapshot } from "xstate"
import type { AssistantContext, SubAgentStart } from "./context.ts"
import { SnapshotUnfit } from "./errors.ts"
import type { MachineEvent } from "./events.ts"
import { assistantMachine } from "./machine.ts"
import type { Settings } from "./settings.ts"
import { misfit, readSnapshot } from "./snapshot.ts"
import { type Asked, type MachineSnapshot, transition } from "./transition.ts"

/** A decoded snapshot: what a hot assistant keeps in memory. */
export interface Decoded {
  readonly machine: MachineSnapshot
}

export interface Decision {
  readonly next: Decoded
  readonly commands: ReadonlyArray<Command>
}

/** What drives the machine: a typed event, a job's end, or a timer that came due. */
export type Input = MachineEvent | ({ readonly type: string } & Record<string, unknown>)

const json = (value: unknown): Json => (value === undefined ? null : value) as Json

const toCommand = (action: Asked): Command | undefined => {
  const params = (action.params ?? {}) as Record<string, unknown>
  switch (action.type) {
    case "xstate.spawnChild":
      return { _tag: "StartJob", name: String(params["id"]), src: String(params["src"]), input: json(params["input"]) }
    case "xstate.stopChild":
      return action.params === undefined ? undefined : { _tag: "StopJob", name: String(params["id"]) }
    case "xstate.raise":
      return params["delay"] === undefined
        ? undefined
        : {
            _tag: "SetTimer",
            name: String(params["id"]),
            delayMillis: Number(params["delay"]),
            event: json(params["event"])
          }
    case "xstate.cancel":
      return { _tag: "CancelTimer", name: String(params["sendId"]) }
    case "xstate.emit":
      return { _tag: "Emit", event: params["event"] as Extract<Command, { _tag: "Emit" }>["event"] }
    default:
      return { _tag: "Action", type: action.type, params: json(action.params) }
  }
}

const commandsOf = (actions: ReadonlyArray<Asked>): ReadonlyArray<Command> =>
  actions.flatMap((action) => toCommand(action) ?? [])

/** A new assistant: awake and idle. */
export const creation = (settings: Partial<Settings>, subAgentStart?: SubAgentStart): Decision => {
  const input = subAgentStart === undefined ? { settings } : { settings, subAgentStart }
  const [machine, actions] = initialTransition(assistantMachine, input)
  return { next: { machine }, commands: commandsOf(actions) }
}

/** Reads a persisted snapshot. */
export const restore = (persisted: Json): Result.Result<Decoded, SnapshotUnfit> => {
  const unfit = (message: string) => Result.fail(new SnapshotUnfit({ message }))
  const stored = readSnapshot(persisted)
  if (Result.isFailure(stored)) return unfit(stored.failure)
  const actor = createActor(assistantMachine, {
    snapshot: stored.success as unknown as Snapshot<unknown>,
    input: { settings: {} },
    logger: () => {}
  })
  const machine = actor.getSnapshot()
  // A restore that fails does not throw: it answers with a snapshot in error.
  if (machine.status === "error") return unfit(String(machine.error))
  const problem = misfit(machine, stored.success)
  return problem === undefined ? Result.succeed({ machine }) : unfit(problem)
}

/** One event decided. */
export const decide = (before: Decoded, event: Input): Decision => {
  // The machine itself would still take transitions of its root after the end.
  if (before.machine.status !== "active") return { next: before, commands: [] }
  const { actions, machine } = transition(before.machine, event as MachineEvent)
  return { next: { machine }, commands: commandsOf(actions) }
}

/** The snapshot as data, for the store. */
export const persist = (decoded: Decoded): Json =>
  assistantMachine.getPersistedSnapshot(decoded.machine) as unknown as Json

export const contextOf = (decoded: Decoded): AssistantContext => decoded.machine.context

/** The lanes the present state listens to. */
export const receives = (decoded: Decoded): ReadonlyArray<Lane> => {
  const { machine } = decoded
  if (machine.hasTag("retired")) return []
  if (!machine.hasTag("acceptsReplies")) return ["control"]
  return machine.hasTag("acceptsMail") ? ["control", "reply", "mail"] : ["control", "reply"]
}

const pathOf = (value: unknown): string => {
  if (typeof value === "string") return value
  const [region] = Object.entries(value as Record<string, unknown>)
  return region === undefined ? "" : `${region[0]}.${pathOf(region[1])}`
}

/** The path of the present state, e.g. `awake.thinking.inferring`. */
export const statusOf = (decoded: Decoded): string => pathOf(decoded.machine.value)

/** True when the decision changed nothing and asked for nothing: the present state ignores the event. */
export const isIgnored = (before: Decoded, decision: Decision): boolean =>
  decision.commands.length === 0 &&
  decision.next.machine.context === before.machine.context &&
  statusOf(decision.next) === statusOf(before)
