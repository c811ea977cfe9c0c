import { assert, it } from "@effect/vitest"
import { type SleepBlockers, DEFAULT_SETTINGS, SLEEP_ORDER_KEY } from "@reverie/assistant"
import { AssistantId, DEFAULT_TENANT, type Json, type RecordKind } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import { type RecordAccess, execute, selfTools, type ToolResult, toolkitOf } from "../src/index.ts"

const NOW = Date.UTC(2025, 11, 6, 10, 0, 0)
const STEPS = JSON.stringify(["Design the rooms", "Raise the walls", "Hire a bartender"])

type Kept = Map<RecordKind, Map<string, Json>>

/** Records that keep what results carry, as the runtime does after each commit. */
const recordsOf = (
  answer: () => Promise<string> = () => Promise.resolve(STEPS),
  sleepBlockers: SleepBlockers = { isAsleep: false, unfinished: [] }
) => {
  const kept: Kept = new Map()
  const asked: Array<string> = []
  let tick = 42
  const access: RecordAccess = {
    read: (kind) => kept.get(kind) ?? new Map(),
    consult: (context, text) => {
      asked.push(`${context}: ${text}`)
      return answer()
    },
    get loop() {
      return {
        tick,
        iteration: 2,
        maxIterations: 5,
        tokensUsed: 45_000,
        maxContextTokens: 128_000,
        reservedResponseTokens: 4_000,
        toolsThisTick: ["inspect_location", "recall_memories"],
        pendingTools: [],
        sleepBlockers
      }
    }
  }
  const run = Effect.fnUntraced(function* (tool: string, args: Json = {}) {
    yield* TestClock.setTime(NOW)
    const result = yield* execute(
      kit.get(tool),
      { id: "42.2.0", tool, arguments: args },
      {
        address: { tenant: DEFAULT_TENANT, assistant: AssistantId.make("Wren") },
        key: "default/Wren/42.2.0",
        hops: 0,
        records: access,
        names: kit.names
      }
    )
    for (const { key, kind, value } of result.records ?? []) {
      const records = kept.get(kind) ?? new Map<string, Json>()
      if (value === null) records.delete(key)
      else records.set(key, value)
      kept.set(kind, records)
    }
    return result
  })
  return {
    run,
    asked,
    nextTick: () => void tick++,
    record: (kind: RecordKind, key: string) => kept.get(kind)?.get(key),
    kinds: () => [...kept.keys()].toSorted()
  }
}

const kit = toolkitOf(selfTools)

const said = ({ content, ok }: ToolResult): { readonly [key: string]: Json } => {
  assert.isTrue(ok, content)
  return JSON.parse(content)
}

const categoryOf = (...names: ReadonlyArray<string>) => names.map((name) => kit.get(name)?.category)

describe("the tools of self-management", () => {
  it("F67 F72 F76 A27: have the documented names and categories", () => {
    const safe = "safe_chain"
    assert.deepStrictEqual(categoryOf("create_project", "list_projects", "swap_project", "update_project"), [
      safe,
      safe,
      safe,
      safe
    ])
    assert.deepStrictEqual(categoryOf("add_goal", "update_goal", "decompose_goal"), [
      "safe_chain",
      "safe_chain",
      "async_required"
    ])
    assert.deepStrictEqual(categoryOf("add_session_memory", "compact_session_memory"), ["safe_chain", "safe_chain"])
    assert.deepStrictEqual(categoryOf("add_journal_entry", "review_journal", "get_system_status"), [
      "safe_chain",
      "safe_chain",
      "safe_chain"
    ])
    assert.deepStrictEqual(categoryOf("update_system_prompt"), ["dangerous"])
    assert.deepStrictEqual(categoryOf("go_to_sleep"), ["safe_chain"])
    assert.deepStrictEqual(categoryOf("set_reminder", "list_reminders", "cancel_reminder"), [
      "safe_chain",
      "safe_chain",
      "safe_chain"
    ])
    assert.strictEqual(selfTools.length, 18)
  })

  it("self tools I1: each uses the records and may run again after a crash", () => {
    for (const tool of selfTools) assert.deepInclude(tool, { usesRecords: true, idempotent: true })
  })

  it.effect("F67 F68 F69: projects are created, listed, swapped and updated", () =>
    Effect.gen(function* () {
      const { record, run } = recordsOf()
      assert.deepInclude(
        said(yield* run("create_project", { key: "build_tavern", summary: "A tavern", context: "walls 50%" })),
        {
          success: true,
          status: "active"
        }
      )
      assert.deepInclude(
        said(yield* run("create_project", { key: "quest_design", summary: "A quest", context: "three acts" })),
        {
          status: "paused"
        }
      )
      const swapped = said(
        yield* run("swap_project", { key: "quest_design", current_project_update: "Walls 60% done" })
      )
      assert.deepInclude(swapped, { old_project: "build_tavern", new_project: "quest_design", context: "three acts" })
      assert.deepInclude(record("project", "build_tavern"), { context: "Walls 60% done", status: "paused" })
      assert.strictEqual(record("state", "active-project"), "quest_design")
      assert.deepInclude(said(yield* run("update_project", { context: "four acts" })), { context: "four acts" })
      const listed = said(yield* run("list_projects"))
      assert.strictEqual(listed["active"], "quest_design")
      assert.notInclude(JSON.stringify(listed), "acts")
    })
  )

  it.effect("A23: a refusal is an answer, with the available keys, and changes no record", () =>
    Effect.gen(function* () {
      const { run } = recordsOf()
      yield* run("create_project", { key: "tavern", summary: "A tavern" })
      for (const [tool, args] of [
        ["swap_project", { key: "castle" }],
        ["create_project", { key: "tavern", summary: "Again" }]
      ] as const) {
        const result = yield* run(tool, args)
        assert.deepInclude(said(result), { success: false })
        assert.deepStrictEqual(said(result)["available_projects"], ["tavern"])
        assert.notProperty(result, "records")
      }
      assert.strictEqual((yield* run("create_project", { key: "no spaces", summary: "x" })).failure, "arguments")
    })
  )

  it.effect("A23 F75: completing a project closes it and notes the task", () =>
    Effect.gen(function* () {
      const { record, run } = recordsOf()
      yield* run("create_project", { key: "tavern", summary: "A tavern" })
      yield* run("update_project", { status: "completed" })
      assert.isUndefined(record("state", "active-project"))
      assert.deepStrictEqual(record("session", "completed_tasks"), [
        { description: "A tavern", timestamp: "2025-12-06T10:00:00Z" }
      ])
    })
  )

  it.effect("F71 F72 F73: goals get their ids from the tick, and an update rolls up to 33", () =>
    Effect.gen(function* () {
      const { nextTick, record, run } = recordsOf()
      yield* run("add_goal", { description: "Build a complete tavern", priority: "high" })
      for (const description of ["Lay foundation", "Raise walls", "Set the roof"]) {
        yield* run("add_goal", { description, parent_id: "goal_42_0" })
      }
      const updated = said(yield* run("update_goal", { goal_id: "goal_42_1", status: "completed" }))
      assert.deepStrictEqual(updated["rolled_up"], [{ id: "goal_42_0", progress: 33, status: "active" }])
      assert.deepInclude(record("goal", "goal_42_0"), { progress: 33 })
      nextTick()
      assert.deepInclude(said(yield* run("add_goal", { description: "Sell ale" }))["goal"], { id: "goal_43_0" })
      assert.strictEqual((yield* run("update_goal", { goal_id: "goal_42_1", progress: 101 })).failure, "arguments")
    })
  )

  it.effect("F73 F75: a root goal that is completed becomes a completed task", () =>
    Effect.gen(function* () {
      const { record, run } = recordsOf()
      yield* run("add_goal", { description: "Open the pier" })
      yield* run("add_goal", { description: "Fetch the key", parent_id: "goal_42_0" })
      yield* run("update_goal", { goal_id: "goal_42_1", status: "completed" })
      assert.deepStrictEqual(record("session", "completed_tasks"), [
        { description: "Open the pier", timestamp: "2025-12-06T10:00:00Z" }
      ])
    })
  )

  it.effect(
    "F74 F72: decompose_goal asks in the context goal_decompose, keeps the subtasks and hands over its report",
    () =>
      Effect.gen(function* () {
        const { asked, record, run } = recordsOf()
        yield* run("add_goal", { description: "Build a complete tavern", priority: "low" })
        const result = yield* run("decompose_goal", { goal_id: "goal_42_0" })
        assert.strictEqual(asked.length, 1)
        assert.match(asked[0] ?? "", /^goal_decompose: [^]*Build a complete tavern/)
        assert.isTrue(result.ok)
        assert.isTrue(result.pending)
        assert.strictEqual(result.content, "Dividing goal_42_0; its subtasks are reported")
        const report: unknown = JSON.parse(result.report ?? "")
        assert.deepInclude(report, { success: true, goal_id: "goal_42_0" })
        assert.include(result.report, `"description":"Hire a bartender"`)
        assert.deepInclude(record("goal", "goal_42_0"), { subtask_ids: ["goal_42_1", "goal_42_2", "goal_42_3"] })
        assert.deepInclude(record("goal", "goal_42_2"), {
          description: "Raise the walls",
          auto_generated: true,
          priority: "low"
        })
      })
  )

  it.effect("F74 A25: a goal that can not be divided fails at once, asks no one and changes nothing", () =>
    Effect.gen(function* () {
      const { asked, run } = recordsOf()
      const unknown = yield* run("decompose_goal", { goal_id: "goal_9_9" })
      assert.deepInclude(unknown, { ok: false, failure: "threw" })
      assert.include(unknown.content, `There is no goal "goal_9_9"`)
      assert.deepStrictEqual(asked, [])
      const two = recordsOf(() => Promise.resolve(`["one", "two"]`))
      yield* two.run("add_goal", { description: "Build" })
      const few = yield* two.run("decompose_goal", { goal_id: "goal_42_0" })
      assert.include(few.content, "at least 3 steps are needed, 2 were found")
      assert.notProperty(few, "pending")
      assert.notProperty(few, "records")
      const mute = recordsOf(() => Promise.reject(new Error("the model is down")))
      yield* mute.run("add_goal", { description: "Build" })
      assert.include((yield* mute.run("decompose_goal", { goal_id: "goal_42_0" })).content, "the model is down")
    })
  )

  it.effect("F76 F77 F78: session memory takes the world and refuses the self, by its id too", () =>
    Effect.gen(function* () {
      const { record, run } = recordsOf()
      assert.deepInclude(said(yield* run("add_session_memory", { kind: "fact", content: "The tavern has 5 rooms" })), {
        success: true
      })
      const rejected = yield* run("add_session_memory", { kind: "pattern", content: "I helped the player" })
      assert.strictEqual(
        rejected.content,
        JSON.stringify({
          success: false,
          error: "Content appears to reference assistant actions or identity",
          suggestion:
            "Session memory should contain facts about the WORLD, PLAYERS, or EVENTS - not what you did. Rephrase in third-person."
        })
      )
      assert.notProperty(rejected, "records")
      assert.isFalse(said(yield* run("add_session_memory", { kind: "fact", content: "Wren is late" }))["success"])
      yield* run("add_session_memory", { kind: "fact", content: "The tavern has 5 rooms and a cellar" })
      assert.deepInclude(said(yield* run("compact_session_memory")), {
        facts: { before: 2, after: 1 },
        last_compacted: "2025-12-06T10:00:00Z"
      })
      assert.deepStrictEqual(record("session", "key_facts"), ["The tavern has 5 rooms and a cellar"])
    })
  )

  it.effect("journal tools I2: an entry counts towards the next reflection, a review changes nothing", () =>
    Effect.gen(function* () {
      const { record, run } = recordsOf()
      yield* run("add_journal_entry", { content: "I told Bob about the storm", source_type: "direct", tags: ["bob"] })
      yield* run("add_journal_entry", { content: "Fog on the estuary again today" })
      assert.deepInclude(record("journal", "entry_42_1"), { source_type: "observation", importance: 6 })
      assert.deepInclude(record("reflection", "state"), { cumulative_importance: 13, entries_since_reflection: 2 })
      const review = yield* run("review_journal", { tag: "bob" })
      assert.deepInclude(said(review), { found: 1, kept: 2 })
      assert.notProperty(review, "records")
    })
  )

  it.effect("F79 F80: the status is that of the loop and of the counters kept", () =>
    Effect.gen(function* () {
      const { run } = recordsOf()
      const result = yield* run("get_system_status")
      assert.deepStrictEqual(Object.keys(said(result)), [
        "success",
        "timestamp",
        "token_usage",
        "token_advisory",
        "loop_state",
        "session_metrics",
        "chain_state"
      ])
      assert.deepInclude(said(result)["token_usage"], { available: 83_000, usage_percentage: 35.2 })
      assert.notProperty(result, "records")
    })
  )

  it.effect("F82 A27: update_system_prompt writes one record and can not name another", () =>
    Effect.gen(function* () {
      const { record, run } = recordsOf()
      const update = { new_prompt: "Be concise.", reasoning: "Players prefer it" }
      const result = yield* run("update_system_prompt", update)
      assert.deepStrictEqual(
        result.records?.map(({ key, kind }) => `${kind}/${key}`),
        ["prompt/assistant_system_prompt"]
      )
      yield* run("update_system_prompt", { ...update, new_prompt: "Be friendly." })
      assert.deepInclude(record("prompt", "assistant_system_prompt"), {
        prompt: "Be friendly.",
        reasoning: "Players prefer it"
      })
      assert.isUndefined(record("prompt", "user_system_prompt"))
      for (const wrong of [{ new_prompt: "x" }, { new_prompt: " ", reasoning: "y" }]) {
        assert.strictEqual((yield* run("update_system_prompt", wrong)).failure, "arguments")
      }
    })
  )

  it.effect("bed B1: go_to_sleep has three safeguards: asleep already, a person who waits, work that is open", () =>
    Effect.gen(function* () {
      const asked = (sleepBlockers: SleepBlockers) =>
        recordsOf(undefined, sleepBlockers).run("go_to_sleep", { hours: 2 })
      const refused: ReadonlyArray<readonly [SleepBlockers, string]> = [
        [{ isAsleep: true, waitsForAnswer: "Ann", unfinished: ["demolish"] }, "Already in sleep mode"],
        [{ isAsleep: false, waitsForAnswer: "Ann", unfinished: ["demolish"] }, "Ann is waiting"],
        [{ isAsleep: false, unfinished: ["demolish"] }, "demolish"]
      ]
      for (const [sleepBlockers, why] of refused) {
        const result = yield* asked(sleepBlockers)
        assert.include(result.content, why)
        assert.deepStrictEqual(result.records ?? [], [])
      }
      const ordered = yield* asked({ isAsleep: false, unfinished: [] })
      assert.deepStrictEqual(ordered.records, [{ kind: "state", key: SLEEP_ORDER_KEY, value: { forMs: 7_200_000 } }])
      assert.strictEqual((yield* recordsOf().run("go_to_sleep", { hours: 24 })).failure, "arguments")
    })
  )

  it.effect("F84: each tool writes only the kinds it owns; the configuration of compaction is no record", () =>
    Effect.gen(function* () {
      const owned = {
        create_project: [{ key: "tavern", summary: "A tavern" }, ["project", "state"]],
        add_session_memory: [{ kind: "fact", content: "The tavern has 5 rooms" }, ["session"]],
        add_journal_entry: [{ content: "Fog" }, ["journal", "reflection"]],
        update_system_prompt: [{ new_prompt: "x", reasoning: "y" }, ["prompt"]],
        add_goal: [{ description: "Build" }, ["goal"]]
      } as const
      for (const [tool, [args, kinds]] of Object.entries(owned)) {
        const records = recordsOf()
        yield* records.run(tool, args)
        assert.deepStrictEqual<ReadonlyArray<string>>(records.kinds(), kinds, tool)
      }
      assert.deepInclude(DEFAULT_SETTINGS, { compactSleepRatio: 0.7, compactEmergencyRatio: 0.8 })
    })
  )
})
