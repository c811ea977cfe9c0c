// A researcher: it hands parts of a question to sub-agents, and all of them together stay within its budget.

import { defineAssistant, defineFleet, defineTool } from "reverie"

const notes = [
  "Tides: high water at noon and at midnight, twice as high at full moon.",
  "Tugs: four are in service, one is in the yard until Friday.",
  "Ships: nine lie in the harbour, two of them longer than 80 metres."
]

export const searchNotes = defineTool({
  name: "search_notes",
  description: "Searches the notes for words.",
  input: { type: "object", properties: { words: { type: "string" } }, required: ["words"] },
  run: ({ words }) => {
    const wanted = words.toLowerCase().match(/[a-z]{3,}/g) ?? []
    const found = notes.filter((note) => wanted.some((word) => note.toLowerCase().includes(word)))
    return found.length === 0 ? "no note mentions that" : found.join("\n")
  }
})

export const researcher = defineAssistant({
  id: "researcher",
  instructions:
    "You answer questions from the notes. Hand each part of a long question to a sub-agent, and join the reports.",
  tools: [searchNotes],
  // In its whole life, sub-agents included; what a sub-agent does not spend comes back.
  budget: { tokens: 200_000 },
  // Two at once; each has its own limits, and is ended when it passes one of them.
  subAgents: { maxConcurrent: 2, budget: { tokens: 5_000, timeoutMs: 60_000 } }
})

export default defineFleet({ assistants: [researcher] })
