// Attempt: one request, from its body to a whole answer or a failure.
// Owns the joining of client, exchange, reading and breaker. Leaves trying again to `retry.ts`, and what is read of an
// answer to `answer.ts` and `openai-embedder.ts`.
// I1  Interrupting it closes the connection.
// I2  The breaker is told the end of every attempt that it admitted, also of one that was interrupted.

import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Ending } from "./wire/answer.ts"
import type { Breaker } from "./breaker.ts"
import type { Post } from "./client.ts"
import { type Agents, type BodyReader, Exchange, type Outcome } from "./wire/exchange.ts"
import type { Failure, Failures, HeaderReader, Problem } from "./failure.ts"
import type { CallLimits } from "./options.ts"

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
