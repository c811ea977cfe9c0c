// The one open fleet of this process. A data directory has one owner; several processes share a fleet by DATABASE_URL.

import { Fleet } from "reverie"
import definition from "./fleet.ts"

/** On the global object, for Next.js loads a module again when it changes, and the fleet stays open. */
const opened = globalThis as { fleet?: Promise<Fleet> | undefined }

const open = (): Promise<Fleet> =>
  Fleet.open(
    (process.env["DATABASE_URL"] ?? "") === ""
      ? { fleet: definition, data: process.env["REVERIE_DATA"] ?? ".reverie" }
      : { fleet: definition }
  )

export const openFleet = (): Promise<Fleet> => {
  opened.fleet ??= open().catch((error: unknown) => {
    opened.fleet = undefined
    throw error
  })
  return opened.fleet
}
