// An assistant that writes into its journal and reads it.

import { defineAssistant, defineFleet, memoryTools, selfTools } from "reverie"

export default defineFleet({
  assistants: [
    defineAssistant({
      id: "desk",
      instructions: "You say aye.",
      memory: { recall: "off" },
      tools: [...selfTools, ...memoryTools],
      settings: { compactEnabled: false }
    })
  ]
})
