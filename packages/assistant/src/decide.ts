// Decide: the pure step of an assistant.
// Owns the way from (snapshot, event) to (snapshot, commands). Leaves running commands and keeping time to the runtime.
// I1  Nothing runs and no timer is armed: every effect comes out as a command, in the order in which it was asked for.
// I2  Deciding twice on the same snapshot and event gives the same bytes.
// I3  A snapshot that does not fit the statechart is an error, never a silently different assistant.

import { type Command, isJsonObject, type Json, type Lane, toolCategories } from "@reverie/protocol"
import * as Result from "effect/Result"
import {
  type ActorScope,
  type AnyStateNode,
  createActor,
  initialTransition,
  type Snapshot,
  type SnapshotFrom
} from "xstate"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import {
  type AssistantContext,
  compactingPlaces,
  DEFAULT_CONTEXT_TYPE,
  haste,
  type Outage,
  type SubAgentStart
} from "./context.ts"
import { SnapshotUnfit } from "./errors.ts"
import { callPhases, type MachineEvent } from "./events.ts"
import { assistantMachine } from "./machine.ts"
import { DEFAULT_SETTINGS, type Settings } from "./settings.ts"
import { executionModes } from "./patterns/select-pattern.ts"
import { compactionPhases } from "./machine/phases.ts"
import { creationJob } from "./sub-agents/index.ts"
import { StoredAccount, StoredAssignment, StoredSubAgent } from "./sub-agents/sub-agent.ts"
import { type Activity, type Mode, modes, type StateMeta, type StateTag } from "./state-tag.ts"

// Snapshot: the persisted form of the statechart, and whether a stored one still fits it.
// S1  What does not fit is refused with the reason. XState would start a new assistant in its place, fill in half a
//     state, or drop a job whose source it does not know.
// S2  A field of format 1 is never guessed: without it the tick in hand, or a limit on it, would be another one.
// S3  A field added later has a decoding default here, the value of an assistant that never had it, and nothing else
//     of the snapshot changes with the upcast: not a byte, not an order.

/** A snapshot that was looked at; the machine can be restored from it. */
interface StoredSnapshot {
  readonly status: string
  readonly value: unknown
  readonly context: AssistantContext
  readonly children: { readonly [name: string]: { readonly src: string } }
}

const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const setting = {
  number: Schema.optionalKey(Schema.Finite),
  boolean: Schema.optionalKey(Schema.Boolean)
}

const ChangedSettings = Schema.Struct(
  Object.fromEntries(
    Object.entries(DEFAULT_SETTINGS).map(([name, value]) => [name, setting[typeof value as keyof typeof setting]])
  )
) as unknown as Schema.Codec<Partial<Settings>>

const Call = Schema.Struct({
  tool: Schema.String,
  category: Schema.Literals(toolCategories),
  approval: Schema.optionalKey(Schema.String),
  askedIn: Schema.optionalKey(Schema.Int),
  asks: Schema.optionalKey(Schema.Literal(true)),
  refused: Schema.optionalKey(Schema.String),
  ends: Schema.optionalKey(Schema.Literals(["exit", "continue"])),
  phase: Schema.Literals(callPhases)
})

const Sources = Schema.Struct({
  mode: Schema.String,
  max_iterations: Schema.String,
  multi_tool_enabled: Schema.String,
  sub_agents_enabled: Schema.optionalKey(Schema.String),
  allowed_categories: Schema.optionalKey(Schema.String),
  dangerous_requires_confirm: Schema.optionalKey(Schema.String),
  terminal_ends_loop: Schema.optionalKey(Schema.String),
  event_class: Schema.optionalKey(Schema.String)
})

const Restriction = Schema.Struct({
  mode: Schema.optionalKey(Schema.Literals(executionModes)),
  maxIterations: Schema.optionalKey(Schema.Finite),
  categories: Schema.optionalKey(Schema.Array(Schema.Literals(toolCategories))),
  confirmDangerous: Schema.optionalKey(Schema.Boolean),
  terminalEndsLoop: Schema.optionalKey(Schema.Boolean),
  subAgents: Schema.optionalKey(Schema.Boolean),
  sources: Schema.optionalKey(Sources),
  eventClass: Schema.optionalKey(Schema.String)
})

const StoredOutage = Schema.Struct({
  server: Schema.String,
  others: Schema.optionalKey(Schema.Array(Schema.String)),
  since: Schema.Finite,
  at: Schema.Finite,
  tries: count,
  alone: count,
  sooner: Schema.Literals(haste),
  reason: Schema.String,
  phase: Schema.Literals([...compactionPhases, ""])
}) satisfies Schema.Codec<Outage>

const bound = Schema.optionalKey(Schema.NullOr(Schema.Finite))
const StoredBudget = Schema.Struct({ tokens: bound, costMicros: bound, calls: bound })

/** In the order of `creationContext`. */
const ContextFields = Schema.Struct({
  settings: ChangedSettings,
  tick: count,
  envelope: Schema.NullOr(Schema.String),
  hops: Schema.Int,
  iteration: count,
  restriction: Restriction,
  contextType: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed(DEFAULT_CONTEXT_TYPE))),
  calls: Schema.Array(Call),
  dangerousUsed: count,
  errors: count,
  parkMs: Schema.Finite,
  sleepMs: Schema.Finite,
  sleepUntil: Schema.Finite.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0))),
  dreamNext: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed(""))),
  round: count.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0))),
  wakeWanted: Schema.Boolean,
  compactingFrom: Schema.Literals(compactingPlaces),
  signals: Schema.Struct({
    tokenRatio: Schema.Finite,
    mailWaiting: Schema.Boolean,
    historyHeld: Schema.optionalKey(Schema.Boolean)
  }),
  haltReason: Schema.NullOr(Schema.String),
  budget: Schema.optionalKey(StoredBudget),
  account: Schema.NullOr(StoredAccount).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  subAgents: Schema.Array(StoredSubAgent).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  assignment: Schema.NullOr(StoredAssignment).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  tries: count.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0))),
  outage: Schema.NullOr(StoredOutage).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  modelFailures: count.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0))),
  toolFailures: count.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0))),
  repairs: count.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0)))
}) satisfies Schema.Codec<AssistantContext, unknown>

const decodeContext = Schema.decodeUnknownResult(ContextFields, { onExcessProperty: "error" })

/** Why these are not the jobs of a snapshot, or undefined. */
const strangeJob = (children: { readonly [name: string]: Json }): string | undefined => {
  for (const [name, child] of Object.entries(children)) {
    if (!isJsonObject(child)) return `the job ${name} is unreadable`
    const { src } = child
    if (typeof src !== "string" || !Object.hasOwn(assistantMachine.implementations.actors, src)) {
      return `the job ${name} runs ${JSON.stringify(src)}, which this statechart does not know`
    }
  }
  return undefined
}

/** Reads stored data. Fails with a sentence. */
const readSnapshot = (data: unknown): Result.Result<StoredSnapshot, string> => {
  if (!isJsonObject(data)) return Result.fail("it is no snapshot")
  const { children, context, status, value } = data
  if (status !== "active" && status !== "done") return Result.fail(`its status is ${JSON.stringify(status)}`)
  if (!isJsonObject(children)) return Result.fail("it has no children")
  const strange = strangeJob(children)
  if (strange !== undefined) return Result.fail(strange)
  if (!isJsonObject(context)) return Result.fail("it has no context")
  const decoded = decodeContext(context)
  if (Result.isFailure(decoded)) return Result.fail(`its context does not fit: ${decoded.failure.message}`)
  const complete = { ...decoded.success, ...(context as object) }
  return Result.succeed({ ...data, status, value, context: complete, children: children as StoredSnapshot["children"] })
}

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

/** What a snapshot holds, read without the machine, for lists of very many. Whether it fits the chart `restore` alone tells. */
export const storedContext = (persisted: Json): AssistantContext | undefined => {
  const stored = readSnapshot(persisted)
  return Result.isSuccess(stored) ? stored.success.context : undefined
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
