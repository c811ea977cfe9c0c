// Inside: what the fake API says to the pages of one assistant besides Live.

import type { Handlers } from "./world.ts"

export const insideHandlers: Handlers = {}
