// Search of System: what of the view stands in the URL.

import type { Raw } from "../../shell/search.ts"

export interface SystemSearch {}

export const systemSearch = (_raw: Raw): SystemSearch => ({})
