// Entry: one line of the ledger, written by one commit.
// Owns its shape. The ledger is the outbox: notices are a pure projection of entries (notice.ts).
// I1  Deciding on `event` over the snapshot before gives the snapshot after, byte for byte.
// I2  An effect's result stands in the entry that first uses it, never in a later one.
// I3  History is the concatenation of `messages` in the order of entries.

import type { Envelope, Message, Usage } from "../mail/envelope.ts"
import type { Lane } from "../mail/event.ts"
import type { ContentPart } from "../mail/part.ts"
import { type EnvelopeId, isJsonObject, type Json } from "../json.ts"
import type { RecordChange } from "./record.ts"

export const ENTRY_VERSION = 1

/** How handling an envelope ended. */
export type EnvelopeOutcome = "handled" | "ignored" | "dead"

/** The end of one envelope's way. A mail envelope settles when its tick ends, any other when it is handled. */
export interface Settlement {
  readonly id: EnvelopeId
  readonly outcome: EnvelopeOutcome
  readonly reason?: string
}

/** What made this commit happen. An envelope or dead-lettering moves the cursor of its lane to `seq`. */
export type Cause =
  | { readonly kind: "creation" }
  | { readonly kind: "envelope"; readonly lane: Lane; readonly seq: number; readonly id: EnvelopeId }
  | { readonly kind: "job"; readonly id: string }
  | { readonly kind: "timer"; readonly name: string }
  | { readonly kind: "dead-letter"; readonly lane: Lane; readonly seq: number; readonly id: EnvelopeId }

/** A model that was asked before the one that answered, and why it did not. */
export interface EarlierModel {
  readonly model: string
  /** Absent where it is not known. */
  readonly server?: string
  /** In one line. */
  readonly reason: string
}

/** The models that a record of a call names so; none where it names none. */
export const earlierModels = (value: Json | undefined): ReadonlyArray<EarlierModel> =>
  Array.isArray(value) ? value.flatMap((each) => (isEarlier(each) ? [each] : [])) : []

const isEarlier = (value: unknown): value is EarlierModel =>
  isJsonObject(value) &&
  typeof value["model"] === "string" &&
  typeof value["reason"] === "string" &&
  ["string", "undefined"].includes(typeof value["server"])

/** What some model calls took together. */
export interface Used {
  readonly calls: number
  /** Those from the provider's cache among them. */
  readonly inputTokens: number
  readonly cachedTokens: number
  /** Those of reasoning among them. */
  readonly outputTokens: number
  readonly reasoningTokens: number
  /** Of the calls that have a price, in millionths of the currency. */
  readonly costMicros: number
  /** Calls whose price no one knows. */
  readonly unpricedCalls: number
}

/** What the calls of one model took in one step. */
export interface ModelUse extends Used {
  readonly model: string
}

/** One recorded effect. Its text stands in `messages` of the same entry, not here again. */
export interface StepRecord {
  /** The job id: the idempotency key under which the effect ran. */
  readonly id: string
  readonly kind: "infer" | "tool" | "assess" | "dream" | "compact" | "coordinate" | "child"
  readonly name: string
  readonly ok: boolean
  readonly elapsedMs: number
  readonly usage?: Usage
  /** What its model calls took, by model, and what that cost at the prices of this moment; `usage` is their sum. */
  readonly spent?: ReadonlyArray<ModelUse>
  /** Facts worth keeping that are no message: model, finish reason, error tag, skipped reason. */
  readonly detail?: { readonly [key: string]: Json }
}

/** Where a function of the user may stand as a guardrail. */
export const hookNames = ["onMessage", "beforeModel", "afterModel", "beforeTool", "afterTool"] as const
/** The name of such a place. */
export type HookName = (typeof hookNames)[number]

/** Messages of a prompt that a hook replaced: so many from this place of the assembled prompt on, by these. */
export interface PromptEdit {
  /** The place in the assembled prompt, from 0 on. */
  readonly at: number
  /** How many messages are taken away there. */
  readonly drop: number
  /** What stands there instead. */
  readonly add: ReadonlyArray<Pick<Message, "role" | "content" | "name" | "parts" | "calls" | "call">>
}

/** What a hook did. One that let everything be leaves none. */
export interface HookRecord {
  /** The place of the hook, e.g. `beforeTool`. */
  readonly hook: HookName
  /** failed: it threw, gave no answer in its time, or returned what it may not; what it guards was refused with that. */
  readonly did: "changed" | "refused" | "asked" | "failed"
  /** Whose it is: `the fleet`, or `assistant "desk"`. */
  readonly of: string
  /** Why it refused, asked or failed. */
  readonly reason?: string
  /** The tool call it is about. */
  readonly call?: string
  /** The name of that tool. */
  readonly tool?: string
  /** What stood there before it changed or refused it: a text, arguments, or text and calls. */
  readonly before?: Json
  /** Of a prompt: what it replaced, in the order of the places. */
  readonly edits?: ReadonlyArray<PromptEdit>
}

/**
 * How ticks end. `cut`: what it had to spend was used up before it was done. `misshapen`: its answer has another form than it
 * must. `refused`: a hook let none of its answers pass. `stopped`: a person ended it.
 */
export const tickOutcomes = [
  "answered",
  "terminal",
  "max-iterations",
  "cut",
  "misshapen",
  "refused",
  "stopped",
  "failed",
  "slept",
  "noted"
] as const
export type TickOutcome = (typeof tickOutcomes)[number]

export interface TickEnd {
  readonly envelope: EnvelopeId
  readonly outcome: TickOutcome
  readonly iterations: number
  /** What the assistant said to the one who sent the envelope; empty when it said nothing. */
  readonly reply: string
  /** The reply as JSON, where it has the form that it must have. */
  readonly output?: Json
  /** What of the reply does not fit, where it has another one. */
  readonly misfit?: string
  /** Why a hook let no answer pass. */
  readonly refusal?: string
  /** Images, files and audio of the reply. */
  readonly parts?: ReadonlyArray<ContentPart>
}

/** One line of the ledger: what a commit did. */
export interface Entry {
  /** The version of this form. */
  readonly v: typeof ENTRY_VERSION
  /** Equals the assistant's version after this commit. */
  readonly no: number
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The claim under which it was committed. */
  readonly epoch: number
  /** The tick in hand, or the last one. */
  readonly tick: number
  /** The model call of the tick, from 1 on; 0 before the first. */
  readonly iteration: number
  /** What began it: an envelope, a job that ended, a timer. */
  readonly cause: Cause
  /** The machine event, control data only. */
  readonly event: Json
  /** The machine state after. */
  readonly status: string
  /** What it adds to the history. */
  readonly messages: ReadonlyArray<Message>
  /** The effect that it records, where it records one. */
  readonly step?: StepRecord
  /** What hooks did before it, in their order. */
  readonly hooks?: ReadonlyArray<HookRecord>
  /** Envelopes whose way ended with this commit: the cause, the tick in hand, or both. */
  readonly settled?: ReadonlyArray<Settlement>
  /** How the tick ended, where this commit ends one. */
  readonly tickEnd?: TickEnd
  /** What the machine emitted for screens. */
  readonly emitted?: ReadonlyArray<{ readonly type: string; readonly [key: string]: Json }>
  /** Changes to what the assistant keeps, taking effect with this commit. */
  readonly records?: ReadonlyArray<RecordChange>
  /** Envelopes for other assistants, delivered by the relay after the commit. */
  readonly sends?: ReadonlyArray<Envelope>
  /** When a retention policy deleted what it said, in milliseconds since the epoch: its words are gone. */
  readonly deleted?: number
}
