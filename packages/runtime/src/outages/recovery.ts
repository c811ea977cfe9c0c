// Recovery: how those that wait for a model come back to life.
// Owns the rhythm: who tries while the server is away, and how all are woken once it answers. Leaves the knowledge to
// outage-book.ts, and a wait that nobody ends to its own timer.
// R1  While the server is away one of those that wait tries every TRY_MILLIS, however many they are; at once in a process
//     that knows of them from the store alone, and when another process was answered.
// R2  After the first answer of anybody all are woken, a few first and more and more then: no faster than they can be worked
//     on, and not at all while it is away again.
// R3  Nothing here may end a worker: what the store does not tell now, the timers of those that wait will.

import { DEFAULT_SETTINGS } from "@reverie/assistant"
import { WakeQueue } from "@reverie/mailbox"
import { Model } from "@reverie/model"
import type { Address } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { NoticeHub } from "../notice-hub.ts"
import { Outages } from "./outage-book.ts"
import { findWaiters } from "./waiters.ts"

/** Between two tries of one process. */
const TRY_MILLIS = 30_000

const FIRST_BATCH = 8
const LAST_BATCH = 512
const BATCH_MILLIS = 250

/** A little more than the longest pause of whoever has not chosen another one. */
const HORIZON_MILLIS = DEFAULT_SETTINGS.parkMaxMillis + 60_000

/** Opens a lease session to one in this very process. */
type Wake<R> = (address: Address) => Effect.Effect<unknown, never, R>

/** Sleeps so long, or until a sign of life. True when one came. */
const signedWithin = Effect.fnUntraced(function* (sign: Latch.Latch, millis: number) {
  const isSigned = Effect.as(Latch.await(sign), true)
  const came = yield* Effect.raceFirst(isSigned, Effect.as(Effect.sleep(millis), false))
  yield* Latch.close(sign)
  return came
})

/** Lets one after the other try, until the server answers or nobody may try. */
const trying = Effect.fnUntraced(function* <R>(wake: Wake<R>) {
  const book = yield* Outages
  const { circuit } = yield* Model
  while (book.away !== undefined) {
    const waitMillis = book.tryInMillis(yield* Clock.currentTimeMillis, TRY_MILLIS)
    if (waitMillis > 0) {
      if ((yield* signedWithin(book.sign, waitMillis)) && circuit !== undefined) yield* circuit.tryNow
      else continue
    }
    const withheldMillis = circuit === undefined ? 0 : yield* circuit.withheldMillis()
    if (withheldMillis > 0) {
      yield* Effect.sleep(withheldMillis)
      continue
    }
    const address = book.choose(yield* Clock.currentTimeMillis)
    if (address === undefined) return
    yield* wake(address)
  }
})

/** While the server is away to this process, another one may be answered: its commits tell. */
const listening = Effect.gen(function* () {
  const book = yield* Outages
  const hub = yield* NoticeHub
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      hub.listen((notice) => {
        if (notice.type === "model-replied" && notice.at > (book.away?.at ?? Infinity)) Latch.openUnsafe(book.sign)
      })
    ),
    (stop) => Effect.sync(stop)
  )
})

const probing = Effect.fnUntraced(function* <R>(wake: Wake<R>, isOneOfMany: boolean) {
  const book = yield* Outages
  while (true) {
    yield* Latch.await(book.trouble)
    yield* Latch.close(book.trouble)
    yield* Effect.scoped(Effect.andThen(isOneOfMany ? listening : Effect.void, trying(wake)))
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
