// Attempt: one request, from its body to a whole answer or a failure.
// Owns the joining of client, exchange, reading and breaker. Leaves trying again to `@reverie/model/wire`, and what is read of an
// answer to `answer.ts` and `openai-embedder.ts`.
// I1  Interrupting it closes the connection.
// I2  The breaker learns the end of every attempt that it admitted, also of one that was interrupted.

import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Ending } from "./wire/answer.ts"
import type { Post } from "./client.ts"
import { type Agents, type BodyReader, Exchange, type Outcome } from "./wire/exchange.ts"
import {
  type Breaker,
  type CallLimits,
  type Failure,
  type Failures,
  type HeaderReader,
  type Problem,
  throughBreaker
} from "@reverie/model/wire"

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
  timeoutMs: number,
  read: () => Reading<A>,
  { agents, failures, limits }: AttemptContext<Body>,
  clock: Clock.Clock
): Effect.Effect<A, Failure> =>
  Effect.callback((resume) => {
    const reading = read()
    const bounds = { timeoutMs, idleMs: limits.idleMs, maxReplyBytes: limits.maxReplyBytes }
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
  const post = yield* context.post
  const clock = yield* Clock.Clock
  const timeoutMs = Math.max(until - clock.currentTimeMillisUnsafe(), 1)
  return yield* throughBreaker(context, clock, carryOut(post, body, timeoutMs, read, context, clock))
})
