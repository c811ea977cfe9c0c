// Consent: whether a person means what can not be taken back.
// Owns asking, and who can not be asked. Leaves what is asked to the command.
// C1  Nobody is asked who can not answer: without a terminal it is said with --yes, or not done.

import { createInterface } from "node:readline/promises"
import { CommandFailed } from "./failure.ts"
import { onOneLine } from "./texts/plain.ts"

export interface ChangeOptions {
  readonly json: boolean
  readonly dryRun: boolean
  readonly yes: boolean
  readonly id?: string
}

/** Resolves when it may be done. */
export const assertConsent = async ({ json, yes }: ChangeOptions, what: string): Promise<void> => {
  if (yes) return
  if (json || !process.stdin.isTTY || !process.stderr.isTTY) {
    throw new CommandFailed("consent-needed", `${what}: nobody is here to be asked`)
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const said = await asking.question(`${onOneLine(what)}? [y/N] `)
    if (/^y(es)?$/i.test(said.trim())) return
  } finally {
    asking.close()
  }
  throw new CommandFailed("consent-needed", `${what}: not meant, not done`, { code: "denied", hint: "" })
}
