import { DEFAULT_SETTINGS } from "@reverie/assistant"
import { assert, describe, it } from "@effect/vitest"
import { compactionConfig, pieceLimits, thresholdOf } from "../../src/index.ts"
import { DEFAULT_COMPACTION } from "../../src/compaction/config.ts"

describe("the configuration of compaction", () => {
  it("F47 has the documented defaults, with the thresholds of the settings", () => {
    assert.deepStrictEqual(compactionConfig(), DEFAULT_COMPACTION)
    const { strategy, ...documented } = DEFAULT_COMPACTION
    assert.deepStrictEqual(documented, {
      compactPreserveWindow: 20,
      compactModel: null,
      compactPrompt: null,
      preCompactExtractionEnabled: true,
      preCompactMaxIterations: 5,
      preCompactPrompt: null
    })
    assert.strictEqual(strategy.type, "recursive-summarization")
    assert.deepStrictEqual([thresholdOf("sleep"), thresholdOf("emergency"), thresholdOf("order")], [0.7, 0.8, 0])
    const settings = { ...DEFAULT_SETTINGS, compactSleepRatio: 0.5, compactEmergencyRatio: 0.6 }
    assert.deepStrictEqual([thresholdOf("sleep", settings), thresholdOf("emergency", settings)], [0.5, 0.6])
  })

  it("C1 C2 brings every number into its range, and takes an empty text for none", () => {
    const wild = compactionConfig({
      compactPreserveWindow: -3,
      preCompactMaxIterations: 900,
      compactPrompt: "  ",
      compactModel: "",
      preCompactPrompt: "Save the numbers.",
      strategy: { type: "recursive-summarization", chunkTokens: Number.NaN, chunkMessages: 0 }
    })
    assert.deepInclude(wild, {
      compactPreserveWindow: 1,
      preCompactMaxIterations: 10,
      compactPrompt: null,
      compactModel: null,
      preCompactPrompt: "Save the numbers.",
      strategy: { type: "recursive-summarization", chunkTokens: 200, chunkMessages: 1 }
    })
    assert.strictEqual(compactionConfig({ compactPreserveWindow: 12.4 }).compactPreserveWindow, 12)
  })

  it("F105 a strategy is taken as it is given, and its pieces keep to it", () => {
    assert.deepStrictEqual(compactionConfig({ strategy: { type: "truncate" } }).strategy, { type: "truncate" })
    const recursive = compactionConfig({
      strategy: { type: "recursive-summarization", chunkTokens: 64_000, chunkMessages: 12 }
    })
    const room = { maxContextTokens: 10_000, reservedResponseTokens: 2_000 }
    assert.deepStrictEqual(pieceLimits(recursive, room), { maxTokens: 5_600, maxMessages: 12 })
  })
})
