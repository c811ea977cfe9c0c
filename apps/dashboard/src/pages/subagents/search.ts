// Search of Sub-agents & budget: what of the view stands in the URL.

import { oneOf, type Raw } from "../../shell/search.ts"

/** What a budget is counted in. */
export const measures = ["tokens", "costMicros", "calls"] as const
export type Measure = (typeof measures)[number]

export interface SubAgentTreeSearch {
  readonly in?: Measure | undefined
}

export const subAgentTreeSearch = (raw: Raw): SubAgentTreeSearch => ({ in: oneOf(raw["in"], measures) })
