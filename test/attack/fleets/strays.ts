// A fleet file that leaves something behind by itself, in no tool.

import { defineAssistant, defineFleet } from "reverie"

const leave = (): void => {
  const error = new Error("no one asked for this")
  if (process.env["REVERIE_ATTACK_STRAY"] === "exception") throw error
  void Promise.reject(error)
}

setTimeout(leave, 3_000)

export default defineFleet({ assistants: [defineAssistant({ id: "ann", instructions: "You say aye." })] })
