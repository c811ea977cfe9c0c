// Arguments: what a run of the integration tests was asked for.
// Owns reading the command line. Leaves what vitest receives to vitest.

import { parseArgs } from "node:util"

export interface Arguments {
  readonly isOnStandIns: boolean
  /** What `-t` or `--testNamePattern` says. */
  readonly pattern: string | undefined
  /** Everything that is not ours, as it was said. */
  readonly ofVitest: ReadonlyArray<string>
}

const OWN = "--stand-ins"

export const argumentsIn = (args: ReadonlyArray<string>): Arguments => {
  const { values } = parseArgs({
    args: [...args],
    strict: false,
    allowPositionals: true,
    options: { testNamePattern: { type: "string", short: "t" } }
  })
  const { testNamePattern } = values
  return {
    isOnStandIns: args.includes(OWN),
    pattern: typeof testNamePattern === "string" ? testNamePattern : undefined,
    ofVitest: args.filter((arg) => arg !== OWN)
  }
}
