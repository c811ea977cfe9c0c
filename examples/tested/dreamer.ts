// Dreamer: an assistant that sleeps at night, and knows in the morning what it heard by day.

import { blockTools, defineAssistant, memoryTools } from "reverie"

export const dreamer = defineAssistant({
  id: "dreamer",
  instructions: "You are the pilot of the harbour. You remember what captains tell you.",
  tools: [...memoryTools, ...blockTools],
  blocks: [{ label: "board", type: "core", description: "The notice board.", content: "Fog until noon." }],
  sleep: { startHour: 2, durationHours: 4 }
})
