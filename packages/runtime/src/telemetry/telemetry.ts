// Telemetry: what spans may say of content.
// Owns the request and the way a text is made fit for a span. Leaves which texts there are to the code that has them.
// C1  Without the request no prompt, no argument, no result and no reply stands in a span.
// C2  With it a text is cut to length, and known secrets and what looks like one are taken out before the cut.

import * as Context from "effect/Context"
import type * as Tracer from "effect/Tracer"

export interface ContentRequest {
  /** Most characters of one text, UTF-16 units. */
  readonly maxChars: number
  /** Texts that are taken out wherever they stand. */
  readonly secrets: ReadonlyArray<string>
}

/** By default spans say nothing of content. */
export const Telemetry = Context.Reference<{ readonly content?: ContentRequest }>("@reverie/runtime/Telemetry", {
  defaultValue: () => ({})
})

/** Shorter ones are placeholders such as `none`, and ordinary words. */
const SHORTEST_SECRET = 8

/** How much is looked through for one character that is kept. */
const LOOKED_AT = 4

const REDACTED = "[redacted]"

/** Keys and tokens as providers form them, and passwords in URLs. */
const looksSecret: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(?:sk|pk|rk|ghp|gho|ghs|xox[abp]|glpat)[-_][\w-]{12,}/g, REDACTED],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${REDACTED}`],
  [/([a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@]{0,256}:)[^\s/@]{1,256}@/gi, `$1${REDACTED}@`],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g, REDACTED],
  [/("?(?:api[_-]?key|password|passwd|secret|token)"?\s*[:=]\s*"?)[^\s",;}]{4,}/gi, `$1${REDACTED}`]
]

/** A text as a span may have it. */
export const fitForSpan = (text: string, { maxChars, secrets }: ContentRequest): string => {
  let fit = text
  for (const secret of secrets) if (secret.length >= SHORTEST_SECRET) fit = fit.replaceAll(secret, REDACTED)
  // What the cut goes through may be the half of a secret.
  if (fit.length > maxChars * LOOKED_AT) fit = fit.slice(0, maxChars * LOOKED_AT).replace(/\S{1,256}$/, "")
  for (const [pattern, instead] of looksSecret) fit = fit.replace(pattern, instead)
  return fit.length <= maxChars ? fit : `${fit.slice(0, maxChars).toWellFormed()}…`
}

// OpenTrace: what a session remembers of the trace of its turn. Owns the three facts. Leaves spans to spans.ts.

export interface TurnTrace {
  /** Of the turn at hand; undefined between two, and without a tracer. */
  span: Tracer.Span | undefined
  /** The trace that came with the tick in hand, or with the wake-up that woke. */
  carried: string | undefined
  /** When the turn at hand began; undefined between two. */
  startedAt: number | undefined
}

export const openTrace = (carried: string | undefined): TurnTrace => ({
  span: undefined,
  carried,
  startedAt: undefined
})
