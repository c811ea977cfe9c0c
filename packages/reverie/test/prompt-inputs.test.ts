// PromptInputs: what a definition and a message may give a prompt.

import { assert, describe, test } from "vitest"
import { type AssistantOptions, selfTools } from "../src/index.ts"
import { heard, openFleet } from "./rig.ts"

const quiet = { memory: { recall: "off" } } as const

/** The second prompt, whose message refers to the block `lent`, if there is one. */
const shownTo = async (assistant: Partial<AssistantOptions>) => {
  const { prompts, says } = heard()
  await using fleet = await openFleet({ says, assistant: { ...quiet, ...assistant } })
  await fleet.answer("desk", "Hello")
  const lent = await fleet.blocks.find("desk", "lent")
  await fleet.answer("desk", "And now?", lent === undefined ? {} : { blocks: [lent.id] })
  return {
    report: await fleet.history.contextReport("desk"),
    messages: prompts.at(-1)?.messages ?? []
  }
}

const everything: Partial<AssistantOptions> = {
  blocks: [
    { label: "human", type: "core", content: "Ann" },
    { label: "lent", type: "working", content: "Sail." },
    { label: "loose", type: "working", content: "unseen" },
    { label: "past", type: "archival", content: "unseen" }
  ],
  tools: selfTools,
  toolRules: [{ type: "max-calls", tool: "add_goal", max: 1 }],
  prompt: { activityEntriesLimit: 3 }
}

describe("what a prompt is given", () => {
  test("F85 instructions are enough; memory, rules, what it did and blocks of the message are parts of their own", async () => {
    const partsOf = async (assistant: Partial<AssistantOptions>) =>
      (await shownTo(assistant)).report?.parts.map(({ key }) => key) ?? []
    const bare = ["system_prompt", "conversation_history", "pending_event"]
    assert.deepStrictEqual(await partsOf({}), bare)
    const more = ["core_blocks", "working_blocks", "activity", "tool_rules"]
    assert.deepStrictEqual(
      (await partsOf(everything)).filter((key) => !bare.includes(key)),
      more
    )
  })

  test("F18 F86 F87 F110 the words stand in their order: instructions, core, working, activity, rules, conversation", async () => {
    const { messages, report } = await shownTo(everything)
    const words = messages.map(({ content }) => content)
    assert.include(words[0], "You are under test.")
    assert.deepStrictEqual(words.slice(1, 3), [
      '<block:human permission="ReadWrite">\nAnn\n</block:human>',
      '<block:lent permission="ReadWrite">\nSail.\n</block:lent>'
    ])
    assert.match(words[3] ?? "", /^# Lately\n/)
    assert.strictEqual(words[4], "# Tool Execution Rules\n\n- Call `add_goal` at most 1 times")
    assert.deepStrictEqual(words.slice(5), ["Hello", "Good.", "And now?"])
    assert.deepStrictEqual(
      report?.parts.map(({ id }) => id),
      [0, 600, 700, 800, 900, 5000, 6000]
    )
  })

  test("F104 over the tokens of memory what is only referred to leaves, and is named", async () => {
    const { messages, report } = await shownTo({ ...everything, prompt: { memoryTokens: 1 } })
    const words = messages.map(({ content }) => content).join("\n")
    assert.include(words, "<block:human ")
    assert.notInclude(words, "<block:lent ")
    assert.deepInclude(report?.absent ?? [], { key: "block:lent", reason: "over-memory" })
  })
})
