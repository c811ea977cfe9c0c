// IndexState: what this process remembers of an index while it works with it.
// Owns one turn at a time for each assistant, what was said last before its position, and whether the index answers.
// Leaves every durable word to the index itself: losing all of this costs time, nothing else.
// S1  Of one assistant's entries one catching up runs at a time; anyone who comes meanwhile waits and finds them done.
// S2  That the index does not answer is reported once, and once more when it answers again.

import {
  beginningOf,
  blockChanges,
  BlockStore,
  type BlockView,
  cleanText,
  type Hit,
  type IndexPosition,
  type IndexWindow,
  keyOfId,
  Recall,
  type RecallUnavailable,
  samePosition
} from "@reverie/memory"
import { canonical } from "@reverie/ledger"
import { type Address, addressKey, type Entry, type Json } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Semaphore from "effect/Semaphore"
import * as Option from "effect/Option"
import { createHash } from "node:crypto"

/** Times that an index, or an embedder, did not answer. */
export const recallFailures = Metric.counter("reverie_recall_failures_total", { incremental: true })

/** How long background work leaves an index alone that did not answer. */
const LEFT_ALONE_MILLIS = 5_000

/** How long the index of someone else is believed: a store can be restored while this process runs. */
const BELIEVED_MILLIS = 60_000

/** Assistants of whom something is kept in memory. */
const MAX_KEPT = 1_024

/** Keeps a value under a key; the one that was kept longest ago gives way. */
const keepIn = <A>(kept: Map<string, A>, key: string, value: A): void => {
  kept.delete(key)
  kept.set(key, value)
  const [oldest] = kept.keys()
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest)
}

interface Turn {
  readonly lock: Semaphore.Semaphore
  users: number
}

interface Belief {
  readonly position: IndexPosition
  readonly since: number
  readonly until: number
}

/** What was said last up to an entry. */
interface KeptWindow {
  readonly position: IndexPosition
  readonly window: IndexWindow
}

const NO_BLOCKS: ReadonlyMap<string, string> = new Map()

class IndexState {
  readonly #turns = new Map<string, Turn>()
  readonly #windows = new Map<string, KeptWindow>()
  readonly #blocks = new Map<string, ReadonlyMap<string, string>>()
  readonly #beliefs = new Map<string, Belief>()
  /** Undefined while it answers. */
  #downSince: number | undefined

  inTurn<A, E, R>(address: Address, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    const key = addressKey(address)
    return Effect.suspend(() => {
      const turn = this.#turns.get(key) ?? { lock: Semaphore.makeUnsafe(1), users: 0 }
      turn.users++
      this.#turns.set(key, turn)
      const leave = Effect.sync(() => {
        turn.users--
        if (turn.users === 0) this.#turns.delete(key)
      })
      return Effect.ensuring(Semaphore.withPermits(turn.lock, 1)(work), leave)
    })
  }

  /** What was said last up to a position, when it is still known. */
  windowAt(address: Address, position: IndexPosition): IndexWindow | undefined {
    const known = this.#windows.get(addressKey(address))
    return known !== undefined && samePosition(known.position, position) ? known.window : undefined
  }

  keepWindow(address: Address, kept: KeptWindow): void {
    keepIn(this.#windows, addressKey(address), kept)
  }

  /** What was said last is read anew: it does not say the same any more. */
  forgetWindow(address: Address): void {
    this.#windows.delete(addressKey(address))
  }

  /** The blocks of an assistant as the index was last told of them, by id; nothing when that is not known. */
  blocksOf(address: Address): ReadonlyMap<string, string> {
    return this.#blocks.get(addressKey(address)) ?? NO_BLOCKS
  }

  /** This process has told the index of an assistant's blocks. */
  knowsBlocks(address: Address): boolean {
    return this.#blocks.has(addressKey(address))
  }

  keepBlocks(address: Address, blocks: ReadonlyMap<string, string>): void {
    keepIn(this.#blocks, addressKey(address), blocks)
  }

  /** Whether the index of an assistant stands where it did when it was held against its ledger, not long ago. */
  isBelieved(address: Address, position: IndexPosition, now: number): boolean {
    const belief = this.#beliefs.get(addressKey(address))
    return belief !== undefined && samePosition(belief.position, position) && now < belief.until && now >= belief.since
  }

  believe(address: Address, position: IndexPosition, now: number): void {
    keepIn(this.#beliefs, addressKey(address), { position, since: now, until: now + BELIEVED_MILLIS })
  }

  /** The index has been emptied of an assistant. */
  forget(address: Address): void {
    this.forgetWindow(address)
    this.#blocks.delete(addressKey(address))
    this.#beliefs.delete(addressKey(address))
  }

  /** It did not answer lately: what can wait, waits. */
  isLeftAlone(now: number): boolean {
    return this.#downSince !== undefined && now >= this.#downSince && now < this.#downSince + LEFT_ALONE_MILLIS
  }

  /** True when it is news. */
  fell(now: number): boolean {
    const isNews = this.#downSince === undefined
    this.#downSince = now
    return isNews
  }

  /** True when it is news. */
  rose(): boolean {
    const isNews = this.#downSince !== undefined
    this.#downSince = undefined
    return isNews
  }
}

const states = new WeakMap<Recall["Service"], IndexState>()

export const stateOf = (recall: Recall["Service"]): IndexState => {
  const known = states.get(recall)
  if (known !== undefined) return known
  const state = new IndexState()
  states.set(recall, state)
  return state
}

/** Notes that the index did not answer. */
export const noteFall = Effect.fnUntraced(function* (recall: Recall["Service"], failure: RecallUnavailable) {
  yield* Metric.update(recallFailures, 1)
  if (stateOf(recall).fell(yield* Clock.currentTimeMillis)) {
    yield* Effect.logWarning(`the index of memories does not answer (${failure.operation}): ${failure.message}`)
  }
})

export const noteAnswer = (recall: Recall["Service"]): Effect.Effect<void> =>
  Effect.suspend(() => (stateOf(recall).rose() ? Effect.logInfo("the index of memories answers again") : Effect.void))

// Digest: what tells an entry of the ledger from the entry of the same number in another life of its assistant.
// D1  It is of all that was committed: number, epoch, time and content. A store that was restored to an earlier state
//     goes on under the same numbers, never with the same entries.
// D2  The order of the members of an object counts for nothing: a life that was moved keeps its digests.

/** 128 bits, 6 in a letter. */
const DIGEST_LETTERS = 22

const digestOf = (entry: Entry): string =>
  createHash("sha256").update(canonical(entry)).digest("base64url").slice(0, DIGEST_LETTERS)

/** The position at an entry, in an index of that beginning. */
export const positionOf = (entry: Entry, beginning: string): IndexPosition => ({
  no: entry.no,
  digest: `${beginning}.${digestOf(entry)}`
})

/** The digest of the same entry, read once: some stores give it again as it was. */
const entryDigests = new WeakMap<Entry, string>()

/** Entries whose digests are remembered, by their texts: each question asks for that of the newest. */
const knownDigests = new Map<string, string>()
/** Characters of these texts, and the most of them. */
let knownChars = 0
const MOST_KNOWN_CHARS = 2_000_000

/** Whether a position is at that entry, which was most likely asked for before. */
export const isAt = (position: IndexPosition, entry: Entry): boolean => {
  const digest = entryDigests.get(entry) ?? digestByText(entry)
  entryDigests.set(entry, digest)
  return position.no === entry.no && position.digest === `${beginningOf(position)}.${digest}`
}

const digestByText = (entry: Entry): string => {
  const text = JSON.stringify(entry)
  const known = knownDigests.get(text)
  if (known !== undefined) return known
  const digest = digestOf(entry)
  knownChars += text.length
  if (knownChars > MOST_KNOWN_CHARS) {
    knownDigests.clear()
    knownChars = text.length
  }
  if (text.length <= MOST_KNOWN_CHARS) knownDigests.set(text, digest)
  return digest
}

// BlockIndex: an assistant's memory blocks in the index, where blocks are kept.
// B1  A block is found as it was when the index was last brought up to date.
// B2  A block that is gone, or is not shared any more, is in no answer, whatever the index says.

/** Of each block, in UTF-16 units. */
const MAX_TEXT_CHARS = 8_000

/** Every text that a value holds, one a line. */
const textOf = (content: Json): string => {
  if (typeof content === "string") return content
  if (typeof content !== "object" || content === null) return String(content)
  return Object.values(content).map(textOf).join("\n")
}

/** Whatever of a block the index learns, in short. */
const meaningOf = ({ description, label, shares, type, updatedAt, version }: BlockView): string =>
  JSON.stringify([version, updatedAt, type, label, description, shares])

const blocksIndexed = Effect.fnUntraced(function* (address: Address, position: IndexPosition) {
  const found = yield* Effect.serviceOption(BlockStore)
  if (Option.isNone(found)) return
  const recall = yield* Recall
  const store = found.value
  const viewer = { tenant: address.tenant, by: address.assistant, isSystem: true }
  const blocks = yield* store.list(viewer, { owner: address.assistant })
  const state = stateOf(recall)
  const told = state.blocksOf(address)
  const now = new Map(blocks.map((block) => [block.id, meaningOf(block)]))
  const changed = blocks.filter((block) => told.get(block.id) !== now.get(block.id))
  const gone = [...told.keys()].filter((id) => !now.has(id))
  if (changed.length === 0 && gone.length === 0) return state.keepBlocks(address, now)
  const puts = yield* Effect.forEach(changed, (block) =>
    block.type === "core"
      ? Effect.succeed(blockChanges(block, null))
      : Effect.map(store.read(viewer, block.id), ({ content }) =>
          blockChanges(block, cleanText(textOf(content).slice(0, MAX_TEXT_CHARS)))
        )
  )
  const bundles = gone.map((id) => ({ type: "remove", id: `b/${id}` }) as const)
  const span = { from: position, to: position }
  // Another worker may have moved the index on meanwhile: then blocks are indexed the next time.
  if (samePosition(yield* recall.apply(address, [...puts.flat(), ...bundles], span), position)) {
    state.keepBlocks(address, now)
  }
})

/** Tells the index of the blocks that have changed since it was last told. Blocks that can not be read wait. */
export const indexBlocks = (address: Address, position: IndexPosition) =>
  blocksIndexed(address, position).pipe(
    Effect.catchTag(["BlockUnknown", "BlockUnreadable", "BlockRefused", "BlockStoreUnavailable"], (failure) =>
      Effect.logDebug(`blocks could not be indexed: ${failure.message}`)
    )
  )

/** The hits without blocks that the viewer may not read any more. */
export const withoutGoneBlocks = Effect.fnUntraced(function* (viewer: Address, hits: ReadonlyArray<Hit>) {
  if (!hits.some(({ entry }) => entry.kind === "block")) return hits
  const found = yield* Effect.serviceOption(BlockStore)
  if (Option.isNone(found)) return hits
  const isThere = ({ entry }: Hit) =>
    entry.kind !== "block"
      ? Effect.succeed(true)
      : found.value.load({ tenant: viewer.tenant, by: viewer.assistant }, keyOfId(entry.id) ?? "").pipe(
          Effect.map((block) => block !== undefined),
          // What can not be looked up is shown to no one.
          Effect.catch(() => Effect.succeed(false))
        )
  return yield* Effect.filter(hits, isThere)
})
