// OpenModel: a model of a choice, without a fleet.
// Owns its connections while it is open. Leaves what a choice may be to model-choice.ts.

import { Model } from "@reverie/model"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { type ModelChoice, modelLayer } from "./model-choice.ts"

/** A model without a fleet, open until it is closed. */
export interface OpenModel {
  /** Answers prompts. */
  readonly model: Model["Service"]
  /** Closes its connections. */
  readonly close: () => Promise<void>
}

/**
 * Opens a model without a fleet: for a judge, or an answer that no assistant gives. Nothing of its calls is kept. Rejects with
 * FleetDefinitionInvalid for what is no choice of a model.
 * @example
 * const { close, model } = await openModel("openai/gpt-5-mini")
 */
export const openModel = async (choice: ModelChoice): Promise<OpenModel> => {
  const runtime = ManagedRuntime.make(modelLayer(choice))
  return { model: await runtime.runPromise(Model), close: () => runtime.dispose() }
}
