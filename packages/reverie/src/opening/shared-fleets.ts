// SharedFleets: the fleets that several parts of one process hold together.
// Owns counting their holders, and what replaces what. Leaves opening and closing to the fleet.
// S1  A place (a directory or a deployment) has one shared fleet at a time: the next opens after the one before has closed.
// S2  It closes with its last holder; a holder that closes twice counts once.
// S3  Another definition object replaces it, no matter who holds it: hot reload leaves the holders of the old one behind.
// S4  A second copy of this module in the same process shares with the first: the list is the process's, and what is in it is
//     used by plain calls alone.

import { processWide, realPath } from "@reverie/store-sqlite"
import type { FleetDefinition, FleetOptions } from "../fleet-options.ts"

/** What was opened to be shared. */
export interface Shareable<Fleet> {
  readonly fleet: { readonly ended: Promise<unknown>; readonly close: (options: { graceMs: number }) => Promise<void> }
  /** The fleet in the hands of one holder, who lets go of it by `release`. */
  readonly handle: (release: (graceMs: number) => Promise<void>) => Fleet
}

interface Entry {
  readonly definition: FleetDefinition
  readonly opening: Promise<Shareable<unknown>>
  holders: number
  /** Its store failed, or it was closed. */
  isOver: boolean
  closing: Promise<void> | undefined
}

const entries = (): Map<string, Entry> => processWide("reverie.shared-fleets")

const keyOf = ({ data, deployment }: FleetOptions): string => {
  if (deployment !== undefined) return `deployment ${JSON.stringify(deployment)}`
  if (data === undefined) return "environment"
  return data === ":memory:" ? data : `data ${realPath(data)}`
}

const closed = (key: string, entry: Entry, graceMs = 0): Promise<void> => {
  entry.isOver = true
  entry.closing ??= entry.opening
    .then(({ fleet }) => fleet.close({ graceMs }))
    .finally(() => {
      if (entries().get(key) === entry) entries().delete(key)
    })
  return entry.closing
}

const begun = (key: string, definition: FleetDefinition, open: () => Promise<Shareable<unknown>>): Entry => {
  const before = entries().get(key)
  // What could not be opened, or closed, is no reason against the next one.
  const free = before === undefined ? Promise.resolve() : closed(key, before).catch(() => {})
  const entry: Entry = { definition, opening: free.then(open), holders: 0, isOver: false, closing: undefined }
  const over = (): void => {
    entry.isOver = true
  }
  entry.opening.then(({ fleet }) => fleet.ended.then(over, over), over)
  entries().set(key, entry)
  return entry
}

/** The shared fleet of the place that the options name, in the hands of one more holder. Rejects as `open` does. */
export const sharedFleet = async <Fleet>(
  options: FleetOptions,
  open: () => Promise<Shareable<Fleet>>
): Promise<Fleet> => {
  const key = keyOf(options)
  const known = entries().get(key)
  const isSame = known !== undefined && known.definition === options.fleet && !known.isOver
  const entry = isSame ? known : begun(key, options.fleet, open)
  entry.holders++
  let isHeld = true
  const release = async (graceMs: number): Promise<void> => {
    if (!isHeld) return entry.closing
    isHeld = false
    entry.holders--
    if (entry.holders === 0) await closed(key, entry, graceMs)
  }
  const { handle } = (await entry.opening) as Shareable<Fleet>
  return handle(release)
}
