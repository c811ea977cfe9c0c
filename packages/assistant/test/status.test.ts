import { assert, describe, it } from "@effect/vitest"
import type { Json } from "@reverie/protocol"
import * as fc from "fast-check"
import { callCounted, countersOf, sessionBegun, systemStatus } from "../src/index.ts"
import { RUNS } from "./arbitraries.ts"
import { type TickMeasures, tokenAdvisory, usagePercentage } from "../src/self/status.ts"

const tick: TickMeasures = {
  iteration: 2,
  maxIterations: 5,
  tokensUsed: 45_000,
  maxContextTokens: 128_000,
  toolsThisTick: ["inspect_location", "recall_memories"],
  pendingTools: []
}
const desk = new Map<string, Json>([
  ["session-start", "2025-12-06T10:00:00Z"],
  ["tool-calls", { total: 47, successful: 45, failed: 2 }]
])
const NOW = Date.UTC(2025, 11, 6, 14, 30, 0)

describe("system status", () => {
  it("F79 F80: the documented example comes out exactly, keys in their order", () => {
    const expected = {
      success: true,
      timestamp: "2025-12-06T14:30:00Z",
      token_usage: { estimated_used: 45_000, model_limit: 128_000, available: 83_000, usage_percentage: 35.2 },
      token_advisory: { level: "normal", message: "Sufficient context available", threshold: 60 },
      loop_state: {
        iteration: 2,
        max_iterations: 5,
        tools_this_cycle: ["inspect_location", "recall_memories"],
        tool_count_this_cycle: 2
      },
      session_metrics: {
        total_tool_calls: 47,
        successful_calls: 45,
        failed_calls: 2,
        session_start: "2025-12-06T10:00:00Z"
      },
      chain_state: { in_chain: true, chain_depth: 1, pending_tools: [] }
    }
    assert.strictEqual(JSON.stringify(systemStatus(tick, desk, NOW)), JSON.stringify(expected))
  })

  it("F79: an assistant that was never begun has no session, and its first iteration is no chain", () => {
    const { chain_state, session_metrics } = systemStatus({ ...tick, iteration: 1 }, new Map(), NOW)
    assert.deepStrictEqual(session_metrics, {
      total_tool_calls: 0,
      successful_calls: 0,
      failed_calls: 0,
      session_start: null
    })
    assert.deepInclude(chain_state, { in_chain: false, chain_depth: 0 })
  })

  it("F80: the percentage has one decimal", () => {
    const cases: ReadonlyArray<readonly [number, number, number]> = [
      [45_000, 128_000, 35.2],
      [1, 3, 33.3],
      [2, 3, 66.7],
      [0, 128_000, 0],
      [128_000, 128_000, 100],
      [5, 0, 0]
    ]
    for (const [used, limit, percentage] of cases) assert.strictEqual(usagePercentage(used, limit), percentage)
  })

  it("F81 A10: normal below 60, warning from 60, critical from 80, each with its threshold", () => {
    const levels = [0, 59.9, 60, 79.9, 80, 100, 140].map((percentage) => {
      const { level, threshold } = tokenAdvisory(percentage)
      return `${percentage} ${level} ${threshold}`
    })
    assert.deepStrictEqual(levels, [
      "0 normal 60",
      "59.9 normal 60",
      "60 warning 60",
      "79.9 warning 60",
      "80 critical 80",
      "100 critical 80",
      "140 critical 80"
    ])
    assert.match(tokenAdvisory(70).message, /wrap up/)
    assert.match(tokenAdvisory(90).message, /respond now/)
  })

  it("F80 F79: calls are counted from the beginning of the session", () => {
    const kept = new Map<string, Json>(sessionBegun(NOW).map(({ key, value }) => [key, value]))
    for (const ok of [true, true, false]) {
      const { key, value } = callCounted(countersOf(kept), ok)
      kept.set(key, value)
    }
    assert.deepStrictEqual(countersOf(kept), { total: 3, successful: 2, failed: 1 })
    assert.strictEqual(kept.get("session-start"), "2025-12-06T14:30:00Z")
  })

  it("F80: sums hold for any numbers, damaged counters among them", () => {
    const count = fc.oneof(fc.nat(), fc.constantFrom(-1, 1.5, "5", null))
    const measures = fc.record({ used: fc.nat(), limit: fc.nat(), successful: count, failed: count, total: count })
    fc.assert(
      fc.property(measures, ({ failed, limit, successful, total, used }) => {
        const odd = new Map<string, Json>([["tool-calls", { total, successful, failed }]])
        const status = systemStatus({ ...tick, tokensUsed: used, maxContextTokens: limit }, odd, NOW)
        const { available, estimated_used, usage_percentage } = status.token_usage
        const { failed_calls, successful_calls, total_tool_calls } = status.session_metrics
        assert.strictEqual(available + estimated_used, limit)
        assert.strictEqual(total_tool_calls, successful_calls + failed_calls)
        assert.isAtLeast(Math.min(successful_calls, failed_calls), 0)
        assert.deepStrictEqual(status.token_advisory, tokenAdvisory(usage_percentage))
        if (limit > 0) assert.closeTo(usage_percentage, (used / limit) * 100, 0.051)
      }),
      RUNS
    )
  })
})
