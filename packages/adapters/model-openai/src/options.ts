// Options: how one model or embedder behind one base URL is reached, and what limits a call has.
// Owns the defaults. Leaves reading the environment to the code that starts a fleet.

import type { Json } from "@reverie/protocol"
import type * as Redacted from "effect/Redacted"
import type { RequestError } from "@reverie/model"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type { Failure, Failures } from "./failure.ts"

export interface BreakerOptions {
  /** Failures in a row, with no success between them, that open the circuit. */
  readonly failures: number
  /** Failures further apart than this do not belong together. */
  readonly windowMillis: number
  /** How long an open circuit withholds calls before it lets one try; it doubles with every try that fails, up to the maximum. */
  readonly coolDownMillis: number
  readonly coolDownMaxMillis: number
  /** How long a try may hear nothing before another one is let through. */
  readonly probeMillis: number
}

/** How a server is reached, and what bounds a call to it. */
export interface ServerOptions {
  /** Root of the API, usually ending in `/v1`. */
  readonly baseURL: string
  readonly apiKey: Redacted.Redacted
  readonly model: string
  /** Longest a call may take, with its retries and its repair; of texts to embed, a batch of them. */
  readonly timeoutMillis?: number
  /** Longest silence between two chunks of a body. */
  readonly idleMillis?: number
  /** Largest body that is read. */
  readonly maxReplyBytes?: number
  /** How often a call is tried again after a passing failure. */
  readonly retries?: number
  /** First delay before trying again; it doubles from there, with jitter, up to eight seconds. */
  readonly backoffMillis?: number
  /** A provider that asks for a longer wait than this parks the assistant instead of the call. */
  readonly parkAfterMillis?: number
  readonly breaker?: Partial<BreakerOptions>
}

export interface OpenAiModelOptions extends ServerOptions {
  /** Ask for a stream. When absent, a call streams if it is given `onText`. */
  readonly stream?: boolean
  /** `json` describes the tools in the system prompt and asks for one JSON object, for servers without native tools. */
  readonly tools?: "native" | "json"
  /** `described` says the form of an answer in words only, for servers without `response_format`; with `tools: "json"` so by itself. */
  readonly output?: "native" | "described"
  /** Most tool calls that one reply may hold. */
  readonly maxCalls?: number
  /** Ask for usage in streams. Turn it off for servers that refuse unknown fields. */
  readonly streamUsage?: boolean
  /**
   * Mark with `cache_control` where the part of a prompt ends that comes again, for models whose cache asks for it. When
   * absent it is done for openrouter.ai; others keep beginnings of prompts by themselves.
   */
  readonly cacheMarks?: boolean
  /** Fields added to every request, such as temperature. */
  readonly extraBody?: { readonly [key: string]: Json }
}

export interface OpenAiEmbedderOptions extends ServerOptions {
  /** The length of the vectors. */
  readonly dimensions: number
  /** Tell the server the length. When absent, it is reported to the models of OpenAI that can shorten their vectors. */
  readonly sendDimensions?: boolean
}

/** What bounds a request of any kind, with its retries. */
export interface CallLimits {
  readonly timeoutMillis: number
  readonly idleMillis: number
  readonly maxReplyBytes: number
  readonly retries: number
  readonly backoffMillis: number
  readonly parkAfterMillis: number
}

export interface Limits extends CallLimits {
  readonly maxCalls: number
}

/** The largest delay that a timer takes; anything longer would end at once. */
export const LONGEST_TIMER_MILLIS = 2_147_483_647

const timer = (millis: number): number => Math.min(millis, LONGEST_TIMER_MILLIS)

const callLimitsOf = (options: ServerOptions, timeoutMillis: number, maxReplyBytes: number): CallLimits => ({
  timeoutMillis: timer(options.timeoutMillis ?? timeoutMillis),
  idleMillis: timer(options.idleMillis ?? 30_000),
  maxReplyBytes: options.maxReplyBytes ?? maxReplyBytes,
  retries: options.retries ?? 2,
  backoffMillis: options.backoffMillis ?? 500,
  parkAfterMillis: options.parkAfterMillis ?? 10_000
})

export const limitsOf = (options: OpenAiModelOptions): Limits => ({
  ...callLimitsOf(options, 120_000, 4 * 1024 * 1024),
  maxCalls: options.maxCalls ?? 16
})

/** 96 vectors of 3,072 numbers, spelt out, are about six megabytes. */
export const embedderLimitsOf = (options: OpenAiEmbedderOptions): CallLimits =>
  callLimitsOf(options, 60_000, 32 * 1024 * 1024)

export const breakerOptionsOf = (options: ServerOptions): BreakerOptions => ({
  failures: options.breaker?.failures ?? 5,
  windowMillis: options.breaker?.windowMillis ?? 60_000,
  coolDownMillis: options.breaker?.coolDownMillis ?? 1_000,
  coolDownMaxMillis: options.breaker?.coolDownMaxMillis ?? 30_000,
  probeMillis: options.breaker?.probeMillis ?? 30_000
})

// Retry: an attempt is made again while that may help and there is time.
// I1  An attempt is repeated at most `retries` times, and never when the same request can not succeed.
// I2  No attempt starts earlier than the server asked for; a longer wait than the limit, or than the call has left,
//     parks instead.
// I3  No wait outlasts the deadline.

const LONGEST_BACKOFF = "8 seconds"

interface Retrying {
  readonly failures: Failures
  readonly limits: CallLimits
}

const backoff = ({ backoffMillis, retries }: CallLimits) =>
  Schedule.min([Schedule.exponential(Duration.millis(backoffMillis)), Schedule.spaced(LONGEST_BACKOFF)]).pipe(
    Schedule.jittered,
    Schedule.upTo({ times: retries })
  )

const again = Effect.fnUntraced(function* <A>(
  attempt: Effect.Effect<A, Failure>,
  first: Failure,
  until: number,
  { failures, limits }: Retrying
) {
  const step = yield* Schedule.toStep(backoff(limits))
  let failure = first
  while (failure.again) {
    const now = yield* Clock.currentTimeMillis
    const asked = failure.retryAfterMillis ?? 0
    const left = until - now
    if (asked > limits.parkAfterMillis || (asked > 0 && asked >= left)) {
      return yield* failures.parked(asked, "status" in failure.error ? failure.error.status : undefined)
    }
    const next = yield* Effect.result(step(now, undefined))
    if (Result.isFailure(next)) break
    const delayMillis = Math.max(Duration.toMillis(next.success[1]), asked)
    if (delayMillis >= left) break
    yield* Effect.sleep(delayMillis)
    const result = yield* Effect.result(attempt)
    if (Result.isSuccess(result)) return result.success
    if (result.failure.error._tag === "CallWithheld") break
    failure = result.failure
  }
  return yield* Effect.fail<RequestError>(failure.error)
})

/** Runs `attempt` until it succeeds, can not, or has no time left. `until` is milliseconds since the epoch. */
export const retried = <A>(
  attempt: Effect.Effect<A, Failure>,
  until: number,
  how: Retrying
): Effect.Effect<A, RequestError> => attempt.pipe(Effect.catch((failure) => again(attempt, failure, until, how)))
