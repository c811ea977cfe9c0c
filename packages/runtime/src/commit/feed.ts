// Feed: a NoticeHub that tells of every commit of the store, no matter who made it.
// Owns reading the outbox on. Leaves listeners to the NoticeHub that it stands in for; parts of a reply that is still being
// written are reported only in the process that writes it.
// D1  Every entry after the opening is reported once, in the order of the outbox.
// D2  While no one listens no entry is read.
// D3  A store that does not answer delays the feed and ends nothing.

import { Ledger, type OutboxRow } from "@reverie/ledger"
import { noticesOf } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
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

/** How far the outbox has been told, or passed over while no one listened. */
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
