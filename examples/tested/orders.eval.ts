// An eval: the same questions to the support assistant, scored, with a gate for a build.

import { assistantTask, calls, callsTools, contains, defineEval, scriptedModel, usesAtMost } from "reverie/testing"
import { support } from "./support.ts"

/** In the place of a real model, e.g. `{ baseURL, model: "gpt-5-mini", apiKey }`. */
const model = () =>
  scriptedModel(({ last }) =>
    last.includes("delivered") ? "It was delivered." : calls("find_order", { order: "A-7" })
  )

export default defineEval("support", {
  data: [
    { input: "Where is my order A-7?", expected: "delivered", expectedTools: ["find_order"] },
    {
      input: "Has A-7 come?",
      expected: /delivered/,
      expectedTools: [{ name: "find_order", arguments: { order: "A-7" } }]
    }
  ],
  task: assistantTask(support, { model }),
  scorers: [contains(), callsTools({ isExact: true }), usesAtMost({ modelCalls: 2 })],
  threshold: 0.8
})
