// Search of Context: what of the view stands in the URL.

import type { Raw } from "../../house/search.ts"

export interface ContextSearch {}

export const contextSearch = (_raw: Raw): ContextSearch => ({})
