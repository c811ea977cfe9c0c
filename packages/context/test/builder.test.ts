import { assert, describe, it } from "@effect/vitest"
import {
  contextBuilder,
  DEFAULT_BUILD_CONFIG,
  getContextType,
  openPriceBook,
  type PromptBlock,
  renderBlock
} from "../src/index.ts"
import { callOf, count, note, result, said, user } from "./histories.ts"
import { bare, begin, block, built, contents, RULES, RULES_TEXT, tool } from "./prompts.ts"
import { DEFAULT_BASE_INSTRUCTIONS, type ReadyContextBuilder } from "../src/builder.ts"

describe("building", () => {
  it("F85 memory and a configuration are enough, and without memory there is nothing to build with", () => {
    const prompt = built(contextBuilder(DEFAULT_BUILD_CONFIG, openPriceBook(count)).withMemory([]))
    assert.deepStrictEqual(contents(prompt), [DEFAULT_BASE_INSTRUCTIONS])
    assert.deepStrictEqual(prompt.tools, [])
    // @ts-expect-error: a builder that was given no memory can not build
    const unready: ReadyContextBuilder = begin()
    assert.isDefined(unready)
  })

  it("F85 B2 a step changes nothing that was built before", () => {
    const beginning = begin().withMemory([block("core")])
    const before = contents(built(beginning))
    beginning
      .withMessages([user("hello")])
      .withToolRules(RULES)
      .withBaseInstructions("Another.")
    assert.deepStrictEqual(contents(built(beginning)), before)
  })

  it("F86 F87 instructions, core, working, activity, rules, then the conversation", () => {
    const prompt = built(
      begin({ includeDescriptions: false })
        .withToolRules(RULES)
        .withActivity((limit) => `<activity>${limit}</activity>`)
        .withMemory([
          block("task", { type: "working", pinned: true }),
          block("persona"),
          block("human"),
          block("old", { type: "archival" }),
          block("diary", { type: "log" })
        ])
        .withMessages([user("hello")])
        .forAgent("entropy")
    )
    assert.deepStrictEqual(contents(prompt), [
      "You are Entropy.",
      `${renderBlock(block("persona"), bare)}\n\n${renderBlock(block("human"), bare)}`,
      renderBlock(block("task"), bare),
      "<activity>20</activity>",
      RULES_TEXT,
      "hello"
    ])
    assert.deepStrictEqual(
      prompt.report.parts.map(({ id, key }) => [id, key]),
      [
        [0, "system_prompt"],
        [600, "core_blocks"],
        [700, "working_blocks"],
        [800, "activity"],
        [900, "tool_rules"],
        [6000, "pending_event"]
      ]
    )
  })

  it("F87 A32 working blocks are in when they are pinned, or when the batch refers to their id", () => {
    const blocks = [
      block("pinned", { type: "working", pinned: true }),
      block("loose", { type: "working" }),
      block("named", { type: "working" })
    ]
    const working = (...ids: ReadonlyArray<string>) =>
      contents(built(begin().withMemory(blocks).withBatchBlocks(ids)))
        .join("\n")
        .match(/(?<=<block:)\w+/g)
    assert.deepStrictEqual(working(), ["pinned"])
    assert.deepStrictEqual(working("id-named"), ["pinned", "named"])
    assert.deepStrictEqual(working("named", "id-loose"), ["pinned", "loose"])
  })

  it("F86 for Gemini the first message is a user's, and only there one is put in", () => {
    const orphan = [said("", [callOf("1")]), result("1", "two free"), note("tide")]
    const roles = (messages: typeof orphan, model?: { name: string; firstMessageUser?: boolean }) => {
      const builder = begin().withMemory([]).withMessages(messages)
      return built(model === undefined ? builder : builder.withModel(model)).messages.map(({ role }) => role)
    }
    const gemini = { name: "gemini-2.5-pro" }
    assert.deepStrictEqual(roles(orphan), ["system", "assistant", "tool", "system"])
    assert.deepStrictEqual(roles(orphan, { name: "gpt-5" }), ["system", "assistant", "tool", "system"])
    assert.deepStrictEqual(roles(orphan, gemini), ["system", "user", "assistant", "tool", "system"])
    assert.deepStrictEqual(roles([user("hello"), ...orphan], gemini), ["system", "user", "assistant", "tool", "system"])
    assert.deepStrictEqual(roles([], gemini), ["system", "user"])
    assert.deepStrictEqual(roles([], { name: "gemini-2.5-pro", firstMessageUser: false }), ["system"])
    assert.deepStrictEqual(roles(orphan, { name: "mine", firstMessageUser: true })[1], "user")
  })

  it("F86 F18 the opening has a place of its own in the order, even before what is plugged in", () => {
    const spoken = {
      id: 1001,
      key: "answer",
      name: "Answer",
      description: "",
      content: "Ready.",
      enabled: true,
      role: "assistant" as const
    }
    const prompt = built(
      begin()
        .withMemory([])
        .withPluggedIn([spoken, { ...spoken, id: 999, key: "rules", role: "system" }])
        .withTexts({ character_context: "Calm." })
        .withModel({ name: "gemini" })
    )
    assert.deepStrictEqual(
      prompt.report.parts.map(({ id, key }) => [id, key]),
      [
        [0, "system_prompt"],
        [998, "opening"],
        [999, "rules"],
        [1000, "character_context"],
        [1001, "answer"]
      ]
    )
    assert.deepStrictEqual(prompt.messages.find(({ role }) => role !== "system")?.role, "user")
  })

  it("F86 tools are offered as far as the context lets them, and rules told of those alone", () => {
    const builder = begin()
      .withMemory([])
      .withTools([tool("noop"), tool("say")])
      .withToolRules([
        { type: "exit", tool: "say" },
        { type: "exit", tool: "noop" }
      ])
    assert.deepStrictEqual(
      built(builder).tools.map(({ name }) => name),
      ["noop", "say"]
    )
    const reflecting = built(builder.withContextType(getContextType("reflection")))
    assert.deepStrictEqual(reflecting.tools, [tool("noop")])
    assert.include(contents(reflecting).join("\n"), "after calling `noop`")
    assert.notInclude(contents(reflecting).join("\n"), "`say`")
    const decomposing = built(builder.withContextType(getContextType("goal_decompose")))
    assert.deepStrictEqual(decomposing.tools, [])
    assert.deepStrictEqual(decomposing.report.toolTokens, 0)
  })

  it("F111 what it cost is reported: each part, the tools, the share of the window, for whom and which model", () => {
    const prompt = built(
      begin()
        .withMemory([block("core")])
        .withMessages([user("hello")])
        .withTools([tool("say")])
        .forAgent("entropy")
        .withModel({ name: "gpt-5" })
    )
    const { agent, model, parts, share, tokens, toolTokens } = prompt.report
    assert.deepStrictEqual([agent, model], ["entropy", "gpt-5"])
    assert.isAbove(toolTokens, 0)
    assert.strictEqual(tokens, toolTokens + parts.reduce((sum, part) => sum + part.tokens, 0))
    assert.strictEqual(share, tokens / 200_000)
    const sent = prompt.messages.reduce((sum, message) => sum + count({ ...message, at: 0 }), toolTokens)
    assert.isAtLeast(tokens, sent)
    assert.isAtMost(tokens, sent + 2)
    assert.deepStrictEqual(JSON.parse(JSON.stringify(prompt.report)), prompt.report)
  })

  it("B3 the same objects give the same components, and none of them is counted again", () => {
    let counted = 0
    const book = openPriceBook((message) => (counted++, count(message)))
    const blocks = Array.from({ length: 30 }, (_, index) => block(`core_${index}`))
    const builder = contextBuilder(DEFAULT_BUILD_CONFIG, book)
      .withMemory(blocks)
      .withToolRules(RULES)
      .withTools([tool("say")])
    const first = built(builder)
    counted = 0
    const second = built(builder.withMemory([...blocks]))
    assert.strictEqual(counted, 0)
    assert.isTrue(first.messages.every((message, index) => message === second.messages[index]))
    const third = built(builder.withMemory(blocks.with(7, { ...(blocks[7] as PromptBlock), content: "new" })))
    assert.strictEqual(counted, 1)
    assert.notStrictEqual(third.messages[1], first.messages[1])
    assert.strictEqual(third.messages[0], first.messages[0])
  })
})
