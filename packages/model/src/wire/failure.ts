// Failure: why one attempt gave no answer, as the closed list of the model room says it.
// Owns the classification of statuses, error bodies and Retry-After. Leaves trying again to `trying.ts`.
// I1  Every status and every error body becomes exactly one RequestError.
// I2  A server that names a time is believed up to one day: no lie silences an assistant for ever.
// I3  A denial is the word of the API itself. A page where an API should be, and a redirect that says that it is for now,
//     are of whatever stands before a server that is away: waiting helps, and no one need act.

import { defined, isJsonObject, type Json } from "@reverie/protocol"
import {
  CallWithheld,
  ModelDenied,
  ModelParked,
  ModelRefused,
  ModelUnavailable,
  ReplyUnusable,
  type RequestError
} from "../errors.ts"

export interface Failure {
  readonly error: RequestError
  /** Whether the same request may succeed when it is sent again. */
  readonly again: boolean
  /** The server's own word on when to try again. */
  readonly retryAfterMs?: number
  /** Whether it speaks against the health of the server; a refusal does not. */
  readonly unhealthy: boolean
}

export type UnavailableKind = ModelUnavailable["kind"]

/** An error as a server words it. Every field is whatever the server sent. */
export interface Problem {
  readonly status?: number | undefined
  readonly message?: unknown
  readonly code?: unknown
  readonly type?: unknown
  /** False when the body was no error object of the API, but a page, or nothing. */
  readonly isOfApi?: boolean
}

export type HeaderReader = (name: string) => string | null | undefined

export interface Failures {
  /** `begun`: a model may have worked. */
  readonly unavailable: (kind: UnavailableKind, message: string, more?: { status?: number; begun?: boolean }) => Failure
  readonly parked: (retryAfterMs: number, status: number | undefined) => ModelParked
  readonly withheld: (retryAfterMs: number) => Failure
  readonly denied: (message: string, status: number) => ModelDenied
  readonly filtered: (message: string) => ModelRefused
  readonly unusable: (message: string) => ReplyUnusable
  readonly answered: (problem: Problem, header: HeaderReader, now: number) => Failure
}

const LONGEST_PARK_MILLIS = 86_400_000

const MAX_JUDGED_CHARS = 1_000

const tooLong = /context (length|window|size)|maximum context|too many (input )?tokens|prompt is too long/i

/** Milliseconds that the server asks to wait, or undefined when it names no time that can be understood. */
export const retryAfterMs = (header: HeaderReader, now: number): number | undefined => {
  const bounded = (millis: number): number => Math.min(Math.max(Math.ceil(millis), 0), LONGEST_PARK_MILLIS)
  const inMs = header("retry-after-ms")
  if (inMs && /^\d+(\.\d+)?$/.test(inMs)) return bounded(Number(inMs))
  const after = header("retry-after")
  if (!after) return undefined
  if (/^\d+(\.\d+)?$/.test(after)) return bounded(Number(after) * 1_000)
  const until = Date.parse(after)
  if (Number.isNaN(until)) return undefined
  // The server's own clock, when it tells it: the difference of two of its times is free of skew.
  const date = Date.parse(header("date") ?? "")
  return bounded(until - (Number.isNaN(date) ? now : date))
}

const statusOf = (problem: Problem): number | undefined => {
  if (problem.status !== undefined) return problem.status
  const code = Number(problem.code)
  if (Number.isInteger(code) && code >= 400 && code < 600) return code
  switch (problem.code) {
    case "invalid_api_key":
      return 401
    case "rate_limit_exceeded":
      return 429
    case "context_length_exceeded":
    case "content_filter":
      return 400
    default:
      return undefined
  }
}

/** Redirects that hold for now only. */
const passing: ReadonlySet<number> = new Set([302, 303, 307])

const isDenial = (status: number, isOfApi: boolean): boolean => {
  if (status >= 300 && status < 400) return !passing.has(status)
  return (status >= 401 && status <= 403) || ((status === 404 || status === 405) && isOfApi)
}

/** Statuses of a server that is not well, or of what stands before it. */
const isUnwell = (status: number): boolean =>
  status >= 500 || (status >= 300 && status < 400) || [404, 405, 408, 409, 425].includes(status)

const parkedBy =
  (provider: string): Failures["parked"] =>
  (millis, status) =>
    new ModelParked({
      provider,
      message: `asks to wait ${millis} ms`,
      retryAfterMs: millis,
      ...defined({ status })
    })

const withheldBy =
  (provider: string): Failures["withheld"] =>
  (millis) => {
    const message = `not asked: it has failed too often, and is tried again in ${millis} ms`
    const error = new CallWithheld({ provider, message, retryAfterMs: millis })
    return { error, again: false, unhealthy: false }
  }

export const makeFailures = (provider: string, scrub: Scrub): Failures => {
  const unavailable: Failures["unavailable"] = (kind, message, { begun = false, status } = {}) => ({
    error: new ModelUnavailable({
      provider,
      kind,
      message: scrub.shown(message),
      ...defined({ status, begun: begun ? begun : undefined })
    }),
    again: kind !== "too-large",
    unhealthy: kind !== "too-large"
  })
  const parked = parkedBy(provider)
  const denied = (message: string, status: number): ModelDenied =>
    new ModelDenied({ provider, message: scrub.shown(message), status })
  const final = (error: RequestError): Failure => ({ error, again: false, unhealthy: false })

  const refused = (kind: ModelRefused["kind"], message: string, status: number): Failure =>
    final(new ModelRefused({ provider, kind, message: scrub.shown(message), status }))

  const answered = (problem: Problem, header: HeaderReader, now: number): Failure => {
    const message = typeof problem.message === "string" ? problem.message : "an error without a message"
    const judged = message.slice(0, MAX_JUDGED_CHARS)
    const status = statusOf(problem)
    if (problem.code === "insufficient_quota" || problem.type === "insufficient_quota") {
      return final(denied(message, status ?? 429))
    }
    if (status === undefined) return unavailable("server-error", message)
    if (isDenial(status, problem.isOfApi !== false)) return final(denied(message, status))
    const wait = retryAfterMs(header, now)
    if (status === 429) {
      return wait === undefined
        ? unavailable("server-error", message, { status })
        : { error: parked(wait, status), again: true, retryAfterMs: wait, unhealthy: true }
    }
    if (isUnwell(status)) {
      const failure = unavailable("server-error", message, { status })
      return wait === undefined ? failure : { ...failure, retryAfterMs: wait }
    }
    if (status === 413 || problem.code === "context_length_exceeded" || tooLong.test(judged)) {
      return refused("too-long", message, status)
    }
    const filtered = problem.code === "content_filter" || problem.code === "content_policy_violation"
    return refused(filtered ? "filtered" : "bad-request", message, status)
  }

  return {
    unavailable,
    parked,
    withheld: withheldBy(provider),
    denied,
    filtered: (message) => new ModelRefused({ provider, kind: "filtered", message: scrub.shown(message) }),
    unusable: (message) => new ReplyUnusable({ provider, message: scrub.shown(message) }),
    answered
  }
}

// Scrub: what came from outside is made fit to be shown and kept.
// I1  No text that passes holds the key.
// I2  No text that passes holds NUL or half a surrogate pair; a shown text holds no control character at all.

/** Shorter keys are placeholders such as `none`, and ordinary words in a reply. */
const SHORTEST_SECRET = 12

const MAX_SHOWN_CHARS = 300

export interface Scrub {
  /** For errors and logs: one printable line, cut to length, without the key. */
  readonly shown: (text: string) => string
  /** For replies: as it was, without the key, NUL and half pairs. */
  readonly kept: (text: string) => string
  readonly keptJson: (value: Json) => Json
}

// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g

const holdsSecret = /auth|key|token|secret|cookie|credential|password/i

/** What headers hold that must not be shown; the name of a program in one of them is none of it. */
export const secretsOfHeaders = (headers: { readonly [name: string]: unknown } = {}): ReadonlyArray<string> =>
  Object.entries(headers).flatMap(([name, value]) =>
    typeof value === "string" && holdsSecret.test(name) ? [value.slice(value.lastIndexOf(" ") + 1)] : []
  )

export const makeScrub = (key: string, ...others: ReadonlyArray<string>): Scrub => {
  const secrets = [key, ...others].filter(({ length }) => length >= SHORTEST_SECRET)

  const kept = (text: string): string => {
    let clean = text.isWellFormed() ? text : text.toWellFormed()
    if (clean.includes("\u0000")) clean = clean.replaceAll("\u0000", "\ufffd")
    for (const secret of secrets) if (clean.includes(secret)) clean = clean.replaceAll(secret, "[redacted]")
    return clean
  }

  const keptJson = (value: Json): Json => {
    if (typeof value === "string") return kept(value)
    if (Array.isArray(value)) return value.map(keptJson)
    if (!isJsonObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [kept(name), keptJson(inner)]))
  }

  return {
    shown: (text) => {
      // The key goes before the cut, or a key across the cut would leave its first half.
      let safe = key === "" ? text : text.replaceAll(key, "[redacted]")
      for (const secret of secrets) safe = safe.replaceAll(secret, "[redacted]")
      return safe
        .slice(0, MAX_SHOWN_CHARS * 4)
        .toWellFormed()
        .replace(control, " ")
        .trim()
        .slice(0, MAX_SHOWN_CHARS)
    },
    kept,
    keptJson
  }
}
