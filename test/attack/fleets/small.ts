// Two assistants, and a process that outlives a limit on the size of its files: then a write fails, as on a full disk.

import { defineAssistant, defineFleet } from "reverie"

process.on("SIGXFSZ", () => {})

export default defineFleet({
  assistants: [
    defineAssistant({ id: "desk", prompt: "PROMPT-OF-DESK: you say aye." }),
    defineAssistant({ id: "clerk", prompt: "PROMPT-OF-CLERK: you say aye." })
  ]
})
