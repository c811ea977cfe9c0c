// Prompts: the prompt registry of a tenant, in promises.
// Owns the form. Leaves every rule to the registry in `context`.
// I1  Every operation of the registry is here, under its own name, with its typed errors as rejections.

import { getPromptRegistry, type PromptRegistry, type PromptStore } from "@reverie/context"
import type { TenantId } from "@reverie/protocol"
import type * as Effect from "effect/Effect"

type Promised<Verb> = Verb extends (...args: infer Args) => Effect.Effect<infer Value, infer _Failure>
  ? (...args: Args) => Promise<Value>
  : Verb extends Effect.Effect<infer Value, infer _Failure>
    ? () => Promise<Value>
    : never

export type Prompts = { readonly [Name in keyof PromptRegistry]: Promised<PromptRegistry[Name]> }

type Run = <Value, Failure>(effect: Effect.Effect<Value, Failure, PromptStore>) => Promise<Value>

/** The registry of the tenant, run by `run`. */
export const promptsOf = async (tenant: TenantId, run: Run): Promise<Prompts> => {
  const registry = await run(getPromptRegistry(tenant))
  const promised = Object.entries(registry).map(([name, verb]: [string, unknown]) => [
    name,
    typeof verb === "function"
      ? (...args: ReadonlyArray<unknown>) =>
          run((verb as (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown>)(...args))
      : () => run(verb as Effect.Effect<unknown>)
  ])
  return Object.fromEntries(promised) as Prompts
}
