// BlockTools: every tool of memory blocks, in the order in which they are offered.
// Owns the list. Leaves who gets them to the definition of an assistant.

import type { Tool } from "../tool.ts"
import { blockEditTool } from "./block-edit-tool.ts"
import { blockTool } from "./block-tool.ts"

export const blockTools: ReadonlyArray<Tool> = [blockTool, blockEditTool]
