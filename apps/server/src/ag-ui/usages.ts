// Usages: the tokens that a run has taken, model by model.
// Owns adding them up as AG-UI counts them.

import { defined } from "@reverie/protocol"
import type { Entry } from "reverie"
import type { Usage } from "./events.ts"

const whole = (tokens: number): number => Math.max(0, Math.round(tokens))

export class Usages {
  readonly #byModel = new Map<string, Usage>()

  get all(): ReadonlyArray<Usage> {
    return [...this.#byModel.values()]
  }

  add({ step }: Entry): void {
    const { detail, usage } = step ?? {}
    if (usage === undefined) return
    const named = detail?.["model"]
    const model = typeof named === "string" ? named : ""
    const before = this.#byModel.get(model)
    const inputTokens = (before?.inputTokens ?? 0) + whole(usage.inputTokens)
    const outputTokens = (before?.outputTokens ?? 0) + whole(usage.outputTokens)
    this.#byModel.set(model, {
      ...defined({ model: model === "" ? undefined : model }),
      inputTokens,
      outputTokens,
      totalTokens: inputTokens + outputTokens
    })
  }
}
