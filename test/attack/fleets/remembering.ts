// Neighbours who remember what they hear.

import { defineAssistant, defineFleet, memoryTools } from "reverie"

export default defineFleet({
  assistants: ["ann", "bob", "cid", "dee"].map((id) =>
    defineAssistant({
      id,
      instructions: "You say aye, and remember.",
      tools: [...memoryTools],
      memory: { recall: "auto" }
    })
  )
})
