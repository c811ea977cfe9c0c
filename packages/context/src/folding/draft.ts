// Draft: a folding that is under way, between two of its commits.
// Owns what is kept of it and how it goes on. Leaves asking the model to the runtime.
// D1  A draft changes nothing of the history; one that is dropped at any point leaves it as it was.
// D2  What is folded is settled when the draft is made, so that what is said meanwhile stays.
// D3  A step that is repeated after a crash reads the same piece.

import { isBefore, type MessagePlace, type PlacedMessage, type RecordChange } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import { Place } from "./account.ts"
import { type FoldingConfig, type FoldingTrigger, foldingTriggers } from "./config.ts"
import { Extraction } from "./extraction.ts"
import { between } from "./placed.ts"
import type { Split } from "./split.ts"
import { nextPiece, type PieceLimits } from "./summary.ts"

export const FoldingDraft = Schema.Struct({
  trigger: Schema.Literals(foldingTriggers),
  threshold: Schema.Finite,
  /** Share of the context window that the conversation had. */
  ratio: Schema.Finite,
  /** The first and the last message that are folded. */
  from: Place,
  to: Place,
  /** The first message that stays. */
  keep: Place,
  /** The first message that no call has read; null when all are read. */
  next: Schema.NullOr(Place),
  summary: Schema.String,
  /** Calls that have been made. */
  pieces: Schema.Int
})
export type FoldingDraft = typeof FoldingDraft.Type

/** What stands on the desk while a history is being folded. */
export const Folding = Schema.Struct({
  extraction: Schema.optionalKey(Extraction),
  draft: Schema.optionalKey(FoldingDraft)
})
export type Folding = typeof Folding.Type

const isFolding = Schema.is(Folding)

/** Under this key of the kind `desk`. */
export const FOLDING_KEY = "folding"

/** What is kept of the folding at hand; nothing when it can not be read. */
export const foldingOn = (desk: ReadonlyMap<string, unknown>): Folding => {
  const kept = desk.get(FOLDING_KEY)
  return isFolding(kept) ? kept : {}
}

/** Null: no folding is at hand any more. */
export const foldingChange = (folding: Folding | null): RecordChange => ({
  kind: "desk",
  key: FOLDING_KEY,
  value: folding
})

export interface DraftInput {
  readonly split: Split
  readonly trigger: FoldingTrigger
  readonly threshold: number
  readonly ratio: number
  /** The summary of what was folded before; empty when nothing was. */
  readonly earlier: string
  readonly strategy: FoldingConfig["strategy"]
}

/** The beginning of a folding; undefined when the split folds or keeps nothing. */
export const draftOf = ({
  earlier,
  ratio,
  split: { folded, preserved },
  strategy,
  threshold,
  trigger
}: DraftInput): FoldingDraft | undefined => {
  const [from, to, keep] = [folded[0]?.place, folded.at(-1)?.place, preserved[0]?.place]
  if (from === undefined || to === undefined || keep === undefined) return undefined
  const next = strategy.type === "truncate" ? null : from
  return { trigger, threshold, ratio, from, to, keep, next, summary: earlier, pieces: 0 }
}

/** What the next call reads; empty when all has been read. `history`: from `draft.next` on, or from before it. */
export const pieceOf = (
  { next, to }: FoldingDraft,
  history: ReadonlyArray<PlacedMessage>,
  limits: PieceLimits
): ReadonlyArray<PlacedMessage> => (next === null ? [] : nextPiece(between(history, next, to), limits))

/** The draft after a piece was read and summarized. */
export const withPiece = (
  draft: FoldingDraft,
  history: ReadonlyArray<PlacedMessage>,
  piece: ReadonlyArray<PlacedMessage>,
  summary: string
): FoldingDraft => {
  const last = piece.at(-1)?.place
  return {
    ...draft,
    next: last === undefined ? null : placeAfter(history, last, draft.to),
    summary,
    pieces: draft.pieces + 1
  }
}

const placeAfter = (
  history: ReadonlyArray<PlacedMessage>,
  last: MessagePlace,
  to: MessagePlace
): MessagePlace | null => {
  const next = history.find(({ place }) => isBefore(last, place))?.place
  return next === undefined || isBefore(to, next) ? null : next
}

/** Everything has been read: the history can be replaced. */
export const isRead = ({ next }: FoldingDraft): boolean => next === null
