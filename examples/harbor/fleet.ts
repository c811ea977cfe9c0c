// Fleet: the harbour office of Port Merrow, three assistants that share the work of a day.

import { defineAssistant, defineFleet } from "reverie"
import { archivistPrompt, deskPrompt, plannerPrompt } from "./prompts.ts"
import { assignBerth, findBerth } from "./tools/berths.ts"
import { fileRecord, findRecord, requestSurvey } from "./tools/papers.ts"
import { closeHarbour, tideTable, tugSchedule, weather } from "./tools/sea.ts"
import { passNote, say } from "./tools/talk.ts"

/** Speaks with captains. */
export const desk = defineAssistant({
  id: "desk",
  prompt: deskPrompt,
  persona: "Friendly and short. You know every skipper by name.",
  tools: [findBerth, assignBerth, passNote, say],
  settings: { maxIterations: 4 }
})

/** Keeps the papers. Its window is small and it folds its history early, as an assistant of many years would. */
export const archivist = defineAssistant({
  id: "archivist",
  prompt: archivistPrompt,
  tools: [findRecord, fileRecord, requestSurvey],
  maxContextTokens: 2_000,
  reservedResponseTokens: 400,
  settings: { compactEnabled: true, compactEmergencyRatio: 0.4, compactSleepRatio: 0.3 }
})

/** Knows tides, tugs and weather. Whoever wants the harbour closed has a second to confirm it. */
export const planner = defineAssistant({
  id: "planner",
  prompt: plannerPrompt,
  tools: [tideTable, tugSchedule, weather, closeHarbour],
  settings: { approvalMillis: 1_000, maxIterations: 3 }
})

export default defineFleet({ assistants: [desk, archivist, planner], reception: "desk" })
