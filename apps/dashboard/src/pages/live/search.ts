// Search of Live: what of the view stands in the URL.

import { oneOf, type Raw } from "../../shell/search.ts"

export interface LiveSearch {
  /** The whole chart, where it does not follow the state. */
  readonly view?: "whole" | undefined
}

export const liveSearch = (raw: Raw): LiveSearch => ({ view: oneOf(raw["view"], ["whole"]) })
