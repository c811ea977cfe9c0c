// JobEnd: how a job ended, ready to be decided upon and recorded.
// Owns its shape, what of it goes into the commit, and at which prices. Leaves running jobs to jobs.ts.
// I1  A job never fails: every failure is an event that the statechart receives.

import { accountOf, contextOf, type Input, isBounded } from "@reverie/assistant"
import { keptParts, Ledger, type LoosePart, looseParts, type TenantLimits } from "@reverie/ledger"
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
  /** Parts that were kept for it, with their bytes: they are looked for once more when it is written. */
  readonly made?: ReadonlyArray<LoosePart>
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
  if (Result.isFailure(loose)) return { parts: [], problem: loose.failure, made: [] }
  const { blobs } = yield* Ledger
  return yield* Effect.match(keptParts(blobs, address.tenant, loose.success), {
    onSuccess: (parts) => ({ parts, problem: undefined, made: loose.success }),
    onFailure: ({ message }) => ({ parts: [], problem: message, made: [] })
  })
})

/** A text that says why what belongs to it is missing. */
export const withoutParts = (text: string, problem: string | undefined): string =>
  problem === undefined ? text : [text, `[What belongs to it is not kept: ${problem}.]`].join("\n").trimStart()

/** A reply whose parts are kept. */
export const keptReply = Effect.fnUntraced(function* (session: Session, { parts: given, ...reply }: Reply) {
  const { made, parts, problem } = yield* keptGiven(session, given)
  const kept = [...(reply.kept ?? []), ...parts]
  const said: Reply = {
    ...reply,
    text: withoutParts(reply.text, problem),
    ...defined({ kept: kept.length === 0 ? undefined : kept })
  }
  return { reply: said, made }
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

/** What the calls of an assistant cost as of now: by the prices of the fleet, else by its own, else as usual. */
export const pricesNow = ({ definition: { prices } }: Session): Effect.Effect<PriceOf> =>
  Effect.map(
    Limits,
    ({ tariff }): PriceOf =>
      (model, tokens) =>
        chargeOf(tariff, prices, model, tokens)
  )

/** Why the models before the one that answered did not; nothing where there were none. */
export const earlierIn = (earlier: Reply["earlier"] = []): Json | undefined =>
  earlier.length === 0
    ? undefined
    : earlier.map(({ model, reason, server }) => ({ model, ...defined({ server }), reason }))

export const isMetered = ({ decoded }: Pick<Session, "decoded">): boolean => isBounded(accountOf(contextOf(decoded)))

// Secrets: the keys and passwords that a fleet was given, kept out of what it writes down.
// S1  What a run, a model or a failure says goes to the ledger, to models and to screens without them, no matter who put them in.
// S2  Data that holds none is left as it is, the very same value.

/** Shorter ones are placeholders such as `none`, and ordinary words. */
const SHORTEST_SECRET = 8

const REDACTED = "[redacted]"

interface Hiding {
  /** The value without them. It must be plain JSON data. */
  readonly hide: <A>(value: A) => A
  /** A text that comes in pieces, without them: what may be the beginning of one waits for what follows it. */
  readonly inPieces: () => (piece: string) => string
}

const asItIs = (piece: string): string => piece

const HIDING_NOTHING: Hiding = { hide: (value) => value, inPieces: () => asItIs }

/** By default nothing is known to be secret. */
export const Secrets = Context.Reference<Hiding>("@reverie/runtime/Secrets", { defaultValue: () => HIDING_NOTHING })

/** As it stands inside of JSON text. */
const inJson = (secret: string): string => JSON.stringify(secret).slice(1, -1)

/** How much of the end of a text may be the beginning of one of these. */
const openEnd = (text: string, secrets: ReadonlyArray<string>): number => {
  let open = 0
  for (const secret of secrets) {
    for (let length = Math.min(secret.length - 1, text.length); length > open; length--) {
      if (secret.startsWith(text.slice(-length))) open = length
    }
  }
  return open
}

const hidingInPieces = (secrets: ReadonlyArray<string>) => (): ((piece: string) => string) => {
  let held = ""
  return (piece) => {
    const text = secrets.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), held + piece)
    const length = text.length - openEnd(text, secrets)
    held = text.slice(length)
    return text.slice(0, length)
  }
}

/** Hides these, and what is left of each when it is written as JSON. */
export const hiding = (secrets: ReadonlyArray<string>): Hiding => {
  const hidden = [...new Set(secrets.filter(({ length }) => length >= SHORTEST_SECRET).map(inJson))]
    // One may be a part of another.
    .toSorted((a, b) => b.length - a.length)
  if (hidden.length === 0) return HIDING_NOTHING
  return {
    hide: <A>(value: A): A => {
      const text = JSON.stringify(value) as string | undefined
      if (text === undefined || !hidden.some((secret) => text.includes(secret))) return value
      return JSON.parse(hidden.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text)) as A
    },
    // Of a text, and of JSON text.
    inPieces: hidingInPieces([...new Set([...hidden, ...hidden.map((secret) => JSON.parse(`"${secret}"`) as string)])])
  }
}
