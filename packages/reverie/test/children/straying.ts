// A program of someone's own around a fleet: its tool does what the first argument names, the program what the second does.

import { scriptedModel } from "@reverie/testkit"
import { defineAssistant, defineFleet, defineTool, Fleet } from "reverie"
import * as Effect from "effect/Effect"

const [deed = "", own = ""] = process.argv.slice(2)
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const error = new Error("stray")
const later = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

const deeds: Readonly<Record<string, (fleet: Fleet) => unknown>> = {
  reject: () => void Promise.reject(error),
  exit: () => process.exit(0),
  late: () => setTimeout(() => void Promise.reject(error), 50),
  // What comes of a message is the fleet's doing and the program's, not that of the tool that sent it.
  send: (fleet) => fleet.send("clerk", "Hello?"),
  nothing: () => "done"
}

if (own === "listens") {
  process.on("unhandledRejection", (reason) => say(`own handler: ${String(reason)}`))
}

const opened: { fleet?: Fleet } = {}
const model = scriptedModel((prompt) =>
  Effect.succeed(
    prompt.messages.at(-1)?.role === "tool"
      ? { text: prompt.messages.at(-1)?.content ?? "" }
      : prompt.messages.at(-1)?.content === "Go."
        ? { calls: [{ tool: "stray" }] }
        : { text: "Hello." }
  )
).model
const stray = defineTool({
  name: "stray",
  description: "Does it.",
  run: async () => {
    if (opened.fleet !== undefined) await deeds[deed]?.(opened.fleet)
    return "ok"
  }
})
{
  await using fleet = await Fleet.open({
    data: ":memory:",
    model,
    fleet: defineFleet({
      assistants: ["desk", "clerk"].map((id) =>
        defineAssistant({ id, instructions: "You are under test.", tools: [stray] })
      )
    })
  })
  opened.fleet = fleet
  if (own === "leaves") fleet.on("tick-ended", ({ address }) => address.assistant === "clerk" && process.exit(5))
  say(await fleet.answer("desk", "Go."))
  await fleet.idle()
  if (own === "rejects") void Promise.reject(new Error("the program's own"))
  await later(200)
}
say("closed")
if (own === "after") void Promise.reject(new Error("after the fleet"))
await later(50)
say("ended")
