// The program of the README: one assistant, one tool, one question.

import { defineAssistant, defineFleet, defineTool, Fleet } from "reverie"

const berths = defineTool({
  name: "find_berth",
  description: "Finds a free berth for a ship of the given length in metres.",
  input: { type: "object", properties: { metres: { type: "number" } }, required: ["metres"] },
  run: ({ metres }) => (metres > 80 ? "berth 7, from noon" : "berth 2, now")
})

const fleet = await Fleet.open({
  data: process.argv[2] ?? ".reverie/hello",
  fleet: defineFleet({
    assistants: [defineAssistant({ id: "desk", instructions: "You run the front desk of a harbour.", tools: [berths] })]
  })
})

for await (const part of fleet.ask("desk", "Which berth is free for a ship of 95 metres?")) {
  if (part.type === "done") console.log(part.reply)
}
await fleet.close()
