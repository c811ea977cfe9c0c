// Metered: what a model call of an assistant with a budget may take, and what it took.
// Leaves the account to `assistant`, prices to the caller.
// M1  Prompt and longest reply together stay within what was reserved, with a margin for another way of counting.
// M2  A call that has no room, or whose time is over, is refused before it is sent.
// M3  A call that was under way when its worker died counts whole, and is then made anew.
// M4  What failed before any model has worked costs nothing but the call; any other failure costs what it was sent with.
//     An outage costs nothing at all: a server that is away for a day must not use up a budget. Only a call that it was
//     silent on to the end counts as one, for no one can tell what was done meanwhile.
// M5  Whatever else asks the model there, asks in vain: only the calls of ticks are in the budget. A dream asks rules (`RulesModel`).

import {
  accountOf,
  type AssistantContext,
  contextOf,
  isWarned,
  remaining,
  roomOfCall,
  settingsNow,
  windowOf
} from "@reverie/assistant"
import { failureCost, isOutage, type Model, type ModelError, ModelRefused } from "@reverie/model"
import type { Amount, OpenJob, PriceOf } from "@reverie/protocol"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { UncountedMessage } from "../commit/commit-draft.ts"
import type { Definition } from "../session/definition.ts"
import { isMetered } from "../jobs/job-end.ts"
import type { Session } from "../session/session.ts"

/** Providers count a little differently. */
const CERTAIN_SHARE = 0.9

/** A reply that is shorter is not worth a call. */
const LEAST_REPLY_TOKENS = 64

/** Prompt and reply, as the budget leaves them. */
export const windowLimits = (definition: Definition, context: AssistantContext) => {
  const { maxContextTokens, reservedResponseTokens } = definition
  const window = Math.floor(windowOf(accountOf(context), settingsNow(context)) * CERTAIN_SHARE)
  if (!(window < maxContextTokens)) return { maxContextTokens, reservedResponseTokens }
  return { maxContextTokens: window, reservedResponseTokens: Math.min(reservedResponseTokens, Math.floor(window / 4)) }
}

/** The budget, and not the model, is what bounds a prompt here. */
export const isNarrowed = ({ decoded, definition }: Session): boolean =>
  windowLimits(definition, contextOf(decoded)).maxContextTokens < definition.maxContextTokens

/** Most tokens that the reply to a prompt may have; undefined where nothing bounds it, none when there is no room. */
export const replyRoom = (session: Session, promptTokens: number): { readonly tokens?: number } | undefined => {
  if (!isMetered(session)) return {}
  const room = roomOfCall(accountOf(contextOf(session.decoded)))
  if (room === Infinity) return {}
  const left = Math.floor(room * CERTAIN_SHARE) - promptTokens
  return left < LEAST_REPLY_TOKENS ? undefined : { tokens: Math.min(left, session.definition.reservedResponseTokens) }
}

export const isTimeOver = ({ decoded }: Session, now: number): boolean => {
  const { assignment } = contextOf(decoded)
  return assignment !== null && assignment.until <= now
}

export const UNSENT: Amount = { tokens: 0, costMicros: 0, calls: 0 }

/** What a call took, at what its model costs; a model without a price costs nothing that is known. */
export const tookOf = (model: string, tokens: Parameters<PriceOf>[1], priceOf: PriceOf): Amount => ({
  tokens: tokens.inputTokens + tokens.outputTokens,
  costMicros: priceOf(model, tokens) ?? 0,
  calls: 1
})

/** What a call took that failed. */
export const failedUse = (
  session: Session,
  error: ModelError,
  charge: (tokens: Parameters<PriceOf>[1]) => Amount,
  promptTokens: number,
  replyTokens: number = session.definition.reservedResponseTokens
): { readonly used?: Amount } => {
  if (!isMetered(session)) return {}
  const isSilent = error._tag === "ModelUnavailable" && error.kind === "timeout"
  switch (failureCost(error)) {
    case "unsent":
      return { used: UNSENT }
    case "unheard":
      return { used: isOutage(error) && !isSilent ? UNSENT : { ...UNSENT, calls: 1 } }
    case "unknown":
      return { used: charge({ inputTokens: Math.ceil(promptTokens / CERTAIN_SHARE), outputTokens: replyTokens }) }
  }
}

/** What a budget has left, for the model to come to an end with. */
export const warningOf = (session: Session, now: number): UncountedMessage | undefined => {
  const context = contextOf(session.decoded)
  if (!isWarned(context)) return undefined
  const { calls, costMicros, tokens } = remaining({ ...accountOf(context), reserved: UNSENT })
  const seconds =
    context.assignment === null ? undefined : Math.max(0, Math.round((context.assignment.until - now) / 1_000))
  const left = [
    ...(tokens === null ? [] : [`${tokens} tokens`]),
    ...(calls === null ? [] : [`${calls} model calls, this one among them`]),
    ...(costMicros === null ? [] : [`${costMicros} millionths of money`]),
    ...(seconds === undefined ? [] : [`${seconds} seconds`])
  ]
  const content = `[budget] Little is left: ${left.join(", ")}. Come to an end now, and give what you have.`
  return { role: "user", name: "clock", content, at: now }
}

/** A model that no one reaches. */
const unreachable: Model["Service"] = {
  infer: () =>
    Effect.fail(
      new ModelRefused({
        provider: "budget",
        kind: "bad-request",
        message: "an assistant with a budget asks the model in its ticks only"
      })
    )
}

/** What dreams where there is a budget: rules, which cost nothing. Without them a dream of such an assistant learns nothing. */
export const RulesModel = Context.Reference<Model["Service"]>("@reverie/runtime/RulesModel", {
  defaultValue: () => unreachable
})

/** What a job other than a tick asks where there is a budget. */
export const unmetered = ({ src }: Pick<OpenJob, "src">) =>
  src === "dream" ? Effect.map(RulesModel, (rules) => rules) : Effect.succeed(unreachable)
