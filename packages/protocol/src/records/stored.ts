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
import { packedStep, wholeStep } from "./packed.ts"
import { packedState, wholeOfPacked } from "./packed-state.ts"

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

/** Of a text with a state that is packed. A state that has no known form is written whole, under its own version. */
const PACKED_VERSION = 2

const stateRecord = versioned(PACKED_VERSION, { 1: (whole) => ({ whole }) })
const entryRecord = versioned(ENTRY_VERSION)
const envelopeRecord = versioned(ENVELOPE_VERSION)
// Limits of length are for the door: an envelope that was let in is not turned out when a limit is lowered.
const decodeEnvelope = Schema.decodeUnknownResult(Envelope, { disableChecks: true })

// States and entries are written by commits only, so their version vouches for their shape. Envelopes come from outside.
/** What `stateText` wrote. */
export const readState = (text: string): Result.Result<AssistantState, string> =>
  Result.flatMap(stateRecord(text), (record) => {
    const state = record["whole"] ?? wholeState(record)
    return state === record
      ? Result.fail("it is packed in no known form")
      : Result.succeed(state as unknown as AssistantState)
  })

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

/** An entry as text, for a row. */
export const entryText = (entry: Entry): string =>
  JSON.stringify(entry.step === undefined ? entry : { ...entry, step: packedStep(entry.step as unknown as JsonObject) })

/** The record of a row, whole again; one of another version is left as it is. */
export const wholeRecord = (record: JsonObject): JsonObject => {
  const { step, v } = record
  return v !== ENTRY_VERSION || step === undefined || !isJsonObject(step)
    ? record
    : { ...record, step: wholeStep(step) }
}

/** A state as text, for a row. */
export const stateText = (state: AssistantState): string => {
  const { v, ...said } = state
  const is = v === STATE_VERSION ? packedState(said as unknown as JsonObject) : undefined
  return JSON.stringify(Array.isArray(is) ? { v: PACKED_VERSION, is } : state)
}

/** What `stateText` was given, of what stands in its text; anything else is left as it is. */
export const wholeState = (value: Json): Json => {
  if (!isJsonObject(value) || value["v"] !== PACKED_VERSION) return value
  const said = wholeOfPacked(value["is"])
  return said === undefined ? value : { v: STATE_VERSION, ...said }
}
