// One tool in a process of its own, asked for what it can do and for what would take it a century.

import { defineAssistant, defineFleet, defineTool, Fleet } from "reverie"

const primes = defineTool({
  name: "count_primes",
  description: "Counts the primes below the given number.",
  input: { type: "object", properties: { below: { type: "number" } }, required: ["below"] },
  timeoutMs: 5_000,
  isolate: { memoryMb: 128 },
  run: new URL("./count-primes.ts", import.meta.url)
})

await using fleet = await Fleet.open({
  data: process.argv[2] ?? ".reverie/isolated",
  fleet: defineFleet({
    assistants: [defineAssistant({ id: "clerk", instructions: "You count for a harbour.", tools: [primes] })]
  })
})

for (const below of [1_000, 1_000_000_000_000]) {
  console.log(await fleet.answer("clerk", `Please count primes below ${below}.`))
}
