// Templates: component 0 of a running assistant comes from the registry of its tenant.

import { assert, describe, test } from "vitest"
import type { Prompt } from "@reverie/model"
import type { Script } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { selfTools } from "../src/index.ts"
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
    const content = "{ticks} {tool_calls} {tool_failures} {goals_completed} {goals_open} {journal_entries}"
    await fleet.prompts.createTemplate({ ...draft, key: "reflection", category: "reflection", content })
    await fleet.answer("desk", "Look back.", { context: "reflection" })
    assert.match(firstOf(prompts), /\n3 0 0 0 0 0$/)
  })
})
