// Snapshot: the persisted form of the statechart, and whether a stored one still fits it.
// Owns its shape and the upcast of an older one. Leaves the number of the format to the state that the store keeps.
// S1  What does not fit is refused with the reason. XState would start a new assistant in its place, fill in half a
//     state, or drop a job whose source it does not know.
// S2  A field of format 1 is never guessed: without it the tick in hand, or a limit on it, would be another one.
// S3  A field added later has a decoding default here, the value of an assistant that never had it, and nothing else
//     of the snapshot changes with the upcast: not a byte, not an order.

import { isJsonObject, type Json, toolCategories } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { SnapshotFrom } from "xstate"
import { callPhases } from "./calls.ts"
import { type AssistantContext, compactingPlaces, DEFAULT_CONTEXT_TYPE, haste, type Outage } from "./context.ts"
import { assistantMachine } from "./machine.ts"

import { executionModes } from "./patterns/pattern.ts"
import { compactionPhases } from "./machine/phases.ts"
import { DEFAULT_SETTINGS, type Settings } from "./settings.ts"
import { creationJob } from "./sub-agents/index.ts"
import { StoredAccount, StoredAssignment, StoredSubAgent } from "./sub-agents/stored.ts"

type MachineSnapshot = SnapshotFrom<typeof assistantMachine>

/** A snapshot that was looked at; the machine can be restored from it. */
export interface StoredSnapshot {
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

const Restriction = Schema.Struct({
  mode: Schema.optionalKey(Schema.Literals(executionModes)),
  maxIterations: Schema.optionalKey(Schema.Finite),
  categories: Schema.optionalKey(Schema.Array(Schema.Literals(toolCategories))),
  confirmDangerous: Schema.optionalKey(Schema.Boolean),
  terminalEndsLoop: Schema.optionalKey(Schema.Boolean),
  subAgents: Schema.optionalKey(Schema.Boolean)
})

const StoredOutage = Schema.Struct({
  server: Schema.String,
  since: Schema.Finite,
  at: Schema.Finite,
  tries: count,
  alone: count,
  sooner: Schema.Literals(haste),
  reason: Schema.String,
  phase: Schema.Literals([...compactionPhases, ""])
}) satisfies Schema.Codec<Outage>

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
  parkMillis: Schema.Finite,
  sleepMillis: Schema.Finite,
  sleepUntil: Schema.Finite.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0))),
  dreamNext: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed(""))),
  round: count.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0))),
  wakeWanted: Schema.Boolean,
  compactingFrom: Schema.Literals(compactingPlaces),
  signals: Schema.Struct({ tokenRatio: Schema.Finite, mailWaiting: Schema.Boolean }),
  haltReason: Schema.NullOr(Schema.String),
  account: Schema.NullOr(StoredAccount).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  subAgents: Schema.Array(StoredSubAgent).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  assignment: Schema.NullOr(StoredAssignment).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  tries: count.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0))),
  outage: Schema.NullOr(StoredOutage).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
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
export const readSnapshot = (data: unknown): Result.Result<StoredSnapshot, string> => {
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
const jobsNeeded = ({ _nodes, context }: MachineSnapshot): ReadonlyArray<string> =>
  [
    ..._nodes.flatMap((node) => node.invoke.map(({ id, src }) => `${id} (${src as string})`)),
    ...context.calls.flatMap(({ phase }, index) => (phase === "running" ? [`tool.${index} (tool)`] : [])),
    ...context.subAgents.flatMap(({ call, phase }) => (phase === "spawning" ? [`${creationJob(call)} (child)`] : []))
  ].toSorted()

/** Why the machine that was restored is not the one that was stored; undefined when it is. */
export const misfit = (machine: MachineSnapshot, stored: StoredSnapshot): string | undefined => {
  const state = JSON.stringify(stored.value)
  const leaves = machine._nodes.filter(({ type }) => type === "atomic" || type === "final")
  if (leaves.length !== 1 || JSON.stringify(machine.value) !== state) return `there is no state ${state}`
  if ((stored.status === "done") !== machine.hasTag("retired")) return `its status is ${stored.status} in ${state}`
  const open = jobsOf(stored.children).join(", ")
  const needed = jobsNeeded(machine).join(", ")
  return open === needed ? undefined : `its jobs are [${open}] where ${state} has [${needed}]`
}
