// Stored: what stands in a row as text, and how it becomes a value again, whatever database keeps the row.
// Owns JSON text, its version and the raising of older versions. Leaves the columns beside it to the stores.
// T1  What was written comes back equal, NUL and lone surrogates included: JSON escapes both, no database sees them.
// T2  Reading never throws: a newer version, broken text or a value that does not fit is one sentence.
// T3  An older version is raised step by step to the present one, every time it is read; rows are not rewritten for it.

import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { OpenJob, OpenTimer } from "../command.ts"
import { type Address, isJsonObject, type Json } from "../json.ts"
import {
  type AcceptedEnvelope,
  type Cursors,
  Envelope,
  ENVELOPE_VERSION,
  type UnreadableEnvelope
} from "../mail/envelope.ts"
import type { Lane } from "../mail/event.ts"
import { type Entry, ENTRY_VERSION } from "./entry.ts"

// State: what the store keeps of an assistant between two commits, and the lease to change it.
// I1  `version` is the number of the last commit: each commit raises it by one.
// I2  A claim writes only while its epoch is the highest ever granted for the assistant.

export const STATE_VERSION = 1

/** The control state of one assistant. Stays small whatever the assistant has lived through. */
export interface AssistantState {
  readonly v: typeof STATE_VERSION
  /** The persisted snapshot of the statechart. */
  readonly snapshot: Json
  readonly jobs: ReadonlyArray<OpenJob>
  readonly timers: ReadonlyArray<OpenTimer>
  /** Lanes that the present machine state listens to. */
  readonly receives: ReadonlyArray<Lane>
  /** The path of the present machine state, e.g. `awake.thinking.inferring`. */
  readonly status: string
  /** The definition the assistant was created from. */
  readonly definition: string
}

export interface Claim {
  readonly address: Address
  readonly worker: string
  readonly epoch: number
  /** Milliseconds since the epoch; after it another worker may claim. */
  readonly leaseUntil: number
}

/** What a granted claim hands over. */
export interface Hold {
  readonly claim: Claim
  readonly state: AssistantState
  readonly version: number
  readonly cursors: Cursors
  /**
   * Claims in a row that the work at hand has had, this one included. What a commit leaves open began under the claim of that
   * commit, which counts as the first; a release in good order begins the count anew.
   */
  readonly attempts: number
  /** What a holder noted that did not let go in good order (`Mailbox.note`); nothing was committed since. */
  readonly note?: string
}

/** What waits in a mailbox for the lanes asked for, control before reply before mail, each in order. */
export type Pending = ReadonlyArray<AcceptedEnvelope | UnreadableEnvelope>

type JsonObject = { readonly [key: string]: Json }

/** From each version the way to the next. */
export type Upcasts = Readonly<Record<number, (older: JsonObject) => JsonObject>>

const parse = (text: string): Result.Result<unknown, string> => {
  try {
    return Result.succeed(JSON.parse(text))
  } catch (error) {
    // SyntaxError is the only thing that JSON.parse throws.
    return Result.fail(`broken JSON: ${(error as SyntaxError).message}`)
  }
}

/** Reads objects that carry their version as `v`. */
export const versioned =
  (version: number, upcasts: Upcasts = {}) =>
  (text: string): Result.Result<JsonObject, string> =>
    Result.flatMap(parse(text), (value) => {
      if (!isJsonObject(value) || typeof value["v"] !== "number") return Result.fail("it has no version")
      let found = value["v"]
      if (found > version) {
        return Result.fail(`it was written by a newer Reverie (version ${found}, this one reads up to ${version})`)
      }
      let record: JsonObject = value
      for (; found < version; found++) {
        const raise = upcasts[found]
        if (raise === undefined) return Result.fail(`nothing reads version ${found} any more`)
        record = { ...raise(record), v: found + 1 }
      }
      return Result.succeed(record)
    })

const stateRecord = versioned(STATE_VERSION)
const entryRecord = versioned(ENTRY_VERSION)
const envelopeRecord = versioned(ENVELOPE_VERSION)
// Limits of length are for the door: an envelope that was let in is not turned out when a limit is lowered.
const decodeEnvelope = Schema.decodeUnknownResult(Envelope, { disableChecks: true })

// States and entries are written by commits only, so their version vouches for their shape. Envelopes come from outside.
export const readState = stateRecord as unknown as (text: string) => Result.Result<AssistantState, string>

/** What `entryText` wrote. */
export const readEntry = (text: string): Result.Result<Entry, string> =>
  Result.map(entryRecord(text), (record) => wholeRecord(record) as unknown as Entry)

export const readEnvelope = (text: string): Result.Result<Envelope, string> =>
  Result.flatMap(envelopeRecord(text), (record) => Result.mapError(decodeEnvelope(record), (error) => error.message))

/** Any text as a key that a database compares byte by byte. */
export const keyText = (text: string): string => JSON.stringify(text)

export const readKeyText = (key: string): string => {
  const value = Result.getOrElse(parse(key), () => key)
  return typeof value === "string" ? value : key
}

// Packed: the part of an entry that says the same fields with every model call, written without their names.
// Owns the fields that are known and the two ways. Leaves the rest of the row to stored.ts: every reader sees whole entries.
// K1  What was packed comes back equal, whatever stands in its place: what has no known form is written as it is.
// K2  Reading never throws.

/** The names that an object may have, at most 30 and none that every object has, and of what form their values are. */
interface Form {
  readonly names: ReadonlyArray<string>
  readonly of?: Readonly<Record<string, Form>>
  /** It is a list of such objects. */
  readonly isList?: true
}

const USAGE: Form = {
  names: ["inputTokens", "cachedInputTokens", "outputTokens", "reasoningTokens", "source"]
}

const SPENT: Form = {
  isList: true,
  names: [
    "model",
    "calls",
    "inputTokens",
    "cachedTokens",
    "outputTokens",
    "reasoningTokens",
    "costMicros",
    "unpricedCalls"
  ]
}

const REPORT: Form = {
  names: [
    "context",
    "parts",
    "toolTokens",
    "tokens",
    "limit",
    "share",
    "absent",
    "leftOut",
    "cuts",
    "marks",
    "interrupted"
  ],
  of: {
    parts: { isList: true, names: ["id", "key", "messages", "tokens"] },
    absent: { isList: true, names: ["key", "reason"] },
    leftOut: { isList: true, names: ["reason", "messages", "tokens"] }
  }
}

const PATTERN: Form = {
  names: [
    "mode",
    "max_iterations",
    "allowed_categories",
    "terminal_ends_loop",
    "dangerous_requires_confirm",
    "multi_tool_enabled",
    "sub_agents_enabled",
    "source_layers",
    "context_signals"
  ],
  of: {
    source_layers: {
      names: [
        "mode",
        "max_iterations",
        "multi_tool_enabled",
        "sub_agents_enabled",
        "allowed_categories",
        "dangerous_requires_confirm",
        "terminal_ends_loop",
        "event_class"
      ]
    },
    context_signals: {
      names: ["token_pressure", "recent_errors", "pre_compaction", "event_class", "goal_urgency"]
    }
  }
}

/** Stands before what is a list by itself. */
const AS_IT_IS = -1

const packed = (value: Json, form: Form): Json =>
  form.isList === true
    ? Array.isArray(value)
      ? value.map((each: Json) => packedOne(each, form))
      : value
    : packedOne(value, form)

/** A number that says which names there are, then their values. */
const packedOne = (value: Json, { names, of = {} }: Form): Json => {
  if (Array.isArray(value)) return [AS_IT_IS, value]
  if (!isJsonObject(value)) return value
  const row: Array<Json> = [0]
  let present = 0
  for (let at = 0; at < names.length; at++) {
    const name = names[at] ?? ""
    const said = value[name]
    if (said === undefined) continue
    present |= 1 << at
    const form = of[name]
    row.push(form === undefined ? said : packed(said, form))
  }
  let said = 0
  for (const name in value) if (value[name] !== undefined) said++
  if (said !== row.length - 1) return value
  row[0] = present
  return row
}

const unpacked = (value: Json, form: Form): Json =>
  form.isList === true
    ? Array.isArray(value)
      ? value.map((each: Json) => unpackedOne(each, form))
      : value
    : unpackedOne(value, form)

const unpackedOne = (value: Json, { names, of = {} }: Form): Json => {
  if (!Array.isArray(value)) return value
  const [present, ...said] = value as ReadonlyArray<Json>
  if (present === AS_IT_IS) return said[0] ?? null
  if (typeof present !== "number") return value
  const object: Record<string, Json> = {}
  let next = 0
  for (let at = 0; at < names.length; at++) {
    if ((present & (1 << at)) === 0) continue
    const name = names[at] ?? ""
    const form = of[name]
    const each = said[next++] ?? null
    object[name] = form === undefined ? each : unpacked(each, form)
  }
  return object
}

type Change = typeof packed

/** Of a step what has a known form; nothing else of an entry is looked at. */
const changed = (step: { readonly [key: string]: Json }, change: Change): { readonly [key: string]: Json } => {
  const { detail, spent, usage } = step
  const after: Record<string, Json> = { ...step }
  if (usage !== undefined) after["usage"] = change(usage, USAGE)
  if (spent !== undefined) after["spent"] = change(spent, SPENT)
  if (detail === undefined || !isJsonObject(detail)) return after
  const { context, pattern } = detail
  if (context === undefined && pattern === undefined) return after
  const told: Record<string, Json> = { ...(detail as { readonly [key: string]: Json }) }
  if (context !== undefined) told["context"] = change(context, REPORT)
  if (pattern !== undefined) told["pattern"] = change(pattern, PATTERN)
  after["detail"] = told
  return after
}

/** An entry as text, for a row. */
export const entryText = (entry: Entry): string =>
  JSON.stringify(
    entry.step === undefined
      ? entry
      : { ...entry, step: changed(entry.step as unknown as { readonly [key: string]: Json }, packed) }
  )

/** The record of a row, whole again; one of another version is left as it is. */
export const wholeRecord = (record: { readonly [key: string]: Json }): { readonly [key: string]: Json } => {
  const { step, v } = record
  return v !== ENTRY_VERSION || step === undefined || !isJsonObject(step)
    ? record
    : { ...record, step: changed(step, unpacked) }
}
