// Recaller: a question to an assistant's memory, and the answer.
// Owns how it is searched, and what is answered while the index does not. Leaves ranking to the index.
// Q1  What the assistant lived through before the question is in the answer's reach: the index catches up first.
// Q2  Without words to search by there is nothing to find; without an embedder whose vectors the index uses, words are
//     searched for (F107).
// Q3  An index that does not answer costs depth, never the answer: it comes from the store, and says so.
// Q4  Quarantined facts are in no index, and so in no answer.
// Q5  Nothing is answered that was never said in this life of the assistant: an index is held against the ledger before
//     it is asked.

import { effectiveMode } from "@reverie/context"
import {
  DEFAULT_RECALL_LIMIT,
  MAX_RECALL_LIMIT,
  Recall,
  type RecallOptions,
  type RecallQuery,
  type Recalled,
  RecallUnavailable
} from "@reverie/memory"
import { type Address, defined } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { indexBlocks, withoutGoneBlocks } from "./block-index.ts"
import { noteAnswer, noteFall, stateOf } from "./index-state.ts"
import { catchUp } from "./indexer.ts"
import { ofThisLife } from "./owners.ts"
import { searchStore } from "./store-search.ts"
import { attributes, SEARCH_MEMORY } from "../telemetry/names.ts"
import { spanning } from "../telemetry/spans.ts"
import { vectorOf } from "./vectors.ts"

/** Longest question that is read, in UTF-16 units. */
const MAX_QUESTION_CHARS = 2_000

const NO_ANSWER = "the index of memories does not answer: only the newest ones were searched"
const NO_INDEX = "there is no index of memories here: only the newest ones were searched"

/** Everything of the query but how it is searched. */
const queryOf = (question: string, options: AskOptions, now: number): RecallQuery => {
  const {
    asIs: _asIs,
    isUnknown: _isUnknown,
    limit = DEFAULT_RECALL_LIMIT,
    mode: _mode,
    scope = "shared",
    ...filters
  } = options
  const whole = Number.isFinite(limit) ? Math.floor(limit) : DEFAULT_RECALL_LIMIT
  return {
    ...filters,
    text: question.slice(0, MAX_QUESTION_CHARS),
    search: "fts",
    scope,
    limit: Math.min(MAX_RECALL_LIMIT, Math.max(1, whole)),
    now
  }
}

/** Why the newest memories may be missing; undefined when they are not. */
const caughtUp = (recall: Recall["Service"], viewer: Address) =>
  catchUp(viewer).pipe(
    Effect.tap(({ position }) => indexBlocks(viewer, position)),
    Effect.map(({ isWhole }) =>
      isWhole ? undefined : "the index has not caught up yet: the newest memories are missing"
    ),
    Effect.catchTag("RecallUnavailable", (failure) =>
      // It can not be written, and may well be searched.
      failure.operation === "apply"
        ? Effect.succeed(`the index can not be written (${failure.message}): the newest memories are missing`)
        : Effect.fail(failure)
    ),
    Effect.provideService(Recall, recall)
  )

export interface AskOptions extends RecallOptions {
  /**
   * The index is taken as it is, and when it failed a moment ago it is not waited for. For who has held it against the
   * ledger already.
   */
  readonly asIs?: boolean
  /** Messages and answers after this time are in view already. */
  readonly messagesUntil?: number
  /** It could not be held against the ledger: the answer comes from the store. */
  readonly isUnknown?: boolean
}

const asked = Effect.fnUntraced(function* (
  recall: Recall["Service"],
  viewer: Address,
  query: RecallQuery,
  { asIs = false, mode = "auto" }: AskOptions
) {
  const missing = asIs ? undefined : yield* caughtUp(recall, viewer)
  const { vector, why } = yield* vectorOf(recall, mode, query.text)
  const search = effectiveMode(mode, vector !== undefined)
  const searched = recall.search(viewer, { ...query, search, ...defined({ vector }) })
  const found = yield* ofThisLife(viewer, searched).pipe(Effect.provideService(Recall, recall))
  const hits = yield* withoutGoneBlocks(viewer, found)
  const degraded = why ?? missing
  return { hits, mode: search, ...defined({ degraded }) } satisfies Recalled
})

const recalling = (viewer: Address) => ({
  name: SEARCH_MEMORY,
  attributes: {
    [attributes.operation]: SEARCH_MEMORY,
    [attributes.agentId]: viewer.assistant,
    [attributes.tenant]: viewer.tenant
  }
})

/** What an assistant remembers of a question. */
export const recallFor = (viewer: Address, question: string, options: AskOptions = {}) =>
  spanning(() => recalling(viewer))((span) =>
    Effect.tap(answered(viewer, question, options), ({ degraded, hits }) =>
      Effect.sync(() => {
        span?.attribute(attributes.memoryHits, hits.length)
        span?.attribute(attributes.memoryDegraded, degraded !== undefined)
      })
    )
  )

const answered = Effect.fnUntraced(function* (viewer: Address, question: string, options: AskOptions) {
  const now = yield* Clock.currentTimeMillis
  const query = queryOf(question, options, now)
  const found = yield* Effect.serviceOption(Recall)
  const fromStore = (why: string) =>
    Effect.map(searchStore(viewer, query), (hits): Recalled => ({ hits, mode: "fts", degraded: why }))
  if (Option.isNone(found)) return yield* fromStore(NO_INDEX)
  const recall = found.value
  const { asIs = false, isUnknown = false } = options
  if (isUnknown || (asIs && stateOf(recall).isLeftAlone(now))) return yield* fromStore(NO_ANSWER)
  return yield* asked(recall, viewer, query, options).pipe(
    Effect.tap(noteAnswer(recall)),
    Effect.catchDefect((defect) =>
      Effect.fail(new RecallUnavailable({ operation: "search", message: `the adapter broke: ${String(defect)}` }))
    ),
    Effect.catchTag("RecallUnavailable", (failure) =>
      Effect.andThen(
        noteFall(recall, failure),
        fromStore(`the index of memories does not answer (${failure.message}): only the newest ones were searched`)
      )
    )
  )
})
