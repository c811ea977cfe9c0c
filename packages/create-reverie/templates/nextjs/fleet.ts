// The assistant that the chat route speaks with.

import { defineAssistant, defineFleet, defineTool } from "reverie"

const openingHours = defineTool({
  name: "opening_hours",
  description: "Tells when the shop is open on a day of the week.",
  input: { type: "object", properties: { day: { type: "string" } }, required: ["day"] },
  run: ({ day }) => (/^sun/i.test(day) ? "closed" : "open from 9:00 to 17:00")
})

export const host = defineAssistant({
  id: "host",
  instructions: "You answer visitors of a website. You answer briefly.",
  tools: [openingHours]
})

export default defineFleet({ assistants: [host] })
