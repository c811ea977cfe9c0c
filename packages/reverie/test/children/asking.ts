// A process of its own, for the environment is read once: prints what the fleet answers, and how it calls its model.

import { defineAssistant, defineFleet, describeModel, Fleet } from "reverie"

const [baseURL] = process.argv.slice(2)

await using fleet = await Fleet.open({
  data: ":memory:",
  fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You are under test." })] }),
  ...(baseURL === undefined ? {} : { model: baseURL.startsWith("http") ? { baseURL, model: "harbour-2" } : baseURL })
})
const answer = await fleet.answer("desk", "What are you?")
process.stdout.write(JSON.stringify({ answer, model: await describeModel() }))
