// Sends one message with a part, says so once it is accepted, and is then killed: nothing of it is closed in good order.

import { defineAssistant, defineFleet, Fleet } from "../../src/index.ts"

const [data = "", word = ""] = process.argv.slice(2)
const fleet = await Fleet.open({
  data,
  role: "api",
  model: "offline",
  fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You are under test." })] })
})
const bytes = new TextEncoder().encode(`the plan of ${word}`)
const parts = [{ type: "file", data: bytes, mediaType: "application/pdf", name: "plan.pdf" }] as const
await fleet.send("desk", "Here is the plan.", { id: "plan", parts })
process.stdout.write("accepted\n")
setInterval(() => {}, 1_000)
