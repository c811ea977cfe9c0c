// Search of Queues: what of the view stands in the URL.

import type { Raw } from "../../shell/search.ts"

export interface QueuesSearch {}

export const queuesSearch = (_raw: Raw): QueuesSearch => ({})
