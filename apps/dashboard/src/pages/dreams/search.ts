// Search of Dreams: what of the view stands in the URL.

import type { Raw } from "../../shell/search.ts"

export interface DreamsSearch {}

export const dreamsSearch = (_raw: Raw): DreamsSearch => ({})
