// Search of Fleet: what of the view stands in the URL.

import type { Raw } from "../../house/search.ts"

export interface FleetSearch {}

export const fleetSearch = (_raw: Raw): FleetSearch => ({})
