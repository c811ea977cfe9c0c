// FairTurns: who of those that want to work may do so next.
// Owns how many work at once, and the order of those that wait. Leaves what a turn is to lease-session.ts.
// R1  No more turns than `concurrency` are held at once, and none is free while anybody waits.
// R2  Tenants take turns: while one waits, no other is given more turns than its weight, which is 1 when not said.
// R3  Assistants of a tenant take turns in the order of their arrival: whoever had one stands behind those that wait.
// R4  Whoever is interrupted loses no turn for the others, whether it waited, was just given one, or held it.

import { type Address, addressKey, type TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"

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

  /** Takes out whoever is next. */
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
