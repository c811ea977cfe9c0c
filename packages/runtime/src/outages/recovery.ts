// Recovery: how those that wait for a model come back to life.
// Owns the rhythm: who tries while a server is away, and how all are woken once it answers. Leaves the knowledge to
// outage-book.ts, and a wait that no one ends to its own timer.
// R1  While a server is away one of those that wait for it tries every TRY_MILLIS, however many they are; at once in a process
//     that knows of them from the store alone, and when another process was answered by that server.
// R2  After the first answer of a server to anybody all that wait for it are woken, a few first and more and more then: no
//     faster than they can be worked on, and not at all while it is away again.
// R3  Nothing here may end a worker: what the store does not tell now, the timers of those that wait will.

import { DEFAULT_SETTINGS, mayWait, restore, waitOf } from "@reverie/assistant"
import { Mailbox, WakeQueue } from "@reverie/mailbox"
import { type Address, addressKey } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { Ledger } from "@reverie/ledger"
import * as Result from "effect/Result"
import { NoticeHub } from "../commit/replies.ts"
import { followed, Outages } from "./outage-book.ts"

// Waiters: those that wait for their model by what the store says.
// L1  A look costs what will wake by itself within the longest pause, never what sleeps.

const FIRST_LIMIT = 256
const LAST_LIMIT = 65_536
/** Records that are read before others have a turn. */
const SLICE = 32

const readOne = Effect.fnUntraced(function* (address: Address) {
  const record = yield* (yield* Ledger).inspect(address)
  if (record === undefined || !mayWait(record.state.status)) return
  const restored = restore(record.state.snapshot)
  const outage = Result.isSuccess(restored) ? waitOf(restored.success)?.outage : undefined
  if (outage !== undefined) yield* followed(address, outage)
})

/** Writes into the book who waits by what the store says: all whose timer comes within the horizon. */
const findWaiters = Effect.fnUntraced(function* (horizonMillis: number) {
  const mailbox = yield* Mailbox
  const book = yield* Outages
  const until = (yield* Clock.currentTimeMillis) + horizonMillis
  const seen = new Set<string>()
  for (let limit = FIRST_LIMIT; ; limit *= 4) {
    const due = yield* mailbox.due(limit, until)
    for (const address of due) {
      const key = addressKey(address)
      if (seen.has(key)) continue
      seen.add(key)
      if (!book.knows(address)) yield* readOne(address)
      if (seen.size % SLICE === 0) yield* Effect.yieldNow
    }
    if (due.length < limit || limit >= LAST_LIMIT) return
  }
})

/** Between two tries of one process. */
const TRY_MILLIS = 30_000

const FIRST_BATCH = 8
const LAST_BATCH = 512
const BATCH_MILLIS = 250

/** A little more than the longest pause of anyone who has not chosen another one. */
const HORIZON_MILLIS = DEFAULT_SETTINGS.parkMaxMs + 60_000

/** Opens a lease session to one in this very process. */
type Wake<R> = (address: Address) => Effect.Effect<unknown, never, R>

/** Sleeps so long, or until a sign of life. True when one came. */
const signedWithin = Effect.fnUntraced(function* (sign: Latch.Latch, millis: number) {
  const isSigned = Effect.as(Latch.await(sign), true)
  const came = yield* Effect.raceFirst(isSigned, Effect.as(Effect.sleep(millis), false))
  yield* Latch.close(sign)
  return came
})

/** For how long every call to a server would be withheld here; 0 when one would be sent. */
const withheldAt = Effect.fnUntraced(function* (server: string) {
  const book = yield* Outages
  let least = Infinity
  for (const { withheldMillis } of book.circuits(server)) least = Math.min(least, yield* withheldMillis())
  return least === Infinity ? 0 : least
})

/** Lets one after the other try, until the server answers or no one may try. */
const trying = Effect.fnUntraced(function* <R>(wake: Wake<R>, server: string) {
  const book = yield* Outages
  let isSigned = false
  while (book.awayAt(server) !== undefined) {
    const sinceTry = isSigned ? 0 : book.tryInMillis(server, yield* Clock.currentTimeMillis, TRY_MILLIS)
    const waitMs = Math.max(sinceTry, yield* withheldAt(server))
    isSigned = false
    if (waitMs > 0) {
      isSigned = (yield* signedWithin(book.sign(server), waitMs)) && book.circuits(server).size > 0
      if (isSigned) for (const { tryNow } of book.circuits(server)) yield* tryNow
      continue
    }
    const address = book.choose(server, yield* Clock.currentTimeMillis)
    if (address === undefined) return
    yield* wake(address)
  }
})

/** While a server is away to this process, another one may be answered: its commits tell. */
const listening = Effect.fnUntraced(function* (server: string) {
  const book = yield* Outages
  const hub = yield* NoticeHub
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      hub.listen((notice) => {
        if (notice.type !== "model-replied" || notice.at <= (book.awayAt(server)?.at ?? Infinity)) return
        // Where no one says who answered, it may have been this one.
        if (notice.server === undefined || notice.server === server) Latch.openUnsafe(book.sign(server))
      })
    ),
    (stop) => Effect.sync(stop)
  )
})

/** Sees to each server that is away, one at a time and beside the others. */
const probing = Effect.fnUntraced(function* <R>(wake: Wake<R>, isOneOfMany: boolean) {
  const book = yield* Outages
  const seenTo = new Set<string>()
  const seeTo = (server: string) =>
    Effect.scoped(Effect.andThen(isOneOfMany ? listening(server) : Effect.void, trying(wake, server))).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          seenTo.delete(server)
          // Someone came to wait for it while this ended.
          if (book.awayAt(server) !== undefined && book.candidate(server) !== undefined) Latch.openUnsafe(book.trouble)
        })
      )
    )
  while (true) {
    yield* Latch.await(book.trouble)
    yield* Latch.close(book.trouble)
    for (const { server } of book.away) {
      if (seenTo.has(server)) continue
      seenTo.add(server)
      yield* Effect.forkChild(seeTo(server))
    }
  }
})

/** Gives wake-ups to all that may go on. */
const waking = Effect.gen(function* () {
  const book = yield* Outages
  const queue = yield* WakeQueue
  for (let most = FIRST_BATCH; ; most = Math.min(LAST_BATCH, most * 2)) {
    const addresses = book.relieved(most)
    for (const address of addresses) yield* queue.wake(address, "routine")
    if (addresses.length < most) return
    yield* Effect.sleep(BATCH_MILLIS)
  }
})

const relieving = Effect.fnUntraced(function* (isOneOfMany: boolean) {
  const book = yield* Outages
  while (true) {
    yield* Latch.await(book.relief)
    yield* Latch.close(book.relief)
    yield* waking
    // Who waited in a process that has died is known to the store alone.
    if (isOneOfMany && book.takeEnd()) {
      yield* Effect.ignore(findWaiters(HORIZON_MILLIS))
      yield* waking
    }
  }
})

/** Finds those that wait from before this process began; whom a dead one still holds, when its leases have ended. */
const finding = Effect.fnUntraced(function* (leaseMillis: number) {
  yield* Effect.ignore(findWaiters(HORIZON_MILLIS))
  yield* Effect.sleep(leaseMillis)
  yield* Effect.ignore(findWaiters(HORIZON_MILLIS))
  return yield* Effect.never
})

export interface RecoverySettings {
  readonly isOneOfMany: boolean
  readonly leaseMillis: number
}

/** Runs beside a worker until it ends. */
export const recovering = <R>(wake: Wake<R>, { isOneOfMany, leaseMillis }: RecoverySettings) =>
  Effect.raceAllFirst([finding(leaseMillis), probing(wake, isOneOfMany), relieving(isOneOfMany)])
