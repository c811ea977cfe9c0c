// SelfTools: every tool by which an assistant manages itself, in the order in which they are offered.
// Owns the list. Leaves who gets them to the definition of an assistant; `noop` is built in and not among them.
// I1  Each uses the records, is idempotent and has a name of its own.

import type { Tool } from "../tool.ts"
import { updateEntityObservationTool } from "./entity-tools.ts"
import { addGoalTool, decomposeGoalTool, updateGoalTool } from "./goal-tools.ts"
import { getSystemStatusTool, updateSystemPromptTool } from "./introspection-tools.ts"
import { addJournalEntryTool, reviewJournalTool } from "./journal-tools.ts"
import { addSessionMemoryTool, compactSessionMemoryTool } from "./memory-tools.ts"
import { createProjectTool, listProjectsTool, swapProjectTool, updateProjectTool } from "./project-tools.ts"
import { goToSleepTool } from "./sleep-tools.ts"

export const selfTools: ReadonlyArray<Tool> = [
  createProjectTool,
  listProjectsTool,
  swapProjectTool,
  updateProjectTool,
  addGoalTool,
  updateGoalTool,
  decomposeGoalTool,
  addSessionMemoryTool,
  compactSessionMemoryTool,
  addJournalEntryTool,
  reviewJournalTool,
  updateEntityObservationTool,
  getSystemStatusTool,
  updateSystemPromptTool,
  goToSleepTool
]
