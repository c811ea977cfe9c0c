// Search of Timeline: what of the view stands in the URL.

import type { Raw } from "../../house/search.ts"

export interface TimelineSearch {}

export const timelineSearch = (_raw: Raw): TimelineSearch => ({})
