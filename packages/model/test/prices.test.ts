import { assert, describe, it } from "@effect/vitest"
import { priceOfModel } from "../src/index.ts"

const mini = { inputMicros: 250_000, outputMicros: 2_000_000 }

/** What servers call themselves, and whether that has a price. */
const names: ReadonlyArray<readonly [name: string, isPriced: boolean]> = [
  ["gpt-5-mini", true],
  ["gpt-5-mini-2025-08-07", true],
  ["GPT-4o-mini", true],
  ["gpt-4-0613", false],
  ["claude-sonnet-4-5-20250929", true],
  ["anthropic/claude-sonnet-4.5", true],
  ["claude-sonnet-4@20250514", true],
  ["gpt-5-turbo", false],
  ["gpt-5.9", false],
  ["gpt-5-2", false],
  ["claude-sonnet-4-9", false],
  ["qwen3:8b", false],
  ["scripted", false],
  ["", false],
  ["__proto__", false]
]

describe("C3 what a model costs", () => {
  it.each(names)("%s", (name, isPriced) => {
    assert.strictEqual(priceOfModel(name) !== "unpriced", isPriced)
  })

  it("the longest name counts, and none that only begins alike", () => {
    assert.deepStrictEqual(priceOfModel("gpt-5-mini"), mini)
    assert.deepStrictEqual(priceOfModel("openai/gpt-5"), { inputMicros: 1_250_000, outputMicros: 10_000_000 })
    assert.deepStrictEqual(priceOfModel("gpt-4o-2024-05-13"), { inputMicros: 5_000_000, outputMicros: 15_000_000 })
  })

  it("a tariff stands in place of what is usual, `*` of it for all", () => {
    const own = { inputMicros: 1, outputMicros: 2 }
    assert.deepStrictEqual(priceOfModel("gpt-5-mini-2025-08-07", { "gpt-5-mini": own }), own)
    assert.deepStrictEqual(priceOfModel("gpt-5-mini", { "*": own }), own)
    assert.deepStrictEqual(priceOfModel("qwen3", { "*": own }), own)
    assert.deepStrictEqual(priceOfModel("gpt-5-mini", { "claude-": own }), mini)
    assert.deepStrictEqual(priceOfModel("reverie-offline"), { inputMicros: 0, outputMicros: 0 })
  })
})
