// Search of Compactions: what of the view stands in the URL.

import { type Raw, text } from "../../shell/search.ts"

export interface CompactionsSearch {
  /** The compaction that is open; the newest one when not said. */
  readonly open?: string | undefined
}

export const compactionsSearch = (raw: Raw): CompactionsSearch => ({ open: text(raw["open"], 128) })
