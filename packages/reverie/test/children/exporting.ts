// Asks one question in a fleet of its own, closes it, and says on standard output what came of it.

import * as Effect from "effect/Effect"
import { inTurn, scriptedModel } from "@reverie/testkit"
import { defineAssistant, defineFleet, defineTool, Fleet } from "../../src/index.ts"

const look = defineTool({
  name: "look",
  description: "Looks.",
  run: () => {
    throw new Error("the glass of the lamp is broken")
  }
})

const { model } = scriptedModel(inTurn({ calls: [{ tool: "look" }] }, { text: "Nothing to be seen." }))
const fleet = await Fleet.open({
  data: ":memory:",
  model: { ...model, serves: { provider: "openai", model: "lamp-1" } },
  fleet: defineFleet({
    assistants: [defineAssistant({ id: "desk", instructions: "You keep the lamp.", tools: [look] })]
  })
})
const answer = await fleet.answer("desk", "What is there?")
// Longer than an export waits, so that one is under way or has failed before the closing.
await Effect.runPromise(Effect.sleep(Number(process.argv[2] ?? 0)))
const again = await fleet.answer("desk", "And now?")
await fleet.idle()
await fleet.close()
process.stdout.write(JSON.stringify({ answer, again }))
