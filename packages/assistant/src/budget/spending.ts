// Spending: the account of a tick's model calls.
// Owns when a call is reserved, warned of, settled or refused, as pure changes of context. Leaves the numbers to budget/.
// P1  An assistant without a bound keeps no account of its own calls.
// P2  A call is reserved before it is sent, and settled on every way out of it.
// P3  A call that has no room ends the tick as cut.
// P4  One prompt says how little is left, and only one.
// P5  What a person bounds holds from then on, whatever the settings say, until that person or another changes it.

import { callRoom, type CallRoom, isBounded, reserve, settle, shareSpent, SOFT_SHARE } from "./account.ts"
import { type AssistantContext, settingsNow } from "../context.ts"
import type { InferFailure, InferOutput, MachineEvent } from "../events.ts"
import { accountOf } from "../sub-agents/index.ts"

type Change = Partial<AssistantContext>

const roomNow = (context: AssistantContext): CallRoom => callRoom(accountOf(context), settingsNow(context))

const SHORT = {
  tokens: "the tokens it was granted are used up",
  costMicros: "the money it was granted is used up",
  calls: "the model calls it was granted are used up"
}

/** Why there is no room for another model call; undefined when there is. */
export const whyCut = (context: AssistantContext): string | undefined => {
  const room = roomNow(context)
  return "short" in room ? SHORT[room.short] : undefined
}

/** Sets aside what the next call may take. */
export const reserved = (context: AssistantContext): Change => {
  const account = accountOf(context)
  if (!isBounded(account)) return {}
  const room = roomNow(context)
  const next = "short" in room ? undefined : reserve(account, room.amount)
  if (next === undefined) return {}
  const isNear = next.warned === "" && (shareSpent(next) >= SOFT_SHARE || context.assignment?.late === true)
  return { account: isNear ? { ...next, warned: callOf(context) } : next }
}

/** A person bounds what it may spend. The call under way counts, as far as it was not bounded before. */
export const bounded = (context: AssistantContext, event: MachineEvent): Change => {
  if (event.type !== "budget") return {}
  const { type: _, ...said } = event
  if (Object.keys(said).length === 0) return {}
  const budget = { ...context.budget, ...said }
  const account = accountOf({ ...context, budget })
  return { budget, account: isBounded(account) ? account : context.account }
}

const callOf = ({ iteration, tick }: AssistantContext): string => `${tick}.${iteration}`

/** True for the one model call whose prompt says how little is left. */
export const isWarned = (context: AssistantContext): boolean => context.account?.warned === callOf(context)

/** Whatever ended the call: it took what its end says, and all that was reserved where that says nothing. */
export const settled = (context: AssistantContext, event: MachineEvent): Change => {
  const { account } = context
  if (account === null || !isBounded(accountOf(context))) return {}
  const { error, output } = event as { readonly error?: InferFailure; readonly output?: InferOutput }
  const isEnd = event.type.endsWith(".actor.infer")
  return { account: settle(accountOf(context), isEnd ? (output?.used ?? error?.used) : undefined) }
}
