// Search of Dreams: what of the view stands in the URL.

import type { Raw } from "../../house/search.ts"

export interface DreamsSearch {}

export const dreamsSearch = (_raw: Raw): DreamsSearch => ({})
