// Search of Sub-agents & budget: what of the view stands in the URL.

import type { Raw } from "../../house/search.ts"

export interface FamilySearch {}

export const familySearch = (_raw: Raw): FamilySearch => ({})
