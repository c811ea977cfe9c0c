import { assert, it } from "@effect/vitest"
import { toolCategories } from "@reverie/protocol"
import * as fc from "fast-check"
import {
  type Assessment,
  type ContextLayer,
  executionModes,
  patternOf,
  restrict,
  selectPattern,
  settingsOf
} from "../src/index.ts"
import { anySettings, RUNS } from "./arbitraries.ts"
import type { ContextSignals, ExecutionPattern, SelectedPattern } from "../src/patterns/select-pattern.ts"

const number = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -1, max: 12 }) },
  { weight: 1, arbitrary: fc.double() }
)
const contextType = fc.constantFrom("tick_event", "reflection", "pre_compaction", "sleep_consolidate")

const aLayer: fc.Arbitrary<ContextLayer> = fc.record({
  contextType,
  executionMode: fc.constantFrom(...executionModes),
  maxIterations: number,
  allowedToolCategories: fc.option(fc.uniqueArray(fc.constantFrom(...toolCategories))),
  terminalEndsLoop: fc.boolean(),
  dangerousRequiresConfirm: fc.boolean(),
  allowsMultiTool: fc.boolean(),
  allowsSubAgents: fc.boolean()
})

const someSignals = fc.record(
  {
    token_pressure: fc.constantFrom("normal", "high", "critical", "odd"),
    recent_errors: fc.integer({ min: 0, max: 5 }),
    event_class: fc.constantFrom("communication", "building", "query", "odd"),
    goal_urgency: fc.constantFrom("low", "high")
  },
  { requiredKeys: [] }
) as fc.Arbitrary<ContextSignals>

const anAssessment = fc.record(
  {
    by: fc.constantFrom("model", "heuristic"),
    recommended_iterations: number,
    recommended_mode: fc.constantFrom(...executionModes, "odd"),
    recommend_confirm_dangerous: fc.boolean(),
    context_signals: someSignals
  },
  { requiredKeys: [] }
) as fc.Arbitrary<Assessment>

/** F32, part by part: whatever `inner` allows, `outer` allows as well. */
const assertWithin = (inner: ExecutionPattern, outer: ExecutionPattern): void => {
  assert.isAtMost(inner.maxIterations, outer.maxIterations)
  assert.isAtLeast(inner.maxIterations, 1)
  assert.isTrue(!inner.multiTool || outer.multiTool, "several tools")
  assert.isTrue(!inner.subAgents || outer.subAgents, "sub-agents")
  assert.isTrue(inner.confirmDangerous || !outer.confirmDangerous, "confirmation")
  assert.isTrue(inner.terminalEndsLoop || !outer.terminalEndsLoop, "end of the loop")
  assert.includeMembers([...outer.categories], [...inner.categories])
}

it("F32 S1 a context restricts the static layer, an assessment the context, and nothing is ever widened", () => {
  fc.assert(
    fc.property(anySettings, aLayer, anAssessment, (chosen, layer, assessment) => {
      const settings = settingsOf(chosen)
      const first = selectPattern(settings).pattern
      const second = selectPattern(settings, layer).pattern
      const third = selectPattern(settings, layer, assessment).pattern
      assertWithin(second, first)
      assertWithin(third, second)
      assertWithin(selectPattern(settings, undefined, assessment).pattern, first)
      assert.isAtMost(executionModes.indexOf(third.mode), executionModes.indexOf(second.mode))
    }),
    { ...RUNS, numRuns: 1_000 }
  )
})

it("F32 S1 every further signal restricts", () => {
  const widest = settingsOf({ maxIterations: 10, confirmDangerous: false, terminalEndsLoop: false, subAgents: true })
  let restricted = 0
  fc.assert(
    fc.property(
      aLayer,
      someSignals,
      fc.constantFrom("token_pressure", "recent_errors", "event_class"),
      (layer, signals, name) => {
        const { [name as keyof ContextSignals]: _, ...fewer } = signals
        const without = selectPattern(widest, layer, { context_signals: fewer }).pattern
        const all = selectPattern(widest, layer, { context_signals: signals }).pattern
        assertWithin(all, without)
        if (JSON.stringify(all) !== JSON.stringify(without)) restricted++
      }
    ),
    { ...RUNS, numRuns: 1_000 }
  )
  assert.isAbove(restricted, 50)
})

it("F32 the restriction, laid on the static pattern after JSON, gives the same pattern; a plan runs as a loop (A8)", () => {
  const bare = ({ sourceLayers: _, mode, ...pattern }: SelectedPattern): ExecutionPattern => ({
    ...pattern,
    mode: mode === "plan_execute" ? "react_loop" : mode
  })
  fc.assert(
    fc.property(anySettings, aLayer, anAssessment, (chosen, layer, assessment) => {
      const settings = settingsOf(chosen)
      const { pattern, restriction } = selectPattern(settings, layer, assessment)
      const stored = JSON.parse(JSON.stringify(restriction)) as typeof restriction
      assert.deepStrictEqual(stored, restriction)
      assert.deepStrictEqual(restrict(patternOf(settings), stored), bare(pattern))
    }),
    { ...RUNS, numRuns: 1_000 }
  )
})

it("F46 A12 a source is static exactly where nothing was lowered, and one that was asked", () => {
  fc.assert(
    fc.property(anySettings, aLayer, anAssessment, (chosen, layer, assessment) => {
      const settings = settingsOf(chosen)
      const { pattern } = selectPattern(settings, layer, assessment)
      const { max_iterations, mode, multi_tool_enabled } = pattern.sourceLayers
      const before = patternOf(settings)
      assert.strictEqual(max_iterations === "static", pattern.maxIterations === before.maxIterations)
      assert.strictEqual(multi_tool_enabled === "allowed", pattern.multiTool)
      for (const source of [max_iterations, mode, multi_tool_enabled]) {
        assert.match(source, /^(static|context|assessment|allowed|signal:(token_pressure|recent_errors|event_class))$/)
      }
    }),
    { ...RUNS, numRuns: 1_000 }
  )
})
