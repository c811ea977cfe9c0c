import { assert, describe, it } from "@effect/vitest"
import { chargeOf, priceOfModel } from "../src/index.ts"

const mini = { inputMicros: 250_000, cachedInputMicros: 25_000, outputMicros: 2_000_000 }

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
    assert.deepStrictEqual(priceOfModel("openai/gpt-5"), {
      inputMicros: 1_250_000,
      cachedInputMicros: 125_000,
      outputMicros: 10_000_000
    })
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

describe("C4 what is cached", () => {
  const call = { inputTokens: 1_000_000, cachedInputTokens: 800_000, outputTokens: 0 }

  it("costs what the price says of it", () => {
    const price = { inputMicros: 1_000, cachedInputMicros: 250, outputMicros: 0 }
    assert.strictEqual(chargeOf({ mine: price }, undefined, "mine", call), 200 + 200)
    assert.strictEqual(chargeOf({}, price, "mine", call), 400)
  })

  it("costs the usual share where the price says nothing, and as much as all input where no share is usual", () => {
    const price = { inputMicros: 1_000, outputMicros: 0 }
    assert.strictEqual(chargeOf({}, undefined, "gpt-5-mini", call), 50_000 + 20_000)
    assert.strictEqual(chargeOf({ "*": price }, undefined, "claude-sonnet-4-5", call), 200 + 80)
    assert.strictEqual(chargeOf({}, price, "gpt-4o", call), 200 + 400)
    assert.strictEqual(chargeOf({}, price, "mine", call), 1_000)
    assert.strictEqual(chargeOf({}, undefined, "codestral-2508", call), 300_000)
  })

  it("is charged to no one where no price is known", () => {
    assert.strictEqual(chargeOf({ other: { inputMicros: 1, outputMicros: 1 } }, undefined, "mine", call), undefined)
  })
})
