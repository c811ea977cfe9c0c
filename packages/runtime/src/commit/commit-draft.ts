// CommitDraft: what one commit is going to write, as a value, and what comes with a machine event.
// Owns the shapes. Leaves making the first draft, and what is added to it, to turn.ts.

import type {
  Cause,
  Entry,
  Envelope,
  HookRecord,
  Json,
  Message,
  OpenTimer,
  RecordChange,
  Settlement,
  StepRecord
} from "@reverie/protocol"

type Written =
  | "no"
  | "cause"
  | "event"
  | "status"
  | "messages"
  | "step"
  | "hooks"
  | "settled"
  | "tickEnd"
  | "emitted"
  | "records"
  | "sends"

export interface CommitDraft extends Pick<Entry, Written> {
  /** The timers that are open after it. */
  readonly timers: ReadonlyArray<OpenTimer>
}

/** What comes with a machine event: the text and facts that the event itself does not carry. */
export interface TurnInput {
  readonly cause: Cause
  readonly event: Json
  /** Messages without their token count. */
  readonly messages: ReadonlyArray<UncountedMessage>
  readonly step?: StepRecord
  /** What hooks did. */
  readonly hooks?: ReadonlyArray<HookRecord>
  readonly sends?: ReadonlyArray<Envelope>
  readonly records?: ReadonlyArray<RecordChange>
  /** Told to screens and callers, besides what the decision emits. */
  readonly emitted?: NonNullable<Entry["emitted"]>
  /** What an answer comes to that must have a form. */
  readonly judged?: JudgedAnswer
  /** The text of a report, for the call it answers. */
  readonly report?: string
  /** How the envelope of the cause ends, when it starts no tick. */
  readonly settled?: Settlement
}

/**
 * What an answer comes to: its JSON, or what does not fit, or why a hook refused it; and what the model reads of that where it may
 * try again.
 */
export type JudgedAnswer =
  | { readonly output: Json }
  | { readonly issues: ReadonlyArray<string>; readonly rejected: string | undefined }
  | { readonly refusal: string; readonly rejected: string | undefined }

export type UncountedMessage = Omit<Message, "tokens">
