// A desk whose one tool runs in a process of its own and does every harm there, and neighbours who only answer.

import { defineAssistant, defineFleet, defineTool } from "reverie"

const harm = defineTool({
  name: "harm",
  description: "Does harm of the given kind.",
  input: { type: "object", properties: { harm: { type: "string" } }, required: ["harm"] },
  idempotent: true,
  timeoutMs: 3_000,
  isolate: { memoryMb: 64 },
  run: new URL("./modules/isolated.ts", import.meta.url)
})

const neighbours = ["ann", "bob", "cid", "dee", "eve"].map((id) =>
  defineAssistant({ id, instructions: "You say aye." })
)

export default defineFleet({
  assistants: [
    defineAssistant({ id: "desk", instructions: "You do what you are asked.", tools: [harm] }),
    ...neighbours
  ]
})
