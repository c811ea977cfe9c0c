// JobEnd: how a job ended, ready to be decided upon and recorded.
// Owns its shape, what of it goes into the commit, and at which prices. Leaves running jobs to jobs.ts.
// I1  A job never fails: every failure is an event that the statechart receives.

import { contextOf, type Input, type Settings, settingsNow } from "@reverie/assistant"
import { keptParts, Ledger, looseParts, type TenantLimits } from "@reverie/ledger"
import { type BytesOf, chargeOf, type Reply, type Tariff } from "@reverie/model"
import {
  type Address,
  defined,
  type Envelope,
  type HookRecord,
  type Json,
  type OpenJob,
  type PriceOf,
  type RecordChange,
  type StepRecord,
  type TenantId
} from "@reverie/protocol"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { JudgedAnswer, TurnInput, UncountedMessage } from "../commit/commit-draft.ts"
import type { Session } from "../session/session.ts"

export interface JobEnd {
  readonly job: OpenJob
  readonly event: Input
  readonly messages: ReadonlyArray<UncountedMessage>
  /** Absent when nothing was done: a call that was never sent. */
  readonly step?: StepRecord
  /** What hooks did. */
  readonly hooks?: ReadonlyArray<HookRecord>
  readonly sends?: ReadonlyArray<Envelope>
  readonly records?: ReadonlyArray<RecordChange>
  /** What an answer comes to that must have a form. */
  readonly judged?: JudgedAnswer
  /** Told to screens and callers, besides what the statechart emits. */
  readonly emitted?: NonNullable<TurnInput["emitted"]>
}

/** The number of the commit that started a job stands before its name. */
export const numberOf = ({ id }: OpenJob): number => Number(id.split("/")[0])

export const kindOf = (job: OpenJob): StepRecord["kind"] => job.src as StepRecord["kind"]

export const turnInputOf = ({
  emitted,
  event,
  hooks,
  job,
  judged,
  messages,
  records,
  sends,
  step
}: JobEnd): TurnInput => ({
  cause: { kind: "job", id: job.id },
  event: event as unknown as Json,
  messages,
  ...defined({ step, hooks, sends, records, judged, emitted })
})

/** The end, with what hooks did on the way to it. */
export const withHooks = (end: JobEnd, ...done: ReadonlyArray<ReadonlyArray<HookRecord>>): JobEnd => {
  const hooks = done.flat()
  return hooks.length === 0 ? end : { ...end, hooks: [...(end.hooks ?? []), ...hooks] }
}

// Parts: images, files and audio that a model or a tool has made, kept before they are used.

/** The references to what was made, or why it is not kept. */
export const keptGiven = Effect.fnUntraced(function* ({ address }: Session, given: unknown) {
  const loose = looseParts(given)
  if (Result.isFailure(loose)) return { parts: [], problem: loose.failure }
  const { blobs } = yield* Ledger
  return yield* Effect.match(keptParts(blobs, address.tenant, loose.success), {
    onSuccess: (parts) => ({ parts, problem: undefined }),
    onFailure: ({ message }) => ({ parts: [], problem: message })
  })
})

/** A text that says why what belongs to it is missing. */
export const withoutParts = (text: string, problem: string | undefined): string =>
  problem === undefined ? text : [text, `[What belongs to it is not kept: ${problem}.]`].join("\n").trimStart()

/** A reply whose parts are kept. */
export const keptReply = Effect.fnUntraced(function* (session: Session, { parts: made, ...reply }: Reply) {
  const { parts, problem } = yield* keptGiven(session, made)
  const kept = [...(reply.kept ?? []), ...parts]
  const said: Reply = {
    ...reply,
    text: withoutParts(reply.text, problem),
    ...defined({ kept: kept.length === 0 ? undefined : kept })
  }
  return said
})

/** The bytes of the parts of a prompt. A store that is away is the failure of the call. */
export const bytesFor =
  ({ address }: Session, { blobs }: Ledger["Service"]): BytesOf =>
  (part) =>
    Effect.orDie(blobs.read(address.tenant, part.digest))

// Faults: named points at which a test may stop, delay or kill.

export const faultPoints = [
  "before-accept",
  "after-accept",
  "after-claim",
  "before-model",
  "after-model",
  "before-tool",
  "after-tool",
  "before-commit",
  "after-commit",
  "before-deliver",
  "after-deliver"
] as const
export type FaultPoint = (typeof faultPoints)[number]

export const Faults = Context.Reference<{
  readonly at: (point: FaultPoint, address: Address) => Effect.Effect<void>
}>("@reverie/runtime/Faults", { defaultValue: () => ({ at: () => Effect.void }) })

/** What tenants may use, and what it costs. By default nothing is limited. */
export const Limits = Context.Reference<{
  readonly of: (tenant: TenantId) => TenantLimits | undefined
  readonly tariff: Tariff
}>("@reverie/runtime/Limits", { defaultValue: () => ({ of: () => undefined, tariff: {} }) })

/** What the calls of an assistant cost: by the prices of the fleet, else by its own, else as usual. */
const pricesFor = (
  tariff: Tariff,
  { inputPriceMicros, outputPriceMicros }: Pick<Settings, "inputPriceMicros" | "outputPriceMicros">
): PriceOf => {
  const isPriced = inputPriceMicros + outputPriceMicros > 0
  const own = isPriced ? { inputMicros: inputPriceMicros, outputMicros: outputPriceMicros } : undefined
  return (model, tokens) => chargeOf(tariff, own, model, tokens)
}

/** The same, as of now. */
export const pricesNow = ({ decoded }: Session): Effect.Effect<PriceOf> =>
  Effect.map(Limits, ({ tariff }) => pricesFor(tariff, settingsNow(contextOf(decoded))))
