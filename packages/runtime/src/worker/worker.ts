// Worker: keeps any number of assistants going in one process.
// Owns how many work at once, the sweep for lost wake-ups, and the relay's rhythm. Leaves who is hosted to host.ts.
// I1  No more than `concurrency` assistants work at the same time; the others wait for a fair turn.
// I2  A lost wake-up is found by the sweep: whatever is due and held by no one is hosted within `sweepMillis`, and what was
//     sent and not delivered, by a worker that died for one, is relayed.
// I3  Only a store that can not be written ends the worker. What is damaged in it is in the way of its own assistant.
// I5  Asked to end, it takes up nothing more and lets what runs end (ending.ts).
// I4  An assistant that waits for a model that is away comes back to life soon after its first answer (outages/recovery.ts).

import { Mailbox, WakeQueue } from "@reverie/mailbox"
import { type Address, addressKey, type TenantId } from "@reverie/protocol"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { CourtOfProcess, openCourt } from "../blame/trial.ts"
import { OutageBook, Outages } from "../outages/outage-book.ts"
import { recovering } from "../outages/recovery.ts"
import { Conversations } from "../session/own-records.ts"
import type { StoreFailure } from "./host-failure.ts"
import type { HostSettings } from "./host.ts"
import { Ending } from "./ending.ts"
import { openHosts } from "./lease-session.ts"
import { relayAll } from "./relay.ts"

// FairTurns: who of those that want to work may do so next.
// R1  No more turns than `concurrency` are held at once, and none is free while anybody waits.
// R2  Tenants take turns: while one waits, no other is given more turns than its weight, which is 1 when not said.
// R3  Assistants of a tenant take turns in the order of their arrival: the one who had one stands behind those that wait.
// R4  Anyone who is interrupted loses no turn for the others, whether it waited, was just given one, or held it.

/** The request for a turn, and what became of it. */
export interface FairTurn {
  readonly address: Address
  /** Opened when a turn that was waited for has been given. */
  readonly given: Latch.Latch
  state: "waits" | "held" | "over"
}

/** Turns given to a tenant in one round, from its name. */
export type TenantWeight = (tenant: TenantId) => number

/** The order of turns, apart from the fibers that wait for them. */
export interface TurnLine {
  readonly join: (address: Address) => FairTurn
  /** The turn is over or not wanted any more; saying so twice is once. Answers the turn that is held in its place. */
  readonly leave: (turn: FairTurn) => FairTurn | undefined
}

interface TenantLine {
  /** Turns it may still have before the next tenant's. */
  left: number
  /** Waiting turns of each assistant; the order of the keys is that of service. */
  readonly assistants: Map<string, Array<FairTurn>>
}

const nobodyWeighs: TenantWeight = () => 1

const wholeWeight = (weight: number): number => (weight >= 1 ? Math.floor(weight) : 1)

/** Takes the first turn of a tenant out of its line; its assistant goes behind the others. */
const takeFirst = ({ assistants }: TenantLine): FairTurn | undefined => {
  for (const [key, turns] of assistants) {
    const turn = turns.shift()
    assistants.delete(key)
    if (turns.length > 0) assistants.set(key, turns)
    return turn
  }
  return undefined
}

/** Those that wait. */
class Waiting {
  /** The order of the keys is that of service. */
  readonly #tenants = new Map<TenantId, TenantLine>()
  readonly #weightOf: TenantWeight

  constructor(weightOf: TenantWeight) {
    this.#weightOf = weightOf
  }

  add(turn: FairTurn): void {
    const { tenant } = turn.address
    const line = this.#tenants.get(tenant) ?? { left: this.#round(tenant), assistants: new Map() }
    this.#tenants.set(tenant, line)
    const key = addressKey(turn.address)
    line.assistants.set(key, [...(line.assistants.get(key) ?? []), turn])
  }

  /** Takes out the one who is next. */
  next(): FairTurn | undefined {
    for (const [tenant, line] of this.#tenants) {
      const turn = takeFirst(line)
      line.left--
      if (line.assistants.size === 0 || line.left === 0) this.#tenants.delete(tenant)
      if (line.assistants.size > 0 && line.left === 0) {
        this.#tenants.set(tenant, { ...line, left: this.#round(tenant) })
      }
      return turn
    }
    return undefined
  }

  takeOut(turn: FairTurn): void {
    const { tenant } = turn.address
    const line = this.#tenants.get(tenant)
    const key = addressKey(turn.address)
    const others = line?.assistants.get(key)?.filter((each) => each !== turn) ?? []
    if (others.length > 0) line?.assistants.set(key, others)
    else line?.assistants.delete(key)
    if (line?.assistants.size === 0) this.#tenants.delete(tenant)
  }

  #round(tenant: TenantId): number {
    return wholeWeight(this.#weightOf(tenant))
  }
}

export const openTurnLine = (concurrency: number, weightOf: TenantWeight = nobodyWeighs): TurnLine => {
  let free = concurrency
  const waiting = new Waiting(weightOf)
  return {
    join: (address) => {
      const turn: FairTurn = { address, given: Latch.makeUnsafe(), state: free > 0 ? "held" : "waits" }
      if (free > 0) free--
      else waiting.add(turn)
      return turn
    },
    leave: (turn) => {
      const { state } = turn
      turn.state = "over"
      if (state === "waits") waiting.takeOut(turn)
      if (state !== "held") return undefined
      const following = waiting.next()
      if (following === undefined) free++
      else following.state = "held"
      return following
    }
  }
}

/** Bounds work by a line of turns: it runs while its turn is held. */
export const inTurns =
  (line: TurnLine) =>
  <A, E, R>(work: Effect.Effect<A, E, R>, address: Address): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) => {
      const turn = line.join(address)
      const held = turn.state === "held" ? work : Effect.andThen(Latch.await(turn.given), work)
      return Effect.ensuring(restore(held), leaving(line, turn))
    })

const leaving = (line: TurnLine, turn: FairTurn): Effect.Effect<void> =>
  Effect.suspend(() => {
    const following = line.leave(turn)
    return following === undefined ? Effect.void : Effect.asVoid(Latch.open(following.given))
  })

export interface WorkerSettings {
  /** Names this worker on its claims. */
  readonly worker: string
  readonly leaseMs: number
  readonly idleMs: number
  /** How often the store is asked for assistants that are due and not held. */
  readonly sweepMs: number
  /**
   * Other workers are at the same store: a sweep takes up no more than there are free turns for. What is due waits for its
   * wake-up as well, and all of them would wake the same at once.
   */
  readonly isOneOfMany?: boolean
  /** How many assistants may work at the same time. */
  readonly concurrency: number
  /** Turns that a tenant has before the next one's; 1 when not said. */
  readonly tenantWeight?: TenantWeight
  /** Bounds how many work at once, in place of the worker's own bound by `concurrency`. */
  readonly bound?: HostSettings["working"]
}

export const DEFAULT_WORKER: Omit<WorkerSettings, "worker"> = {
  leaseMs: 30_000,
  idleMs: 10_000,
  sweepMs: 1_000,
  concurrency: 64
}

/** Most assistants that one sweep wakes. */
const SWEEP_LIMIT = 256

/**
 * Works until it is interrupted, or fails when the store does. Interruption lets go of every claim; by `ending` it is asked to come to
 * rest before.
 */
export const runWorker = (settings: WorkerSettings, ending: Ending = new Ending()) =>
  Effect.suspend(() =>
    Effect.scoped(working(settings, ending)).pipe(
      Effect.provideService(Conversations, new Map()),
      Effect.provideService(CourtOfProcess, openCourt()),
      Effect.provideService(Outages, new OutageBook())
    )
  )

/** A damaged page that is met while many are looked at together: it is said, and the next look tries again. */
const pastDamage =
  <A>(otherwise: A) =>
  <R>(look: Effect.Effect<A, StoreFailure, R>): Effect.Effect<A, StoreFailure, R> =>
    Effect.catchIf(
      look,
      (failure) => failure.recovery === "tell-owner",
      (failure) => Effect.as(Effect.logWarning(`${failure.operation}: ${failure.message}`), otherwise)
    )

/** Relays after each signal that something was sent; what is sent meanwhile is relayed after. */
const relaying = Effect.fnUntraced(function* (sent: Latch.Latch) {
  while (true) {
    yield* Latch.await(sent)
    yield* Latch.close(sent)
    yield* pastDamage<void>(undefined)(relayAll())
  }
})

const working = Effect.fnUntraced(function* (settings: WorkerSettings, ending: Ending) {
  const mailbox = yield* Mailbox
  const queue = yield* WakeQueue
  const fatal = yield* Deferred.make<never, StoreFailure>()
  const sent = yield* Latch.make(true)
  const bound = settings.bound ?? inTurns(openTurnLine(settings.concurrency, settings.tenantWeight))
  const hosts = yield* openHosts(
    {
      worker: settings.worker,
      leaseMillis: settings.leaseMs,
      idleTimeoutMillis: settings.idleMs,
      onSent: Effect.asVoid(Latch.open(sent)),
      ending,
      working: (work, address) => ending.counted(bound(work, address))
    },
    (failure) => Deferred.fail(fatal, failure)
  )

  const sweep = Effect.gen(function* () {
    while (true) {
      const most =
        settings.isOneOfMany === true ? Math.min(SWEEP_LIMIT, settings.concurrency - ending.working) : SWEEP_LIMIT
      // Those who can not be hosted here stay due, and must not hide the others.
      const due =
        most <= 0 ? [] : yield* pastDamage<ReadonlyArray<Address>>([])(mailbox.due(most + hosts.refusedCount()))
      for (const address of due) if (!hosts.isKnown(address)) yield* hosts.wake(address)
      yield* Latch.open(sent)
      yield* Effect.sleep(settings.sweepMs)
    }
  })

  const dispatch = Effect.gen(function* () {
    while (true) {
      const { address, done, trace } = yield* queue.take
      yield* hosts.wake(address, done, trace)
    }
  })

  const { isOneOfMany = false, leaseMs: leaseMillis } = settings
  const recovery = recovering(hosts.wake, { isOneOfMany, leaseMillis })
  const intake = Effect.raceAllFirst([dispatch, sweep, recovery, ending.whenAsked])
  return yield* Effect.raceAllFirst([Effect.andThen(intake, Effect.never), relaying(sent), Deferred.await(fatal)])
})
