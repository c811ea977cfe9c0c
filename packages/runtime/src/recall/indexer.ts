// Indexer: an assistant's way from the ledger into the index.
// Owns reading what the index has not seen, and giving it over in pieces. Leaves what of it is indexed to `memory`,
// vectors to vectors.ts, and when to do it to the caller.
// I1  What an index holds follows from the ledger alone: lost and made again, it is the same.
// I2  Breaking off anywhere is harmless: the next time goes on where the index says it is.
// I3  Two that do it at the same time do no harm: who was overtaken applies nothing, and goes on from where the index is.
// I4  An index that does not answer is no trouble of an assistant: it is noted, and made good later.
// I5  An index that was made from another life of the assistant, because the store was restored to an earlier state, is
//     emptied before anything is asked of it, and made again.
// I7  An index is not held up by a segment that cannot be read. It notes what it lacks of it, and is made anew once that is put back.
// I6  What was read of a life before it was rewritten is not in its index afterwards. An index is begun, under a name of its own, before
//     anything is read for it, and a rewriting empties it: what was read before fits no position of the next beginning.

import {
  beginningOf,
  INDEX_START,
  indexOf,
  type IndexPosition,
  type IndexWindow,
  isWindowWhole,
  NOTHING_SAID,
  Recall,
  RecallUnavailable,
  samePosition
} from "@reverie/memory"
import { Ledger, type LedgerUnavailable, type UnreadableRecord } from "@reverie/ledger"
import { type Address, addressKey, defined, type Entry, longWork } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import { gapsIn, withGaps } from "./index-gaps.ts"
import { charsOf, type EntryPage, pageAt, partsOf, readableEntries } from "./index-parts.ts"
import { indexBlocks, isAt, noteAnswer, noteFall, positionOf, stateOf } from "./index-state.ts"
import { fillVectors } from "./vectors.ts"

/** Entries read and applied at once: some milliseconds of work, between which others have their turn. */
const PAGE = 64
/** Entries read at first to find out what was said before. */
const ENTRIES_BACK = 16

export interface CatchUpOptions {
  /** Most entries to go through; all of them when not said. */
  readonly maxEntries?: number | undefined
  /** Where the index stood when it was last held against the ledger, under the claim at hand. There it is believed. */
  readonly trusted?: IndexPosition | undefined
  /** The newest entries of the ledger, where the caller has just committed them: they are not read again. */
  readonly newest?: ReadonlyArray<Entry>
}

export interface CaughtUp {
  /** Of the last entry that is in the index. */
  readonly position: IndexPosition
  /** Entries gone through. */
  readonly entries: number
  /** Nothing was left to go through. */
  readonly isWhole: boolean
}

/** To index a character costs so many times what reading it costs. */
const WORK_PER_CHAR = 20

/** Entries from `from` on: out of those at hand, where they begin early enough. */
const pageFrom = (address: Address, from: number, limit: number, newest: ReadonlyArray<Entry>) => {
  const at = newest.findIndex(({ no }) => no === from)
  return at === -1
    ? pageAt(address, from, limit)
    : Effect.succeed<EntryPage>({ entries: newest.slice(at, at + limit), lost: [] })
}

/** Where an index stands after a part of a page, with what of the ledger it lacks before that. */
const endOf = (part: ReadonlyArray<Entry>, lost: EntryPage["lost"], before: IndexPosition): IndexPosition => {
  const last = part.at(-1)
  if (last === undefined) return before
  const gaps = lost.filter(({ to }) => to > before.no && to < last.no)
  return positionOf(last, withGaps(beginningOf(before), gaps))
}

/** What was said last up to an entry, read back as far as it can make a difference. */
const windowBefore = Effect.fnUntraced(function* (address: Address, no: number) {
  let window = NOTHING_SAID
  if (no === 0) return window
  for (let count = ENTRIES_BACK; ; count *= 2) {
    const from = Math.max(1, no - count + 1)
    const read = (yield* readableEntries(address, from, no - from + 1)).filter((entry) => entry.no <= no)
    window = indexOf(read, NOTHING_SAID, address.assistant).window
    if (from === 1 || isWindowWhole(window, count)) return window
  }
})

const NAMES = 2 ** 48

/** Gives what an index has come to a beginning of another name. Answers where it stands, which is elsewhere when another was quicker. */
const named = Effect.fnUntraced(function* (recall: Recall["Service"], address: Address, from: IndexPosition) {
  const name = withGaps((yield* Random.nextIntBetween(0, NAMES)).toString(36), gapsIn(from))
  const digest = `${name}.${from.digest.slice(from.digest.indexOf(".") + 1)}`
  return yield* Effect.mapError(recall.apply(address, [], { from, to: { no: from.no, digest } }), asApply)
})

/** What an index could not take: it may well be searched as it is. */
const asApply = ({ cause, message }: RecallUnavailable): RecallUnavailable =>
  new RecallUnavailable({ operation: "apply", message, ...defined({ cause }) })

/** Empties an index of an assistant. What this process remembers of it goes first: it is not to be believed any more. */
const emptied = Effect.fnUntraced(function* (recall: Recall["Service"], address: Address) {
  stateOf(recall).forget(address)
  yield* recall.erase(address)
})

/** How often it was claimed; rewriting a life counts as once more. */
const epochOf = (address: Address) =>
  Ledger.use((ledger) => ledger.inspect(address)).pipe(
    Effect.map((record) => record?.epoch),
    Effect.catchTag("UnreadableRecord", () => Effect.succeed(undefined))
  )

interface Standing {
  readonly position: IndexPosition
  /** The first page of the ledger that the index has not seen, where it was read on the way. */
  readonly page?: EntryPage
}

/** Whether something can be read again that an index lacks. */
const isPutBack = Effect.fnUntraced(function* (address: Address, position: IndexPosition) {
  for (const { from } of gapsIn(position)) {
    const { entries } = yield* pageAt(address, from, 1)
    if (entries[0]?.no === from) return true
  }
  return false
})

/** Where an index stands in this life: at the start, and empty, when it was made from another one. So many entries are read ahead. */
const standing = Effect.fnUntraced(function* (
  recall: Recall["Service"],
  address: Address,
  trusted: IndexPosition | undefined,
  ahead: number
): Effect.fn.Return<Standing, RecallUnavailable | LedgerUnavailable | UnreadableRecord, Ledger> {
  const position = yield* recall.position(address)
  if (position.no === 0 || (trusted !== undefined && samePosition(position, trusted))) return { position }
  const { entries, lost } = yield* pageAt(address, position.no, 1 + ahead)
  const [entry, ...others] = entries
  if (yield* isPutBack(address, position)) {
    yield* Effect.logInfo(
      `a segment of ${addressKey(address)} can be read again that the index of memories lacks; the index is made anew`
    )
  } else {
    // The ledger has the entry that the index has come to.
    if (entry !== undefined && isAt(position, entry)) return { position, page: { entries: others, lost } }
    // It cannot be read: nothing speaks against the index.
    if (lost.some(({ from, to }) => from <= position.no && position.no <= to))
      return { position, page: { entries, lost } }
    yield* Effect.logWarning(
      `the index of memories of ${addressKey(address)} is ahead of its ledger, or of another one: the store was restored ` +
        "to an earlier state. It is emptied and made again."
    )
  }
  yield* emptied(recall, address)
  return { position: INDEX_START }
})

const catchingUp = Effect.fnUntraced(function* (
  recall: Recall["Service"],
  address: Address,
  { maxEntries = Number.POSITIVE_INFINITY, newest = [], trusted }: CatchUpOptions
) {
  const state = stateOf(recall)
  let { page: read, position } = yield* standing(recall, address, trusted, PAGE)
  let entries = 0
  let window: IndexWindow | undefined
  let held = trusted !== undefined && samePosition(position, trusted) ? newest : []
  while (entries < maxEntries) {
    const limit = Math.min(PAGE, maxEntries - entries)
    if (samePosition(position, INDEX_START)) {
      position = yield* named(recall, address, INDEX_START)
      if (position.no > 0) ({ page: read, position } = yield* standing(recall, address, undefined, PAGE))
      // What the caller holds is of this life when it was not rewritten since, up to here.
      else if (newest.length > 0 && (yield* epochOf(address)) === newest.at(-1)?.epoch) held = newest
      if (samePosition(position, INDEX_START)) continue
    }
    const { entries: all, lost } = read ?? (yield* pageFrom(address, position.no + 1, limit, held))
    const page = all.slice(0, limit)
    read = undefined
    if (page.length === 0) return { position, entries, isWhole: true } satisfies CaughtUp
    window ??= state.windowAt(address, position)
    let known = window ?? (yield* windowBefore(address, position.no))
    entries += page.length
    let isOvertaken = false
    for (const part of partsOf(page)) {
      yield* longWork.begin(WORK_PER_CHAR * charsOf(part))
      const indexed = indexOf(part, known, address.assistant)
      const span = { from: position, to: endOf(part, lost, position) }
      const reached = yield* Effect.mapError(recall.apply(address, indexed.changes, span), asApply)
      isOvertaken = !samePosition(reached, span.to)
      if (isOvertaken) break
      known = indexed.window
      position = span.to
      state.keepWindow(address, { position, window: known })
    }
    if (isOvertaken) {
      // Another reader of the ledger has indexed it, or emptied it, meanwhile.
      ;({ page: read, position } = yield* standing(recall, address, undefined, PAGE))
      window = undefined
      held = []
    } else {
      window = known
      if (page.length < limit) return { position, entries, isWhole: true } satisfies CaughtUp
    }
    yield* Effect.yieldNow
  }
  return { position, entries, isWhole: false } satisfies CaughtUp
})

/** Brings the index up to what is in the ledger. Fails when the index does not answer. */
export const catchUp = Effect.fnUntraced(function* (address: Address, options: CatchUpOptions = {}) {
  const recall = yield* Recall
  return yield* stateOf(recall).inTurn(address, catchingUp(recall, address, options))
})

/** Holds the index of an assistant against its ledger, and answers where it stands; at the start when it was emptied. */
export const standingOf = Effect.fnUntraced(function* (address: Address) {
  const recall = yield* Recall
  return yield* stateOf(recall).inTurn(
    address,
    Effect.map(standing(recall, address, undefined, 0), ({ position }) => position)
  )
})

/** Forgets what the index holds of an assistant and makes it again from the ledger. */
export const rebuildIndex = Effect.fnUntraced(function* (address: Address) {
  const recall = yield* Recall
  const anew = Effect.gen(function* () {
    yield* emptied(recall, address)
    const caught = yield* catchingUp(recall, address, {})
    yield* indexBlocks(address, caught.position)
    return caught
  })
  return yield* stateOf(recall).inTurn(address, anew)
})

/** Empties the index of an assistant, behind who is at it in this process. */
export const emptyIndex = Effect.fnUntraced(function* (address: Address) {
  const recall = yield* Recall
  return yield* stateOf(recall).inTurn(address, emptied(recall, address))
})

/** From now on nothing is applied that was read of an assistant's life before. Fails when the index does not answer. */
export const refuseReadBefore = Effect.fnUntraced(function* (address: Address) {
  const recall = yield* Recall
  const renaming = Effect.flatMap(recall.position(address), (position) => named(recall, address, position))
  return yield* stateOf(recall).inTurn(address, renaming)
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

/** Tells the index of blocks where this process has not done so yet. Never fails; what could not be done waits. */
export const blocksToldQuietly = Effect.fnUntraced(function* (address: Address, position: IndexPosition) {
  const found = yield* Effect.serviceOption(Recall)
  if (Option.isNone(found) || stateOf(found.value).knowsBlocks(address)) return
  yield* indexBlocks(address, position).pipe(Effect.provideService(Recall, found.value), quietly(found.value))
})

/** Catches up, with blocks and vectors; answers where the index stands then. Never fails; what could not be done waits. */
export const keepIndexed = Effect.fnUntraced(function* (
  address: Address,
  known: Omit<CatchUpOptions, "maxEntries"> = {}
) {
  const found = yield* Effect.serviceOption(Recall)
  const caught = yield* catchUpQuietly(address, known)
  if (Option.isNone(found) || caught === undefined) return undefined
  const more = Effect.andThen(indexBlocks(address, caught.position), fillVectors)
  yield* more.pipe(Effect.provideService(Recall, found.value), quietly(found.value))
  return caught.position
})
