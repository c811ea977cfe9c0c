// Tiny: sizes with which a few entries are many segments, so that all that befalls an old assistant's words befalls theirs.

import type { Sizes } from "../src/words/words.ts"

export const TINY: Sizes = { flushed: 2, kept: 1, work: 64, read: 65_536 }
