import { assert, describe, it } from "@effect/vitest"
import {
  type Assessment,
  type ContextLayer,
  DEFAULT_SETTINGS,
  executionModes,
  patternJson,
  selectPattern,
  type Settings,
  settingsOf,
  tokenPressureOf
} from "../src/index.ts"
import { type ContextSignals } from "../src/patterns/select-pattern.ts"

const tick: ContextLayer = {
  contextType: "tick_event",
  executionMode: "react_loop",
  maxIterations: 5,
  allowedToolCategories: null,
  terminalEndsLoop: true,
  dangerousRequiresConfirm: false,
  allowsMultiTool: true,
  allowsSubAgents: true
}

const reflection: ContextLayer = { ...tick, contextType: "reflection", maxIterations: 3, allowsSubAgents: false }

/** Settings that ask for no confirmation, so that a layer can. */
const lax = settingsOf({ confirmDangerous: false })

const select = (chosen: Partial<Settings>, layer?: ContextLayer, assessment?: Assessment) =>
  selectPattern({ ...lax, ...chosen }, layer, assessment).pattern

const signalled = (context_signals: ContextSignals, layer = tick) => select({}, layer, { context_signals })

describe("layers", () => {
  it("F3 the modes are single_action, react_loop and plan_execute, the narrowest first", () => {
    assert.deepStrictEqual(executionModes, ["single_action", "react_loop", "plan_execute"])
  })

  it("F33 A7 the static layer: several actions, five iterations of one to ten, no assessment, no sub-agents, three at once", () => {
    const { assessTask, maxIterations, multiAction, subAgentBudget, subAgents } = DEFAULT_SETTINGS
    assert.deepStrictEqual(
      { multiAction, maxIterations, assessTask, subAgents, subAgentBudget },
      { multiAction: true, maxIterations: 5, assessTask: false, subAgents: false, subAgentBudget: 3 }
    )
    assert.strictEqual(settingsOf({ maxIterations: 0 }).maxIterations, 1)
    assert.strictEqual(settingsOf({ maxIterations: 101 }).maxIterations, 100)
  })

  it("F34 A7 iterations are the fewest of the layers; ten while asleep need ten of the static layer", () => {
    const sleep = { ...tick, contextType: "sleep_consolidate", maxIterations: 10 }
    assert.strictEqual(select({}, reflection).maxIterations, 3)
    assert.strictEqual(select({ maxIterations: 2 }, reflection).maxIterations, 2)
    assert.strictEqual(select({}, sleep).maxIterations, 5)
    assert.strictEqual(select({ maxIterations: 10 }, sleep).maxIterations, 10)
  })

  it("F35 A9 several tools need both layers; without, one action and one iteration", () => {
    const single = { mode: "single_action", maxIterations: 1, multiTool: false } as const
    assert.deepInclude(select({}, tick), { mode: "react_loop", maxIterations: 5, multiTool: true })
    assert.deepInclude(select({ multiAction: false }, tick), single)
    assert.deepInclude(select({}, { ...tick, allowsMultiTool: false }), single)
    assert.deepInclude(select({}, { ...tick, executionMode: "single_action" }), single)
  })

  it("F36 sub-agents need both layers, and are off by default", () => {
    assert.isFalse(select({}, tick).subAgents)
    assert.isFalse(select({ subAgents: true }, reflection).subAgents)
    assert.isTrue(select({ subAgents: true }, tick).subAgents)
    assert.deepInclude(select({ subAgents: true }, tick).sourceLayers, { sub_agents_enabled: "allowed" })
    assert.deepInclude(select({ subAgents: true }, reflection).sourceLayers, { sub_agents_enabled: "context" })
  })

  it("F37 an assessment lowers and narrows, and never raises or widens", () => {
    const layer = { ...tick, maxIterations: 4 }
    const advised = (assessment: Assessment) => select({ assessTask: true }, layer, assessment)
    assert.strictEqual(advised({ recommended_iterations: 2 }).maxIterations, 2)
    assert.strictEqual(advised({ recommended_iterations: 9 }).maxIterations, 4)
    assert.strictEqual(advised({ recommended_iterations: 0 }).maxIterations, 1)
    assert.strictEqual(advised({ recommended_iterations: NaN }).maxIterations, 4)
    assert.strictEqual(advised({ recommended_mode: "single_action" }).mode, "single_action")
    assert.strictEqual(advised({ recommended_mode: "plan_execute" }).mode, "react_loop")
    assert.strictEqual(advised({ recommended_mode: "free_for_all" }).mode, "react_loop")
    assert.isTrue(advised({ recommend_confirm_dangerous: true }).confirmDangerous)
    assert.isTrue(
      select({ assessTask: true, confirmDangerous: true }, layer, { recommend_confirm_dangerous: false })
        .confirmDangerous
    )
  })

  it("A9 without task assessment a model is not heard, a heuristic and the signals are", () => {
    const advice: Assessment = { recommended_iterations: 2, context_signals: { recent_errors: 2 } }
    assert.strictEqual(select({ assessTask: false }, tick, { recommended_iterations: 3 }).maxIterations, 5)
    assert.strictEqual(select({ assessTask: true }, tick, { recommended_iterations: 3 }).maxIterations, 3)
    assert.strictEqual(
      select({ assessTask: false }, tick, { by: "heuristic", recommended_iterations: 3 }).maxIterations,
      3
    )
    assert.deepInclude(select({ assessTask: false }, tick, advice).sourceLayers, {
      max_iterations: "signal:recent_errors"
    })
  })

  it("F3 A8 plan_execute is the widest mode, runs as a loop, and is narrowed like one", () => {
    const planning: ContextLayer = { ...tick, executionMode: "plan_execute" }
    assert.deepInclude(select({}, planning), { mode: "plan_execute", maxIterations: 5, multiTool: true })
    assert.strictEqual(select({ multiAction: false }, planning).mode, "single_action")
    assert.strictEqual(select({ assessTask: true }, planning, { recommended_mode: "react_loop" }).mode, "react_loop")
  })
})

describe("signals", () => {
  it("F38 F39 A10 tokens press from 60 % on, and are critical from 80 % on", () => {
    assert.deepStrictEqual([0, 0.599, 0.6, 0.799, 0.8, 1.3].map(tokenPressureOf), [
      "normal",
      "normal",
      "high",
      "high",
      "critical",
      "critical"
    ])
  })

  it("F38 critical pressure leaves one action", () => {
    const pattern = signalled({ token_pressure: "critical" })
    assert.deepInclude(pattern, { mode: "single_action", maxIterations: 1, multiTool: false })
    assert.deepStrictEqual(pattern.sourceLayers, {
      mode: "signal:token_pressure",
      max_iterations: "signal:token_pressure",
      multi_tool_enabled: "signal:token_pressure"
    })
  })

  it("F39 high pressure leaves two iterations", () => {
    assert.deepInclude(signalled({ token_pressure: "high" }), { mode: "react_loop", maxIterations: 2 })
    assert.strictEqual(signalled({ token_pressure: "normal" }).maxIterations, 5)
  })

  it("F40 three errors in a row leave one action, and dangerous tools ask", () => {
    for (const recent_errors of [3, 7]) {
      assert.deepInclude(signalled({ recent_errors }), { mode: "single_action", confirmDangerous: true })
    }
    assert.deepInclude(signalled({ recent_errors: 3 }).sourceLayers, {
      dangerous_requires_confirm: "signal:recent_errors"
    })
  })

  it("F41 two errors in a row leave two iterations, one error none less", () => {
    assert.deepInclude(signalled({ recent_errors: 2 }), {
      mode: "react_loop",
      maxIterations: 2,
      confirmDangerous: false
    })
    assert.strictEqual(signalled({ recent_errors: 1 }).maxIterations, 5)
  })

  it("F42 communication is one action a tick", () => {
    assert.deepInclude(signalled({ event_class: "communication" }), { mode: "single_action", confirmDangerous: false })
  })

  it("F43 building asks before dangerous tools, and nothing more", () => {
    assert.deepStrictEqual(
      { ...signalled({ event_class: "building" }), sourceLayers: {} },
      { ...select({}, tick), confirmDangerous: true, sourceLayers: {} }
    )
  })

  it("F44 the urgency of a goal changes nothing, whatever it is", () => {
    for (const goal_urgency of ["low", "high", "desperate"]) {
      assert.deepStrictEqual(signalled({ goal_urgency }), select({}, tick))
    }
  })

  it("A11 where room is made, neither the lack of it nor the class of the event counts, but errors do", () => {
    const caps = { pre_compaction: 5, sleep_consolidate: 10 }
    for (const [contextType, maxIterations] of Object.entries(caps)) {
      const layer = { ...tick, contextType, maxIterations }
      const pressed = { token_pressure: "critical", event_class: "communication" }
      assert.deepStrictEqual(
        select({ maxIterations: 10 }, layer, { context_signals: pressed }),
        select({ maxIterations: 10 }, layer)
      )
      assert.strictEqual(signalled({ recent_errors: 3 }, layer).mode, "single_action")
    }
    assert.strictEqual(signalled({ token_pressure: "critical" }, reflection).mode, "single_action")
  })
})

describe("sources", () => {
  it("F46 the worked example", () => {
    const pattern = selectPattern(settingsOf({ multiAction: true, maxIterations: 5 }), reflection).pattern
    assert.strictEqual(pattern.mode, "react_loop")
    assert.strictEqual(pattern.maxIterations, 3)
    assert.deepStrictEqual(pattern.sourceLayers, {
      mode: "context",
      max_iterations: "context",
      multi_tool_enabled: "allowed"
    })
  })

  it("F45 a pattern has eight parts under the names of the wire", () => {
    assert.deepStrictEqual(patternJson(select({}, reflection)), {
      mode: "react_loop",
      max_iterations: 3,
      allowed_categories: null,
      terminal_ends_loop: true,
      dangerous_requires_confirm: false,
      multi_tool_enabled: true,
      sub_agents_enabled: false,
      source_layers: { mode: "context", max_iterations: "context", multi_tool_enabled: "allowed" }
    })
    const narrow = select({}, { ...tick, allowedToolCategories: ["safe_chain"] })
    assert.deepStrictEqual(patternJson(narrow).allowed_categories, ["safe_chain"])
    assert.strictEqual(patternJson(narrow).source_layers.allowed_categories, "context")
  })

  it("A12 on a tie the context is named for the mode, the static layer for the number", () => {
    assert.deepInclude(select({}, tick).sourceLayers, { mode: "context", max_iterations: "static" })
    assert.deepInclude(select({}).sourceLayers, { mode: "static", max_iterations: "static" })
  })

  it("A12 who denies several tools is named", () => {
    const noMulti = { ...tick, allowsMultiTool: false }
    const denier = (pattern: ReturnType<typeof select>) => pattern.sourceLayers.multi_tool_enabled
    assert.strictEqual(denier(select({ multiAction: false }, tick)), "static")
    assert.strictEqual(denier(select({ multiAction: false }, noMulti)), "static")
    assert.strictEqual(denier(select({}, noMulti)), "context")
    assert.strictEqual(denier(signalled({ event_class: "communication" })), "signal:event_class")
    assert.strictEqual(denier(select({ assessTask: true }, tick, { recommended_mode: "single_action" })), "assessment")
  })

  it("A12 the first that lowered is named, not one that asked for as little later", () => {
    const pattern = signalled({ token_pressure: "high", recent_errors: 2 })
    assert.strictEqual(pattern.sourceLayers.max_iterations, "signal:token_pressure")
    const recommended = select({ assessTask: true }, tick, { recommended_iterations: 3 })
    assert.strictEqual(recommended.sourceLayers.max_iterations, "assessment")
  })
})
