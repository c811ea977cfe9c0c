// Thrown: what code that is not ours has thrown, as a failure of the closed list.
// Owns reading errors of whatever kind, of clients of HTTP APIs, of the AI SDK, of fetch, of any other code, and the values
// that such code gives. Leaves what a status means to `@reverie/model/wire`.
// T1  Nothing of an error makes reading it throw.
// T2  Only what waiting may mend is an outage: a bug of the code is broken, and said to be.

import { isModelError, isOutage, type ModelError } from "@reverie/model"
import type { Failure, Failures } from "@reverie/model/wire"
import { type Json, parseJson } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

export type Fields = { readonly [key: string]: unknown }

export const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {}

export const textIn = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

/** What JSON keeps of it; undefined where that is nothing. */
export const jsonOf = (given: unknown): Json | undefined => {
  try {
    return Result.getOrUndefined(parseJson(JSON.stringify(given) ?? ""))
  } catch {
    return undefined
  }
}

/** Arguments as text, so that they are read as any others; for what is no JSON the model gets an error that says so. */
export const argumentsText = (given: unknown): Json => {
  if (typeof given === "string") return given
  if (given === undefined || given === null) return ""
  try {
    return JSON.stringify(given) ?? typeof given
  } catch {
    return typeof given
  }
}

/** A header of whatever the error carries: a Headers object, or names with texts. */
const headerIn =
  (headers: unknown) =>
  (name: string): string | undefined => {
    const get = fieldsOf(headers)["get"]
    const found: unknown =
      typeof get === "function" ? (get as (name: string) => unknown).call(headers, name) : undefined
    return textIn(found) ?? textIn(fieldsOf(headers)[name])
  }

const statusIn = (fields: Fields): number | undefined => {
  const found = [fields["status"], fields["statusCode"], fieldsOf(fields["response"])["status"]]
  return found.find((each): each is number => typeof each === "number" && Number.isInteger(each))
}

/** Errors by their names, as far as they speak of the request or of its set-up: ours of a missing package, those of the AI SDK. */
const known: Readonly<Record<string, "denied" | "refused" | "unreadable">> = {
  PackageMissing: "denied",
  AI_LoadAPIKeyError: "denied",
  AI_LoadSettingError: "denied",
  AI_NoSuchModelError: "denied",
  AI_InvalidPromptError: "refused",
  AI_InvalidArgumentError: "refused",
  AI_UnsupportedFunctionalityError: "refused",
  AI_JSONParseError: "unreadable",
  AI_TypeValidationError: "unreadable",
  AI_InvalidResponseDataError: "unreadable",
  AI_EmptyResponseBodyError: "unreadable",
  AI_NoContentGeneratedError: "unreadable"
}

const bugs: ReadonlySet<string> = new Set(["TypeError", "ReferenceError", "RangeError"])

/** What code that is not ours has done wrong, in words: waiting would not mend it. */
export interface Broken {
  readonly broken: string
}

export const isBroken = (value: unknown): value is Broken => typeof fieldsOf(value)["broken"] === "string"

const refusedBy = (status: number, fields: Fields, message: string, failures: Failures, now: number): Failure => {
  const body = textIn(fields["responseBody"])
  const parsed = Result.getOrElse(parseJson(body ?? ""), () => null)
  const inner = fieldsOf(fieldsOf(fields["data"])["error"] ?? fields["error"] ?? fieldsOf(parsed)["error"])
  const headers = fields["responseHeaders"] ?? fields["headers"] ?? fieldsOf(fields["response"])["headers"]
  return failures.answered(
    {
      status,
      message: textIn(inner["message"]) ?? message,
      code: fields["code"] ?? inner["code"],
      type: fields["type"] ?? inner["type"],
      isOfApi: body === undefined || body.trimStart().startsWith("{")
    },
    headerIn(headers),
    now
  )
}

const classified = (thrown: unknown, failures: Failures, now: number): Effect.Effect<Broken, Failure> => {
  const fields = fieldsOf(thrown)
  const name = textIn(fields["name"]) ?? ""
  const message = textIn(fields["message"]) ?? String(thrown)
  if (typeof fields["_tag"] === "string" && isModelError(fields as { readonly _tag: string })) {
    const error = thrown as Exclude<ModelError, { readonly _tag: "ReplyUnusable" | "CallLimited" | "CallOverLimit" }>
    return Effect.fail({ error, again: false, unhealthy: isOutage(error) })
  }
  const status = statusIn(fields)
  if (status !== undefined && (status < 200 || status > 299)) {
    return Effect.fail(refusedBy(status, fields, message, failures, now))
  }
  switch (known[name]) {
    case "denied":
      return Effect.fail({ error: failures.denied(message, 401), again: false, unhealthy: false })
    case "refused":
      return Effect.fail(failures.answered({ status: 400, message }, () => undefined, now))
    case "unreadable":
      return Effect.fail(failures.unavailable("malformed", message))
    case undefined:
      break
  }
  if (status !== undefined || name === "SyntaxError") return Effect.fail(failures.unavailable("not-json", message))
  if (name === "AbortError" || name === "TimeoutError") return Effect.fail(failures.unavailable("timeout", message))
  // A fetch that could not be made throws a TypeError too, and says why in its cause.
  if (bugs.has(name) && fields["cause"] === undefined) return Effect.succeed({ broken: `it threw ${name}: ${message}` })
  return Effect.fail(failures.unavailable("network", message))
}

const read = (thrown: unknown, failures: Failures, now: number): Effect.Effect<Broken, Failure> => {
  try {
    return classified(thrown, failures, now)
  } catch {
    return Effect.fail(failures.unavailable("network", "it threw what can not be read"))
  }
}

/** The attempt as a promise, whatever it does; `signal` is aborted when it is waited for no longer. */
export const promised = <A>(
  failures: Failures,
  attempt: (signal: AbortSignal) => A | Promise<A>
): Effect.Effect<A | Broken, Failure> =>
  // What was thrown is classified at once.
  // @effect-diagnostics-next-line unknownInEffectCatch:off
  Effect.tryPromise({ try: async (signal) => attempt(signal), catch: (thrown) => thrown }).pipe(
    Effect.catch((thrown) => Effect.flatMap(Clock.currentTimeMillis, (now) => read(thrown, failures, now)))
  )
