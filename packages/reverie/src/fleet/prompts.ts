// Prompts: the prompt registry of a tenant, in promises.
// Owns the form. Leaves every rule to the registry in `context`.
// I1  Every operation of the registry is here, under its own name, with its typed errors as rejections.

import { FILLED_GAPS, getPromptRegistry, type PromptRegistry, type PromptStore } from "@reverie/context"
import type { TenantId } from "@reverie/protocol"
import type * as Effect from "effect/Effect"

type Promised<Verb> = Verb extends (...args: infer Args) => Effect.Effect<infer Value, infer _Failure>
  ? (...args: Args) => Promise<Value>
  : Verb extends Effect.Effect<infer Value, infer _Failure>
    ? () => Promise<Value>
    : never

/**
 * `fleet.prompts`: every operation rejects with the typed errors of the registry (`PromptUnknown`, `PromptConflict`, ...).
 * @example const components = await fleet.prompts.listComponents({ includeStatic: false })
 */
export type Prompts = { readonly [Name in keyof PromptRegistry]: Promised<PromptRegistry[Name]> }

type Run = <Value, Failure>(effect: Effect.Effect<Value, Failure, PromptStore>) => Promise<Value>

const verbs: { readonly [Name in keyof PromptRegistry]: true } = {
  createTemplate: true,
  getTemplate: true,
  updateTemplate: true,
  deleteTemplate: true,
  listTemplates: true,
  cloneTemplate: true,
  exportTemplateJson: true,
  importTemplateJson: true,
  createComponent: true,
  getComponent: true,
  getComponentByKey: true,
  updateComponent: true,
  deleteComponent: true,
  moveComponent: true,
  listComponents: true,
  listPluggableComponents: true,
  listComponentsAfter: true,
  applyTemplateToComponent: true,
  saveComponentAsTemplate: true,
  exportComponentJson: true,
  importComponentJson: true,
  history: true,
  undo: true
}

type Verb = ((...args: ReadonlyArray<unknown>) => Effect.Effect<unknown>) | Effect.Effect<unknown>

/** The registry of the tenant, run by `run`; opened with the first question. */
export const promptsOf = (tenant: TenantId, run: Run): Prompts => {
  let opened: Promise<PromptRegistry> | undefined
  const promised = Object.keys(verbs).map((name) => [
    name,
    async (...args: ReadonlyArray<unknown>) => {
      const registry = await (opened ??= run(getPromptRegistry(tenant, FILLED_GAPS)))
      const verb = registry[name as keyof PromptRegistry] as Verb
      return run(typeof verb === "function" ? verb(...args) : verb)
    }
  ])
  return Object.fromEntries(promised) as Prompts
}
