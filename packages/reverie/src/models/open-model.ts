// OpenModel: a model, or an embedder, of a choice, without a fleet.
// Owns its connections while it is open. Leaves what a choice may be to model-choice.ts and embedder-choice.ts.

import { Embedder, Model } from "@reverie/model"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Option from "effect/Option"
import { FleetDefinitionInvalid } from "../errors.ts"
import { type EmbedderChoice, embedderLayer } from "./embedder-choice.ts"
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

/** An embedder without a fleet, open until it is closed. */
export interface OpenEmbedder {
  /** A vector for each text, in their order. Rejects as a model does that does not answer. */
  readonly embed: (texts: ReadonlyArray<string>) => Promise<ReadonlyArray<ReadonlyArray<number>>>
  /** Closes its connections. */
  readonly close: () => Promise<void>
}

/**
 * Opens an embedder without a fleet, such as to find out whether it answers. Rejects with FleetDefinitionInvalid for what is no choice of an
 * embedder.
 * @example
 * const { close, embed } = await openEmbedder("http://127.0.0.1:11434/v1#bge-m3")
 */
export const openEmbedder = async (choice: Exclude<EmbedderChoice, "none">): Promise<OpenEmbedder> => {
  const runtime = ManagedRuntime.make(embedderLayer(choice))
  const found = await runtime.runPromise(Effect.serviceOption(Embedder))
  if (Option.isNone(found)) throw new FleetDefinitionInvalid({ subject: "fleet", message: "embedder names none" })
  const { embed } = found.value
  return { embed: (texts) => Effect.runPromise(embed(texts)), close: () => runtime.dispose() }
}
