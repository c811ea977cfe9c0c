// Search of Approvals: what of the view stands in the URL.

import { type Raw, text } from "../../shell/search.ts"

export interface ApprovalsSearch {
  /** Only those of this assistant. */
  readonly of?: string | undefined
}

export const approvalsSearch = (raw: Raw): ApprovalsSearch => ({ of: text(raw["of"], 128) })
