// SelfTools: every tool by which an assistant manages itself, in the order in which they are offered.
// Owns the list. Leaves who gets them to the definition of an assistant; `noop` is built in and not among them.
// I1  Each uses the records, is idempotent and has a name of its own.

import {
  selfPromptChange,
  selfPromptOf,
  sleepOrder,
  systemStatus,
  updateSelfPrompt,
  whyAwake
} from "@reverie/assistant"
import * as Schema from "effect/Schema"
import type { Tool } from "../tool.ts"
import {
  addJournalEntryTool,
  addSessionMemoryTool,
  compactSessionMemoryTool,
  reviewJournalTool,
  updateEntityObservationTool
} from "./journal-tools.ts"
import { addGoalTool, decomposeGoalTool, updateGoalTool } from "./goal-tools.ts"
import { createProjectTool, listProjectsTool, swapProjectTool, updateProjectTool } from "./project-tools.ts"
import { reminderTools } from "./reminder-tools.ts"
import { selfTool, text } from "./self-tool.ts"

// IntrospectionTools: get_system_status, update_system_prompt (F79-F82, A27).
// I1  get_system_status is SAFE_CHAIN and changes nothing.
// I2  update_system_prompt is DANGEROUS: a person may have to confirm it. It writes one record, never the user's prompt.

const getSystemStatusTool = selfTool({
  name: "get_system_status",
  description:
    "Tells how much of the context window is used, where the loop stands and how many tool calls there were.",
  run: (_none, { records, now }) => systemStatus(records.loop, records.read("state"), now)
})

const updateSystemPromptTool = selfTool({
  name: "update_system_prompt",
  description:
    "Replaces the guidelines you have written for yourself. The prompt of your user stays as it is and goes before yours.",
  needsApproval: true,
  input: Schema.Struct({
    new_prompt: text(8_000, "All guidelines, not only the new one: the old text is replaced"),
    reasoning: text(2_000, "Why they should change")
  }),
  run: (update, { records, now }) => {
    const { result, state } = updateSelfPrompt(selfPromptOf(records.read("prompt")), update, now)
    if (result.success) {
      const { key, kind, value } = selfPromptChange(state)
      records.write(kind, key, value)
    }
    return result
  }
})

// SleepTools: go_to_sleep.
// I1  The order leaves with the commit of the result, waits behind the mail before it, and is heard once.

const HOUR_MILLIS = 3_600_000

const goToSleepTool = selfTool({
  name: "go_to_sleep",
  description:
    "Ends your day: after what is already waiting you fall asleep and dream. A mention or a direct message wakes you.",
  input: Schema.Struct({
    hours: Schema.optionalKey(
      Schema.Finite.check(Schema.isBetween({ minimum: 0.1, maximum: 23 })).annotate({
        description: "How long; as long as usual when not said"
      })
    )
  }),
  run: ({ hours }, { records }) => {
    const refused = whyAwake(records.loop.sleepBlockers)
    if (refused !== undefined) return refused
    const { key, kind, value } = sleepOrder(hours === undefined ? undefined : Math.round(hours * HOUR_MILLIS))
    records.write(kind, key, value)
    return { success: true }
  }
})

/** The tools by which an assistant manages its goals, projects, journal, sleep and reminders. */
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
  goToSleepTool,
  ...reminderTools
]
