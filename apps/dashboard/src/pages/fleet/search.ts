// Search of Fleet: what of the view stands in the URL.

import { flag, oneOf, type Raw, text } from "../../shell/search.ts"

const sorts = ["attention", "id", "since", "waiting", "context", "cost", "ticks", "errors"] as const

export interface FleetSearch {
  readonly q?: string | undefined
  /** A mode, a path of the statechart, or the beginning of one. */
  readonly state?: string | undefined
  readonly sort?: (typeof sorts)[number] | undefined
  readonly desc?: true | undefined
}

export const sortOf = (value: unknown) => oneOf(value, sorts)

export const fleetSearch = (raw: Raw): FleetSearch => ({
  q: text(raw["q"]),
  state: text(raw["state"]),
  sort: sortOf(raw["sort"]),
  desc: flag(raw["desc"])
})
