// Self: what an assistant of a running fleet keeps of its work and of itself, by the tools that its model calls.

import type { Json, RecordKind } from "@reverie/protocol"
import { assert, describe, test } from "vitest"
import { type AssistantOptions, defineAssistant, selfTools } from "../../src/index.ts"
import { scriptedModel, testFleet } from "../../src/testing/index.ts"

interface Call {
  readonly tool: string
  readonly arguments: { readonly [key: string]: Json }
}

const call = (tool: string, args: Call["arguments"] = {}): Call => ({ tool, arguments: args })

/** The calls of each round of a tick. */
type Tick = ReadonlyArray<ReadonlyArray<Call>>

interface Life {
  readonly assistant?: Partial<AssistantOptions>
  /** What a model answers that divides a goal. */
  readonly steps?: string
}

/** A tick a minute, and what came of it. */
const lived = async (ticks: ReadonlyArray<Tick>, { assistant = {}, steps = "[]" }: Life = {}) => {
  let [tick, round] = [-1, 0]
  const model = scriptedModel(({ last, messages, purpose }) => {
    if (purpose === "question") return steps
    if (messages.at(-1)?.role !== "tool" && last.startsWith("Go on")) [tick, round] = [tick + 1, 0]
    const calls = ticks[tick]?.[round++]
    return calls === undefined ? "Aye." : { calls }
  })
  const told = { instructions: "You keep the desk.", tools: selfTools, memory: { recall: "off" } as const }
  await using fleet = await testFleet(defineAssistant({ id: "desk", ...told, ...assistant }), { model })
  for (const at of ticks.keys()) {
    await fleet.answer("desk", `Go on with ${at}.`)
    await fleet.idle()
    await fleet.clock.advance("1m")
  }
  const rows = await fleet.history.entries("desk", 1, 1_000)
  const records = await fleet.memory.records("desk")
  const answers = rows.flatMap(({ entry }) =>
    entry.messages.flatMap(({ content, name, role }) => (role === "tool" ? [[name, content] as const] : []))
  )
  return {
    prompts: model.requests.map(({ text }) => text),
    answersOf: (tool: string): ReadonlyArray<{ readonly [key: string]: Json }> =>
      answers.flatMap(([name, content]) => (name === tool ? [JSON.parse(content)] : [])),
    notes: rows.flatMap(({ entry: { step } }) =>
      step?.kind === "tool" ? [`${step.name} ${step.detail?.["note"] ?? "ran"}`] : []
    ),
    keysOf: (kind: RecordKind) => records.filter((each) => each.kind === kind).map(({ key }) => key),
    kept: (kind: RecordKind, key: string) =>
      records.find((each) => each.kind === kind && each.key === key)?.value as
        | { readonly [key: string]: Json }
        | undefined
  }
}

describe("projects", () => {
  const create = (key: string, summary: string, context: string) => call("create_project", { key, summary, context })

  test("F66 F67 F68 F69 they are created, listed, swapped and changed, with ISO times, and the open one is in the prompt", async () => {
    const { answersOf, kept, notes, prompts } = await lived([
      [[create("tavern", "A tavern.", "Walls half done."), create("quest", "A quest.", "Three acts.")]],
      [
        [call("list_projects")],
        [call("list_projects")],
        [call("swap_project", { key: "quest", current_project_update: "Walls done." })],
        [call("list_projects")]
      ],
      [[call("update_project", { context: "Four acts." })]],
      []
    ])
    const began = "2026-01-05T09:00:00Z"
    assert.deepStrictEqual(kept("project", "tavern"), {
      summary: "A tavern.",
      context: "Walls done.",
      status: "paused",
      created_at: began,
      last_active: "2026-01-05T09:01:00Z"
    })
    assert.deepStrictEqual(kept("project", "quest"), {
      summary: "A quest.",
      context: "Four acts.",
      status: "active",
      created_at: began,
      last_active: "2026-01-05T09:02:00Z"
    })
    assert.strictEqual(kept("state", "active-project") as unknown, "quest")
    assert.deepStrictEqual(
      notes.filter((note) => note.startsWith("list_projects")),
      ["list_projects ran", "list_projects from the cache", "list_projects ran"]
    )
    const [first, again, after] = answersOf("list_projects")
    assert.deepStrictEqual(again, first)
    assert.deepStrictEqual([first?.["active"], after?.["active"]], ["tavern", "quest"])
    assert.include(prompts.at(-1), "Four acts.")
    assert.notInclude(prompts.at(-1), "Walls half done.")
  })

  test("F69 a change without a context leaves the context as it was", async () => {
    const { answersOf, kept } = await lived([
      [[create("tavern", "A tavern.", "Walls half done.")], [call("update_project", { summary: "An inn." })]]
    ])
    assert.deepInclude(kept("project", "tavern"), { summary: "An inn.", context: "Walls half done.", status: "active" })
    assert.deepInclude(answersOf("update_project")[0], { success: true, context: "Walls half done." })
  })
})

describe("goals", () => {
  const add = (description: string, more: Call["arguments"] = {}) => call("add_goal", { description, ...more })

  test("F70 F71 F73 a goal has nine fields, an id of its tick, and the progress of its subtasks", async () => {
    const { kept } = await lived([
      [
        [add("Open the pier.", { priority: "high" })],
        [add("Fetch the key.", { parent_id: "goal_1_0" }), add("Sweep it.", { parent_id: "goal_1_0" })],
        [call("update_goal", { goal_id: "goal_1_1", status: "completed" })]
      ],
      [[add("Sell tickets.")]]
    ])
    const created = "2026-01-05T09:00:00Z"
    assert.deepStrictEqual(kept("goal", "goal_1_0"), {
      id: "goal_1_0",
      description: "Open the pier.",
      priority: "high",
      status: "active",
      progress: 50,
      created,
      parent_id: null,
      subtask_ids: ["goal_1_1", "goal_1_2"],
      auto_generated: false
    })
    assert.deepInclude(kept("goal", "goal_1_1"), { parent_id: "goal_1_0", status: "completed", progress: 100 })
    assert.deepInclude(kept("goal", "goal_2_0"), { description: "Sell tickets.", created: "2026-01-05T09:01:00Z" })
  })

  test("F74 of what a model finds at most seven become subtasks, and of less than three nothing does", async () => {
    const names = (count: number) => JSON.stringify(Array.from({ length: count }, (_, at) => `Step ${at}.`))
    const divided = async (count: number) =>
      (
        await lived([[[add("Open the pier.")], [call("decompose_goal", { goal_id: "goal_1_0" })]]], {
          steps: names(count)
        })
      ).kept("goal", "goal_1_0")?.["subtask_ids"] as ReadonlyArray<string>
    const counts = await Promise.all([9, 4, 2].map(async (count) => (await divided(count)).length))
    assert.deepStrictEqual(counts, [7, 4, 0])
  })
})

describe("session memory", () => {
  const add = (kind: string, content: string) => call("add_session_memory", { kind, content })

  test("F75 F76 facts, patterns and completed tasks are kept, and compacted with the time", async () => {
    const { answersOf, kept } = await lived([
      [
        [
          add("fact", "The tavern has 5 rooms"),
          add("fact", "The tavern has 5 rooms and a cellar"),
          add("pattern", "Captain Tom asks for the best berth first."),
          call("create_project", { key: "tavern", summary: "A tavern." })
        ],
        [call("update_project", { status: "completed" })]
      ],
      [[call("compact_session_memory")]]
    ])
    assert.deepStrictEqual(kept("session", "key_facts") as unknown, ["The tavern has 5 rooms and a cellar"])
    assert.deepStrictEqual(kept("session", "learned_patterns") as unknown, [
      "Captain Tom asks for the best berth first."
    ])
    const tasks = [{ description: "A tavern.", timestamp: "2026-01-05T09:00:00Z" }]
    assert.deepStrictEqual(kept("session", "completed_tasks") as unknown, tasks)
    assert.strictEqual(kept("session", "last_compacted") as unknown, "2026-01-05T09:01:00Z")
    assert.deepInclude(answersOf("compact_session_memory")[0], { facts: { before: 2, after: 1 } })
  })

  test("F77 F78 what speaks of the assistant is refused with what to do, what speaks of the world is kept", async () => {
    const refused = [
      "I helped the captain.",
      "I should be brief.",
      "The assistant suggested a berth.",
      "We moored her."
    ]
    const taken = ["The captain helped Ann.", 'Tom said: "I am late."', "Henry I built the mole."]
    const { answersOf, kept } = await lived([[[...refused, ...taken].map((text) => add("fact", text))]])
    const [first, ...others] = answersOf("add_session_memory")
    assert.deepStrictEqual(first as unknown, {
      success: false,
      error: "Content appears to reference assistant actions or identity",
      suggestion:
        "Session memory should contain facts about the WORLD, PLAYERS, or EVENTS - not what you did. Rephrase in third-person."
    })
    assert.deepStrictEqual(
      others.map(({ success }) => success as unknown),
      [false, false, false, true, true, true]
    )
    assert.deepStrictEqual(kept("session", "key_facts") as unknown, taken)
  })
})

interface Status {
  readonly token_usage: Readonly<Record<"estimated_used" | "model_limit" | "available" | "usage_percentage", number>>
  readonly token_advisory: { readonly level: string; readonly threshold: number }
  readonly loop_state: object
  readonly session_metrics: object
  readonly chain_state: object
}

describe("the system status", () => {
  const statusOf = async (maxContextTokens: number): Promise<Status> => {
    const { answersOf } = await lived(
      [[[call("add_goal", { description: "Sail." })], [call("no_such_tool")], [call("get_system_status")]]],
      { assistant: { maxContextTokens, reservedResponseTokens: 50, settings: { compactEnabled: false } } }
    )
    const [status] = answersOf("get_system_status")
    assert.isDefined(status)
    return status as unknown as Status
  }

  test("F79 F80 it has the parts of the sources, which add up", async () => {
    const status = await statusOf(20_000)
    const { chain_state, loop_state, session_metrics, token_usage, ...rest } = status
    assert.deepStrictEqual(Object.keys(rest), ["success", "timestamp", "token_advisory"])
    assert.deepStrictEqual(loop_state, {
      iteration: 3,
      max_iterations: 5,
      tools_this_cycle: ["add_goal", "no_such_tool"],
      tool_count_this_cycle: 2
    })
    const session_start = "2026-01-05T09:00:00Z"
    const counts = { total_tool_calls: 2, successful_calls: 1, failed_calls: 1, session_start }
    assert.deepStrictEqual(session_metrics, counts)
    assert.deepStrictEqual(chain_state, { in_chain: true, chain_depth: 2, pending_tools: [] })
    const { available, estimated_used, model_limit, usage_percentage } = token_usage
    assert.strictEqual(model_limit, 20_000)
    assert.strictEqual(available + estimated_used, model_limit)
    assert.strictEqual(usage_percentage, Math.round(estimated_used / 20) / 10)
  })

  test("F81 it advises to wrap up from 60 percent on, and to answer at once from 80 on", async () => {
    const { estimated_used } = (await statusOf(20_000)).token_usage
    const advised = async (share: number) => {
      const { token_advisory, token_usage } = await statusOf(Math.round(estimated_used / share))
      return [token_usage.usage_percentage, token_advisory.level, token_advisory.threshold]
    }
    assert.deepStrictEqual(await advised(0.598), [59.8, "normal", 60])
    assert.deepStrictEqual(await advised(0.6), [60, "warning", 60])
    assert.deepStrictEqual(await advised(0.798), [79.8, "warning", 60])
    assert.deepStrictEqual(await advised(0.8), [80, "critical", 80])
  })
})

describe("where it is kept", () => {
  test("F84 projects, memory, journal and guidelines each in a kind of its own, goals in another one", async () => {
    const { keysOf } = await lived(
      [
        [
          [
            call("create_project", { key: "tavern", summary: "A tavern." }),
            call("add_goal", { description: "Sail." }),
            call("add_session_memory", { kind: "fact", content: "The tavern has 5 rooms" }),
            call("add_journal_entry", { content: "Fog again." }),
            call("update_system_prompt", { new_prompt: "Be brief.", reasoning: "They prefer it." })
          ]
        ]
      ],
      { assistant: { settings: { requireApproval: false } } }
    )
    assert.deepStrictEqual((["project", "goal", "journal", "prompt"] as const).map(keysOf), [
      ["tavern"],
      ["goal_1_0"],
      ["entry_1_0"],
      ["assistant_system_prompt"]
    ])
    assert.deepStrictEqual(keysOf("session"), ["key_facts"])
    assert.notInclude(keysOf("state"), "assistant_system_prompt")
  })
})
