// Templates: component 0 of a running assistant comes from the registry of its tenant.

import { assert, describe, test } from "vitest"
import type { Prompt } from "@reverie/model"
import type { Script } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { instructionsKey, selfTools } from "../src/index.ts"
import { failureOf, openFleet } from "./rig.ts"

const heard = () => {
  const prompts: Array<Prompt> = []
  const says: Script = (prompt) =>
    Effect.sync(() => {
      prompts.push(prompt)
      return { text: "Good." }
    })
  return { prompts, says }
}

const firstOf = (prompts: ReadonlyArray<Prompt>): string => prompts.at(-1)?.messages[0]?.content ?? ""

const draft = { key: "default", name: "Ours", description: "", category: "system_prompt" }

describe("component 0", () => {
  test("F112 F19 it begins with the template default, and the next prompt with what takes its place", async () => {
    const { prompts, says } = heard()
    await using fleet = await openFleet({ says })
    await fleet.answer("desk", "Hello?")
    assert.match(firstOf(prompts), /^You are a long-lived assistant: [^]* every 0 seconds/)
    assert.match(firstOf(prompts), /\n\nYou are under test\.$/)
    const { version } = await fleet.prompts.createTemplate({ ...draft, content: "You are {assistant} of {tenant}." })
    await fleet.answer("desk", "And now?")
    assert.strictEqual(firstOf(prompts), "You are desk of default.\n\nYou are under test.")
    await fleet.prompts.updateTemplate("default", version, { content: "<{instructions}> every {tick_rate}" })
    await fleet.answer("desk", "And now?")
    assert.strictEqual(firstOf(prompts), "<You are under test.> every 0")
    await fleet.prompts.undo("template", "default")
    await fleet.prompts.undo("template", "default")
    await fleet.answer("desk", "And now?")
    assert.match(firstOf(prompts), /^You are a long-lived assistant/)
  })

  test("F23 F24 a gap that nothing fills is refused where it is written", async () => {
    await using fleet = await openFleet()
    const refused = await failureOf(fleet.prompts.createTemplate({ ...draft, content: "Hello {stranger}" }))
    assert.include(refused.message, "nothing fills {stranger}")
    assert.strictEqual((await fleet.prompts.getTemplate("default")).version, 0)
  })

  test("T4 what the tenant writes under the key of the instructions stands in their place, and undoing it takes it back", async () => {
    const { prompts, says } = heard()
    await using fleet = await openFleet({ says })
    await fleet.answer("desk", "Hello?")
    const before = firstOf(prompts)
    assert.match(before, /\n\nYou are under test\.$/)
    const key = instructionsKey("desk")
    const own = { ...draft, key, content: "Be {{brief}}, {assistant}. {instructions}" }
    const { version } = await fleet.prompts.createTemplate(own)
    await fleet.answer("desk", "And now?")
    const written = firstOf(prompts)
    assert.strictEqual(written, before.replace("You are under test.", "Be {brief}, desk. You are under test."))
    // Replayed, each tick has what it was told then.
    assert.strictEqual((await fleet.replay.beginning("desk", 1)).instructions, "You are under test.")
    assert.deepInclude(await fleet.replay.beginning("desk", 2), {
      instructions: "Be {brief}, desk. You are under test.",
      promptKey: key
    })
    assert.isTrue((await fleet.replay.prompt({ assistant: "desk", tick: 2 }))?.exact)
    await fleet.prompts.updateTemplate(key, version, { content: "Silence." })
    await fleet.prompts.undo("template", key)
    await fleet.answer("desk", "And now?")
    assert.strictEqual(firstOf(prompts), written)
    await fleet.prompts.undo("template", key)
    await fleet.answer("desk", "And now?")
    assert.strictEqual(firstOf(prompts), before)
  })

  test("an id that is no key of a template has one all the same", () => {
    const keys = ["desk", "ann@harbour", "ann#harbour", "a".repeat(128)].map(instructionsKey)
    assert.strictEqual(keys[0], "instructions.desk")
    assert.strictEqual(new Set(keys).size, 4)
    for (const key of keys) assert.match(key, /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)
  })

  test("F112 an assistant names its template; one that there is not is the default", async () => {
    const { prompts, says } = heard()
    await using fleet = await openFleet({ says, assistant: { template: "harbour" } })
    await fleet.answer("desk", "Hello?")
    assert.match(firstOf(prompts), /^You are a long-lived assistant/)
    await fleet.prompts.createTemplate({ ...draft, key: "harbour", content: "The harbour of {assistant}." })
    await fleet.answer("desk", "And now?")
    assert.strictEqual(firstOf(prompts), "The harbour of desk.\n\nYou are under test.")
  })

  test("F112 F23 a model without tool calls is given default_fallback with the tools, and every change of it", async () => {
    const { prompts, says } = heard()
    await using fleet = await openFleet({ says, tools: selfTools, plain: true })
    await fleet.answer("desk", "Hello?")
    assert.match(firstOf(prompts), /reply with exactly one JSON object/)
    assert.match(firstOf(prompts), /- add_goal: .*\n {2}arguments: \{/)
    assert.isTrue(prompts.at(-1)?.describesTools)
    const content = "Answer in JSON.\n{tool_schemas}"
    await fleet.prompts.createTemplate({ ...draft, key: "default_fallback", content })
    await fleet.answer("desk", "And now?")
    assert.match(firstOf(prompts), /^Answer in JSON\.\n- /)
  })

  test("F17 what is plugged in has a role and speaks in it; mixed is that of the conversation alone", async () => {
    const { prompts, says } = heard()
    await using fleet = await openFleet({ says })
    const tide = { key: "tide", name: "Tide", afterStatic: 1000, role: "user", content: "The tide is high." } as const
    const { id, version } = await fleet.prompts.createComponent(tide)
    assert.include((await failureOf(fleet.prompts.updateComponent(id, version, { role: "mixed" }))).message, "role")
    const refused = await failureOf(fleet.prompts.createComponent({ ...tide, key: "ebb", role: "mixed" }))
    assert.include(refused.message, "not mixed")
    await fleet.answer("desk", "Hello?")
    const shown = prompts.at(-1)?.messages.filter(({ content }) => content.includes("The tide is high."))
    assert.deepStrictEqual(
      shown?.map(({ role }) => role),
      ["user"]
    )
  })

  test("F23 a reflection reads the six figures since the last one, in the words of its template", async () => {
    const { prompts, says } = heard()
    await using fleet = await openFleet({ says, tools: selfTools })
    await fleet.answer("desk", "Hello?")
    await fleet.answer("desk", "Hello again?")
    await fleet.answer("desk", "Look back.", { context: "reflection" })
    assert.include(firstOf(prompts), "Which patterns do I see in my work?")
    assert.include(
      firstOf(prompts),
      "- 2 events handled\n- 0 uses of tools, 0 of them failed\n- 0 goals completed, 0 open"
    )
    assert.notMatch(firstOf(prompts), /[{}]/)
    // In the same second: what was before the reflection is not counted again.
    await fleet.answer("desk", "Hello once more?")
    const content = "{ticks} {tool_calls} {tool_failures} {goals_completed} {goals_open} {journal_entries}"
    await fleet.prompts.createTemplate({ ...draft, key: "reflection", category: "reflection", content })
    await fleet.answer("desk", "Look back.", { context: "reflection" })
    assert.strictEqual(firstOf(prompts).split("\n").at(-1), "1 0 0 0 0 0")
  })
})
