// An assistant with a small window that is brought down early, and one whose newest messages alone fill it.

import { defineAssistant, defineFleet, memoryTools } from "reverie"

const settings = { compactEmergencyRatio: 0.5 }

export default defineFleet({
  assistants: [
    defineAssistant({
      id: "desk",
      instructions: "You say aye.",
      maxContextTokens: 4_000,
      reservedResponseTokens: 200,
      memory: { recall: "off" },
      compaction: { compactPreserveWindow: 8 },
      tools: memoryTools,
      settings
    }),
    defineAssistant({
      id: "clerk",
      instructions: "You say aye.",
      maxContextTokens: 4_000,
      reservedResponseTokens: 200,
      memory: { recall: "off" },
      compaction: { compactPreserveWindow: 40 },
      settings
    })
  ]
})
