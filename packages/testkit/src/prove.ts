// Prove: laws as tests. Imported as `@reverie/testkit/prove`, apart from the rest, because only a test run has vitest.
// Owns registration. Leaves judging to `law.ts`, excuses to `waiver.ts`.
// P1  Each law is one test, and at least one test is registered.
// P3  `bite` fails when a mutant breaks no law or a law is broken by no mutant, and names both sides.

import * as Effect from "effect/Effect"
import { describe, test } from "vitest"
import { isLong } from "./length.ts"
import { type Bite, biteWith, type FreshLayer, judge, type Law, selectLaws } from "./law.ts"
import { checkWaivers, complaintOf, type Waivers } from "./waiver.ts"

export interface ProveOptions {
  /** Ids of the laws to prove; all of them when absent. */
  readonly only?: ReadonlyArray<string>
  /** Laws that this adapter is known to break, by id, each with the reason. */
  readonly waivers?: Waivers
}

/** What is wrong with a bite; undefined when every mutant died and every law killed. */
export const toothacheOf = (bite: Bite): string | undefined => {
  const lines = [
    ...bite.survivors.map((name) => `mutant survives every law: ${name}`),
    ...bite.toothless.map((id) => `law kills no mutant: ${id}`),
    ...bite.inconclusive
  ]
  return lines.length === 0 ? undefined : lines.join("\n")
}

const failWith = (complaint: string | undefined): void => {
  if (complaint !== undefined) throw new Error(complaint)
}

/** Registers one test a law, each on an adapter of its own. */
export const prove = <R>(
  title: string,
  laws: ReadonlyArray<Law<R>>,
  layer: FreshLayer<R>,
  options: ProveOptions = {}
): void => {
  const chosen = selectLaws(laws, options.only)
  const waivers = options.waivers ?? {}
  checkWaivers(
    chosen.map(({ id }) => id),
    waivers
  )
  describe(title, () => {
    for (const law of chosen) {
      const waiver = waivers[law.id]
      test(`${law.id} ${law.says}${waiver === undefined ? "" : ` (waived: ${waiver})`}`, async () => {
        failWith(complaintOf(await Effect.runPromise(judge(law, layer)), waiver))
      })
    }
  })
}

/** Registers the test of the laws themselves: every mutant dies, every law kills. */
export const bite = <R>(
  title: string,
  laws: ReadonlyArray<Law<R>>,
  mutants: Readonly<Record<string, FreshLayer<R>>>
): void => {
  const chosen = selectLaws(laws)
  const count = Object.keys(mutants).length
  if (count === 0) throw new Error(`${title}: no mutant, nothing would be bitten`)
  describe(title, () => {
    test(`${chosen.length} laws kill ${count} mutants, and each kills at least one`, { timeout: 120_000 }, async () => {
      failWith(toothacheOf(await Effect.runPromise(biteWith(chosen, mutants, { isWhole: isLong }))))
    })
  })
}
