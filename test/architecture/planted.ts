// Planted: wrong modules, written in memory, that a rule must find; and what every rule's test asks of its reach.
// Owns the planting. Leaves the faults to the rules.

import { assert } from "vitest"
import { type Fault, type Repository, type Module, moduleOf, readRepository } from "./repository.ts"

export const repository: Repository = readRepository()

/** The modules a rule looked at, at least so many: a rule that sees nothing finds nothing. */
export const examined = <A>(found: ReadonlyArray<A>, atLeast: number): ReadonlyArray<A> => {
  assert.isAtLeast(found.length, atLeast, "the rule examined too little to say anything")
  return found
}

export const plant = (path: string, ...lines: ReadonlyArray<string>): Module => moduleOf(path, `${lines.join("\n")}\n`)

export const assertNone = (faults: ReadonlyArray<Fault>): void => {
  assert.strictEqual(faults.map(({ what, where }) => `${where} ${what}`).join("\n"), "")
}

/** As many faults as expected texts, and each text in its fault: a rule that finds too much is wrong as well. */
export const assertFinds = (faults: ReadonlyArray<Fault>, expected: ReadonlyArray<string>): void => {
  const lines = faults.map(({ what, where }) => `${where} ${what}`)
  assert.strictEqual(lines.length, expected.length, `found:\n${lines.join("\n")}`)
  for (const [index, text] of expected.entries()) assert.include(lines[index], text)
}
