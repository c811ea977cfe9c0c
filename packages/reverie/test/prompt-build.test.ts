// PromptBuild: what a definition says of its prompts is what the model is shown.

import { assert, describe, test } from "vitest"
import type { Prompt } from "@reverie/model"
import type { Script } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { type AssistantOptions, defineAssistant, defineTool } from "../src/index.ts"
import { calling, heard, openFleet } from "./rig.ts"

const textsOf = (prompts: ReadonlyArray<Prompt>): ReadonlyArray<string> =>
  prompts.at(-1)?.messages.map(({ content }) => content) ?? []

/** The prompt after so many messages. */
const shownAfter = async (count: number, assistant: Partial<AssistantOptions>, serves?: { readonly model: string }) => {
  const { prompts, says } = heard()
  const quiet = { memory: { recall: "off" }, ...assistant } as const
  await using fleet = await openFleet({
    says,
    assistant: quiet,
    ...(serves === undefined ? {} : { serves: serves.model })
  })
  for (let each = 1; each <= count; each++) await fleet.answer("desk", `Line ${each}.`)
  const report = await fleet.history.contextReport("desk")
  return { texts: textsOf(prompts), report, prompt: prompts.at(-1) }
}

const lines = (texts: ReadonlyArray<string>): number => texts.filter((text) => /Line \d+\./.test(text)).length

describe("what a definition says of its prompts", () => {
  test("F103 F104 the messages of a prompt are capped, and the newest of them stay", async () => {
    const all = await shownAfter(8, {})
    assert.strictEqual(lines(all.texts), 8)
    const capped = await shownAfter(8, { prompt: { maxMessagesCap: 6, keepRecent: 4 } })
    assert.isAtMost(lines(capped.texts), 3)
    assert.include(capped.texts.join("|"), "Line 8.")
    assert.notInclude(capped.texts.join("|"), "Line 1.")
  })

  test("F104 history keeps to its tokens", async () => {
    const bounded = await shownAfter(12, { prompt: { historyTokens: 60 } })
    assert.isBelow(lines(bounded.texts), 8)
    assert.include(bounded.texts.join("|"), "Line 12.")
  })

  test("F103 F104 a model that is named has its own limits, every other what the definition says", async () => {
    const prompt = { modelOverrides: { small: { maxTokens: 3_000, reservedResponseTokens: 500, historyTokens: 40 } } }
    const small = await shownAfter(12, { prompt }, { model: "small" })
    const large = await shownAfter(12, { prompt }, { model: "large" })
    assert.strictEqual(small.report?.limit, 2_500)
    assert.strictEqual(large.report?.limit, 96_000)
    assert.isBelow(lines(small.texts), 8)
    assert.strictEqual(lines(large.texts), 12)
  })

  test("F88 F103 schemas of blocks stand in the prompt where they are asked for, descriptions unless they are not", async () => {
    const block = {
      label: "list",
      type: "core",
      description: "What is to be done.",
      schema: { kind: "list", maxItems: 5 }
    } as const
    const shown = async (prompt: AssistantOptions["prompt"]) =>
      (await shownAfter(1, { blocks: [block], ...(prompt === undefined ? {} : { prompt }) })).texts.join("\n")
    const usual = await shown(undefined)
    assert.include(usual, "What is to be done.")
    assert.notInclude(usual, "Schema: {")
    assert.include(await shown({ includeSchemas: true }), "Schema: {")
    assert.notInclude(await shown({ includeDescriptions: false }), "What is to be done.")
  })

  test("F86 a model that wants a user's words first gets them, by its name or by the definition", async () => {
    const first = async (serves: string, prompt: AssistantOptions["prompt"] = {}) => {
      const { prompts, says } = heard()
      await using fleet = await openFleet({ says, serves, assistant: { prompt } })
      const greeting = {
        key: "greeting",
        name: "Greeting",
        content: "I am here.",
        role: "assistant",
        afterStatic: 1000
      }
      await fleet.prompts.createComponent(greeting)
      await fleet.answer("desk", "Hello?")
      return prompts.at(-1)?.messages.find(({ role }) => role !== "system")?.role
    }
    assert.strictEqual(await first("gemini-2.5-pro"), "user")
    assert.strictEqual(await first("other", { firstMessageUser: true }), "user")
    assert.strictEqual(await first("other"), "assistant")
  })

  test("F87 what it did of late stands there where it is asked for", async () => {
    const { prompts, says } = heard()
    const look = defineTool({ name: "look", description: "Looks.", run: () => "Two ships." })
    let isFirst = true
    const script: Script = (prompt, call) => {
      const called = isFirst
      isFirst = false
      return called ? Effect.succeed(calling("look")) : says(prompt, call)
    }
    await using fleet = await openFleet({
      says: script,
      tools: [look],
      assistant: { prompt: { activityEntriesLimit: 3 } }
    })
    await fleet.answer("desk", "Look.")
    assert.notInclude(textsOf(prompts).join("\n"), "# Lately")
    await fleet.answer("desk", "And now?")
    const shown = textsOf(prompts).join("\n")
    assert.match(shown, /# Lately\n- \S+ look\n- \S+ tick 1 ended: answered/)
  })

  test("F110 rules of tools stand under their heading, in the order of the sources, each once", async () => {
    const { prompts, says } = heard()
    const tools = ["context", "send_message", "search", "api_request"].map((name) =>
      defineTool({ name, description: name, run: () => "Done." })
    )
    const toolRules: AssistantOptions["toolRules"] = [
      { type: "max-calls", tool: "api_request", max: 3 },
      { type: "requires", tool: "api_request", prior: ["context", "search"] },
      { type: "continue", tool: "search" },
      { type: "exit", tool: "send_message" },
      { type: "start", tool: "context" },
      { type: "continue", tool: "search" }
    ]
    await using fleet = await openFleet({ says, tools, assistant: { toolRules } })
    await fleet.answer("desk", "Hello.")
    assert.deepStrictEqual(
      textsOf(prompts).filter((text) => text.startsWith("# Tool Execution Rules")),
      [
        [
          "# Tool Execution Rules",
          "",
          "- Call `context` first before any other tools",
          "- The conversation will end after calling `send_message`",
          "- The conversation will be continued after calling `search`",
          "- Call `api_request` only after calling: context, search",
          "- Call `api_request` at most 3 times"
        ].join("\n")
      ]
    )
  })

  test("what is no setting of a prompt is refused in one sentence", () => {
    const define = (prompt: object) => () =>
      defineAssistant({ id: "desk", instructions: "You are under test.", prompt })
    assert.throws(define({ historyToken: 5 }), /prompt has no "historyToken"/)
    assert.throws(define({ modelOverrides: { small: { maxTokens: 0 } } }), /small\.maxTokens must be a whole number/)
  })
})
