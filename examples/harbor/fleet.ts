// Fleet: the harbour office of Port Merrow, three assistants that share the work of a day.

import { blockTools, defineAssistant, defineFleet, memoryTools, selfTools } from "reverie"
import { archivistPrompt, deskPrompt, plannerPrompt } from "./prompts.ts"
import { assignBerth, findBerth } from "./tools/berths.ts"
import { fileRecord, findRecord, requestSurvey } from "./tools/papers.ts"
import { closeHarbour, tideTable, tugSchedule, weather } from "./tools/sea.ts"
import { passNote, say } from "./tools/talk.ts"

/** Of the tools by which an assistant manages itself, those that an office job needs. */
const own = (...names: ReadonlyArray<string>) => selfTools.filter(({ name }) => names.includes(name))

/** Speaks with captains, and hears what is said on the quay. */
export const desk = defineAssistant({
  id: "desk",
  instructions: deskPrompt,
  persona: "Friendly and short. You know every skipper by name.",
  tools: [findBerth, assignBerth, passNote, say, ...own("add_session_memory", "update_system_prompt")],
  maxSteps: 4
})

/**
 * Keeps the papers, a journal and what is to be remembered for years. Its window is small, and its history is compacted in the
 * first night that finds it a quarter full, as that of an assistant of many years would be.
 */
export const archivist = defineAssistant({
  id: "archivist",
  instructions: archivistPrompt,
  tools: [
    findRecord,
    fileRecord,
    requestSurvey,
    ...own("add_journal_entry", "review_journal", "update_entity_observation"),
    ...memoryTools,
    ...blockTools.filter(({ name }) => name === "block_edit")
  ],
  maxContextTokens: 8_000,
  reservedResponseTokens: 400,
  settings: { compactSleepRatio: 0.25 },
  compaction: { compactPreserveWindow: 6 }
})

/**
 * Knows tides, tugs and weather, and plans what takes weeks. Anyone who wants the harbour closed looks at the weather first,
 * and has a second to confirm it.
 */
export const planner = defineAssistant({
  id: "planner",
  instructions: plannerPrompt,
  tools: [tideTable, tugSchedule, weather, closeHarbour, ...selfTools, ...blockTools],
  blocks: [{ label: "board", type: "core", description: "The notice board of the office.", content: "Notices:" }],
  toolRules: [
    { type: "max-calls", tool: "weather", max: 2 },
    { type: "requires", tool: "close_harbour", prior: ["weather"] }
  ],
  settings: { approvalMs: 1_000 },
  subAgents: { maxConcurrent: 1, budget: { tokens: 60_000, timeoutMs: 60_000 } },
  maxSteps: 3
})

export default defineFleet({ assistants: [desk, archivist, planner], defaultAssistant: "desk" })
