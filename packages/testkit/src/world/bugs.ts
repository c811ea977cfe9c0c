// Bugs: mistakes planted in a world on purpose, to prove that its checks bite.
// Owns the wrong ports. A world without a planted bug never uses this file.

import type { Commit } from "@reverie/ledger"
import type { Claim, Envelope } from "@reverie/protocol"
import { EnvelopeId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import type { Store } from "../memory-store.ts"
import type { Fate } from "./fate.ts"
import { forgettingTheCrash, grantingTooMuch, leavingOrphans, releasingTwice } from "./sub-agents-bugs.ts"

export const plantedBugs = [
  "no-fencing",
  "no-deduplication",
  "acknowledged-before-durable",
  "checked-then-acted",
  "random-effect-key",
  "memory-left-behind",
  "crash-cost-forgotten",
  "released-twice",
  "granted-too-much",
  "orphans-left",
  "blamed-without-trial",
  "outage-blamed-on-calls",
  "stopped-in-silence",
  "stopped-late"
] as const
export type PlantedBug = (typeof plantedBugs)[number]

/** Writes no matter who asks, under whatever epoch is the present one. */
const unfenced = (store: Store): Store => {
  const commit = (claim: Claim, { entry, state }: Commit): ReturnType<Store["ledger"]["commit"]> =>
    store.ledger
      .commit(claim, { entry, state })
      .pipe(
        Effect.catchTag("CommitFenced", ({ currentEpoch, currentVersion }) =>
          store.ledger.commit(
            { ...claim, epoch: currentEpoch },
            { entry: { ...entry, epoch: currentEpoch, no: currentVersion + 1 }, state }
          )
        )
      )
  return { ...store, ledger: { ...store.ledger, commit } }
}

/** Takes a repeated envelope for a new one. */
const forgetful = (store: Store): Store => {
  const accept = (envelope: Envelope): ReturnType<Store["mailbox"]["accept"]> =>
    store.mailbox
      .accept(envelope)
      .pipe(
        Effect.flatMap((receipt) =>
          receipt.outcome === "accepted"
            ? Effect.succeed(receipt)
            : accept({ ...envelope, id: EnvelopeId.make(`${envelope.id}'`) })
        )
      )
  return { ...store, mailbox: { ...store.mailbox, accept } }
}

/** Says "accepted" first and writes later; a crash in between forgets the envelope. */
const hasty = (store: Store, fate: Fate): Store => ({
  ...store,
  mailbox: {
    ...store.mailbox,
    accept: (envelope) =>
      Effect.as(
        Effect.forkDetach(Effect.delay(Effect.exit(store.mailbox.accept(envelope)), fate.between(100, 3_000))),
        { outcome: "accepted" as const, envelope: envelope.id, to: envelope.to }
      )
  }
})

/** Writes that a dream has read something, and forgets what it found, now and then. */
const absentMinded = (store: Store, fate: Fate): Store => ({
  ...store,
  ledger: {
    ...store.ledger,
    commit: (claim, { entry, state }) => {
      const { records = [], ...rest } = entry
      const found = records.some(({ kind }) => kind === "fact")
      return store.ledger.commit(claim, {
        entry: found && fate.chance(0.3) ? { ...rest, records: records.filter(({ kind }) => kind !== "fact") } : entry,
        state
      })
    }
  }
})

/** Tells some holders that what waits was tried often, and their processes lost with it. */
const slanderous = (store: Store, fate: Fate): Store => ({
  ...store,
  mailbox: {
    ...store.mailbox,
    claim: (request) =>
      Effect.map(store.mailbox.claim(request), (hold) => {
        if (!fate.chance(0.1)) return hold
        const tries = Array.from({ length: 9 }, (_, index) => [`mail ${hold.cursors.mail + index}`, 9])
        return { ...hold, attempts: 9, note: JSON.stringify(Object.fromEntries(tries)) }
      })
  }
})

/** Stops a tick, and tells no one who waits for its answer. */
const silentStops = (store: Store): Store => ({
  ...store,
  ledger: {
    ...store.ledger,
    commit: (claim, { entry, state }) => {
      const { sends = [], ...rest } = entry
      const told = sends.filter(({ event }) => event.type !== "message" || event.answers === undefined)
      return store.ledger.commit(claim, {
        entry: entry.tickEnd?.outcome === "stopped" ? { ...rest, sends: told } : entry,
        state
      })
    }
  }
})

/** Takes an order to stop a tick that is over for one of the next. */
const lateStops = (store: Store): Store => ({
  ...store,
  mailbox: {
    ...store.mailbox,
    accept: (envelope) => {
      const { event } = envelope
      return store.mailbox.accept(
        event.type === "stop" && event.reason === undefined
          ? { ...envelope, event: { ...event, tick: event.tick + 1 } }
          : envelope
      )
    }
  }
})

export const withBug = (store: Store, bug: PlantedBug | undefined, fate: Fate): Store => {
  switch (bug) {
    case "no-fencing":
      return unfenced(store)
    case "no-deduplication":
      return forgetful(store)
    case "acknowledged-before-durable":
      return hasty(store, fate)
    case "memory-left-behind":
      return absentMinded(store, fate)
    case "crash-cost-forgotten":
      return forgettingTheCrash(store)
    case "released-twice":
      return releasingTwice(store)
    case "granted-too-much":
      return grantingTooMuch(store)
    case "orphans-left":
      return leavingOrphans(store)
    case "blamed-without-trial":
      return slanderous(store, fate)
    case "stopped-in-silence":
      return silentStops(store)
    case "stopped-late":
      return lateStops(store)
    default:
      return store
  }
}

/** Looks whether there is room, takes a while, and goes in. */
export const checkedThenActed = (limit: number) => {
  let inside = 0
  return <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.gen(function* () {
      while (inside >= limit) yield* Effect.sleep(50)
      yield* Effect.sleep(5)
      inside++
      return yield* Effect.ensuring(
        work,
        Effect.sync(() => inside--)
      )
    })
}
