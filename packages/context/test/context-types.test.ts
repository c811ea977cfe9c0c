import { assert, describe, it } from "@effect/vitest"
import { executionModes } from "@reverie/assistant"
import * as fc from "fast-check"
import { findContextType, getContextType } from "../src/index.ts"
import {
  allowedTools,
  contentOverride,
  type ContextType,
  contextTypes,
  isIncluded,
  PRE_COMPACTION_TOOLS,
  REFLECTION_TOOLS,
  SLEEP_TOOLS
} from "../src/layout/context-types.ts"

const FULL = [0, 1000, 1500, 2000, 3000, 4000, 5000, 6000, 7000]

const enabledIn = (type: ContextType) => getContextType(type).enabledComponents
const toolsIn = (type: ContextType) => getContextType(type).toolFilter

describe("the registry", () => {
  it("F1 exactly seven kinds of context, each found by its name", () => {
    assert.deepStrictEqual(
      [...contextTypes],
      [
        "tick_event",
        "tick_autonomous",
        "reflection",
        "reflection_cont",
        "sleep_consolidate",
        "goal_decompose",
        "pre_compaction"
      ]
    )
    for (const type of contextTypes) {
      assert.strictEqual(getContextType(type).contextType, type)
      assert.strictEqual(findContextType(type), getContextType(type))
    }
    for (const word of ["", "tick", "constructor", "__proto__"]) assert.isUndefined(findContextType(word))
  })

  it("F2 each has every field, of its type", () => {
    for (const type of contextTypes) {
      const config = getContextType(type)
      assert.deepStrictEqual(
        Object.keys(config).toSorted(),
        [
          "contextType",
          "name",
          "description",
          "enabledComponents",
          "componentOverrides",
          "toolFilter",
          "tokenBudget",
          "executionMode",
          "maxIterations",
          "allowedToolCategories",
          "terminalEndsLoop",
          "dangerousRequiresConfirm",
          "allowsMultiTool",
          "allowsSubAgents"
        ].toSorted()
      )
      assert.isNotEmpty(config.name)
      assert.isNotEmpty(config.description)
      assert.isNull(config.tokenBudget)
      assert.isTrue(config.enabledComponents.every(Number.isInteger))
    }
  })

  it("F3 F13 A6 modes are of the closed list: one action for goals, a loop for all else", () => {
    for (const type of contextTypes) {
      assert.include(executionModes, getContextType(type).executionMode)
      assert.strictEqual(
        getContextType(type).executionMode,
        type === "goal_decompose" ? "single_action" : "react_loop",
        type
      )
    }
  })

  it("F4 caps of iterations", () => {
    assert.deepStrictEqual(
      contextTypes.map((type) => getContextType(type).maxIterations),
      [5, 5, 3, 2, 10, 1, 5]
    )
  })
})

describe("components", () => {
  it("F5 ticks have all nine", () => {
    assert.deepStrictEqual(enabledIn("tick_event"), FULL)
    assert.deepStrictEqual(enabledIn("tick_autonomous"), FULL)
  })

  it("F6 reflection has prompt, event and results; going on with it, prompt and results", () => {
    assert.deepStrictEqual(enabledIn("reflection"), [0, 6000, 7000])
    assert.deepStrictEqual(enabledIn("reflection_cont"), [0, 7000])
  })

  it("F7 consolidation has prompt and memories", () => {
    assert.deepStrictEqual(enabledIn("sleep_consolidate"), [0, 2000])
  })

  it("F8 breaking down a goal has prompt, goals and event, and no tool", () => {
    assert.deepStrictEqual(enabledIn("goal_decompose"), [0, 4000, 6000])
    assert.deepStrictEqual(toolsIn("goal_decompose"), [])
  })

  it("F9 before compaction there are prompt, history, event and results", () => {
    assert.deepStrictEqual(enabledIn("pre_compaction"), [0, 5000, 6000, 7000])
  })

  it("A4 what is plugged in is in by its own id, or by that of what it stands behind, and only when enabled", () => {
    const plugged = (id: number, more: { enabled?: boolean; afterStatic?: number } = {}) => ({
      id,
      enabled: true,
      ...more
    })
    assert.isTrue(isIncluded(plugged(1001), [0, 1000]))
    assert.isFalse(isIncluded(plugged(1001), [0, 1500]))
    assert.isTrue(isIncluded(plugged(1501, { afterStatic: 1500 }), [1500]))
    assert.isTrue(isIncluded(plugged(1001), [0, 1001]))
    assert.isFalse(isIncluded(plugged(1001, { enabled: false }), FULL))
    assert.isFalse(isIncluded(plugged(1001, { enabled: false }), undefined))
    assert.isFalse(isIncluded(plugged(1000), [0]))
  })

  it("A4 a reserved part is in with its companion", () => {
    const inReflection = (id: number) => isIncluded({ id, enabled: true }, enabledIn("reflection"))
    assert.deepStrictEqual([600, 700, 800, 900].map(inReflection), [false, false, false, true])
    assert.isTrue([600, 700, 800, 900].every((id) => isIncluded({ id, enabled: true }, FULL)))
  })
})

describe("tools", () => {
  const offers = ["noop", "say", ...SLEEP_TOOLS.slice(1), "update_entity_observation"].map((name) => ({ name }))
  const offered = (type: ContextType) => allowedTools(getContextType(type), offers).map(({ name }) => name)

  it("F10 reflection has the journal", () => {
    assert.deepStrictEqual([...REFLECTION_TOOLS], ["noop", "add_journal_entry", "review_journal"])
    for (const type of ["reflection", "reflection_cont"] as const) {
      assert.strictEqual(toolsIn(type), REFLECTION_TOOLS)
      assert.deepStrictEqual(offered(type), [...REFLECTION_TOOLS])
    }
  })

  it("F11 sleep has the journal and memory", () => {
    assert.deepStrictEqual(offered("sleep_consolidate"), [
      "noop",
      "add_journal_entry",
      "review_journal",
      "recall_memories",
      "store_memory"
    ])
    assert.strictEqual(toolsIn("sleep_consolidate"), SLEEP_TOOLS)
  })

  it("F12 before compaction there is writing, and no reading, of the journal", () => {
    assert.strictEqual(toolsIn("pre_compaction"), PRE_COMPACTION_TOOLS)
    assert.deepStrictEqual(offered("pre_compaction"), ["noop", "add_journal_entry", "update_entity_observation"])
  })

  it("A5 no filter is every tool, an empty one none", () => {
    assert.isNull(toolsIn("tick_event"))
    assert.strictEqual(allowedTools(getContextType("tick_event"), offers), offers)
    assert.deepStrictEqual(offered("goal_decompose"), [])
  })
})

describe("layer 2", () => {
  it("F13 A6 several tools everywhere but for goals, sub-agents in ticks alone", () => {
    assert.deepStrictEqual(
      contextTypes.map((type) => getContextType(type).allowsMultiTool),
      [true, true, true, true, true, false, true]
    )
    assert.deepStrictEqual(
      contextTypes.map((type) => getContextType(type).allowsSubAgents),
      [true, true, false, false, false, false, false]
    )
  })

  it("F13 A6 a terminal tool ends the loop, dangerous ones need no more than elsewhere, all categories are in", () => {
    for (const type of contextTypes) {
      assert.deepInclude(getContextType(type), {
        terminalEndsLoop: true,
        dangerousRequiresConfirm: false,
        allowedToolCategories: null
      })
    }
  })
})

describe("overrides", () => {
  const overriding = (value: unknown) => ({
    ...getContextType("tick_event"),
    componentOverrides: { system_prompt: value }
  })

  it("F14 reflection asks four questions, and tells to use the journal tools", () => {
    for (const type of ["reflection", "reflection_cont"] as const) {
      const prompt = contentOverride(getContextType(type), "system_prompt") ?? ""
      assert.strictEqual(prompt.match(/^\d\. .*\?$/gm)?.length, 4)
      for (const word of ["patterns", "works well", "mistakes", "change", "journal tools"]) assert.include(prompt, word)
      for (const tool of REFLECTION_TOOLS) assert.include(prompt, tool)
    }
    assert.isNull(contentOverride(getContextType("tick_event"), "system_prompt"))
  })

  it("F15 the content of a map that has one, else null", () => {
    assert.strictEqual(contentOverride(overriding({ content: "Be brief." }), "system_prompt"), "Be brief.")
    assert.strictEqual(contentOverride(overriding({ content: "" }), "system_prompt"), "")
    for (const value of ["Be brief.", 7, null, undefined, [], ["content"], {}, { text: "x" }, { content: 7 }]) {
      assert.isNull(contentOverride(overriding(value), "system_prompt"))
    }
    for (const key of ["goals", "", "constructor", "__proto__"]) {
      assert.isNull(contentOverride(overriding({ content: "x" }), key))
    }
  })

  it("F15 never throws, whatever stands there and whatever is asked for", () => {
    fc.assert(
      fc.property(fc.anything(), fc.string(), (value, key) => {
        const found = contentOverride({ ...overriding(value), componentOverrides: { [key]: value } }, key)
        assert.isTrue(found === null || typeof found === "string")
      })
    )
  })
})
