// A desk whose tool fails, and one that is given a single step.

import { defineAssistant, defineFleet, defineTool } from "reverie"

const dig = defineTool({
  name: "dig",
  description: "Digs.",
  run: () => {
    throw new Error("the ground is frozen")
  }
})
const look = defineTool({ name: "look", description: "Looks.", run: () => "Two ships." })
const tools = [dig, look]

export default defineFleet({
  assistants: [
    defineAssistant({ id: "desk", instructions: "PROMPT-OF-DESK: you say aye.", tools }),
    defineAssistant({ id: "hasty", instructions: "PROMPT-OF-HASTY: you say aye.", tools, maxSteps: 1 })
  ]
})
