// Search of Memory: what of the view stands in the URL.

import { oneOf, type Raw, text, whole } from "../../shell/search.ts"

export const lists = ["blocks", "facts", "profiles", "journal", "recall"] as const
export type List = (typeof lists)[number]
export const factStates = ["active", "superseded", "retired", "quarantined", "proposed"] as const
export const recallModes = ["auto", "fts", "vector", "hybrid"] as const
export const recallScopes = ["own", "shared", "fleet"] as const

export interface MemorySearch {
  /** The list that is looked at; the blocks when not said. */
  readonly tab?: List | undefined
  /** The block, fact or profile that is open. */
  readonly open?: string | undefined
  /** Of the block that is open: the version that is held against the one before it. */
  readonly version?: number | undefined
  readonly state?: (typeof factStates)[number] | undefined
  readonly q?: string | undefined
  readonly mode?: (typeof recallModes)[number] | undefined
  readonly scope?: (typeof recallScopes)[number] | undefined
}

export const memorySearch = (raw: Raw): MemorySearch => ({
  tab: oneOf(raw["tab"], lists),
  open: text(raw["open"], 200),
  version: whole(raw["version"]),
  state: oneOf(raw["state"], factStates),
  q: text(raw["q"], 2_000),
  mode: oneOf(raw["mode"], recallModes),
  scope: oneOf(raw["scope"], recallScopes)
})
