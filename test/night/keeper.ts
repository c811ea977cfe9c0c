// Keeper: the assistant of these tests, and its life from the first morning to the last one.
// Owns its definition and when what happens. Leaves the conversation to conversation.ts, what is asserted to the tests.
// K1  It is spoken to by day, between eight and ten; no one wakes it by night.

import { createHash } from "node:crypto"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as Exit from "effect/Exit"
import { defineAssistant, memoryTools, selfTools } from "reverie"
import type { Said } from "./conversation.ts"
import { Life } from "./life.ts"

const HOUR_MILLIS = 3_600_000
const DAY_MILLIS = 24 * HOUR_MILLIS
/** Midnight before the first morning. */
const FIRST_DAY = Date.UTC(2026, 4, 4)

const wanted: ReadonlySet<string> = new Set(["add_journal_entry", "update_entity_observation", "read_history"])

/** A window that a day or two of talk fill: the history is compacted in an emergency by day, or asleep. */
export const keeper = defineAssistant({
  id: "marlowe",
  instructions: "You keep the harbour book, and people like to talk to you.",
  tools: [...selfTools, ...memoryTools].filter(({ name }) => wanted.has(name)),
  maxContextTokens: 12_000,
  reservedResponseTokens: 1_000,
  settings: { compactSleepRatio: 0.5 },
  // What is written down before a compaction stays in sight after it: of a small window not too much of it.
  compaction: { preCompactMaxIterations: 3 },
  sleep: { startHour: 2, durationHours: 4, dreamPauseMs: 60_000, timeZone: "UTC" }
})

/** What the assistant was doing at the end of each night, and in the morning after it. */
export interface Morning {
  readonly asleep: string
  readonly awake: string
}

export interface Lived {
  readonly life: Life
  readonly mornings: ReadonlyArray<Morning>
  /** A hash of all that was committed and is kept, one of each morning. */
  readonly records: ReadonlyArray<string>
  readonly end: () => Promise<void>
}

const recordOf = (life: Life): string =>
  createHash("sha256")
    .update(JSON.stringify(life.disk.outbox))
    .update(JSON.stringify([...(life.disk.resident(life.address)?.records ?? [])]))
    .update(JSON.stringify(life.disk.resident(life.address)?.state))
    .digest("hex")

/** Lives through the days and the night after each. */
export const liveThrough = async (days: ReadonlyArray<ReadonlyArray<Said>>): Promise<Lived> => {
  const scope = Effect.runSync(Scope.make())
  const life = await Life.open(keeper, FIRST_DAY + 7 * HOUR_MILLIS, scope)
  const mornings: Array<Morning> = []
  const records: Array<string> = []
  for (const [day, messages] of days.entries()) {
    const midnight = FIRST_DAY + day * DAY_MILLIS
    for (const [index, { from, text }] of messages.entries()) {
      life.passTo(midnight + 8 * HOUR_MILLIS + Math.floor((index / messages.length) * 14 * HOUR_MILLIS))
      life.post({ type: "message", text }, from)
      life.rest()
    }
    life.passTo(midnight + DAY_MILLIS + 6 * HOUR_MILLIS - 1_000)
    const asleep = life.status
    life.passTo(midnight + DAY_MILLIS + 7 * HOUR_MILLIS)
    mornings.push({ asleep, awake: life.status })
    records.push(recordOf(life))
  }
  return { life, mornings, records, end: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}
