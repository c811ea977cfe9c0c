// Search of Compactions: what of the view stands in the URL.

import type { Raw } from "../../house/search.ts"

export interface CompactionsSearch {}

export const compactionsSearch = (_raw: Raw): CompactionsSearch => ({})
