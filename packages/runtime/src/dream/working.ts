// Working: what an assistant's conversations are about just now, held by the process (F83).
// Owns holding it for every assistant of the process, in memory only. Leaves what it holds to `memory`.
// W1  A restart forgets it: nothing here is ever written down.
// W2  It is bounded: the assistants that were quiet for longest are forgotten first.

import { addressKey, type Address } from "@reverie/protocol"
import { expired, noteLine, NOTHING_WORKING, type WorkingLine, type WorkingMemory } from "@reverie/memory"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** Assistants of one process that are held at most. */
const MAX_ASSISTANTS = 10_000

/** By address; the one that was noted last stands last. */
export class Conversations extends Context.Reference<Map<string, WorkingMemory>>("@reverie/runtime/Conversations", {
  defaultValue: () => new Map()
}) {}

export const workingOf = Effect.fnUntraced(function* (address: Address) {
  return (yield* Conversations).get(addressKey(address)) ?? NOTHING_WORKING
})

/** Notes a line of a conversation. */
export const noteSaid = Effect.fnUntraced(function* (address: Address, conversation: string, line: WorkingLine) {
  const held = yield* Conversations
  const key = addressKey(address)
  const working = held.get(key) ?? NOTHING_WORKING
  held.delete(key)
  held.set(key, noteLine(working, conversation, line))
  for (const quiet of held.keys()) {
    if (held.size <= MAX_ASSISTANTS) break
    held.delete(quiet)
  }
})

/** Forgets the conversations that are over; tells how many there were and how many went. */
export const forgetStale = Effect.fnUntraced(function* (address: Address, now: number) {
  const held = yield* Conversations
  const key = addressKey(address)
  const working = held.get(key) ?? NOTHING_WORKING
  const live = expired(working, now)
  if (live.size === 0) held.delete(key)
  else held.set(key, live)
  return { known: working.size, gone: working.size - live.size }
})
