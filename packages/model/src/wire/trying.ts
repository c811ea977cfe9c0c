// Trying: when a request is made again, when it is not made at all, and what bounds it.
// Owns the defaults of these bounds, the retries and the circuit, and asking again in words for a form. Leaves one attempt to the
// adapter.

import { addUsage, defined, isJsonObject, parseJson } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type { ModelError, ModelRefused, RequestError } from "../errors.ts"
import {
  type CallPiece,
  type InferOptions,
  type OutputForm,
  type Prompt,
  type Reply,
  withOutputDescribed
} from "../model.ts"
import type { Failure, Failures } from "./failure.ts"

/** What bounds a request of any kind, with its retries. */
export interface CallLimits {
  readonly timeoutMs: number
  readonly idleMs: number
  readonly maxReplyBytes: number
  readonly retries: number
  readonly backoffMs: number
  readonly parkAfterMs: number
}

export interface BreakerOptions {
  /** Failures in a row, with no success between them, that open the circuit. */
  readonly failures: number
  /** Failures further apart than this do not belong together. */
  readonly windowMs: number
  /** How long an open circuit withholds calls before it lets one try; it doubles with every try that fails, up to the maximum. */
  readonly coolDownMs: number
  readonly coolDownMaxMs: number
  /** How long a try may hear nothing before another one is let through. */
  readonly probeMs: number
}

/** The largest delay that a timer takes; anything longer would end at once. */
export const LONGEST_TIMER_MILLIS = 2_147_483_647

const timer = (millis: number): number => Math.min(millis, LONGEST_TIMER_MILLIS)

export const callLimitsOf = (options: Partial<CallLimits>, timeoutMs: number, maxReplyBytes: number): CallLimits => ({
  timeoutMs: timer(options.timeoutMs ?? timeoutMs),
  idleMs: timer(options.idleMs ?? 30_000),
  maxReplyBytes: options.maxReplyBytes ?? maxReplyBytes,
  retries: options.retries ?? 2,
  backoffMs: options.backoffMs ?? 500,
  parkAfterMs: options.parkAfterMs ?? 10_000
})

export const breakerOptionsOf = (breaker: Partial<BreakerOptions> = {}): BreakerOptions => ({
  failures: breaker.failures ?? 5,
  windowMs: breaker.windowMs ?? 60_000,
  coolDownMs: breaker.coolDownMs ?? 1_000,
  coolDownMaxMs: breaker.coolDownMaxMs ?? 30_000,
  probeMs: breaker.probeMs ?? 30_000
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

const backoff = ({ backoffMs, retries }: CallLimits) =>
  Schedule.min([Schedule.exponential(Duration.millis(backoffMs)), Schedule.spaced(LONGEST_BACKOFF)]).pipe(
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
    const asked = failure.retryAfterMs ?? 0
    const left = until - now
    if (asked > limits.parkAfterMs || (asked > 0 && asked >= left)) {
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

// Breaker: keeps calls away from a server that does not answer.
// B1  CLOSED lets everything pass; so many failures in a row within the window OPEN it.
// B2  OPEN withholds without a request until it has cooled down, which takes longer each time up to a limit, and begins anew
//     with a success.
// B3  HALF-OPEN lets one call try: its success closes the circuit, its failure opens it again, and a call that was
//     given up frees the place. A try that hears nothing for a while lets another one try beside it.
// B4  Calls that were admitted before the circuit opened change nothing when they end, nor does the failure of a try while
//     a later one is under way.
// B5  A sign of life from elsewhere ends the cooling down.

/** What was admitted; given back with the outcome. */
export interface Ticket {
  readonly circuit: number
  /** Counts the tries of a circuit from 1; 0 for a call that was let through a closed one. */
  readonly probe: number
}

export type Admission = { readonly ticket: Ticket } | { readonly retryAfterMs: number }

interface Open {
  readonly until: number
  /** When the try under way was admitted. */
  readonly probingSince?: number
}

export class Breaker {
  readonly #options: BreakerOptions
  /** When each failure of the present row happened, in milliseconds since the epoch. */
  #row: ReadonlyArray<number> = []
  #open: Open | undefined
  /** Times that it has opened since the last success. */
  #opened = 0
  /** Grows with every change between CLOSED and OPEN, so that tickets of an earlier circuit are known. */
  #circuit = 0
  #probe = 0

  constructor(options: BreakerOptions) {
    this.#options = options
  }

  state(now: number): "closed" | "open" | "half-open" {
    if (this.#open === undefined) return "closed"
    return now < this.#open.until ? "open" : "half-open"
  }

  /** How long a call would be withheld; 0 when it would be admitted. */
  withheldMillis(now: number): number {
    if (this.#open === undefined) return 0
    const { probingSince, until } = this.#open
    if (now < until) return until - now
    return probingSince === undefined ? 0 : Math.max(0, probingSince + this.#options.probeMs - now)
  }

  admit(now: number): Admission {
    if (this.#open === undefined) return { ticket: { circuit: this.#circuit, probe: 0 } }
    const retryAfterMs = this.withheldMillis(now)
    if (retryAfterMs > 0) return { retryAfterMs }
    this.#open = { ...this.#open, probingSince: now }
    return { ticket: { circuit: this.#circuit, probe: ++this.#probe } }
  }

  succeeded(ticket: Ticket): void {
    if (ticket.circuit !== this.#circuit) return
    this.#row = []
    if (ticket.probe === 0) return
    this.#opened = 0
    this.#change(undefined)
  }

  failed(ticket: Ticket, now: number): void {
    if (ticket.circuit !== this.#circuit) return
    if (ticket.probe > 0) {
      if (ticket.probe === this.#probe) this.#cool(now)
      return
    }
    this.#row = [...this.#row.filter((at) => at > now - this.#options.windowMs), now]
    if (this.#row.length >= this.#options.failures) this.#cool(now)
  }

  /** The call was given up: nothing is known of the server. */
  abandoned(ticket: Ticket): void {
    if (ticket.circuit !== this.#circuit || ticket.probe !== this.#probe || this.#open === undefined) return
    this.#open = { until: this.#open.until }
  }

  /** The server was heard to answer elsewhere: a call may try at once. */
  tryNow(now: number): void {
    if (this.#open !== undefined) this.#open = { ...this.#open, until: Math.min(this.#open.until, now) }
  }

  #cool(now: number): void {
    const { coolDownMaxMs, coolDownMs } = this.#options
    const millis = Math.min(Math.max(coolDownMs, coolDownMaxMs), coolDownMs * 2 ** this.#opened++)
    this.#change({ until: now + millis })
  }

  #change(open: Open | undefined): void {
    this.#open = open
    this.#row = []
    this.#circuit++
    this.#probe = 0
  }
}

interface Admitting {
  readonly breaker: Breaker
  readonly failures: Failures
}

/** An attempt as the breaker lets it pass; how it ended is noted, also when it was interrupted. */
export const throughBreaker = <A, R>(
  { breaker, failures }: Admitting,
  clock: Clock.Clock,
  attempt: Effect.Effect<A, Failure, R>
): Effect.Effect<A, Failure, R> =>
  Effect.suspend(() => {
    const admission = breaker.admit(clock.currentTimeMillisUnsafe())
    if (!("ticket" in admission)) return Effect.fail(failures.withheld(admission.retryAfterMs))
    const { ticket } = admission
    return Effect.onExit(attempt, (exit) =>
      Effect.sync(() => {
        if (exit._tag === "Success") return breaker.succeeded(ticket)
        const failure = exit.cause.reasons.find((reason) => reason._tag === "Fail")?.error
        if (failure === undefined) breaker.abandoned(ticket)
        else if (failure.unhealthy) breaker.failed(ticket, clock.currentTimeMillisUnsafe())
        else breaker.succeeded(ticket)
      })
    )
  })

// Preview: what the attempts at one reply show of it.
// Owns dropping what an attempt has shown that is not the reply. Leaves reading pieces to the adapters.
// W1  Before an attempt shows anything, what earlier ones have shown was dropped; where the listener can not drop, only the first
//     attempt that shows anything is shown.
// W2  An attempt that another one has followed shows nothing more.
// W3  Where no one looks on, there is no preview.

export class Preview {
  /** True where someone looks on. */
  readonly isHeard: boolean
  readonly #to: InferOptions
  #attempt = 0
  #isShown = false
  #isMuted = false

  constructor(to: InferOptions = {}) {
    this.#to = to
    this.isHeard = to.onText !== undefined || to.onReasoning !== undefined || to.onCall !== undefined
  }

  /** What a new attempt shows its pieces to; undefined where no one looks on. */
  attempt(): InferOptions | undefined {
    if (!this.isHeard) return undefined
    this.#drop()
    const attempt = ++this.#attempt
    const { onCall, onDropped, onReasoning, onText } = this.#to
    const passing =
      <A>(take: (piece: A) => void) =>
      (piece: A) => {
        if (attempt !== this.#attempt || this.#isMuted) return
        this.#isShown = true
        take(piece)
      }
    return defined({
      onText: onText === undefined ? undefined : passing(onText),
      onReasoning: onReasoning === undefined ? undefined : passing(onReasoning),
      onCall: onCall === undefined ? undefined : passing(onCall),
      onDropped: onDropped === undefined ? undefined : () => (attempt === this.#attempt ? this.#drop() : undefined)
    })
  }

  #drop(): void {
    if (!this.#isShown) return
    if (this.#to.onDropped === undefined) {
      this.#isMuted = true
      return
    }
    this.#isShown = false
    this.#to.onDropped()
  }
}

/** How pieces are made fit to be shown. */
interface Cleaning {
  readonly kept: (text: string) => string
  /** What we call the tool that a model names so. */
  readonly toolOf: (name: string) => string
}

/** The same listener, to whom every piece is fit to be shown; what is no piece is not passed on. */
export const cleaned = (to: InferOptions | undefined, { kept, toolOf }: Cleaning): InferOptions | undefined => {
  if (to === undefined) return undefined
  const { onCall, onReasoning, onText, ...others } = to
  const passing = (take: (text: string) => void) => (text: string) => {
    if (typeof text === "string" && text !== "") take(kept(text))
  }
  return {
    ...others,
    ...defined({
      onText: onText === undefined ? undefined : passing(onText),
      onReasoning: onReasoning === undefined ? undefined : passing(onReasoning),
      onCall:
        onCall === undefined
          ? undefined
          : (piece: CallPiece) => {
              const { arguments: args, call, tool } = piece
              if (typeof tool !== "string" || typeof args !== "string" || !Number.isInteger(call)) return
              onCall({ call, tool: toolOf(kept(tool)), arguments: kept(args) })
            }
    })
  }
}

// Form: how a provider is asked for an answer of a form.
// G1  One that refuses a request with a form is asked once more within the same deadline, with the form in words. Where it
//     answers then, it was the form that it refused: this schema where it says so, else every one. It is not sent again.
// G2  One that passes the form over (`isDescribed` is found out meanwhile) is asked in words for what is no object yet.

/** Which forms are said in words only: all of them, or those that were refused. */
export interface Forms {
  isDescribed: boolean
  readonly refused: WeakSet<OutputForm>
}

const ofSchema = /invalid schema/i

/** Asks with the form of the prompt where it is sent, and in words elsewhere. */
export const askedForForm = (
  prompt: Prompt,
  forms: Forms,
  ask: (prompt: Prompt, isDescribed: boolean) => Effect.Effect<Reply, ModelError>
): Effect.Effect<Reply, ModelError> => {
  const { output } = prompt
  if (output === undefined) return ask(prompt, forms.isDescribed)
  const inWords = Effect.suspend(() => ask(withOutputDescribed(prompt), true))
  if (forms.isDescribed || forms.refused.has(output)) return inWords
  const noted = ({ message }: ModelRefused) =>
    Effect.sync(() => {
      if (ofSchema.test(message)) forms.refused.add(output)
      else forms.isDescribed = true
    })
  return ask(prompt, false).pipe(
    Effect.flatMap((reply) =>
      forms.isDescribed && isNoObject(reply) ? insteadOf(reply, inWords) : Effect.succeed(reply)
    ),
    Effect.catchTag("ModelRefused", (refused) =>
      refused.kind !== "bad-request"
        ? Effect.fail(refused)
        : inWords.pipe(
            Effect.tap(() => noted(refused)),
            Effect.mapError((error) => (error._tag === "ModelRefused" ? refused : error))
          )
    )
  )
}

const isNoObject = ({ calls, text }: Reply): boolean => {
  const parsed = parseJson(text)
  return calls.length === 0 && !(Result.isSuccess(parsed) && isJsonObject(parsed.success))
}

/** The second reply at the price of both; the first one is worth more than a failure. */
const insteadOf = (first: Reply, second: Effect.Effect<Reply, ModelError>): Effect.Effect<Reply, ModelError> =>
  second.pipe(
    Effect.map((reply) => ({ ...reply, usage: addUsage(first.usage, reply.usage) })),
    Effect.orElseSucceed(() => first)
  )
