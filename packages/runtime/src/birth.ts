// Birth: the first entry of an assistant.
// Owns what a new assistant's state is. Leaves writing it once to the ledger.

import { birth, hears, persist, statusOf } from "@reverie/assistant"
import type { Birth } from "@reverie/ledger"
import { type Address, ENTRY_VERSION, STATE_VERSION } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { withBedtime } from "./bedtime.ts"
import type { Definition } from "./definition.ts"

/** What the ledger writes when an assistant of this definition comes to be. */
export const birthOf = (address: Address, definition: Definition): Effect.Effect<Birth> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const { next } = birth(definition.settings)
    const status = statusOf(next)
    return {
      address,
      state: {
        v: STATE_VERSION,
        snapshot: persist(next),
        jobs: [],
        timers: withBedtime([], definition.sleep, now),
        hears: hears(next),
        status,
        definition: definition.name
      },
      entry: {
        v: ENTRY_VERSION,
        no: 1,
        at: now,
        epoch: 0,
        tick: 0,
        iteration: 0,
        cause: { kind: "birth" },
        event: null,
        status,
        messages: []
      }
    }
  })
