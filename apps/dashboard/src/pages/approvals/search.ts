// Search of Approvals: what of the view stands in the URL.

import type { Raw } from "../../house/search.ts"

export interface ApprovalsSearch {}

export const approvalsSearch = (_raw: Raw): ApprovalsSearch => ({})
