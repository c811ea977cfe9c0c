// Memories: entries of an index, for tests to which only their texts matter.

import type { MemoryEntry } from "@reverie/memory"

export const aMemory = (key: string, text: string): MemoryEntry => ({
  id: `p/${key}`,
  kind: "passage",
  at: 0,
  text,
  entities: [],
  tags: [],
  trust: 1,
  importance: 1,
  readers: "owner"
})
