// MemoryTools: every tool by which an assistant uses its memory, in the order in which they are offered.
// Owns the list. Leaves who gets them to the definition of an assistant.
// I1  Each uses the records, is idempotent and has a name of its own.

import type { Tool } from "../tool.ts"
import { readHistoryTool } from "./history-tool.ts"
import { recallMemoriesTool } from "./recall-tool.ts"
import { storeMemoryTool } from "./store-tool.ts"

export const memoryTools: ReadonlyArray<Tool> = [recallMemoriesTool, storeMemoryTool, readHistoryTool]
