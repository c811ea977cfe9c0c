// Attempt: one request, from its body to a whole answer or a failure.
// Owns the joining of client, exchange, reading and breaker. Leaves trying again to `options.ts`, and what is read of an
// answer to `answer.ts` and `openai-embedder.ts`.
// I1  Interrupting it closes the connection.
// I2  The breaker learns the end of every attempt that it admitted, also of one that was interrupted.

import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Ending } from "./wire/answer.ts"
import type { Post } from "./client.ts"
import { type Agents, type BodyReader, Exchange, type Outcome } from "./wire/exchange.ts"
import type { Failure, Failures, HeaderReader, Problem } from "./failure.ts"
import type { BreakerOptions, CallLimits } from "./options.ts"

/** What one attempt makes of the body. */
export interface Reading<A> extends BodyReader {
  /** What was put together of it; whole when `conclude` finds no failure. */
  readonly assembly: A
  readonly conclude: (ending: Ending, header: HeaderReader, now: number) => Failure | undefined
}

export interface AttemptContext<Body> {
  readonly post: Effect.Effect<Post<Body>>
  readonly agents: Agents
  readonly breaker: Breaker
  readonly failures: Failures
  readonly limits: CallLimits
}

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null

/** What the client threw: a status that it refused to read on, or a request that it could not make. */
const refusal = (thrown: unknown, exchange: Exchange, failures: Failures, now: number): Failure => {
  const fields: { readonly [key: string]: unknown } = isObject(thrown) ? thrown : {}
  const { code, error, message, status, type } = fields
  if (typeof status !== "number") return failures.unavailable("network", String(message ?? thrown))
  const inner = isObject(error) && typeof error["message"] === "string" ? error["message"] : message
  const problem: Problem = { status, code, type, message: inner, isOfApi: isObject(error) }
  return failures.answered(problem, exchange.header, now)
}

const verdict = <A>(
  outcome: Outcome,
  reading: Reading<A>,
  exchange: Exchange,
  failures: Failures,
  now: number
): Effect.Effect<A, Failure> => {
  switch (outcome.kind) {
    case "body": {
      const failure = reading.conclude(outcome.ending, exchange.header, now)
      return failure === undefined ? Effect.succeed(reading.assembly) : Effect.fail(failure)
    }
    case "network":
      return Effect.fail(failures.unavailable("network", outcome.message))
    case "timeout":
      return Effect.fail(failures.unavailable("timeout", "no answer in time"))
    case "broken":
      return Effect.die(outcome.defect)
  }
}

const carryOut = <Body, A>(
  post: Post<Body>,
  body: Body,
  timeoutMillis: number,
  read: () => Reading<A>,
  { agents, failures, limits }: AttemptContext<Body>,
  clock: Clock.Clock
): Effect.Effect<A, Failure> =>
  Effect.callback((resume) => {
    const reading = read()
    const bounds = { timeoutMillis, idleMillis: limits.idleMillis, maxReplyBytes: limits.maxReplyBytes }
    const exchange = new Exchange(agents, bounds, reading, (outcome) =>
      resume(Effect.suspend(() => verdict(outcome, reading, exchange, failures, clock.currentTimeMillisUnsafe())))
    )
    post(body, exchange).then(
      () => exchange.read(),
      (thrown: unknown) => {
        resume(Effect.fail(refusal(thrown, exchange, failures, clock.currentTimeMillisUnsafe())))
        exchange.abort()
      }
    )
    return Effect.sync(() => exchange.abort())
  })

/** One attempt. `until` is milliseconds since the epoch. */
export const attempt = Effect.fnUntraced(function* <Body, A>(
  body: Body,
  until: number,
  read: () => Reading<A>,
  context: AttemptContext<Body>
) {
  const { breaker, failures } = context
  const post = yield* context.post
  const clock = yield* Clock.Clock
  const now = clock.currentTimeMillisUnsafe()
  const admission = breaker.admit(now)
  if (!("ticket" in admission)) {
    return yield* Effect.fail(failures.withheld(admission.retryAfterMillis))
  }
  const { ticket } = admission
  return yield* carryOut(post, body, Math.max(until - now, 1), read, context, clock).pipe(
    Effect.onExit((exit) =>
      Effect.sync(() => {
        if (exit._tag === "Success") return breaker.succeeded(ticket)
        const failure = exit.cause.reasons.find((reason) => reason._tag === "Fail")?.error
        if (failure === undefined) breaker.abandoned(ticket)
        else if (failure.unhealthy) breaker.failed(ticket, clock.currentTimeMillisUnsafe())
        else breaker.succeeded(ticket)
      })
    )
  )
})

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

export type Admission = { readonly ticket: Ticket } | { readonly retryAfterMillis: number }

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
    return probingSince === undefined ? 0 : Math.max(0, probingSince + this.#options.probeMillis - now)
  }

  admit(now: number): Admission {
    if (this.#open === undefined) return { ticket: { circuit: this.#circuit, probe: 0 } }
    const retryAfterMillis = this.withheldMillis(now)
    if (retryAfterMillis > 0) return { retryAfterMillis }
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
    this.#row = [...this.#row.filter((at) => at > now - this.#options.windowMillis), now]
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
    const { coolDownMaxMillis, coolDownMillis } = this.#options
    const millis = Math.min(Math.max(coolDownMillis, coolDownMaxMillis), coolDownMillis * 2 ** this.#opened++)
    this.#change({ until: now + millis })
  }

  #change(open: Open | undefined): void {
    this.#open = open
    this.#row = []
    this.#circuit++
    this.#probe = 0
  }
}
