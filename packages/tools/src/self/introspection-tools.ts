// IntrospectionTools: get_system_status, update_system_prompt (F79-F82, A27).
// Owns what the model is offered. Leaves the arithmetic and the record to `assistant`.
// I1  get_system_status is SAFE_CHAIN and changes nothing.
// I2  update_system_prompt is DANGEROUS: a person may have to confirm it. It writes one record, never the user's prompt.

import { selfPromptChange, selfPromptOf, systemStatus, updateSelfPrompt } from "@reverie/assistant"
import * as Schema from "effect/Schema"
import { selfTool, text } from "./self-tool.ts"

export const getSystemStatusTool = selfTool({
  name: "get_system_status",
  description:
    "Tells how much of the context window is used, where the loop stands and how many tool calls there were.",
  run: (_none, { records, now }) => systemStatus(records.loop, records.read("state"), now)
})

export const updateSystemPromptTool = selfTool({
  name: "update_system_prompt",
  description:
    "Replaces the guidelines you have written for yourself. The prompt of your user stays as it is and goes before yours.",
  category: "dangerous",
  input: Schema.Struct({
    new_prompt: text(8_000, "All guidelines, not only the new one: the old text is replaced"),
    reasoning: text(2_000, "Why they should change")
  }),
  run: (update, { records, now }) => {
    const { result, state } = updateSelfPrompt(selfPromptOf(records.read("prompt")), update, now)
    if (result.success) {
      const { key, kind, value } = selfPromptChange(state)
      records.write(kind, key, value)
    }
    return result
  }
})
