// Snapshot: the persisted form of the statechart, and whether a stored one still fits it.
// Owns reading it. Leaves restoring the machine, and whether the two agree, to decide.ts.
// S1  What does not fit is refused with the reason. XState would start a new assistant in its place, fill in half a
//     state, or drop a job whose source it does not know.
// S2  A field of format 1 is never guessed: without it the tick in hand, or a limit on it, would be another one.
// S3  A field added later has a decoding default here, the value of an assistant that never had it, and nothing else
//     of the snapshot changes with the upcast: not a byte, not an order.
// S4  A context that has every field, in order, is judged field by field: most are as a creation leaves them, and need no look.
//     It is judged as the whole schema would: 10 microseconds less for each claim, and for each assistant of a list.

import { isJsonObject, type Json, toolCategories } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import {
  type AssistantContext,
  compactingPlaces,
  creationContext,
  DEFAULT_CONTEXT_TYPE,
  haste,
  type Outage
} from "./context.ts"
import { callPhases } from "./events.ts"
import { compactionPhases } from "./machine/phases.ts"
import { assistantMachine } from "./machine.ts"
import { executionModes } from "./patterns/select-pattern.ts"
import { DEFAULT_SETTINGS, type Settings } from "./settings.ts"
import { StoredAccount, StoredAssignment, StoredSubAgent } from "./sub-agents/sub-agent.ts"

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

const strict = { onExcessProperty: "error" } as const
const decodeContext = Schema.decodeUnknownResult(ContextFields, strict)

const fields = Object.entries(ContextFields.fields).map(([name, field]) => {
  const decode = Schema.decodeUnknownResult(field as Schema.Codec<unknown>, strict)
  return { name, isOptional: name === "budget", fits: (value: unknown): boolean => Result.isSuccess(decode(value)) }
})
const fresh: { readonly [name: string]: unknown } = { ...creationContext({}) }

const isBare = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0

/** As a creation has left it: the same primitive, or just as empty. */
const isFresh = (value: unknown, before: unknown): boolean =>
  value === before || (isBare(value) && isBare(before) && Array.isArray(value) === Array.isArray(before))

/** S4: a context that fits, with nothing to be filled in. False says nothing: then the whole schema judges. */
const isWhole = (context: { readonly [name: string]: Json }): boolean => {
  let at = 0
  for (const name in context) {
    if (fields[at]?.isOptional === true && fields[at]?.name !== name) at++
    const field = fields[at++]
    const value = context[name]
    if (field?.name !== name || !(isFresh(value, fresh[name]) || field.fits(value))) return false
  }
  return at === fields.length
}

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
  const read = { ...data, status, value, children: children as StoredSnapshot["children"] }
  if (isWhole(context)) return Result.succeed({ ...read, context: context as unknown as AssistantContext })
  const decoded = decodeContext(context)
  if (Result.isFailure(decoded)) return Result.fail(`its context does not fit: ${decoded.failure.message}`)
  return Result.succeed({ ...read, context: { ...decoded.success, ...(context as object) } })
}

/** What a snapshot holds, read without the machine, for lists of very many. Whether it fits the chart `restore` alone tells. */
export const storedContext = (persisted: Json): AssistantContext | undefined => {
  const stored = readSnapshot(persisted)
  return Result.isSuccess(stored) ? stored.success.context : undefined
}
