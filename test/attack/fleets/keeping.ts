// One who keeps goals, and hears what is said around it.

import { defineAssistant, defineFleet, selfTools } from "reverie"

export default defineFleet({
  assistants: [defineAssistant({ id: "desk", instructions: "You keep the harbour.", tools: selfTools })]
})
