// Indexer: an assistant's way from the ledger into the index.
// Owns reading what the index has not seen, and giving it over in pieces. Leaves what of it is indexed to `memory`,
// vectors to vectors.ts, and when to do it to whoever calls.
// I1  What an index holds follows from the ledger alone: lost and made again, it is the same.
// I2  Breaking off anywhere is harmless: the next time goes on where the index says it is.
// I3  Two that do it at the same time do no harm: what was applied is applied as it was, or passed over.
// I4  An index that does not answer is no trouble of an assistant: it is noted, and made good later.

import { indexOf, type IndexWindow, isWindowWhole, NOTHING_SAID, Recall, RecallUnavailable } from "@reverie/memory"
import { Ledger, type LedgerUnavailable, type UnreadableRecord } from "@reverie/ledger"
import { type Address, type Entry, longWork } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { indexBlocks } from "./block-index.ts"
import { noteAnswer, noteFall, stateOf } from "./index-state.ts"
import { fillVectors } from "./vectors.ts"

/** Entries read and applied at once. */
const PAGE = 128
/** Entries read at first to find out what was said before. */
const ENTRIES_BACK = 16

export interface CatchUpOptions {
  /** Most entries to go through; all of them when not said. */
  readonly maxEntries?: number
}

export interface CaughtUp {
  /** The last entry that is in the index. */
  readonly position: number
  /** Entries gone through. */
  readonly entries: number
  /** Nothing was left to go through. */
  readonly isWhole: boolean
}

/** Of all texts that are indexed at once, as much of each as an index takes of it. */
const MAX_PART_CHARS = 8_000
const MAX_ENTRY_CHARS = 8_000
/** To index a character costs so many times what reading it costs. */
const WORK_PER_CHAR = 20

const charsOf = (entries: ReadonlyArray<Entry>): number =>
  entries.reduce(
    (sum, { messages }) =>
      sum + messages.reduce((own, { content }) => own + Math.min(content.length, MAX_ENTRY_CHARS), 0),
    0
  )

/** A page in parts that are indexed in milliseconds: one for most pages, more where texts are long. */
const partsOf = (page: ReadonlyArray<Entry>): ReadonlyArray<ReadonlyArray<Entry>> => {
  const parts: Array<Array<Entry>> = []
  let chars = MAX_PART_CHARS
  for (const entry of page) {
    if (chars >= MAX_PART_CHARS) {
      parts.push([])
      chars = 0
    }
    parts.at(-1)?.push(entry)
    chars += charsOf([entry])
  }
  return parts
}

const entriesOf = Effect.fnUntraced(function* (address: Address, from: number, limit: number) {
  return (yield* (yield* Ledger).entries(address, from, limit)).map(({ entry }) => entry)
})

/** What was said last up to an entry, read back as far as it can make a difference. */
const windowBefore = Effect.fnUntraced(function* (address: Address, position: number) {
  let window = NOTHING_SAID
  for (let count = ENTRIES_BACK; ; count *= 2) {
    const from = Math.max(1, position - count + 1)
    const read = yield* entriesOf(address, from, position - from + 1)
    window = indexOf(read, NOTHING_SAID, address.assistant).window
    if (from === 1 || isWindowWhole(window, count)) return window
  }
})

/** What an index could not take: it may well be searched as it is. */
const asApply = ({ cause, message }: RecallUnavailable): RecallUnavailable =>
  new RecallUnavailable({ operation: "apply", message, ...(cause === undefined ? {} : { cause }) })

const catchingUp = Effect.fnUntraced(function* (
  recall: Recall["Service"],
  address: Address,
  { maxEntries = Number.POSITIVE_INFINITY }: CatchUpOptions
) {
  const state = stateOf(recall)
  let position = yield* recall.position(address)
  let entries = 0
  let window: IndexWindow | undefined = state.windowAt(address, position)
  while (entries < maxEntries) {
    const limit = Math.min(PAGE, maxEntries - entries)
    const page = yield* entriesOf(address, position + 1, limit)
    const last = page.at(-1)
    if (last === undefined) return { position, entries, isWhole: true } satisfies CaughtUp
    window ??= yield* windowBefore(address, position)
    for (const part of partsOf(page)) {
      yield* longWork.begin(WORK_PER_CHAR * charsOf(part))
      const indexed = indexOf(part, window, address.assistant)
      position = part.at(-1)?.no ?? position
      yield* Effect.mapError(recall.apply(address, indexed.changes, position), asApply)
      window = indexed.window
    }
    entries += page.length
    state.keepWindow(address, position, window)
    if (page.length < limit) return { position, entries, isWhole: true } satisfies CaughtUp
  }
  return { position, entries, isWhole: false } satisfies CaughtUp
})

/** Brings the index up to what is in the ledger. Fails when the index does not answer. */
export const catchUp = Effect.fnUntraced(function* (address: Address, options: CatchUpOptions = {}) {
  const recall = yield* Recall
  return yield* stateOf(recall).inTurn(address, catchingUp(recall, address, options))
})

/** Forgets what the index holds of an assistant and makes it again from the ledger. */
export const rebuildIndex = Effect.fnUntraced(function* (address: Address) {
  const recall = yield* Recall
  const anew = Effect.gen(function* () {
    yield* recall.erase(address)
    stateOf(recall).forget(address)
    const caught = yield* catchingUp(recall, address, {})
    yield* indexBlocks(address, caught.position)
    return caught
  })
  return yield* stateOf(recall).inTurn(address, anew)
})

/** A defect in an adapter must not take the assistant with it. */
const asUnavailable = (defect: unknown): Effect.Effect<never, RecallUnavailable> =>
  Effect.fail(
    new RecallUnavailable({ operation: "index", message: `the adapter broke: ${String(defect)}`, cause: defect })
  )

/** Catches up where there is an index that answers. Never fails; what could not be done waits. */
export const catchUpQuietly = Effect.fnUntraced(function* (
  address: Address,
  options: CatchUpOptions = {}
): Effect.fn.Return<CaughtUp | undefined, never, Ledger> {
  const found = yield* Effect.serviceOption(Recall)
  if (Option.isNone(found)) return undefined
  const recall = found.value
  if (stateOf(recall).isLeftAlone(yield* Clock.currentTimeMillis)) return undefined
  return yield* catchUp(address, options).pipe(
    Effect.tap(noteAnswer(recall)),
    Effect.provideService(Recall, recall),
    quietly(recall)
  )
})

const quietly =
  (recall: Recall["Service"]) =>
  <A, R>(
    work: Effect.Effect<A, RecallUnavailable | LedgerUnavailable | UnreadableRecord, R>
  ): Effect.Effect<A | undefined, never, R> =>
    work.pipe(
      Effect.catchDefect(asUnavailable),
      Effect.catchTag("RecallUnavailable", (failure) => Effect.as(noteFall(recall, failure), undefined)),
      Effect.catchTag(["LedgerUnavailable", "UnreadableRecord"], (failure) =>
        Effect.as(Effect.logWarning(`memories could not be indexed: ${failure.message}`), undefined)
      )
    )

/** Catches up, with blocks and vectors. Never fails; what could not be done waits. */
export const keepIndexed = Effect.fnUntraced(function* (address: Address) {
  const found = yield* Effect.serviceOption(Recall)
  const caught = yield* catchUpQuietly(address)
  if (Option.isNone(found) || caught === undefined) return
  const more = Effect.andThen(indexBlocks(address, caught.position), fillVectors)
  yield* more.pipe(Effect.provideService(Recall, found.value), quietly(found.value))
})
