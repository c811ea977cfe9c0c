// Compaction: one compaction of the history, made and taken back.
// Owns the record of it, where the history begins after it, and the changes that one commit makes of both. Leaves what is
// compacted to `split.ts`, the summary to `summary.ts`, and the commit to the runtime.
// K1  Messages are never changed: a compaction moves the place from which they are shown, and puts a marker before it.
// K2  Record, new beginning and journal entry come with one commit (F55), or none of them does.
// K3  What stood before is in the record: taking a compaction back, with those after it, brings it back exactly.
// K4  Ids are `compact_YYYYMMDD_HHMMSS` by UTC, with a suffix where one is taken (A38).
// K5  A compaction that would not make the history shorter does not happen.
// K6  Afterwards the conversation is AIM_MARGIN under the threshold that triggered the compaction, or the record says why it
//     is not (F113). What could not be brought down holds the triggers back until there is that much more of it.

import { addEntry, type Journal, journalChanges, type Moment } from "@reverie/assistant"
import { defined, isBefore, type MessagePlace, type PlacedMessage, type RecordChange } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import type { CountMessage } from "../layout/component.ts"
import { accountOf, endsOf } from "./account.ts"
import { AIM_MARGIN, aimOf, type CompactionConfig } from "./config.ts"
import { between, type CompactionDraft, pendingCompactionChange, tokensOf } from "./draft.ts"
import { markerOf, maxSummaryChars, type OpenApproval } from "./marker.ts"
import { Compaction, type Extraction, HistoryStart } from "./record.ts"
import { skip, type Skipped } from "./split.ts"

export const isCompaction = Schema.is(Compaction)
const isHistoryStart = Schema.is(HistoryStart)

/** Under this key of the kind `state`. */
export const HISTORY_START_KEY = "history-start"

/** Where the history begins; undefined when nothing is compacted. */
export const historyStartOf = (stateRecords: ReadonlyMap<string, unknown>): HistoryStart | undefined => {
  const kept = stateRecords.get(HISTORY_START_KEY)
  return isHistoryStart(kept) ? kept : undefined
}

const startChange = (start: HistoryStart | null): RecordChange => ({
  kind: "state",
  key: HISTORY_START_KEY,
  value: start
})

const compactionChange = (compaction: Compaction): RecordChange => ({
  kind: "compaction",
  key: compaction.id,
  value: compaction
})

const numbered = (now: number, number: number): string => {
  const [date = "", time = ""] = new Date(now).toISOString().slice(0, 19).replace(/[-:]/g, "").split("T")
  return `compact_${date}_${time}${number === 1 ? "" : `_${number}`}`
}

/** The first ids of compactions made at a time: `compact_20251206_171500`, then with a number behind it. */
export const compactionIds = (now: number, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => numbered(now, index + 1))

/** The first of them that is not taken. */
export const compactionId = (now: number, taken: (id: string) => boolean): string => {
  let number = 1
  while (taken(numbered(now, number))) number++
  return numbered(now, number)
}

/** What stands for a summary where none was asked for. */
const UNREAD = "Earlier messages were moved away without a summary."

// Hold: what keeps the triggers of a compaction from the history.
// H1  An undo holds the history as it is until a person releases it or orders a compaction, or the window overflows: then
//     the compaction that follows says so in its record.
// H2  What a compaction could not bring down is a floor: no trigger is met again before the conversation has grown by
//     AIM_MARGIN of the window.

/** An undo that holds the history. */
export const HistoryHold = Schema.Struct({
  /** The compaction that was taken back. */
  compaction: Schema.String,
  /** When. */
  at: Schema.Finite
})
export type HistoryHold = typeof HistoryHold.Type

const isHistoryHold = Schema.is(HistoryHold)

const HOLD_KEY = "history-hold"
const FLOOR_KEY = "history-floor"
/** Where none of these stands among the records, nothing holds the history. */
export const historyHoldKeys = [HOLD_KEY, FLOOR_KEY] as const

/** The undo that holds the history; undefined where none does. */
export const historyHoldOf = (stateRecords: ReadonlyMap<string, unknown>): HistoryHold | undefined => {
  const kept = stateRecords.get(HOLD_KEY)
  return isHistoryHold(kept) ? kept : undefined
}

/** Null: nothing holds it any more. */
export const historyHoldChange = (hold: HistoryHold | null): RecordChange => ({
  kind: "state",
  key: HOLD_KEY,
  value: hold
})

/** Tokens that no compaction could bring down; null where one can. */
export const historyFloorChange = (tokens: number | null): RecordChange => ({
  kind: "state",
  key: FLOOR_KEY,
  value: tokens
})

/** Tokens of the conversation, with what stands beside it, and how many it may have. */
export interface Fill {
  readonly tokens: number
  readonly maxContextTokens: number
  /** Tokens that the conversation has room for before the oldest of it is left out of prompts. */
  readonly room: number
}

/** True while no trigger may bring a compaction about. */
export const isHistoryHeld = (stateRecords: ReadonlyMap<string, unknown>, fill: Fill): boolean => {
  if (historyHoldOf(stateRecords) !== undefined) return fill.tokens <= fill.room
  const floor = stateRecords.get(FLOOR_KEY)
  return typeof floor === "number" && fill.tokens < floor + AIM_MARGIN * fill.maxContextTokens
}

export interface CompactInput {
  readonly draft: CompactionDraft
  /** Every message that is shown now, from where the history begins on. */
  readonly history: ReadonlyArray<PlacedMessage>
  readonly start: HistoryStart | undefined
  readonly extraction?: Extraction | undefined
  readonly config: Pick<CompactionConfig, "compactModel" | "compactPreserveWindow" | "strategy">
  /** The undo that held the history until now. */
  readonly hold?: HistoryHold | undefined
  /** Tokens of what stands beside the messages from a place on. */
  readonly besideFrom?: ((place: MessagePlace) => number) | undefined
  readonly approvals: ReadonlyArray<OpenApproval>
  readonly canRead: boolean
  readonly journal: Journal
  readonly moment: Moment
  /** True for ids of compactions that were made before. */
  readonly taken: (id: string) => boolean
  readonly maxContextTokens: number
  readonly priced: CountMessage
}

export interface Compacted {
  readonly skipped: false
  readonly compaction: Compaction
  readonly start: HistoryStart
  readonly changes: ReadonlyArray<RecordChange>
}

/** The last step: everything that the replacing commit writes. */
export const compact = (input: CompactInput): Compacted | Skipped => {
  const { draft, history, start, journal, moment } = input
  const compacted = between(history, draft.from, draft.to)
  const preserved = history.slice(compacted.length)
  const account = accountOf(start?.account, compacted, preserved)
  const [first, last] = [compacted[0], compacted.at(-1)]
  // A draft of another history compacts nothing of this one.
  if (account === undefined || first === undefined || last === undefined || history[0] !== first)
    return skip("one-piece")
  const id = compactionId(moment.now, (each) => input.taken(each) || journal.entries.has(each))
  const summary = endsOf(draft.summary === "" ? UNREAD : draft.summary, maxSummaryChars(input.maxContextTokens))
  const range = { from: first.place, to: last.place, since: first.message.at, until: last.message.at }
  const marker = markerIn(input, { compaction: id, summary, count: compacted.length, account, ...range })
  const before = {
    messages: history.length + (start === undefined ? 0 : 1),
    tokens: tokensOf(history) + (start?.marker.tokens ?? 0),
    start: start ?? null
  }
  const after = { messages: preserved.length + 1, tokens: tokensOf(preserved) + marker.tokens, from: draft.keep }
  if (after.tokens >= before.tokens) return skip("no-shorter")
  const { config, extraction } = input
  const above = aboveAim(input, preserved, after.tokens)
  const compaction: Compaction = {
    id,
    at: moment.now,
    trigger: draft.trigger,
    strategy: config.strategy.type,
    threshold: draft.threshold,
    ratio: draft.ratio,
    model: config.compactModel,
    pieces: draft.pieces,
    extraction: extraction ?? null,
    range,
    compacted_count: compacted.length,
    preserved_count: preserved.length,
    before,
    after,
    summary,
    marker,
    journal_entry: id,
    ...defined({
      aim: draft.trigger === "order" ? undefined : aimOf(draft.threshold),
      above_aim: above?.reason,
      ended_hold: input.hold === undefined ? undefined : { ...input.hold, reason: endOfHold(draft) }
    })
  }
  const next: HistoryStart = { compaction: id, from: draft.keep, marker, summary, account }
  return {
    skipped: false,
    compaction,
    start: next,
    changes: [
      compactionChange(compaction),
      startChange(next),
      pendingCompactionChange(null),
      historyHoldChange(null),
      historyFloorChange(above?.tokens ?? null),
      ...archived(input, id, summary)
    ]
  }
}

const percent = (share: number): string => `${Math.round(share * 100)}%`

/** Why the conversation takes more of the window than was aimed at; undefined where it does not. */
const aboveAim = (
  { besideFrom, config, draft, maxContextTokens }: CompactInput,
  preserved: ReadonlyArray<PlacedMessage>,
  tokensAfter: number
): { readonly reason: string; readonly tokens: number } | undefined => {
  const aim = aimOf(draft.threshold)
  const tokens = tokensAfter + (besideFrom?.(draft.keep) ?? 0)
  if (draft.trigger === "order" || tokens <= aim * maxContextTokens) return undefined
  const window = config.compactPreserveWindow
  const why =
    preserved.length <= window
      ? `the ${preserved.length} newest messages stay, as compactPreserveWindow says`
      : `${preserved.length} messages stay, more than the ${window} of compactPreserveWindow, so that no call loses its result`
  const kept = percent((tokens - tokensAfter + tokensOf(preserved)) / maxContextTokens)
  const share = percent(tokens / maxContextTokens)
  return {
    tokens,
    reason: `${why}: they take ${kept} of the window, ${share} with the marker; the aim is ${percent(aim)}`
  }
}

const endOfHold = ({ ratio, trigger }: CompactionDraft): string =>
  trigger === "order"
    ? "a person ordered a compaction"
    : `the window overflowed: the conversation took ${percent(ratio)} of it, more than a prompt has room for`

type Known = Pick<
  Parameters<typeof markerOf>[0],
  "compaction" | "summary" | "count" | "account" | "from" | "to" | "since" | "until"
>

const markerIn = (input: CompactInput, known: Known): HistoryStart["marker"] => {
  const { approvals, canRead, config, draft, maxContextTokens, moment, priced } = input
  return markerOf({
    ...known,
    trigger: draft.trigger,
    strategy: config.strategy.type,
    approvals,
    canRead,
    now: moment.now,
    maxContextTokens,
    priced
  })
}

const SYNTHESIS_HEAD = "[CONTEXT SYNTHESIS]"
const SYNTHESIS_IMPORTANCE = 7

/** The summary as the journal keeps it (F55). */
const archived = ({ journal, moment }: CompactInput, id: string, summary: string): ReadonlyArray<RecordChange> =>
  journalChanges(
    journal,
    addEntry(
      journal,
      {
        id,
        content: `${SYNTHESIS_HEAD}\n${summary}`,
        source_type: "compaction",
        importance: SYNTHESIS_IMPORTANCE,
        importance_method: "heuristic",
        tags: ["compaction", "synthesis"]
      },
      moment
    ).state
  )

// Undo: a compaction taken back.
// U1  The history begins where it began before the compaction, with the marker that stood there, if any.
// U2  Compactions that were made on top of it are taken back with it; earlier ones stand.
// U3  Nothing is deleted: each is marked, its journal entry stays, and what it compacted is shown again.
// U4  What was brought back stays: the history is held (H1).

interface UndoneCompaction {
  readonly success: true
  /** Where the history begins now; null at its very beginning. */
  readonly start: HistoryStart | null
  /** Ids of the compactions that were taken back, the newest first. */
  readonly undone: ReadonlyArray<string>
  readonly changes: ReadonlyArray<RecordChange>
}

interface CompactionNotUndone {
  readonly success: false
  readonly error: string
}

/** Those that hold, the oldest first: each begins where the one before it ends. */
export const standing = (compactions: ReadonlyArray<Compaction>): ReadonlyArray<Compaction> =>
  compactions
    .filter(({ undone_at }) => undone_at === undefined)
    .toSorted((a, b) => (isBefore(a.range.to, b.range.to) ? -1 : 1))

export const undoCompaction = (
  compactions: ReadonlyArray<Compaction>,
  id: string,
  now: number
): UndoneCompaction | CompactionNotUndone => {
  const held = standing(compactions)
  const at = held.findIndex((compaction) => compaction.id === id)
  const wanted = held[at]
  if (wanted === undefined) {
    const isKnown = compactions.some((compaction) => compaction.id === id)
    return { success: false, error: isKnown ? `${id} has been taken back before` : `there is no compaction ${id}` }
  }
  const fallen = held.slice(at).toReversed()
  return {
    success: true,
    start: wanted.before.start,
    undone: fallen.map((compaction) => compaction.id),
    changes: [
      startChange(wanted.before.start),
      historyHoldChange({ compaction: id, at: now }),
      ...fallen.map((compaction) => compactionChange({ ...compaction, undone_at: now }))
    ]
  }
}
