// Feed: a NoticeHub that publishes every commit of the store, from every process.
// Owns reading the outbox on. Leaves listeners to the NoticeHub that it stands in for; parts of a reply that is still being
// written are published only in the process that writes it.
// D1  Every entry after the opening is published once, in the order of the outbox.
// D2  Without a listener no entry is read.
// D3  A store that does not answer delays the feed and ends nothing.

import { Ledger, type OutboxRow } from "@reverie/ledger"
import type { CallPiece, InferOptions } from "@reverie/model"
import { type Notice, noticesOf, type Piece } from "@reverie/protocol"
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

// Showing: a preview of a reply while it is being made, as pieces for screens.
// S1  What comes in one turn of the event loop is one piece for each run of its kind: a token costs no notice of its own.
// S2  A secret is hidden, also where it comes in pieces. The end of a text that may be the beginning of one comes with the reply.
// S3  What was dropped is dropped by everyone who was shown any of it; after the end nothing more is shown.
// S4  The moment of the first token is that of the attempt that became the reply; one that was dropped has none.

interface ShowingOptions {
  readonly tell: (piece: Piece) => void
  /** A text that comes in pieces, without secrets. */
  readonly inPieces: () => (piece: string) => string
  /** The id of the call at this place of the reply; undefined where it is not followed. */
  readonly callId: (index: number) => string | undefined
  /** Arguments are shown as they come, and not with the reply only. */
  readonly showsArguments: boolean
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

type Text = Extract<Piece, { readonly text: string }>

const isContinued = (last: Piece | undefined, next: Text): last is Text =>
  last !== undefined &&
  last.kind === next.kind &&
  (next.kind !== "arguments" || (last as typeof next).call === next.call)

export class Showing {
  /** For the call of the model. */
  readonly options: InferOptions
  readonly #how: ShowingOptions
  readonly #hiding = new Map<string, (piece: string) => string>()
  readonly #begun = new Set<string>()
  #waiting: Array<Piece> = []
  #isWaiting = false
  #isSeen = false
  #isOver = false
  #firstAt: number | undefined

  constructor(how: ShowingOptions) {
    this.#how = how
    this.options = {
      onText: (text) => this.#say({ kind: "text", text }),
      onReasoning: (text) => this.#say({ kind: "reasoning", text }),
      onCall: (piece) => this.#call(piece),
      onDropped: () => this.#drop()
    }
  }

  /** When the first token of the reply came; undefined before it. */
  get firstAt(): number | undefined {
    return this.#firstAt
  }

  /** The call has ended: what has come is shown, and nothing after it. */
  end(): void {
    this.#flush()
    this.#isOver = true
  }

  #say(piece: Text): void {
    this.#firstAt ??= this.#how.now()
    const channel = piece.kind === "arguments" ? piece.call : piece.kind
    const hide = this.#hiding.get(channel) ?? this.#how.inPieces()
    this.#hiding.set(channel, hide)
    const text = hide(piece.text)
    if (text !== "") this.#take({ ...piece, text })
  }

  #call({ arguments: text, call: index, tool }: CallPiece): void {
    const call = this.#how.callId(index)
    if (call === undefined) return
    this.#firstAt ??= this.#how.now()
    if (!this.#begun.has(call) && tool !== "") this.#take({ kind: "call", call, tool })
    // Some servers give a name in pieces, or again with each piece.
    const begun = this.#waiting.findIndex((each) => each.kind === "call" && each.call === call)
    if (begun >= 0 && tool !== "") this.#waiting[begun] = { kind: "call", call, tool }
    this.#begun.add(call)
    if (text !== "" && this.#how.showsArguments) this.#say({ kind: "arguments", call, text })
  }

  #drop(): void {
    this.#firstAt = undefined
    this.#waiting = this.#waiting.filter(({ kind }) => kind === "dropped")
    this.#hiding.clear()
    this.#begun.clear()
    if (this.#isSeen) this.#take({ kind: "dropped" })
    this.#isSeen = false
  }

  #take(piece: Piece): void {
    if (this.#isOver) return
    const last = this.#waiting.at(-1)
    if ("text" in piece && isContinued(last, piece)) {
      this.#waiting[this.#waiting.length - 1] = { ...last, text: last.text + piece.text }
    } else this.#waiting.push(piece)
    if (this.#isWaiting) return
    this.#isWaiting = true
    Effect.runFork(
      Effect.andThen(
        Effect.yieldNow,
        Effect.sync(() => this.#flush())
      )
    )
  }

  #flush(): void {
    this.#isWaiting = false
    const waiting = this.#waiting
    this.#waiting = []
    for (const piece of waiting) {
      this.#isSeen = piece.kind !== "dropped"
      this.#how.tell(piece)
    }
  }
}
