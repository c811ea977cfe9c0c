// Birth: the first entry of an assistant.
// Owns what a new assistant's state is. Leaves writing it once to the ledger.

import { birth, type Commission, hears, persist, statusOf } from "@reverie/assistant"
import type { Birth } from "@reverie/ledger"
import { type Address, ENTRY_VERSION, type Json, type OpenTimer, STATE_VERSION } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { withBedtime } from "./bedtime.ts"
import type { Definition } from "./definition.ts"

/** Share of its time after which a sub-agent is told that it is late. */
const SOFT_SHARE = 0.8

/** The soft deadline of a sub-agent. */
const lateAt = ({ errand: { millis, until } }: Commission): OpenTimer => ({
  name: "late",
  dueAt: Math.round(until - millis * (1 - SOFT_SHARE)),
  event: { type: "news", what: "late" }
})

const begun = ({ settings }: Definition, commission?: Commission): Json =>
  ({ settings, ...commission }) as unknown as Json

/** What the ledger writes when an assistant of this definition comes to be; with a commission it is a sub-agent. */
export const birthOf = (address: Address, definition: Definition, commission?: Commission): Effect.Effect<Birth> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const { next } = birth(definition.settings, commission)
    const status = statusOf(next)
    return {
      address,
      state: {
        v: STATE_VERSION,
        snapshot: persist(next),
        jobs: [],
        timers: withBedtime(commission === undefined ? [] : [lateAt(commission)], definition.sleep, now),
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
        // What it begins with, so that its life can be told from its entries alone.
        event: begun(definition, commission),
        status,
        messages: []
      }
    }
  })
