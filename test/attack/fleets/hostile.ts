// One assistant for each way in which a model server misbehaves, each with a server of its own, and neighbours of a good one.

import { aiSdkOverFetch, promiseOverFetch } from "@reverie/testkit/model-server"
import { defineAssistant, defineFleet, defineTool, type ModelChoice } from "reverie"
import { NEIGHBOURS } from "../neighbours.ts"

/** Long enough for a good answer on a busy machine. */
const TIMEOUT_MS = 3_000

const models: Readonly<Record<string, (baseURL: string) => ModelChoice>> = {
  chat: (baseURL) => ({ baseURL, model: "m", timeoutMs: TIMEOUT_MS }),
  responses: (baseURL) => ({ baseURL, model: "m", wire: "responses", timeoutMs: TIMEOUT_MS }),
  "ai-sdk": aiSdkOverFetch,
  promise: promiseOverFetch
}

const { REVERIE_ATTACK_WIRE: wire = "chat", REVERIE_ATTACK_MODES: modes = "{}" } = process.env
const model = models[wire] ?? models["chat"]!

const look = defineTool({
  name: "look",
  description: "Looks at the berths.",
  input: { type: "object", properties: { text: { type: "string" } } },
  run: () => "free"
})

export default defineFleet({
  assistants: [
    ...Object.entries(JSON.parse(modes) as Readonly<Record<string, string>>).map(([id, url]) =>
      defineAssistant({
        id,
        instructions: "You say aye.",
        model: model(url),
        tools: [look]
      })
    ),
    ...NEIGHBOURS.map((id) => defineAssistant({ id, instructions: "You say aye." }))
  ]
})
