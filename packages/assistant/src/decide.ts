// Decide: the pure step of an assistant.
// Owns the way from (snapshot, event) to (snapshot, commands). Leaves running commands and keeping time to the runtime.
// I1  Nothing runs and no timer is armed: every effect comes out as a command, in the order in which it was asked for.
// I2  Deciding twice on the same snapshot and event gives the same bytes.
// I3  A snapshot that does not fit the statechart is an error, never a silently different assistant.

import type { Command, Json, Lane } from "@reverie/protocol"
import * as Result from "effect/Result"
import {
  type ActorScope,
  type AnyStateNode,
  createActor,
  initialTransition,
  type Snapshot,
  type SnapshotFrom
} from "xstate"
import type { AssistantContext, SubAgentStart } from "./context.ts"
import { SnapshotUnfit } from "./errors.ts"
import type { MachineEvent } from "./events.ts"
import { assistantMachine } from "./machine.ts"
import type { Settings } from "./settings.ts"
import { readSnapshot, type StoredSnapshot } from "./snapshot.ts"
import { creationJob } from "./sub-agents/index.ts"
import { type Activity, type Mode, modes, type StateMeta, type StateTag } from "./state-tag.ts"

const jobsOf = (children: StoredSnapshot["children"]): ReadonlyArray<string> =>
  Object.entries(children)
    .map(([name, { src }]) => `${name} (${src})`)
    .toSorted()

/** The jobs that the present state keeps open. */
const jobsNeeded = ({ _nodes, context }: SnapshotFrom<typeof assistantMachine>): ReadonlyArray<string> =>
  [
    ..._nodes.flatMap((node) => node.invoke.map(({ id, src }) => `${id} (${src as string})`)),
    ...context.calls.flatMap(({ phase }, index) => (phase === "running" ? [`tool.${index} (tool)`] : [])),
    ...context.subAgents.flatMap(({ call, phase }) => (phase === "spawning" ? [`${creationJob(call)} (child)`] : []))
  ].toSorted()

/** Why the machine that was restored is not the one that was stored; undefined when it is. */
const misfit = (machine: SnapshotFrom<typeof assistantMachine>, stored: StoredSnapshot): string | undefined => {
  const state = JSON.stringify(stored.value)
  const leaves = machine._nodes.filter(({ type }) => type === "atomic" || type === "final")
  if (leaves.length !== 1 || JSON.stringify(machine.value) !== state) return `there is no state ${state}`
  if ((stored.status === "done") !== machine.hasTag("retired")) return `its status is ${stored.status} in ${state}`
  const open = jobsOf(stored.children).join(", ")
  const needed = jobsNeeded(machine).join(", ")
  return open === needed ? undefined : `its jobs are [${open}] where ${state} has [${needed}]`
}

// State: what the chart says of a state, by its path.
// Q1  A state has the tags of all states around it, and the activity of the nearest that names one.
// Q2  A path of no state gets the answer of the nearest state around it: what another version has stored can be shown.

const below = (node: AnyStateNode): ReadonlyArray<AnyStateNode> => [node, ...Object.values(node.states).flatMap(below)]

/** All states in their order, the root first. */
export const stateNodes: ReadonlyArray<AnyStateNode> = below(assistantMachine.root)

interface StateFacts {
  /** What an assistant in this state is shown as doing; undefined of a state that can do several things. */
  readonly activity: Activity | undefined
  readonly tags: ReadonlySet<StateTag>
}

export const factsIn = ({ meta, parent, tags }: AnyStateNode): StateFacts => {
  const around = parent === undefined ? undefined : factsIn(parent)
  return {
    activity: (meta as StateMeta | undefined)?.activity ?? around?.activity,
    tags: new Set([...(around?.tags ?? []), ...(tags as ReadonlyArray<StateTag>)])
  }
}

const facts = new Map(stateNodes.map((node) => [node.path.join("."), factsIn(node)]))

const NOWHERE: StateFacts = { activity: undefined, tags: new Set() }

const factsOf = (path: string): StateFacts =>
  facts.get(path) ?? (path === "" ? NOWHERE : factsOf(path.slice(0, Math.max(0, path.lastIndexOf(".")))))

/** What an assistant in this state is shown as doing. */
export const activityOf = (path: string): Activity => factsOf(path).activity ?? "idle"

/** Whether a state says this of itself. */
export const isTagged = (path: string, tag: StateTag): boolean => factsOf(path).tags.has(tag)

/** Those of the state and of all states around it. */
export const tagsOf = (path: string): ReadonlyArray<StateTag> => [...factsOf(path).tags]

/** The outermost state. */
export const modeOf = (path: string): Mode => modes.find((mode) => path.split(".")[0] === mode) ?? "awake"

// Transition: one step of the machine, faster than `transition()` of XState and equal to it.
// T1  It answers what `transition(assistantMachine, snapshot, event)` answers: the same snapshot, the same actions with the
//     same params, in the same order (transition.property.test.ts).
// T2  Nothing is run and no timer is armed: actions are collected.
// T3  `transition()` creates an actor for each call and throws it away. Here one idle actor serves every call, for the
//     machine keeps nothing in it: 585 microseconds instead of 862 when it was first measured, 20 instead of 40 for a step of
//     the random lives of the tests.

type MachineSnapshot = SnapshotFrom<typeof assistantMachine>

/** An action that the machine asks for: a command of its own, or one of XState. */
interface Asked {
  readonly type: string
  readonly params?: unknown
}

interface Transition {
  readonly machine: MachineSnapshot
  readonly actions: ReadonlyArray<Asked>
}

const idleActor = createActor(assistantMachine, { input: { settings: {} }, logger: () => {} })

const collecting = (actions: Array<Asked>): ActorScope<MachineSnapshot, MachineEvent> => ({
  self: idleActor as never,
  id: idleActor.id,
  sessionId: idleActor.sessionId,
  system: idleActor.system as never,
  logger: () => {},
  defer: () => {},
  emit: () => {},
  stopChild: () => {},
  actionExecutor: (action) => {
    actions.push(action)
  }
})

export const transition = (before: MachineSnapshot, event: MachineEvent): Transition => {
  const actions: Array<Asked> = []
  const machine = assistantMachine.transition(before, event, collecting(actions) as never)
  return { machine: machine as MachineSnapshot, actions }
}

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
  // Without a list of entries: it is asked for again and again in each tick.
  for (const region in value as Record<string, unknown>) {
    return `${region}.${pathOf((value as Record<string, unknown>)[region])}`
  }
  return ""
}

/** The path of the present state, e.g. `awake.thinking.inferring`. */
export const statusOf = (decoded: Decoded): string => pathOf(decoded.machine.value)

/** True when the decision changed nothing and asked for nothing: the present state ignores the event. */
export const isIgnored = (before: Decoded, decision: Decision): boolean =>
  decision.commands.length === 0 &&
  decision.next.machine.context === before.machine.context &&
  statusOf(decision.next) === statusOf(before)
