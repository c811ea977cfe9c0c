// A crowd whose every message goes through everything that reads text: names, a filter, recall, blocks, assessment.

import { defineAssistant, defineFleet } from "reverie"

const listening = { names: ["Harbour Desk", "desk"], channels: { loud: "trigger", quiet: "context" } } as const

const ids = ["desk", "ann", "bob", "cid", "dee", ...Array.from({ length: 24 }, (_, index) => `a${index}`)]

export default defineFleet({
  assistants: ids.map((id) =>
    defineAssistant({
      id,
      instructions: "You say aye. The time is {{time}}.",
      persona: "calm",
      listening,
      // One of them has a window that a long text does not fit.
      maxContextTokens: id === "bob" ? 8_000 : 100_000,
      memory: { recall: "auto" },
      blocks: [],
      settings: { assessTask: true },
      subAgents: {}
    })
  )
})
