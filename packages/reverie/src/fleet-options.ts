// FleetOptions: what a fleet is opened with, and a message sent with.
// Owns the shapes. Leaves what they do to fleet.ts.

import type { Directory, Seat } from "@reverie/assistant"
import { type Address, type AssistantId, defined, type GivenPart, type Notice, unknownName } from "@reverie/protocol"
import { limitNames, type Retention, type TenantLimits } from "@reverie/ledger"
import type { Tariff } from "@reverie/model"
import type { Faults, HostFailure, WorkerSettings } from "@reverie/runtime"
import { type Hooks, type HookTable, joinedHooks, placedHooks } from "@reverie/tools"
import type { AnswerSchema, FormOption } from "./letter.ts"
import { flawOfModels, type ModelOptions, type PurposeModels } from "./models/models.ts"
import type { Deployment } from "./opening/deployment.ts"
import type { ProfileOptions } from "./opening/profile.ts"
import type { TracingOptions } from "./opening/tracing.ts"
import { type AssistantDefinition, refuse } from "./define-assistant.ts"
import { flawOfTeams, type TeamDefinition } from "./define-team.ts"
import {
  any,
  type Check,
  flag,
  flawOfOptions,
  flawOfShape,
  hooksCheck,
  list,
  oneOf,
  retentionCheck,
  type Shape,
  shaped,
  text,
  whole
} from "./options/shape.ts"
import { flawOfSegments } from "./options/segments.ts"

/** all: takes in and works. api: takes in, reads, and leaves the work to others. worker: the same as all, by another name. */
export type FleetRole = "all" | "api" | "worker"

/** Limits of tenants, and prices, stand in place of those of the definition. */
export interface FleetOptions extends Partial<ProfileOptions>, Terms, TracingOptions {
  /** Models of the fleet for some purposes; each stands in the place of the definition's. */
  readonly models?: PurposeModels
  /** What `defineFleet` returned. */
  readonly fleet: FleetDefinition
  /** What this process does; "all" when not said. */
  readonly role?: FleetRole
  /** "default" when not said. */
  readonly tenant?: string
  /**
   * How this process works: `concurrency` (64 assistants at once), `leaseMs` (30,000), `idleMs` (10,000: how long an assistant
   * at rest stays in memory), `sweepMs` (1,000: how often the store is asked for what is due).
   */
  readonly worker?: Partial<WorkerSettings>
  /** Where tests stop, delay or kill. */
  readonly faults?: (typeof Faults)["Service"]
  /** Called with assistants that can not be hosted, e.g. because their definition is gone. */
  readonly onError?: (address: Address, failure: HostFailure) => void
  /** Called with every notice from the first one on; `fleet.on` receives only what comes after the opening. */
  readonly onNotice?: (notice: Notice) => void
}

const workerShape: Readonly<Record<keyof Required<WorkerSettings>, Check>> = {
  concurrency: any,
  leaseMs: any,
  idleMs: any,
  sweepMs: any,
  worker: any,
  isOneOfMany: any,
  tenantWeight: any,
  bound: any
}

const deploymentShape: Readonly<Record<keyof Required<Deployment>, Check>> = {
  database: text,
  password: text,
  redis: text,
  name: text
}

const openingShape: Readonly<Record<keyof Required<FleetOptions>, Check>> = {
  fleet: any,
  role: oneOf("all", "api", "worker"),
  tenant: any,
  worker: shaped("worker", workerShape),
  onError: any,
  onNotice: any,
  data: text,
  deployment: shaped("deployment", deploymentShape),
  model: any,
  models: any,
  embedder: any,
  recall: any,
  tokenizer: any,
  durability: oneOf("full", "normal"),
  maxBytes: any,
  acceptLoss: flag,
  encryption: (value) => flawOfEncryption(value),
  segments: flawOfSegments,
  tenants: any,
  prices: any,
  tracing: any,
  traceContent: (value) => (typeof value === "boolean" ? undefined : flawOfShape("traceContent", value, tracedShape)),
  faults: any
}

const isKey = (key: unknown): boolean => {
  if (typeof key !== "object" || key === null) return false
  if ("env" in key) return typeof key.env === "string"
  if ("file" in key) return typeof key.file === "string"
  return "wrap" in key && "unwrap" in key && typeof key.wrap === "function" && typeof key.unwrap === "function"
}

const encryptionShape: Shape = {
  key: (key) => (isKey(key) ? undefined : 'must be { env: "NAME" }, { file: "PATH" } or { wrap, unwrap }'),
  keys: text
}

const flawOfEncryption = (value: unknown): string | undefined =>
  flawOfShape("encryption", value, encryptionShape) ??
  (typeof value === "object" && value !== null && "key" in value
    ? undefined
    : 'needs a key, as { key: { env: "REVERIE_KEY" } }')

const tracedShape: Shape = { maxChars: whole(1) }

/** What is wrong with the options of an opening, in one sentence; undefined when nothing is. */
export const flawOfOpening = (options: FleetOptions): string | undefined =>
  flawOfOptions("Fleet.open", options, openingShape)

/** For `fleet.idle`. */
export interface IdleOptions {
  /** What happens by itself within so many milliseconds is waited for too; 0 when left out. */
  readonly patienceMs?: number
}

/** For `send`, `ask`, `answer` and `post`. */
export interface SendOptions {
  /** Idempotency key: the same id is accepted once. A fresh one when not said. */
  readonly id?: string | undefined
  /** Who says it. "user" when not said. */
  readonly from?: string | undefined
  /** Ids of memory blocks that a message refers to: they are in view while it is answered. */
  readonly blocks?: ReadonlyArray<string> | undefined
  /**
   * Images, files and audio of a message: at most 10, of at most 10 MiB each and 20 MiB together.
   * With parts the text may be empty.
   */
  readonly parts?: ReadonlyArray<GivenPart> | undefined
  /** W3C trace context that this belongs to; what is none is passed over. */
  readonly traceparent?: string | undefined
  /** The kind of context that a message is handled in; one of the assistant's `contexts`. */
  readonly context?: string | undefined
  /**
   * The form that the answer must have: a zod 4, valibot, arktype or Effect Schema, or a JSON Schema, of an object. One that does
   * not fit is asked for again, twice at most. Not of a team.
   */
  readonly output?: AnswerSchema | undefined
}

/** For `ask` and `answer`. */
export interface AskOptions<Form extends FormOption = undefined> extends SendOptions {
  /** The form that the answer must have, as in `send`: `done` has what it makes of the answer, and `answer` gives that. */
  readonly output?: Form | undefined
  /** Ends the waiting, with the reason of the signal; the message stays durable and goes on. */
  readonly signal?: AbortSignal | undefined
  /** Longest waiting, in milliseconds, after which it fails with AnswerLate. No bound when left out. */
  readonly timeoutMs?: number | undefined
  /**
   * For `ask` of an `id` that was asked before: told is what is behind this place (`place` of the parts), from the beginning
   * where it is empty. Left out, a message that was answered has its end alone.
   */
  readonly after?: string | undefined
}

// DefineFleet: the assistants and teams of one deployment.
// I1  A wrong description throws at once, with one sentence that names what is wrong.

/** What `defineFleet` returns. */
export interface FleetDefinition extends Terms, ModelOptions {
  /** Teams are among them. */
  readonly assistants: ReadonlyArray<AssistantDefinition>
  /** Who gets a message without an address: the first assistant when not said. */
  readonly defaultAssistant: AssistantId
}

/** What `defineFleet` takes. */
export interface DefineFleetOptions extends Terms, ModelOptions {
  /** At least one; each id once. */
  readonly assistants: ReadonlyArray<AssistantDefinition>
  /** Teams whose members are among the assistants. None when left out. */
  readonly teams?: ReadonlyArray<TeamDefinition>
  /** The id of the assistant that gets what is addressed to none in particular: the first one when left out. */
  readonly defaultAssistant?: string
  /** Guardrails of every assistant, sub-agent and team, called before those of the assistant. */
  readonly hooks?: Hooks
}

const definitionShape: Readonly<Record<keyof Required<DefineFleetOptions>, Check>> = {
  assistants: list,
  teams: list,
  defaultAssistant: text,
  hooks: hooksCheck,
  model: any,
  models: any,
  tenants: any,
  prices: any
}

const withHooksBefore = (hooks: HookTable, definition: AssistantDefinition): AssistantDefinition =>
  Object.freeze({ ...definition, ...defined({ hooks: joinedHooks(hooks, definition.hooks) }) })

/**
 * Describes the assistants and teams of one deployment.
 * @throws FleetDefinitionInvalid with one sentence that names what is wrong
 * @example const office = defineFleet({ assistants: [clerk], prices: { "*": { inputMicros: 250_000, outputMicros: 2_000_000 } } })
 */
export const defineFleet = (options: DefineFleetOptions): FleetDefinition => {
  const misshapen = flawOfOptions("defineFleet", options, definitionShape)
  if (misshapen !== undefined) refuse("fleet", misshapen)
  const [first] = options.assistants
  if (first === undefined) return refuse("fleet", "it has no assistants")
  const assistants = [...options.assistants, ...(options.teams ?? [])]
  const ids = new Set(assistants.map((assistant) => assistant.id))
  if (ids.size < assistants.length) refuse("fleet", "two assistants have the same id")
  const flaw = flawOfTeams(assistants)
  if (flaw !== undefined) refuse("fleet", flaw)
  const missing = assistants.flatMap(({ id, specialists = [] }) =>
    specialists
      .filter((name) => !ids.has(name as AssistantId))
      .map((name) => `"${name}" in the subAgents.assistants of ${id}`)
  )
  if (missing.length > 0) refuse("fleet", `${missing.join(", ")} is none of its assistants`)
  const { model, models, prices, tenants } = options
  const flawOfModel = flawOfModels(options)
  if (flawOfModel !== undefined) refuse("fleet", `its ${flawOfModel}`)
  const flawOfLimits = flawOfTerms(options)
  if (flawOfLimits !== undefined) refuse("fleet", flawOfLimits)
  const fallback = assistants.find((assistant) => assistant.id === (options.defaultAssistant ?? first.id))
  if (fallback === undefined)
    return refuse("fleet", `its defaultAssistant "${options.defaultAssistant}" is none of its assistants`)
  const hooks = placedHooks("the fleet", options.hooks)
  return Object.freeze({
    assistants: hooks === undefined ? assistants : assistants.map((each) => withHooksBefore(hooks, each)),
    defaultAssistant: fallback.id,
    ...defined({ tenants, prices, model, models })
  })
}

// Limits: what tenants may use of models, as a user writes it.

/** What one tenant may use of models, in whole numbers of at least 0, and what becomes of what its assistants lived through. */
export interface TenantTerms extends TenantLimits {
  /** For its assistants that have no retention of their own. */
  readonly retention?: Retention
  /** Turns that its assistants have before those of the next tenant; 1 when not said. */
  readonly weight?: number
}

/** Limits of tenants, and prices of models. */
export interface Terms {
  /** By the id of the tenant. One that is not named is not limited. */
  readonly tenants?: Readonly<Record<string, TenantTerms>>
  /** What models cost, by the beginning of their names; `*` for any other. What is not named costs what it usually does. */
  readonly prices?: Tariff
}

const knownTerms: Readonly<Record<keyof Required<TenantTerms>, true>> = {
  callsPerMinute: true,
  callsPerDay: true,
  tokensPerMinute: true,
  tokensPerDay: true,
  costMicrosPerMinute: true,
  costMicrosPerDay: true,
  concurrentCalls: true,
  weight: true,
  retention: true
}

const isAmount = (value: unknown): boolean => typeof value === "number" && Number.isSafeInteger(value) && value >= 0

/** What is wrong with limits that are set, in words; undefined when nothing is. */
export const flawOfLimits = (limits: object): string | undefined => {
  const names: ReadonlyArray<string> = limitNames
  for (const [name, value] of Object.entries(limits)) {
    if (!names.includes(name)) return `unknown limit ${unknownName(name, names)}`
    if (value !== null && value !== undefined && !isAmount(value)) {
      return `${name} must be a whole number of at least 0, or null to take it back`
    }
  }
  return undefined
}

const priceShape: Shape = { inputMicros: any, cachedInputMicros: any, outputMicros: any }

/** What is wrong with terms, in words that follow on a colon; undefined when nothing is. */
export const flawOfTerms = ({ prices = {}, tenants = {} }: Terms): string | undefined => {
  for (const [tenant, terms] of Object.entries(tenants)) {
    for (const [name, value] of Object.entries(terms)) {
      if (!Object.hasOwn(knownTerms, name)) {
        return `the tenant "${tenant}" has the unknown limit ${unknownName(name, Object.keys(knownTerms))}`
      }
      if (name === "retention") {
        const flaw = retentionCheck(value)
        if (flaw !== undefined) return `the retention of the tenant "${tenant}" ${flaw}`
      } else if (!isAmount(value)) return `the ${name} of the tenant "${tenant}" must be a whole number of at least 0`
    }
    if (terms.weight === 0) return `the weight of the tenant "${tenant}" must be at least 1`
  }
  for (const [model, price] of Object.entries(prices)) {
    const { cachedInputMicros = 0, inputMicros, outputMicros } = price
    const strange = flawOfShape(`the price of "${model}"`, price, priceShape)
    if (strange !== undefined) return strange
    if (!isAmount(cachedInputMicros)) {
      return `the price of "${model}" needs a whole number of at least 0 as cachedInputMicros, or none`
    }
    if (!isAmount(inputMicros) || !isAmount(outputMicros)) {
      return `the price of "${model}" needs whole numbers of at least 0, inputMicros and outputMicros`
    }
  }
  return undefined
}

/** Who can be written to in a fleet, out of its definition. */
export const directoryOf = ({ assistants }: Pick<FleetDefinition, "assistants">): Directory => {
  const seats = new Map<string, Array<Seat>>()
  for (const { id: group, team } of assistants) {
    for (const { id, role } of team?.members ?? []) {
      const taken = seats.get(id) ?? []
      taken.push({ group, role })
      seats.set(id, taken)
    }
  }
  return assistants.map(({ id, listening, team }) => ({
    id,
    names: listening?.names ?? [],
    seats: seats.get(id) ?? [],
    isTeam: team !== undefined
  }))
}
