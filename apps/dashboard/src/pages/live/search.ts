// Search of Live: what of the view stands in the URL.

import type { Raw } from "../../house/search.ts"

export interface LiveSearch {}

export const liveSearch = (_raw: Raw): LiveSearch => ({})
