// Two assistants, and a process that outlives a limit on the size of its files: then a write fails, as on a full disk.

import { defineAssistant, defineFleet } from "reverie"

process.on("SIGXFSZ", () => {})

export default defineFleet({
  assistants: [
    defineAssistant({ id: "desk", instructions: "PROMPT-OF-DESK: you say aye." }),
    defineAssistant({ id: "clerk", instructions: "PROMPT-OF-CLERK: you say aye." })
  ]
})
