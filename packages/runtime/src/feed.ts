// Feed: a NoticeHub that tells of every commit of the store, whoever made it.
// Owns reading the outbox on. Leaves listeners to the NoticeHub that it stands in for; parts of a reply that is still being
// written are told only in the process that writes it.
// D1  Every entry after the opening is told once, in the order of the outbox.
// D2  A store that does not answer delays the feed and ends nothing.

import { Ledger } from "@reverie/ledger"
import { noticesOf } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { NoticeHub } from "./notice-hub.ts"

const PAGE = 256

export interface FeedSettings {
  /** How often the outbox is asked for what others committed. */
  readonly pollMillis: number
}

const DEFAULT_FEED: FeedSettings = { pollMillis: 100 }

const following = Effect.fnUntraced(function* (
  tell: (rows: ReadonlyArray<Parameters<typeof noticesOf>>) => void,
  from: number,
  nudge: Latch.Latch,
  { pollMillis }: FeedSettings
) {
  const ledger = yield* Ledger
  let after = from
  while (true) {
    yield* Effect.timeoutOption(Latch.await(nudge), pollMillis)
    yield* Latch.close(nudge)
    while (true) {
      const page = yield* Effect.option(ledger.outbox(after, PAGE))
      const rows = Option.getOrElse(page, () => [])
      tell(rows.map(({ address, seq, entry }) => [address, seq, entry]))
      after = rows.at(-1)?.seq ?? after
      if (rows.length < PAGE) break
    }
  }
})

/** Tells of the commits of every process, from the opening on. */
export const feedLayer = (settings: FeedSettings = DEFAULT_FEED) =>
  Layer.effect(
    NoticeHub,
    Effect.gen(function* () {
      const hub = yield* NoticeHub
      const nudge = yield* Latch.make(false)
      const from = yield* (yield* Ledger).outboxEnd
      const tell = (rows: ReadonlyArray<Parameters<typeof noticesOf>>) => {
        if (hub.isHeard()) for (const row of rows) for (const notice of noticesOf(...row)) hub.tell(notice)
      }
      yield* Effect.forkScoped(following(tell, from, nudge, settings))
      return {
        ...hub,
        // It comes back through the outbox, in its order; looking at once only makes it quick.
        tellEntry: () => void Latch.openUnsafe(nudge)
      }
    })
  ).pipe(Layer.provide(NoticeHub.layer))
