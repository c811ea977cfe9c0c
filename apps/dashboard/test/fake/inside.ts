// Inside: what the fake API says to the pages of one assistant besides Live.
// Owns putting them together. Leaves what is said to a file a page.

import { contextHandlers } from "./context.ts"
import { memoryHandlers } from "./memory.ts"
import { nightHandlers } from "./night.ts"
import { replayHandlers } from "./replay.ts"
import { timelineHandlers } from "./timeline.ts"
import type { Handlers } from "./world.ts"

export const insideHandlers: Handlers = {
  ...contextHandlers,
  ...timelineHandlers,
  ...memoryHandlers,
  ...nightHandlers,
  ...replayHandlers
}
