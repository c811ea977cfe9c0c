// Scene: what both contestants of a benchmark play.
// Owns the desks, their prompt, their window, their tool and what they hear. Leaves playing to the benchmarks.

import { defineAssistant, defineFleet, defineTool } from "reverie"

export const PROMPT = "You run the front desk of a small harbour. Be brief, and write down what you hear."
export const CONTEXT_TOKENS = 4_000
export const RESPONSE_TOKENS = 1_000
export const question = (index: number): string =>
  `Ship number ${index} asks for a berth this afternoon; please note it.`

const noteTool = defineTool({
  name: "note",
  description: "Writes a line into the day book.",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  run: (args) => `noted: ${(args as { readonly text: string }).text}`
})

export const idsOf = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => `desk-${index}`)

export const fleetOf = (ids: ReadonlyArray<string>) =>
  defineFleet({
    assistants: ids.map((id) =>
      defineAssistant({
        id,
        instructions: PROMPT,
        tools: [noteTool],
        // Memories that come to mind would make other prompts than those of anyone who keeps nothing (B1 of tick.ts).
        memory: { recall: "off" },
        // Nor does the other contestant compact its history: the walk of a tick is measured, not the work of a night.
        settings: { compactEnabled: false },
        maxContextTokens: CONTEXT_TOKENS,
        reservedResponseTokens: RESPONSE_TOKENS
      })
    )
  })
