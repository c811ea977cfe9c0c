// PromptInputs: what a definition and a message may give a prompt.

import { assert, describe, test } from "vitest"
import { type AssistantOptions, selfTools } from "../src/index.ts"
import { heard, openFleet } from "./rig.ts"

const quiet = { memory: { recall: "off" } } as const

/** The parts of the second prompt, whose message refers to the block `lent`, if there is one. */
const partsOf = async (assistant: Partial<AssistantOptions>): Promise<ReadonlyArray<string>> => {
  const { says } = heard()
  await using fleet = await openFleet({ says, assistant: { ...quiet, ...assistant } })
  await fleet.answer("desk", "Hello")
  const lent = await fleet.blocks.find("desk", "lent")
  await fleet.answer("desk", "And now?", lent === undefined ? {} : { blocks: [lent.id] })
  return (await fleet.history.contextReport("desk"))?.parts.map(({ key }) => key) ?? []
}

describe("what a prompt is given", () => {
  test("F85 instructions are enough; memory, rules, what it did and blocks of the message are parts of their own", async () => {
    const bare = ["system_prompt", "conversation_history", "pending_event"]
    assert.deepStrictEqual(await partsOf({}), bare)
    const given = await partsOf({
      blocks: [
        { label: "human", type: "core", content: "Ann" },
        { label: "lent", type: "working", content: "Sail." }
      ],
      tools: selfTools,
      toolRules: [{ type: "max-calls", tool: "add_goal", max: 1 }],
      prompt: { activityEntriesLimit: 3 }
    })
    const more = ["core_blocks", "working_blocks", "activity", "tool_rules"]
    assert.deepStrictEqual(
      given.filter((key) => !bare.includes(key)),
      more
    )
  })
})
