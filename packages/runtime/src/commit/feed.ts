// Feed: a NoticeHub that publishes every commit of the store, from every process.
// Owns reading the outbox on. Leaves listeners to the NoticeHub that it stands in for; parts of a reply that is still being
// written are published only in the process that writes it.
// D1  Every entry after the opening is published once, in the order of the outbox.
// D2  Without a listener no entry is read.
// D3  A store that does not answer delays the feed and ends nothing.

import { Ledger, type OutboxRow } from "@reverie/ledger"
import { type Notice, noticesOf } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { NoticeHub } from "./replies.ts"

const PAGE = 256

export interface FeedSettings {
  /** How often the outbox is asked for what others committed. */
  readonly pollMillis: number
}

const DEFAULT_FEED: FeedSettings = { pollMillis: 100 }

const tellRow = (hub: NoticeHub["Service"], { address, entry, seq }: OutboxRow): void => {
  for (const notice of noticesOf(address, seq, entry)) hub.tell(notice)
}

/** How far the outbox has been published, or skipped while there was no listener. */
interface Cursor {
  after: number
}

const tellNew = Effect.fnUntraced(function* (hub: NoticeHub["Service"], cursor: Cursor) {
  const ledger = yield* Ledger
  while (true) {
    const rows = yield* ledger.outbox(cursor.after, PAGE)
    for (const row of rows) tellRow(hub, row)
    cursor.after = rows.at(-1)?.seq ?? cursor.after
    if (rows.length < PAGE) return
  }
})

const passOver = Effect.fnUntraced(function* (cursor: Cursor) {
  cursor.after = yield* (yield* Ledger).outboxEnd
})

const following = Effect.fnUntraced(function* (
  hub: NoticeHub["Service"],
  cursor: Cursor,
  nudge: Latch.Latch,
  { pollMillis }: FeedSettings
) {
  while (true) {
    yield* Effect.timeoutOption(Latch.await(nudge), pollMillis)
    yield* Latch.close(nudge)
    // Anyone who begins to listen receives from the last look on, so nothing that follows the listening is missed.
    yield* Effect.ignore(hub.isHeard() ? tellNew(hub, cursor) : passOver(cursor))
  }
})

/** Tells of the commits of every process, from the opening on. */
export const feedLayer = (settings: FeedSettings = DEFAULT_FEED) =>
  Layer.effect(
    NoticeHub,
    Effect.gen(function* () {
      const hub = yield* NoticeHub
      const nudge = yield* Latch.make(false)
      const after = yield* (yield* Ledger).outboxEnd
      yield* Effect.forkScoped(following(hub, { after }, nudge, settings))
      return {
        ...hub,
        // It comes back through the outbox, in its order; looking at once only makes it quick.
        tellEntry: () => {
          if (hub.isHeard()) Latch.openUnsafe(nudge)
        }
      }
    })
  ).pipe(Layer.provide(NoticeHub.layer))

// Looking: reading the store until something is there, by notices instead of by the clock.
// L1  It looks once, and again after each commit that is about it: without news nothing is read. Of the notices of a commit
//     one counts: every commit tells its status once.
// L2  It listens before it looks, so a commit between two looks is never missed.

/** Looks until something is found. `pauses` says how long to wait at most for what comes without a notice. */
export const lookedFor = <A, E, R>(
  isAbout: (notice: Notice) => boolean,
  look: Effect.Effect<A | undefined, E, R>,
  pauses?: { readonly firstMillis: number; readonly longestMillis: number }
): Effect.Effect<A, E, R | NoticeHub> =>
  Effect.scoped(
    Effect.gen(function* () {
      const hub = yield* NoticeHub
      const news = yield* Latch.make(false)
      const isNews = (notice: Notice) => notice.type === "state-changed" && isAbout(notice)
      const listening = () => hub.listen((notice) => (isNews(notice) ? Latch.openUnsafe(news) : undefined))
      yield* Effect.acquireRelease(Effect.sync(listening), (stop) => Effect.sync(stop))
      let pauseMillis = pauses?.firstMillis ?? Infinity
      while (true) {
        yield* Latch.close(news)
        const found = yield* look
        if (found !== undefined) return found
        const came =
          pauses === undefined
            ? yield* Effect.asSome(Latch.await(news))
            : yield* Effect.timeoutOption(Latch.await(news), pauseMillis)
        const isNew = Option.isSome(came)
        pauseMillis = isNew ? (pauses?.firstMillis ?? Infinity) : Math.min(pauseMillis * 2, pauses?.longestMillis ?? 0)
      }
    })
  )
