// Search of Replay: what of the view stands in the URL.

import type { Raw } from "../../house/search.ts"

export interface ReplaySearch {}

export const replaySearch = (_raw: Raw): ReplaySearch => ({})
