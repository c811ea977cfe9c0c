// Search of Context: what of the view stands in the URL.

import { type Raw, text, whole } from "../../shell/search.ts"

export interface ContextSearch {
  /** The model call that is looked at; the newest one when not said. */
  readonly tick?: number | undefined
  readonly iteration?: number | undefined
  /** The tick that it is held against. */
  readonly with?: number | undefined
  /** The part whose words are open. */
  readonly open?: string | undefined
  /** The slider ends before this commit. */
  readonly before?: number | undefined
}

export const contextSearch = (raw: Raw): ContextSearch => ({
  tick: whole(raw["tick"]),
  iteration: whole(raw["iteration"]),
  with: whole(raw["with"]),
  open: text(raw["open"], 128),
  before: whole(raw["before"])
})
