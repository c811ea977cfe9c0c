// Price: what a model call has cost, as far as anybody has said what tokens cost.
// Owns the choice between the prices of the fleet and those of the assistant. Leaves the arithmetic to their rooms.
// P1  A model that the fleet names a price for costs that; any other costs what the assistant's own settings say.

import { type AssistantContext, costOf, settingsNow } from "@reverie/assistant"
import { costMicrosOf } from "@reverie/model"
import type { Usage } from "@reverie/protocol"
import { Limits } from "@reverie/runtime"
import * as Effect from "effect/Effect"

/** In millionths of a unit; 0 when nobody has said. */
export type Price = (model: string | undefined, usage: Usage) => number

/** The prices for an assistant with this context. */
export const priceFor = (context: AssistantContext | undefined): Effect.Effect<Price> =>
  Effect.map(Limits, ({ tariff }) => (model, usage) => {
    const byFleet = model === undefined ? 0 : costMicrosOf(tariff, model, usage)
    return byFleet > 0 || context === undefined ? byFleet : costOf(usage, settingsNow(context))
  })
