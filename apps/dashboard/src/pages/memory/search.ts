// Search of Memory: what of the view stands in the URL.

import type { Raw } from "../../house/search.ts"

export interface MemorySearch {}

export const memorySearch = (_raw: Raw): MemorySearch => ({})
