// Law: one behaviour that every adapter of a port must show, as a value.
// Owns judging: a law against an adapter, a list of laws against mutants. Leaves the laws themselves to `laws/`, the
// registration of tests to `prove.ts`.
// L1  Every law is judged on a fresh adapter and a fresh virtual clock: no law can lean on what another one left.
// L2  A selection that is empty, names a law twice or names one that does not exist is refused: it would prove nothing.
// L3  Only a false assertion or a failure of the port breaks a law. A defect, a failed start or a law that never ends is
//     inconclusive: it neither proves an adapter nor kills a mutant.

import { AssertionError } from "node:assert/strict"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"

export interface Law<R> {
  /** The invariant it guards and, after a dot, the face of it: `I2.repeat`. */
  readonly id: string
  readonly says: string
  readonly check: Effect.Effect<void, unknown, R | Scope.Scope>
}

export type Verdict = "held" | "broken" | "inconclusive"

export interface LawResult {
  readonly id: string
  readonly says: string
  readonly verdict: Verdict
  /** Why it did not hold, for people. */
  readonly reason?: string
}

/** Makes an adapter whose store shares nothing with the one it made before. The layer may be the same: it is built anew. */
export type FreshLayer<R> = () => Layer.Layer<R, unknown>

/** Where the virtual clock of every law starts: past 2^32, so that a store with narrow integers is found. */
export const LAW_START_MILLIS = 1_790_000_000_000

/** A guard against a law that waits for ever; no law comes near it. */
const ENDLESS_MILLIS = 60_000

/** The laws asked for, all of them without `only`. Throws when the selection would prove nothing. */
export const selectLaws = <R>(laws: ReadonlyArray<Law<R>>, only?: ReadonlyArray<string>): ReadonlyArray<Law<R>> => {
  const byId = new Map<string, Law<R>>()
  for (const law of laws) {
    if (byId.has(law.id)) throw new Error(`two laws are called ${law.id}`)
    byId.set(law.id, law)
  }
  const chosen = (only ?? [...byId.keys()]).map((id) => {
    const law = byId.get(id)
    if (law === undefined) throw new Error(`no law is called ${id}; there are ${[...byId.keys()].join(", ")}`)
    return law
  })
  if (chosen.length === 0) throw new Error("no law was selected: nothing would be proved")
  if (new Set(chosen).size < chosen.length) throw new Error("a law was selected twice")
  return chosen
}

const verdictOf = (cause: Cause.Cause<unknown>): Verdict =>
  cause.reasons.every(
    (reason) => Cause.isFailReason(reason) || (Cause.isDieReason(reason) && reason.defect instanceof AssertionError)
  )
    ? "broken"
    : "inconclusive"

const inVirtualTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.andThen(TestClock.setTime(LAW_START_MILLIS), effect).pipe(
    Effect.provide(TestClock.layer()),
    Effect.timeoutOption(ENDLESS_MILLIS)
  )

/** Judges one law on one fresh adapter. Never fails. */
export const judge = <R>(law: Law<R>, layer: FreshLayer<R>): Effect.Effect<LawResult> => {
  const { id, says } = law
  const result = (verdict: Verdict, reason: string): LawResult => ({ id, says, verdict, reason })
  return Effect.gen(function* () {
    const built = yield* Effect.exit(Layer.build(Layer.fresh(layer())))
    if (Exit.isFailure(built)) {
      return result("inconclusive", `the adapter did not start: ${Cause.pretty(built.cause)}`)
    }
    const exit = yield* Effect.exit(Effect.provide(law.check, built.value))
    return Exit.isSuccess(exit)
      ? { id, says, verdict: "held" as const }
      : result(verdictOf(exit.cause), Cause.pretty(exit.cause))
  }).pipe(
    Effect.scoped,
    inVirtualTime,
    Effect.map(Option.getOrElse(() => result("inconclusive", `did not end within ${ENDLESS_MILLIS} ms`)))
  )
}

/** Judges each law in turn; the results stand in the order of the laws. */
export const runLaws = <R>(
  laws: ReadonlyArray<Law<R>>,
  layer: FreshLayer<R>,
  only?: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<LawResult>> => Effect.forEach(selectLaws(laws, only), (law) => judge(law, layer))

/** What a list of laws does to wrong adapters. Nothing may stand in any of the first three lists. */
export interface Bite {
  /** Mutants that break no law. */
  readonly survivors: ReadonlyArray<string>
  /** Laws that no mutant breaks. */
  readonly toothless: ReadonlyArray<string>
  /** Pairs that were judged and gave no verdict, `mutant at law: reason`. */
  readonly inconclusive: ReadonlyArray<string>
  /** The ids of the laws that each mutant was seen to break. */
  readonly killedBy: Readonly<Record<string, ReadonlyArray<string>>>
}

export interface BiteOptions {
  /** Judges each pair, also once the mutant is dead and the law has killed. Survivors and toothless laws are the same. */
  readonly isWhole?: boolean
}

/** Judges laws on mutants until each mutant is dead and each law has killed. */
export const biteWith = <R>(
  laws: ReadonlyArray<Law<R>>,
  mutants: Readonly<Record<string, FreshLayer<R>>>,
  { isWhole = false }: BiteOptions = {}
): Effect.Effect<Bite> =>
  Effect.gen(function* () {
    if (Object.keys(mutants).length === 0) return yield* Effect.die(new Error("no mutant: nothing would be bitten"))
    const killedBy: Record<string, Array<string>> = {}
    const inconclusive: Array<string> = []
    const judged = new Set<string>()
    const kills = Effect.fnUntraced(function* (law: Law<R>, name: string, mutant: FreshLayer<R>) {
      judged.add(`${name} at ${law.id}`)
      const { reason = "", verdict } = yield* judge(law, mutant)
      if (verdict === "inconclusive") inconclusive.push(`${name} at ${law.id}: ${reason}`)
      if (verdict === "broken") killedBy[name]?.push(law.id)
      return verdict === "broken"
    })
    let last = 0
    for (const [name, mutant] of Object.entries(mutants)) {
      killedBy[name] = []
      // Mutants stand in the order of the laws, more or less: who killed the last is near who kills this one.
      for (const law of [...laws.slice(last), ...laws.slice(0, last)]) {
        if (!(yield* kills(law, name, mutant)) || isWhole) continue
        last = laws.indexOf(law)
        break
      }
    }
    const killers = () => new Set(Object.values(killedBy).flat())
    for (const law of laws.filter(({ id }) => !killers().has(id))) {
      for (const [name, mutant] of Object.entries(mutants)) {
        if (!judged.has(`${name} at ${law.id}`) && (yield* kills(law, name, mutant))) break
      }
    }
    return {
      survivors: Object.keys(mutants).filter((name) => killedBy[name]?.length === 0),
      toothless: laws.map(({ id }) => id).filter((id) => !killers().has(id)),
      inconclusive,
      killedBy
    }
  })
