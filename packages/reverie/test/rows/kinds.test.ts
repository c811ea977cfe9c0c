// Kinds: one life in which the model is asked in each of the seven kinds of context, and what it is shown in each and in which
// order; how often it is asked in each; and what a definition changes of a kind.

import type { Prompt } from "@reverie/model"
import type { Line, Script } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { afterAll, assert, describe, test } from "vitest"
import { type AssistantOptions, defineTool, type Fleet, memoryTools, selfTools } from "../../src/index.ts"
import { openFleet } from "../rig.ts"

const call = (tool: string, args: object = {}) => ({ tool, arguments: args as never })
const calls = (...all: ReadonlyArray<ReturnType<typeof call>>): Line => ({ calls: all })

type Answers = ReadonlyArray<readonly [asked: RegExp, line: Line]>

/** Answers to what it is asked last, once or as often as it is asked. */
const answering = (lines: Answers, again: "once" | "again" = "once") => {
  const prompts: Array<Prompt> = []
  const says: Script = ({ messages, ...rest }) =>
    Effect.sync(() => {
      prompts.push({ messages, ...rest })
      const asked = (messages.findLast(({ role }) => role === "user") ?? messages[0])?.content ?? ""
      const isAnswered = messages.at(-1)?.role === "tool" && again === "once"
      const found = isAnswered ? undefined : lines.find(([wanted]) => wanted.test(asked))
      return found?.[1] ?? { text: asked.startsWith("[m/") ? "[]" : "Aye." }
    })
  return { prompts, says }
}

const isAbout =
  (event: RegExp) =>
  ({ messages }: Prompt): boolean =>
    event.test(messages.findLast(({ role }) => role === "user")?.content ?? "")

const isTold =
  (instructions: string) =>
  ({ messages }: Prompt): boolean =>
    messages[0]?.content.includes(instructions) === true

const posted = async (fleet: Fleet, event: Parameters<Fleet["post"]>[1], from = "user"): Promise<void> => {
  await fleet.post("desk", event, { from })
  await fleet.idle()
}

/** By what stands in it which part of a prompt a message is, and who speaks it. */
const marks: ReadonlyArray<readonly [part: string, role: string, mark: string]> = [
  ["system_prompt", "system", "You are under test."],
  ["system_prompt", "system", "Which mistakes have I made more than once?"],
  ["core_blocks", "system", "<block:human"],
  ["tool_rules", "system", "# Tool Execution Rules"],
  ["character_context", "system", "Calm and brief."],
  ["tides", "system", "High water at noon."],
  ["entity_context", "user", "Ann sails the Birch."],
  ["semantic_memories", "user", "- (passage,"],
  ["context_buffer", "user", "# Ambient messages"],
  ["goals", "user", "# Goals"],
  ["conversation_history", "user", "Learn it."]
]

/** The parts of a prompt in the order in which the model reads them. */
const partsOf = ({ messages }: Prompt): ReadonlyArray<string> => {
  const event = messages.findLastIndex(({ role }) => role === "user")
  const parts = messages.flatMap(({ content, role }, index) => {
    if (role === "tool" && index > event) return ["tool_result"]
    if (index === event && !content.startsWith("# Goals")) return ["pending_event"]
    return marks.flatMap(([part, speaks, mark]) => (role === speaks && content.includes(mark) ? [part] : []))
  })
  return parts.filter((part, index) => parts.indexOf(part) === index)
}

const lines: Answers = [
  // It is no tool of an extraction, and ends it.
  [/^Task: extract/, calls(call("review_journal"))],
  [/^Divide this goal/, { text: '["Scrape it", "Prime it", "Paint it"]' }],
  [
    /^Learn it\.$/,
    calls(
      call("add_goal", { description: "Paint the crane." }),
      call("update_entity_observation", { entity: "Ann", type: "person", observation: "Ann sails the Birch." }),
      call("store_memory", { text: "The lantern oil is in the red shed." })
    )
  ],
  [/^Divide it\.$/, calls(call("decompose_goal", { goal_id: "goal_1_0" }))],
  [/^Where is the lantern oil|^Look back on|timer tide/, calls(call("review_journal"))]
]

describe("a life in seven kinds of context", () => {
  const { prompts, says } = answering(lines)
  let life: Promise<Fleet> | undefined

  const play = async (): Promise<Fleet> => {
    const fleet = await openFleet({
      says,
      tools: [...selfTools, ...memoryTools],
      assistant: {
        persona: "Calm and brief.",
        toolRules: [{ type: "max-calls", tool: "add_goal", max: 2 }],
        compaction: { compactPreserveWindow: 2 },
        blocks: [{ label: "human", type: "core", content: "The captain." }]
      }
    })
    const tides = { key: "tides", name: "Tides", content: "High water at noon.", afterStatic: 1000, role: "system" }
    await fleet.prompts.createComponent(tides)
    await fleet.answer("desk", "Learn it.", { from: "Ann" })
    await posted(fleet, { type: "sleep" })
    await fleet.wake("desk")
    await posted(fleet, { type: "message", text: "The swell is nasty.", channel: "room:quay" }, "Jo")
    await fleet.answer("desk", "Where is the lantern oil?", { from: "Ann" })
    await posted(fleet, { type: "timer", name: "tide" })
    await posted(fleet, { type: "timer", name: "reflection" })
    await fleet.answer("desk", "Divide it.")
    await fleet.idle()
    await fleet.compactions.run("desk")
    await fleet.idle()
    return fleet
  }

  /** Lived once, by the first test that asks for it: what goes wrong in it fails each. */
  const lived = (): Promise<Fleet> => (life ??= play())

  afterAll(async () => (await life)?.close())

  const promptOf = (event: RegExp, after = 0): Prompt =>
    prompts.filter(isAbout(event))[after] ?? assert.fail(`no prompt ${after} of ${event.source}`)

  test("F1 the model is asked in each of the seven", async () => {
    const fleet = await lived()
    const { ticks } = await fleet.history.ticks("desk")
    const reports = await Promise.all(
      ticks.flatMap(({ tick }) => [1, 2].map((iteration) => fleet.history.contextReport("desk", { tick, iteration })))
    )
    const kinds = new Set(reports.flatMap((report) => report?.context ?? []))
    assert.deepStrictEqual(kinds, new Set(["tick_event", "tick_autonomous", "reflection", "reflection_cont"]))
    const others = [/^\[m\/.*Learn it/, /^Divide this goal/, /^Task: extract/].map((event) => partsOf(promptOf(event)))
    assert.strictEqual(new Set(others.map((parts) => parts.join())).size, 3)
  })

  test("F5 F16 F18 a message is shown all nine parts, each in its role, and what is plugged in, in their order", async () => {
    const fleet = await lived()
    assert.deepStrictEqual(partsOf(promptOf(/^Where is the lantern oil/, 1)), [
      "system_prompt",
      "core_blocks",
      "tool_rules",
      "character_context",
      "tides",
      "conversation_history",
      // What changes with the event stands right before it.
      "entity_context",
      "context_buffer",
      "goals",
      "semantic_memories",
      "pending_event",
      "tool_result"
    ])
    const report = await fleet.history.contextReport("desk", { tick: 3, iteration: 2 })
    const ids = report?.parts.map(({ id }) => id)
    assert.deepStrictEqual(ids, [0, 600, 900, 1000, 1001, 1500, 2000, 3000, 4000, 5000, 6000, 7000])
  })

  test("F5 so is a timer: no part is kept from it", async () => {
    const fleet = await lived()
    const { parts = [], absent = [] } = (await fleet.history.contextReport("desk", { tick: 4, iteration: 2 })) ?? {}
    assert.includeMembers(
      parts.map(({ id }) => id),
      [0, 1000, 5000, 6000, 7000]
    )
    assert.notInclude(
      absent.map(({ reason }) => reason),
      "not-in-context"
    )
  })

  test("F6 F10 a reflection is shown its questions, the event and results, and has three tools; then results alone", async () => {
    await lived()
    const [first, next] = prompts.filter(isTold("Which mistakes have I"))
    assert.isDefined(first)
    assert.deepStrictEqual(partsOf(first), ["system_prompt", "tool_rules", "pending_event"])
    assert.deepStrictEqual(
      next?.messages.map(({ role }) => role),
      ["system", "system", "assistant", "tool"]
    )
    for (const each of [first, next]) {
      assert.deepStrictEqual(each?.allowed?.toSorted(), ["add_journal_entry", "noop", "review_journal"])
    }
  })

  test("F7 F11 consolidating is shown instructions and what was lived, and has five tools", async () => {
    await lived()
    const asked = promptOf(/^\[m\/.*Learn it/)
    assert.match(asked.messages[0]?.content ?? "", /^Task: consolidate/)
    assert.deepStrictEqual(
      asked.messages.map(({ role }) => role),
      ["system", "user"]
    )
    assert.deepStrictEqual(
      asked.tools.map(({ name }) => name),
      ["noop", "add_journal_entry", "review_journal", "recall_memories", "store_memory"]
    )
  })

  test("F8 dividing a goal is shown the prompt, the goals and the question, and no tool nor rule of one", async () => {
    await lived()
    const asked = promptOf(/^Divide this goal/)
    assert.deepStrictEqual(partsOf(asked), ["system_prompt", "goals", "pending_event"])
    assert.deepStrictEqual(asked.tools, [])
  })

  test("F9 F12 an extraction is shown the conversation, and has three tools; another one is not run, and ends it", async () => {
    const fleet = await lived()
    const asked = promptOf(/^Task: extract/)
    assert.deepStrictEqual(partsOf(asked), ["system_prompt", "tool_rules", "conversation_history", "pending_event"])
    assert.deepStrictEqual(asked.tools.map(({ name }) => name).toSorted(), [
      "add_journal_entry",
      "noop",
      "update_entity_observation"
    ])
    const steps = (await fleet.history.entries("desk", 1, 1_000)).flatMap(({ entry }) => entry.step ?? [])
    const extraction = steps.find(({ name }) => name === "compact extracting")
    assert.deepInclude(extraction?.detail, { ended_by: "other-tool", calls_made: 0, iterations: 1 })
  })

  test("F14 a reflection has four questions in the place of the instructions, and learns of the journal tools", async () => {
    await lived()
    const questions = prompts.find(isTold("Which mistakes have I"))?.messages[0]?.content ?? ""
    assert.strictEqual(questions.match(/^\d\. .*\?$/gm)?.length, 4)
    for (const word of ["patterns", "works well", "mistakes", "change", "journal tools"])
      assert.include(questions, word)
    assert.notInclude(questions, "You are under test.")
  })
})

describe("how often the model is asked", () => {
  test("F4 five times in a tick, three in a reflection, ten over what was lived, once over a goal, five before compaction", async () => {
    const review = calls(call("review_journal"))
    const { prompts, says } = answering(
      [
        [/^Go\.$/, calls(call("add_goal", { description: "Paint the crane." }))],
        [/^Divide it\.$/, calls(call("decompose_goal", { goal_id: "goal_1_0" }))],
        [/^Divide this goal/, { text: "No." }],
        [/^Look back on|^You are looking back|^\[m\/|timer tide/, review],
        [/^Task: extract/, calls(call("add_journal_entry", { content: "The crane is red." }))]
      ],
      "again"
    )
    await using fleet = await openFleet({
      says,
      tools: [...selfTools, ...memoryTools],
      assistant: { compaction: { compactPreserveWindow: 2 } }
    })
    await posted(fleet, { type: "message", text: "Go." })
    await posted(fleet, { type: "timer", name: "tide" })
    await posted(fleet, { type: "timer", name: "reflection" })
    await posted(fleet, { type: "sleep" })
    await fleet.wake("desk")
    await fleet.compactions.run("desk")
    await posted(fleet, { type: "message", text: "Divide it." })
    const asked = [/^Go\.$/, /^\[timer tide/, /^Task: extract/].map((event) => prompts.filter(isAbout(event)).length)
    assert.deepStrictEqual(asked, [5, 5, 5])
    const told = ["Which mistakes have I", "Task: consolidate"].map((words) => prompts.filter(isTold(words)).length)
    assert.deepStrictEqual(told, [3, 10])
    const divided = prompts.filter(isAbout(/^Divide/)).map((prompt) => isAbout(/this goal/)(prompt))
    assert.deepStrictEqual(divided, [false, true, false, true, false, true, false, true, false, true])
  })
})

describe("what a definition says of a kind", () => {
  const stamp = defineTool({ name: "stamp", description: "Stamps.", needsApproval: true, run: () => "stamped" })
  const leave = defineTool({ name: "leave", description: "Leaves.", final: true, run: () => "left" })

  const reported = async (
    contexts: NonNullable<AssistantOptions["contexts"]>,
    context: string,
    more: Partial<AssistantOptions> = {}
  ) => {
    const { prompts, says } = answering([])
    await using fleet = await openFleet({ says, tools: [...selfTools, stamp, leave], assistant: { ...more, contexts } })
    await fleet.answer("desk", "Hello.", { context })
    const report = await fleet.history.contextReport("desk")
    return { prompt: prompts[0], report, pattern: report?.pattern as unknown as Record<string, unknown> }
  }

  test("F2 each of its fields is found in what a tick in it is shown and may do", async () => {
    const settings = { requireApproval: false, stopOnFinal: false }
    const desk = {
      mode: "plan_execute",
      maxSteps: 4,
      components: ["system_prompt", "plan_first", "pending_event"],
      overrides: { system_prompt: "You stand at the desk." },
      tools: ["stamp", "noop"],
      toolCategories: ["dangerous"],
      tokenBudget: 9_000,
      requireApproval: true,
      stopOnFinal: true,
      subAgents: false
    } as const
    const { pattern, prompt, report } = await reported({ desk }, "desk", { settings, subAgents: {} })
    assert.deepInclude(report, { context: "desk", limit: 9_000 })
    assert.deepStrictEqual(
      report?.parts.map(({ key }) => key),
      ["system_prompt", "plan_first", "pending_event"]
    )
    assert.strictEqual(prompt?.messages[0]?.content, "You stand at the desk.")
    assert.deepStrictEqual(prompt?.allowed, ["stamp"])
    assert.deepInclude(pattern, {
      mode: "plan_execute",
      max_iterations: 4,
      allowed_categories: ["dangerous"],
      dangerous_requires_confirm: true,
      terminal_ends_loop: true,
      sub_agents_enabled: false
    })
    const { pattern: plain, report: whole } = await reported({}, "tick_event", { settings, subAgents: {} })
    assert.strictEqual(whole?.limit, 96_000)
    assert.deepInclude(plain, { dangerous_requires_confirm: false, terminal_ends_loop: true, sub_agents_enabled: true })
    const { pattern: single } = await reported({ desk: { multiStep: false } }, "desk")
    assert.deepInclude(single, { mode: "single_action", max_iterations: 1, multi_tool_enabled: false })
  })

  test("F13 an event may hand work on, a reflection may not, and a goal is one action", async () => {
    const patterns = await Promise.all(
      ["tick_event", "tick_autonomous", "reflection", "goal_decompose"].map(async (context) => {
        const { pattern } = await reported({}, context, { subAgents: {} })
        return [
          pattern["mode"],
          pattern["max_iterations"],
          pattern["multi_tool_enabled"],
          pattern["sub_agents_enabled"]
        ]
      })
    )
    assert.deepStrictEqual(patterns, [
      ["react_loop", 5, true, true],
      ["react_loop", 5, true, true],
      ["react_loop", 3, true, false],
      ["single_action", 1, false, false]
    ])
  })

  test("F14 F15 a text stands in the place of a part; with null, or without a word, the part says what it says itself", async () => {
    const shown = async (overrides: Readonly<Record<string, string | null>>) => {
      const { prompt } = await reported({ reflection: { overrides } }, "reflection")
      return prompt?.messages[0]?.content ?? ""
    }
    assert.strictEqual(await shown({ system_prompt: "What did {assistant} learn?" }), "What did desk learn?")
    assert.include(await shown({ system_prompt: null }), "You are under test.")
    assert.include(await shown({ goals: "None." }), "Which mistakes have I made more than once?")
  })
})
