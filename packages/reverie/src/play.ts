// Play: sends a written course of events to a fleet.
// Owns the order. Leaves acceptance to the fleet.
// P1  Letters are accepted in the order of the script, each once, however often it is played.
// P2  Mail is sent without waiting. What is heard in between (an approval, a report, an order) is sent when the fleet
//     has come to rest on everything before it: only then is there something to approve, to report on, to halt.

import { type Event, isJsonObject, type Json, laneOf, parseJson, type TenantId } from "@reverie/protocol"
import * as Result from "effect/Result"
import type { Fleet } from "./fleet.ts"
import { envelopeOf, type Letter } from "./letter.ts"
import type { FleetDefinition } from "./fleet-options.ts"

// Script: a written course of events, one JSON object a line.
// S1  Reading never throws: each line is either a letter or a problem with its number.
// S2  Fields that are not known are passed over, so that a line may carry notes of its own.
// S3  What is said is lived at the `at` of its line: memory dates it by that, and not by when it was played.
//
// {"id", "to"?, "from"?, "at"?, "text", "image"?}  a message; an image stands as its caption behind the text.
// {"id", "to"?, "from"?, "event": {...}}           any other event.
// Without `to` the default assistant of the fleet is meant. `at` is when it was said, an ISO time (UTC where it names no
// zone) or milliseconds since the epoch, and now when left out.

/** One event of a script. */
export interface ScriptLine {
  /** The number of its line, from 1. */
  readonly line: number
  /** The id under which it is sent: playing the script again sends nothing twice. */
  readonly id: string
  /** The id of the assistant. */
  readonly to: string
  /** Who sends it. */
  readonly from: string
  /** What is sent. */
  readonly event: Event
}

/** A line of a script that can not be sent. */
export interface ScriptProblem {
  /** The number of the line, from 1. */
  readonly line: number
  /** `unknown-assistant`: the fleet has none of that id. */
  readonly kind: "malformed" | "unknown-assistant"
  /** What is wrong, in a sentence. */
  readonly message: string
}

export interface Script {
  /** The events that can be sent, in their order. */
  readonly letters: ReadonlyArray<ScriptLine>
  /** The lines that can not be sent. */
  readonly problems: ReadonlyArray<ScriptProblem>
}

type Fields = { readonly [key: string]: unknown }

const missing = Symbol("missing")

/** The text of a field, `missing`, or the sentence of why it is none. */
const textField = (fields: Fields, name: string): string | typeof missing | { readonly problem: string } => {
  const value = fields[name]
  if (value === undefined || value === null) return missing
  return typeof value === "string" ? value : { problem: `"${name}" is no text` }
}

/** When something was said, in milliseconds since the epoch; undefined for now. */
const timeField = (fields: Fields): number | undefined | { readonly problem: string } => {
  const { at } = fields
  if (at === undefined || at === null) return undefined
  const isText = typeof at === "string" && /^\d{4}-\d{2}-\d{2}/.test(at)
  const hasZone = isText && (at.length === 10 || /(?:Z|[+-]\d{2}:?\d{2})$/i.test(at))
  const millis = isText ? Date.parse(hasZone ? at : `${at}Z`) : at
  return typeof millis === "number" && Number.isSafeInteger(millis)
    ? millis
    : { problem: `"at" is no time, such as 2026-05-21T06:03:00Z or milliseconds since 1970: ${JSON.stringify(at)}` }
}

/** A message that tells no time of its own was said at that of its line. */
const dated = (event: unknown, at: number | undefined): unknown =>
  at === undefined || !isJsonObject(event as Json) || Reflect.get(event as object, "type") !== "message"
    ? event
    : { at, ...(event as object) }

const eventOf = (fields: Fields): { readonly event: unknown } | { readonly problem: string } => {
  const text = textField(fields, "text")
  const image = textField(fields, "image")
  const at = timeField(fields)
  if (typeof text === "object") return text
  if (typeof image === "object") return image
  if (typeof at === "object") return at
  if (fields["event"] !== undefined) {
    return text === missing ? { event: dated(fields["event"], at) } : { problem: `it has both a "text" and an "event"` }
  }
  if (text === missing) return { problem: `it has neither a "text" nor an "event"` }
  return { event: dated({ type: "message", text: image === missing ? text : `${text}\n[image: ${image}]` }, at) }
}

const letterOf = (fields: Fields, line: number, fleet: FleetDefinition): ScriptLine | ScriptProblem => {
  const malformed = (message: string): ScriptProblem => ({ line, kind: "malformed", message })
  const id = textField(fields, "id")
  const to = textField(fields, "to")
  const from = textField(fields, "from")
  if (id === missing) return malformed(`it has no "id"`)
  if (typeof id === "object") return malformed(id.problem)
  if (typeof to === "object") return malformed(to.problem)
  if (typeof from === "object") return malformed(from.problem)
  const event = eventOf(fields)
  if ("problem" in event) return malformed(event.problem)
  const letter = {
    id,
    to: to === missing ? fleet.defaultAssistant : to,
    from: from === missing ? "user" : from,
    event: event.event
  }
  const problem = letterProblem(letter)
  if (problem !== undefined) return malformed(problem)
  if (!fleet.assistants.some((assistant) => assistant.id === letter.to)) {
    return { line, kind: "unknown-assistant", message: `there is no assistant "${letter.to}"` }
  }
  return { line, ...letter, event: letter.event as Event }
}

const readLine = (text: string, line: number, fleet: FleetDefinition): ScriptLine | ScriptProblem => {
  const parsed = parseJson(text)
  if (Result.isFailure(parsed)) return { line, kind: "malformed", message: parsed.failure }
  if (!isJsonObject(parsed.success)) return { line, kind: "malformed", message: "it is no JSON object" }
  return letterOf(parsed.success, line, fleet)
}

/** Reads a script for a fleet. Empty lines are passed over. */
export const readScript = (text: string, fleet: FleetDefinition): Script => {
  const letters: Array<ScriptLine> = []
  const problems: Array<ScriptProblem> = []
  for (const [index, line] of text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .entries()) {
    if (line.trim() === "") continue
    const read = readLine(line, index + 1, fleet)
    if ("kind" in read) problems.push(read)
    else letters.push(read)
  }
  return { letters, problems }
}

/** How many letters are on their way at once: their acceptance shares fsyncs. */
const IN_FLIGHT = 256

/** How much of a script was accepted. */
export interface Played {
  /** Events that are in a mailbox now. */
  readonly accepted: number
  /** Events that had been accepted before. */
  readonly duplicates: number
}

export interface PlayOptions {
  /** Ends playing between two letters, also while it waits for rest, with what has been played so far. */
  readonly signal?: AbortSignal
}

/** Letters in groups that may be sent together: mail as long as it lasts, anything else alone. */
const groupsOf = function* (letters: ReadonlyArray<ScriptLine>): Generator<ReadonlyArray<ScriptLine>> {
  let mail: Array<ScriptLine> = []
  for (const letter of letters) {
    const alone = !isMail(letter)
    if (alone || mail.length === IN_FLIGHT) {
      if (mail.length > 0) yield mail
      mail = []
    }
    if (alone) yield [letter]
    else mail.push(letter)
  }
  if (mail.length > 0) yield mail
}

const restOf = async (fleet: Fleet, signal: AbortSignal | undefined): Promise<void> => {
  if (signal === undefined) return fleet.idle()
  const aborted = Promise.withResolvers<void>()
  const abort = (): void => aborted.resolve()
  signal.addEventListener("abort", abort)
  if (signal.aborted) abort()
  const rest = fleet.idle()
  // When the playing was ended, no one waits for this any more.
  rest.catch(() => {})
  await Promise.race([rest, aborted.promise]).finally(() => signal.removeEventListener("abort", abort))
}

/** Sends a script to a fleet, in its order, each event once however often it is played. */
export const play = async (
  fleet: Fleet,
  letters: ReadonlyArray<ScriptLine>,
  options: PlayOptions = {}
): Promise<Played> => {
  let accepted = 0
  let duplicates = 0
  for (const group of groupsOf(letters)) {
    const [first] = group
    if (first !== undefined && !isMail(first)) await restOf(fleet, options.signal)
    if (options.signal?.aborted === true) break
    const receipts = await Promise.all(group.map(({ event, from, id, to }) => fleet.post(to, event, { id, from })))
    for (const { outcome } of receipts) {
      if (outcome === "accepted") accepted++
      else duplicates++
    }
  }
  return { accepted, duplicates }
}

/** What is wrong with a letter, in one sentence; undefined when nothing is. */
export const letterProblem = (letter: Omit<Letter, "tenant">): string | undefined => {
  const envelope = envelopeOf({ ...letter, tenant: "default" as TenantId })
  return Result.isFailure(envelope) ? envelope.failure.message : undefined
}

/** True when the event waits its turn until the assistant rests, false when it is heard in between: an approval, a report. */
export const isMail = (letter: Omit<Letter, "tenant">): boolean => {
  const envelope = envelopeOf({ ...letter, tenant: "default" as TenantId })
  return Result.isSuccess(envelope) && laneOf(envelope.success.event) === "mail"
}
