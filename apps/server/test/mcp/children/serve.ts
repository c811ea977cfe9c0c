// A process that serves an offline fleet, or a running server, as an MCP server over its pipes.

import { defineAssistant, defineFleet, Fleet } from "reverie"
import { serveMcpStdio } from "../../../src/index.ts"

const [allow = "", url, token] = process.argv.slice(2)
const options = { allowSend: allow === "send", onTrouble: (line: string) => process.stderr.write(`${line}\n`) }

if (url === undefined) {
  const assistants = ["desk", "clerk"].map((id) => defineAssistant({ id, instructions: "You are under test." }))
  await using fleet = await Fleet.open({ data: ":memory:", model: "offline", fleet: defineFleet({ assistants }) })
  await (
    await serveMcpStdio({ fleet, ...options })
  ).closed
} else {
  await (
    await serveMcpStdio({ url, ...(token === undefined ? {} : { token }), ...options })
  ).closed
}
