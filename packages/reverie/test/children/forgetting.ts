// A process of its own, to be killed on the way: forgets a text in a directory, and says when it begins and when it is done.

import { defineAssistant, defineFleet, Fleet } from "reverie"

const [data = "", text = ""] = process.argv.slice(2)
const desk = defineAssistant({ id: "desk", instructions: "You keep the harbour book." })
const fleet = await Fleet.open({ data, fleet: defineFleet({ assistants: [desk] }), model: "offline" })
process.stdout.write("begins\n")
await fleet.forget({ text })
process.stdout.write("done\n")
await fleet.close()
