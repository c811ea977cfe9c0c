// What the assistants of the day keep about themselves and their work, and what their models were shown of it.

import { afterAll, assert, beforeAll, describe, test } from "vitest"
import { desk } from "../fleet.ts"
import { includesOne, PlayedDay } from "./played-day.ts"

let day: PlayedDay

beforeAll(async () => {
  day = await PlayedDay.play()
}, 120_000)

afterAll(() => day.fleet.close())

type Fields = { readonly [key: string]: unknown }

describe("projects and goals", () => {
  test("F67 F68 a project is left with its update and paused, the other one opened with its context", async () => {
    const [swapped] = day.answers("swap_project")
    assert.deepInclude(swapped, {
      success: true,
      old_project: "regatta",
      new_project: "breakwater",
      context: "The stone barge comes on day 26."
    })
    const projects = await day.records("planner", "project")
    assert.deepInclude(projects.get("regatta"), {
      context: "The course is laid out; three buoys are missing.",
      status: "paused"
    })
    assert.deepInclude(projects.get("breakwater"), { context: "The stone barge comes on day 26.", status: "active" })
    assert.strictEqual((await day.records("planner", "state")).get("active-project"), "breakwater")
    const tick = day.tickOf("planner", "Create a project")
    assert.notInclude(await day.parts("planner", tick), "character_context")
    assert.include(await day.parts("planner", tick + 1), "character_context", "the open project is shown")
  })

  test("F71 F72 F73 one of three subtasks completed makes a third of the goal", async () => {
    const tick = day.tickOf("planner", "Open the regatta")
    const goals = await day.records("planner", "goal")
    assert.deepInclude(goals.get(`goal_${tick}_0`), {
      description: "Open the regatta on day 30",
      progress: 33,
      status: "active",
      subtask_ids: [1, 2, 3].map((index) => `goal_${tick}_${index}`)
    })
    assert.deepInclude(goals.get(`goal_${tick}_1`), { progress: 100, status: "completed", parent_id: `goal_${tick}_0` })
    const [updated] = day.answers("update_goal")
    assert.deepStrictEqual(updated?.["rolled_up"], [{ id: `goal_${tick}_0`, progress: 33, status: "active" }])
    assert.include(await day.parts("planner", tick + 1), "goals")
  })

  test("F72 F74 a goal is divided by the model, and the report comes as an envelope of its own", async () => {
    const tick = day.tickOf("planner", "decompose the goal")
    const asked = day.told("tool-finished").find(({ tool }) => tool === "decompose_goal")
    assert.deepInclude(asked, { tick, ok: true, content: "" }, "the call itself has no answer yet")
    const reported = day.told("envelope-settled", "planner").filter(({ envelope }) => envelope.endsWith("#report"))
    assert.deepStrictEqual(
      reported.map(({ outcome }) => outcome),
      ["handled"]
    )
    const goals = await day.records("planner", "goal")
    const divided = day.tickOf("planner", "Open the regatta")
    const parent = goals.get(`goal_${divided}_3`) as { readonly subtask_ids: ReadonlyArray<string> }
    const subtasks = parent.subtask_ids.map((id) => goals.get(id) as Fields)
    assert.deepStrictEqual(
      subtasks.map(({ auto_generated, description, priority }) => ({ auto_generated, description, priority })),
      ["Prepare", "Do", "Check"].map((step) => ({
        auto_generated: true,
        description: `${step}: Invite the rowing clubs`,
        priority: "high"
      }))
    )
    includesOne(day.replies("answered", "planner"), `Goal id goal_${divided}_3`)
  })

  test("F79 F80 the system status adds up, and counts the calls before it", () => {
    const [status] = day.answers("get_system_status") as ReadonlyArray<{ readonly [key: string]: Fields }>
    const { loop_state, session_metrics, token_usage } = status ?? {}
    const { available, estimated_used, model_limit } = token_usage as { readonly [key: string]: number }
    assert.strictEqual(model_limit, 100_000)
    assert.strictEqual((available ?? 0) + (estimated_used ?? 0), model_limit)
    assert.deepInclude(loop_state, { iteration: 1, max_iterations: 3 })
    const told = day.told("tool-finished").find(({ tool }) => tool === "get_system_status")
    const before = day.told("tool-finished", "planner").filter(({ seq = 0 }) => seq < (told?.seq ?? 0))
    assert.deepInclude(session_metrics, {
      total_tool_calls: before.length,
      successful_calls: before.length,
      failed_calls: 0
    })
  })
})

describe("memory and manner", () => {
  test("F76 F77 F78 a pattern of others is remembered, a promise of one's own is not", async () => {
    assert.deepStrictEqual(day.answers("add_session_memory"), [
      { success: true, kind: "pattern", count: 1 },
      {
        success: false,
        error: "Content appears to reference assistant actions or identity",
        suggestion:
          "Session memory should contain facts about the WORLD, PLAYERS, or EVENTS - not what you did. Rephrase in third-person."
      }
    ])
    const memory = await day.records("desk", "session")
    assert.deepStrictEqual(memory.get("learned_patterns"), [
      "Captain Tom of the Kestrel asks for the best berth first."
    ])
    assert.isUndefined(memory.get("key_facts"))
  })

  test("F82 its own guidelines change when a person approves, its user's prompt stays", async () => {
    const tick = day.tickOf("desk", "update your system prompt")
    assert.strictEqual(
      day.told("approval-asked", "desk").find((asked) => asked.tick === tick)?.tool,
      "update_system_prompt"
    )
    assert.deepInclude(day.answers("update_system_prompt")[0], { success: true, updated: "assistant_system_prompt" })
    const prompts = await day.records("desk", "prompt")
    assert.deepStrictEqual([...prompts.keys()], ["assistant_system_prompt"])
    assert.deepInclude(prompts.get("assistant_system_prompt"), {
      prompt: "Name the depth of a berth together with its length.",
      previous: null
    })
    assert.notInclude(desk.systemPrompt, "depth of a berth")
    const promptTokens = async (at: number) => {
      const report = await day.fleet.history.contextReport("desk", { tick: at, iteration: 1 })
      return report?.parts.find(({ key }) => key === "system_prompt")?.tokens ?? 0
    }
    assert.isAbove(await promptTokens(tick + 1), await promptTokens(tick), "both stand in the next prompt")
  })

  test("what is said on the quay is only overheard, and stands in the prompt of who is called by name", async () => {
    const settled = day
      .told("envelope-settled", "desk")
      .filter(({ reason }) => reason?.startsWith("ambient under") === true)
    assert.deepStrictEqual(
      settled.map(({ outcome, reason }) => ({ outcome, reason })),
      [{ outcome: "handled", reason: `ambient under the rule "room"` }]
    )
    const heard = [...(await day.records("desk", "ambientMessages")).values()] as ReadonlyArray<Fields>
    assert.deepStrictEqual(
      heard.map(({ channel, from, text }) => ({ channel, from, text })),
      [{ channel: "room:quay", from: "Jo of the Bonita", text: "The swell at the fish quay is nasty today." }]
    )
    const called = day.tickOf("desk", "@desk, Kestrel here")
    assert.include(await day.parts("desk", called), "context_buffer")
    assert.notInclude(await day.parts("desk", day.tickOf("desk", "assign the Birch")), "context_buffer")
    includesOne(day.replies("terminal", "desk"), "Fitting dogwood and elm.")
  })
})

describe("reflection", () => {
  test("F10 it has a context of its own: no conversation, the tools of the journal, then its continuation", async () => {
    const tick = day.tickOf("archivist", "[timer reflection]")
    const first = await day.fleet.history.contextReport("archivist", { tick, iteration: 1 })
    const second = await day.fleet.history.contextReport("archivist", { tick, iteration: 2 })
    const ordinary = await day.fleet.history.contextReport("archivist", {
      tick: day.tickOf("archivist", "Please recall")
    })
    assert.strictEqual(first?.context, "reflection")
    assert.strictEqual(second?.context, "reflection_cont")
    assert.strictEqual(ordinary?.context, "tick_event")
    assert.deepStrictEqual(await day.parts("archivist", tick, 1), ["system_prompt", "pending_event"])
    assert.deepStrictEqual(await day.parts("archivist", tick, 2), ["system_prompt", "tool_result"])
    // One list for every kind of context, so that a provider finds the beginning again; what may be called is narrowed beside it.
    assert.isAbove(first?.toolTokens ?? 0, 0)
    assert.strictEqual(first?.toolTokens, ordinary?.toolTokens)
    const found = day.answers("review_journal").map(({ entries }) => entries as ReadonlyArray<Fields>)
    assert.deepStrictEqual(
      found.map((entries) => entries.map(({ content }) => content)),
      [["Kestrel asked for Elm and was refused.", "Kestrel owes dues for two visits."]]
    )
    const insight = (await day.records("archivist", "journal")).get(`entry_${tick}_0`)
    assert.deepInclude(insight, {
      content: "The Kestrel pays late and asks for much.",
      source_type: "inference",
      // Its model gave it 8, and the dream weighed it again.
      importance: 5,
      importance_method: "llm"
    })
  })

  test("one that falls due asleep is the dream's: it begins no tick, and rests on what was written down", async () => {
    const evening = day.tickOf("archivist", "[timer evening]")
    const asked = day.told("envelope-settled", "archivist").filter(({ envelope }) => envelope.endsWith("#reflection"))
    assert.deepStrictEqual(
      asked.map(({ outcome, reason }) => ({ outcome, reason })),
      [{ outcome: "handled", reason: "it has looked back already" }]
    )
    assert.isFalse(day.told("tick-started").some(({ text = "" }) => text.startsWith("Look back on your journal.")))
    const journal = await day.records("archivist", "journal")
    assert.deepInclude(journal.get(`entry_${evening + 1}_0`), {
      content: "North Star came up in 3 entries.",
      source_type: "inference",
      tags: ["reflection"],
      evidence: [8, 9, 7].map((index) => `entry_${evening}_${index}`)
    })
  })
})

describe("tool rules and kept results", () => {
  test("F109 F110 the rules stand in the prompt, and hold", async () => {
    const early = day.tickOf("planner", "Please close the harbour")
    assert.include(await day.parts("planner", early), "tool_rules")
    assert.notInclude(await day.parts("desk", 1), "tool_rules")
    includesOne(day.replies("answered", "planner"), `"close_harbour" can be called only after "weather" in this tick`)
    includesOne(day.replies("answered", "planner"), `"weather" may be called at most 2 times in a tick`)
    const asked = day.told("approval-asked", "planner").map(({ tick, tool }) => ({ tick, tool }))
    assert.deepStrictEqual(asked, [{ tick: day.tickOf("planner", "Then look first"), tool: "close_harbour" }])
  })

  test("a weather report that still stands is not asked for again", () => {
    const first = day.tickOf("planner", "How is the weather at the lighthouse?")
    const tick = day.tickOf("planner", "Prepare the arrival")
    const reports = day.told("tool-finished", "planner").filter((notice) => notice.tick === tick)
    assert.deepStrictEqual(
      reports.filter(({ tool }) => tool === "weather").map(({ call, content }) => ({ call, content })),
      [{ call: `${tick}.3.0`, content: `Report ${first}.1.0. Now wind south-west 4, sea slight, visibility good.` }]
    )
  })
})

describe("what a model was shown", () => {
  test("F111 every tick that asked the model has its report, and one that slept has none", async () => {
    const slept = new Set(
      day.told("tick-ended", "archivist").flatMap(({ outcome, tick }) => (outcome === "slept" ? [tick] : []))
    )
    assert.strictEqual(slept.size, 3)
    const [archivist] = await day.fleet.views()
    for (let tick = 1; tick <= (archivist?.ticks ?? 0); tick++) {
      const report = await day.fleet.history.contextReport("archivist", { tick })
      assert.strictEqual(report === undefined, slept.has(tick), `tick ${tick}`)
      assert.isAtMost(report?.tokens ?? 0, report?.limit ?? 0)
    }
  })
})
