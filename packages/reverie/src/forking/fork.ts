// Fork: a tick of the past lived through once more beside the fleet, with something changed.
// Owns the request and the answer. Leaves gathering the past to tick-source.ts, living to sandbox.ts, comparing to digest.ts.
// K1  The data store that the tick was lived in is read and never written.
// K2  Unchanged, with a model that says the same to the same prompt, a fork differs in nothing.
// K3  One that is stopped ends at once, with the call of the model that it waits for.

import { defined } from "@reverie/protocol"
import type { ToolStub } from "@reverie/runtime"
import type { FleetDefinition } from "../fleet-options.ts"
import type { ModelChoice } from "../models/model-choice.ts"
import { compareTicks, digestOf, type ForkComparison, pricesFor } from "./digest.ts"
import { liveAgain, type Lived, type Request } from "./sandbox.ts"
import type { TickSource, TickSources } from "./tick-source.ts"

/** Which tick is forked, and what is changed in it. */
export interface ForkRequest {
  /** The id of the assistant. */
  readonly assistant: string
  /** The number of the tick. */
  readonly tick: number
  /** In place of what the definition says today. */
  readonly instructions?: string
  /** In place of the persona of the definition. */
  readonly persona?: string
  /**
   * Who is asked; when not said, the model that the assistant answers with by its definition of today, else what the environment
   * names, else the offline stand-in. "recorded" asks no one: the replies of then come again in their order.
   */
  readonly model?: ModelChoice
  /** Answers in the place of recorded ones. */
  readonly stubs?: ReadonlyArray<ToolStub>
  /** Ends it: the call of the model in flight is aborted, and the fork rejects with the reason of the signal. */
  readonly signal?: AbortSignal
}

/** A forked tick, compared with the recorded one. */
export interface Fork extends ForkComparison {
  /** Whether the envelope that began the tick was still kept as it was accepted. */
  readonly isOriginalEnvelope: boolean
}

/** The digest of what was lived through again. */
export const digestOfLived = (source: TickSource, fleet: FleetDefinition, { answered, end, entries }: Lived) =>
  digestOf(entries, {
    tick: source.recorded.tick,
    ...pricesFor(fleet, source.definition),
    answered,
    ...defined({ unfinished: end.reason === "" ? undefined : end.reason })
  })

/**
 * Lives through a tick once more, from what the assistant was before it, and holds the two against each other. Nothing of it
 * is written anywhere, no tool runs and no one learns of it; only the model that is named is asked.
 * Rejects with UnknownAssistant or ForkRefused, and with the reason of `signal` where that stops it.
 */
export const forkTick = async (records: TickSources, fleet: FleetDefinition, request: ForkRequest): Promise<Fork> => {
  const { assistant, model, persona, signal, stubs = [], instructions: systemPrompt, tick } = request
  signal?.throwIfAborted()
  const source = await records.replay.source(assistant, tick)
  const living: Request = {
    fleet,
    model,
    stubs,
    order: "free",
    ...defined({ systemPrompt, persona, signal })
  }
  const lived = await liveAgain(source, living)
  const original = digestOf(source.recorded.entries, { tick, ...pricesFor(fleet, source.definition) })
  return {
    ...compareTicks(original, digestOfLived(source, fleet, lived)),
    isOriginalEnvelope: source.isOriginal
  }
}
