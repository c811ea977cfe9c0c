// Creation: how an assistant comes to be from a definition of the fleet.
// Owns creation, sleep schedule and blocks, in this order, and the limits that a fleet is created with. Leaves the first entry to the runtime.
// C1  Doing it again changes nothing that has been lived: what was left out by a crash is made up for, no more.
// C2  Who lives at the address from another definition is not touched.

import { type CreationEntry, Ledger, type TenantLimits } from "@reverie/ledger"
import type { Tariff } from "@reverie/model"
import type { AssistantId, OpenTimer, TenantId } from "@reverie/protocol"
import { arrive, creationOf, Limits, sleepTimerIn, type TenantWeight } from "@reverie/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { createBlocks } from "./fleet/blocks.ts"
import type { AssistantDefinition } from "./define-assistant.ts"
import { envelopeOf } from "./ask.ts"
import type { Profile } from "./opening/deployment.ts"

/** Tells an assistant of its sleep schedule when they are no longer those that it was told. */
const refresh = Effect.fnUntraced(function* ({ address, state }: CreationEntry) {
  const lived = yield* (yield* Ledger).inspect(address)
  if (lived === undefined || lived.state.status === "retired") return
  const scheduleIn = (timers: ReadonlyArray<OpenTimer>) => sleepTimerIn(timers)?.schedule
  if (scheduleIn(state.timers) === scheduleIn(lived.state.timers)) return
  const id = `refresh-${lived.version}`
  const envelope = envelopeOf({
    id,
    tenant: address.tenant,
    to: address.assistant,
    from: "fleet",
    event: { type: "refresh" }
  })
  if (Result.isSuccess(envelope)) yield* arrive(envelope.success)
})

export interface Creation {
  readonly tenant: TenantId
  readonly id: AssistantId
  readonly definition: AssistantDefinition
  readonly keepHours: Profile["keepHours"]
}

/** Brings an assistant to life, or up to date with its definition. */
export const bringToLife = Effect.fnUntraced(function* ({ definition, id, keepHours, tenant }: Creation) {
  const ledger = yield* Ledger
  const creation = yield* creationOf({ tenant, assistant: id }, definition)
  const isNew = (yield* ledger.create(creation)) === "created"
  if (!isNew) {
    const lived = yield* ledger.inspect(creation.address)
    if (lived?.state.definition !== definition.name) return "exists" as const
    yield* refresh(creation)
  }
  if (definition.sleep?.enabled === true) yield* keepHours(creation.address, definition.sleep)
  yield* createBlocks(tenant, id, definition.blocks ?? [])
  return isNew ? ("created" as const) : ("exists" as const)
})

// Limits: what tenants may use of models, as a user writes it.

/** What one tenant may use of models; whole numbers of at least 0. */
export interface TenantTerms extends TenantLimits {
  /** Turns that its assistants have before those of the next tenant; 1 when not said. */
  readonly weight?: number
}

/** Limits of tenants, and prices of models. */
export interface Terms {
  /** By the id of the tenant. One that is not named is not limited. */
  readonly tenants?: Readonly<Record<string, TenantTerms>>
  /** What models cost, by the beginning of their names; `*` for any other. What is not named costs nothing. */
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
  weight: true
}

const isAmount = (value: unknown): boolean => typeof value === "number" && Number.isSafeInteger(value) && value >= 0

/** What is wrong with terms, in words that follow on a colon; undefined when nothing is. */
export const flawOfTerms = ({ prices = {}, tenants = {} }: Terms): string | undefined => {
  for (const [tenant, terms] of Object.entries(tenants)) {
    for (const [name, value] of Object.entries(terms)) {
      if (!Object.hasOwn(knownTerms, name)) return `the tenant "${tenant}" has the unknown limit "${name}"`
      if (!isAmount(value)) return `the ${name} of the tenant "${tenant}" must be a whole number of at least 0`
    }
    if (terms.weight === 0) return `the weight of the tenant "${tenant}" must be at least 1`
  }
  for (const [model, { inputMicros, outputMicros }] of Object.entries(prices)) {
    if (!isAmount(inputMicros) || !isAmount(outputMicros)) {
      return `the price of "${model}" needs whole numbers of at least 0, inputMicros and outputMicros`
    }
  }
  return undefined
}

const termsOf = ({ tenants = {} }: Terms, tenant: string): TenantTerms | undefined =>
  Object.hasOwn(tenants, tenant) ? tenants[tenant] : undefined

export const weightIn =
  (terms: Terms): TenantWeight =>
  (tenant) =>
    termsOf(terms, tenant)?.weight ?? 1

export const limitsLayer = (terms: Terms): Layer.Layer<never> =>
  Layer.succeed(Limits, {
    of: (tenant) => {
      const { weight: _, ...limits } = termsOf(terms, tenant) ?? {}
      return Object.keys(limits).length === 0 ? undefined : limits
    },
    tariff: terms.prices ?? {}
  })
