// CreationEntry: the first entry of an assistant.
// Owns what a new assistant's state is. Leaves writing it once to the ledger.

import { creation, type SubAgentStart, receives, persist, statusOf } from "@reverie/assistant"
import type { CreationEntry } from "@reverie/ledger"
import { type Address, ENTRY_VERSION, type Json, type OpenTimer, STATE_VERSION } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { addSleepTimer } from "../intake/sleep-timer.ts"
import type { Definition } from "./definition.ts"

/** Share of its time after which a sub-agent is told that it is late. */
const SOFT_SHARE = 0.8

/** The soft deadline of a sub-agent. */
const lateAt = ({ assignment: { millis, until } }: SubAgentStart): OpenTimer => ({
  name: "late",
  dueAt: Math.round(until - millis * (1 - SOFT_SHARE)),
  event: { type: "news", what: "late" }
})

const begun = ({ settings }: Definition, subAgentStart?: SubAgentStart): Json =>
  ({ settings, ...subAgentStart }) as unknown as Json

/** What the ledger writes when an assistant of this definition comes to be; with a commission it is a sub-agent. */
export const creationOf = (
  address: Address,
  definition: Definition,
  subAgentStart?: SubAgentStart
): Effect.Effect<CreationEntry> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const { next } = creation(definition.settings, subAgentStart)
    const status = statusOf(next)
    return {
      address,
      state: {
        v: STATE_VERSION,
        snapshot: persist(next),
        jobs: [],
        timers: addSleepTimer(subAgentStart === undefined ? [] : [lateAt(subAgentStart)], definition.sleep, now),
        receives: receives(next),
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
        cause: { kind: "creation" },
        // What it begins with, so that its life can be told from its entries alone.
        event: begun(definition, subAgentStart),
        status,
        messages: []
      }
    }
  })
