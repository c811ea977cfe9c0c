// Limits: what tenants may use of models, as a user writes it.
// Owns the form, the sentence about a wrong one, and its way into the runtime. Leaves keeping to them to the runtime.

import type { TenantLimits } from "@reverie/ledger"
import type { Tariff } from "@reverie/model"
import { Limits, type TenantWeight } from "@reverie/runtime"
import * as Layer from "effect/Layer"

export interface TenantTerms extends TenantLimits {
  /** Turns that its assistants have before those of the next tenant; 1 when not said. */
  readonly weight?: number
}

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
