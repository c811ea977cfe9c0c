// Migrate: brings a store to the form of this version.
// Owns opening it for that, and saying what was done. Leaves the steps to the adapters of the store.

import { defined } from "@reverie/protocol"
import { Fleet, Peek } from "reverie"
import type { ChangeOptions } from "../../consent.ts"
import { failureOf } from "../../failure.ts"
import { say, sayJson } from "../../output.ts"
import { onOneLine } from "../../texts/plain.ts"

export interface MigrateOptions extends ChangeOptions {
  readonly data: string | undefined
}

/** Whether it could be read as it was before. */
const wasReadable = async (data: string | undefined): Promise<boolean> => {
  try {
    await using peek = await Peek.open(data)
    await peek.totals()
    return true
  } catch (error) {
    if (failureOf(error).code === "data-format-older") return false
    throw error
  }
}

export const migrate = async ({ data, dryRun, json }: MigrateOptions): Promise<number> => {
  const isCurrent = await wasReadable(data)
  if (dryRun) {
    const words = isCurrent ? "it has the form of this version" : "it would be brought to the form of this version"
    if (json) sayJson({ ok: true, dryRun: true, isCurrent })
    else say(words)
    return 0
  }
  const nobody = { assistants: [], reception: "nobody" as never }
  await using fleet = await Fleet.open({ fleet: nobody, role: "api", ...defined({ data }) })
  const { accepted } = await fleet.totals()
  const words = isCurrent ? "it had the form of this version" : "it was brought to the form of this version"
  if (json) sayJson({ ok: true, migrated: !isCurrent, place: fleet.profile, accepted })
  else say(onOneLine(`${fleet.profile}: ${words}; ${accepted} envelopes accepted so far`, 300))
  return 0
}
