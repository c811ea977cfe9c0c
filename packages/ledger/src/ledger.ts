// Ledger: the durable record of what assistants did, one entry a commit.
// Owns commits, history, the outbox. Leaves the decision what to write to the runtime, and claims to the mailbox.
// I1  A commit is all or nothing: entry, state, cursor, sends and dead letter appear together or not at all.
// I2  A commit under a stale epoch, or on another version than the last, writes nothing.
// I3  Entries of an assistant are numbered 1, 2, 3 ... without gap, in the order of their commits.
// I4  The outbox holds every entry once, in one order that never changes; an entry is in it as soon as its commit returned.
// I5  A send is open from the commit that wrote it until `settleSends`; the relay may deliver it twice, never not at all.
// I6  An assistant is created once; a second creation changes nothing.
// I7  Messages come back exactly as they were committed, newest last, each with its place.
// I8  A record is what the last commit that named it said; no one else's commit changes it.
// I9  A dead letter that was discarded is reported no more, for good; that it was dead-lettered, and why, stays in its entry, and it
//     stays counted among the dead.
// I10 Where many assistants are read together (`outbox`, `openSends`, `list`), what cannot be read of one is passed over and
//     said once: no one else's work stops for it. Where one is read, it is an error that names it.
// I11 A probe fails where nothing can be written, and leaves nothing behind where it can.
// I12 What model calls used is what `usageOf` finds in the entries: it is there as soon as their commit returned, once for each of
//     them, also after a move and when the assistant is retired.

import type {
  Address,
  AssistantId,
  AssistantState,
  Claim,
  Cursors,
  Entry,
  Envelope,
  EnvelopeId,
  MessagePlace,
  PlacedMessage,
  RecordKind,
  RecordRow,
  TenantId,
  Used
} from "@reverie/protocol"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Blobs } from "./blobs.ts"
import type { CommitFenced, LedgerUnavailable, UnreadableRecord } from "./errors.ts"

export interface CreationEntry {
  readonly address: Address
  readonly state: AssistantState
  readonly entry: Entry
}

export interface Commit {
  /** `entry.no` must be the present version plus one. */
  readonly entry: Entry
  readonly state: AssistantState
}

/** A line of the outbox. */
export interface OutboxRow {
  /** Its place among all commits of the store; grows, and may have gaps. */
  readonly seq: number
  /** The assistant that committed. */
  readonly address: Address
  /** What the commit did. */
  readonly entry: Entry
}

export interface OpenSend {
  readonly seq: number
  readonly envelope: Envelope
}

/** What is stored of one assistant. */
export interface AssistantRecord {
  /** Its tenant and its id. */
  readonly address: Address
  /** What its statechart, its jobs and its timers are. */
  readonly state: AssistantState
  /** Commits since its creation, the creation included. */
  readonly version: number
  /** The number of the highest claim ever granted. */
  readonly epoch: number
  /** How far each lane of its mailbox has been handled. */
  readonly cursors: Cursors
  /** Accepted envelopes beyond the cursors. */
  readonly waiting: number
}

/** An envelope that could not be handled, with the reason. */
export interface DeadLetter {
  /** The assistant that it was sent to. */
  readonly address: Address
  /** The id of the envelope. */
  readonly envelope: EnvelopeId
  /** Why it could not be handled, in a sentence. */
  readonly reason: string
  /** When it was discarded, in milliseconds since the epoch. */
  readonly at: number
}

export interface DeadLetterRequest {
  /** Only what was sent to assistants of this tenant. */
  readonly tenant?: TenantId
  readonly newestFirst?: boolean
}

/** Some of the records of the kinds that are asked for: what is kept of a long life is not read to use a little of it. */
export interface RecordFilter {
  /** Those under one of these keys only. */
  readonly keys?: ReadonlyArray<string>
  /** At most so many of each kind, no matter which. */
  readonly limit?: number
}

/** Counts of the whole store. */
export interface Totals {
  /** Envelopes accepted, settled by a tick or handling, and dead-lettered, over the whole store. */
  readonly accepted: number
  /** Handled, by a tick or without one. */
  readonly settled: number
  /** Dead letters that were discarded. */
  readonly dead: number
  /** How many of the dead-lettered ones were discarded: `dead - discarded` are still told. */
  readonly discarded: number
}

/** What use is summed by. */
export type UsageDimension = "tenant" | "assistant" | "hour" | "model" | "purpose"

export interface UsageQuery {
  readonly tenant?: TenantId
  readonly assistant?: AssistantId
  /** Hours of UTC since the epoch: from this one on, and before that one. */
  readonly from?: number
  readonly to?: number
  /** Of calls of this model; of calls for this purpose. */
  readonly model?: string
  readonly purpose?: string
  /** The greatest first: by cost, by tokens where that is the same, then by key. In the order of their keys when left out. */
  readonly order?: "greatest"
  /** One sum for each of what these come to; one of everything where there are none. */
  readonly by: ReadonlyArray<UsageDimension>
  /** The key of the last sum of the page before; of no use where the greatest come first. */
  readonly after?: UsageKey
  readonly limit: number
}

/** What a sum is of: a value of each dimension that was asked for, in that order. */
export type UsageKey = ReadonlyArray<string | number>

export interface UsageSum extends Used {
  readonly key: UsageKey
  /** The number of the newest entry in it; of use where it is of one assistant. */
  readonly lastNo: number
}

/** A page of the outbox ends with the entry in which it comes to so many characters, so that it fits into memory. */
export const MAX_PAGE_CHARS = 500_000

/** `already` when it was discarded before; `unknown` when no such letter of that assistant was ever dead-lettered. */
export type Discarded = "discarded" | "already" | "unknown"

export class Ledger extends Context.Service<
  Ledger,
  {
    readonly create: (creation: CreationEntry) => Effect.Effect<"created" | "exists", LedgerUnavailable>
    /** Durable when it returns; answers the entry's place in the outbox. */
    readonly commit: (claim: Claim, commit: Commit) => Effect.Effect<number, LedgerUnavailable | CommitFenced>
    /**
     * The newest messages, oldest first, whose tokens together stay within `maxTokens`, and in any case back to the newest
     * user message: the turn at hand is reported whole. Nothing before `since`, whatever it is, nor before what is in a segment that is
     * lost.
     */
    readonly recent: (
      address: Address,
      maxTokens: number,
      since?: MessagePlace
    ) => Effect.Effect<ReadonlyArray<PlacedMessage>, LedgerUnavailable | UnreadableRecord>
    /** Entries from number `from` on. */
    readonly entries: (
      address: Address,
      from: number,
      limit: number
    ) => Effect.Effect<ReadonlyArray<OutboxRow>, LedgerUnavailable | UnreadableRecord>
    /**
     * Entries of all assistants after outbox position `after`: at most `limit`, fewer where they are long, and none only
     * where there are none.
     */
    readonly outbox: (
      after: number,
      limit: number
    ) => Effect.Effect<ReadonlyArray<OutboxRow>, LedgerUnavailable | UnreadableRecord>
    /** The position of the newest entry that the outbox shows; 0 when it shows none. */
    readonly outboxEnd: Effect.Effect<number, LedgerUnavailable>
    /** What the assistant keeps, of the kinds asked for, by kind and key; all of it, or what the filter lets through. */
    readonly records: (
      address: Address,
      kinds: ReadonlyArray<RecordKind>,
      filter?: RecordFilter
    ) => Effect.Effect<ReadonlyArray<RecordRow>, LedgerUnavailable | UnreadableRecord>
    /** The oldest, at most `limit`, fewer where they are long. */
    readonly openSends: (limit: number) => Effect.Effect<ReadonlyArray<OpenSend>, LedgerUnavailable>
    readonly settleSends: (seqs: ReadonlyArray<number>) => Effect.Effect<void, LedgerUnavailable>
    readonly inspect: (
      address: Address
    ) => Effect.Effect<AssistantRecord | undefined, LedgerUnavailable | UnreadableRecord>
    /** Assistants in the order of their addresses, after the given one. */
    readonly list: (
      after: Address | undefined,
      limit: number
    ) => Effect.Effect<ReadonlyArray<AssistantRecord>, LedgerUnavailable | UnreadableRecord>
    /** Every assistant in the order of the addresses, after the given one, also one whose state cannot be read. */
    readonly addresses: (
      after: Address | undefined,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Address>, LedgerUnavailable>
    /** Those that no one has discarded, the oldest first, and of every tenant, when nothing else is wished. */
    readonly deadLetters: (
      limit: number,
      request?: DeadLetterRequest
    ) => Effect.Effect<ReadonlyArray<DeadLetter>, LedgerUnavailable>
    /** Takes a letter off the list of the dead, because someone has seen to it. Needs no claim; durable when it returns. */
    readonly discard: (address: Address, envelope: EnvelopeId) => Effect.Effect<Discarded, LedgerUnavailable>
    readonly totals: Effect.Effect<Totals, LedgerUnavailable>
    /** Sums of what model calls used, in one order in which `after` goes on. */
    readonly usage: (query: UsageQuery) => Effect.Effect<ReadonlyArray<UsageSum>, LedgerUnavailable>
    /** Writes something and takes it away in one transaction: fails where the store refuses to write, and leaves nothing. */
    readonly probe: Effect.Effect<void, LedgerUnavailable>
    /** The bytes that messages refer to; no commit writes them. */
    readonly blobs: Blobs
  }
>()("@reverie/ledger/Ledger") {}
