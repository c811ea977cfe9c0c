import { assert, describe, it } from "@effect/vitest"
import { type ContextBuildConfig, DEFAULT_BUILD_CONFIG, openWindow } from "../src/index.ts"
import { user } from "./histories.ts"
import { begin, block, built, contents } from "./prompts.ts"
import { limitsFor, SMALL_LIMITS } from "../src/build-config.ts"

describe("limits", () => {
  it("F103 A34 seven settings, each with a default", () => {
    assert.deepStrictEqual(DEFAULT_BUILD_CONFIG, {
      defaultLimits: { maxTokens: 200_000, memoryTokens: 12_000, historyTokens: 80_000, reservedResponseTokens: 8_000 },
      modelOverrides: {},
      includeDescriptions: true,
      includeSchemas: false,
      activityEntriesLimit: 20,
      compressionStrategy: { type: "truncate", keepRecent: 100 },
      maxMessagesCap: 500
    })
  })

  it("F104 a model that is named has its own limits, every other the default", () => {
    const config = { ...DEFAULT_BUILD_CONFIG, modelOverrides: { small: SMALL_LIMITS } }
    assert.strictEqual(limitsFor(config, "small"), SMALL_LIMITS)
    for (const model of [undefined, "large", "constructor"]) {
      assert.strictEqual(limitsFor(config, model), DEFAULT_BUILD_CONFIG.defaultLimits)
    }
    const builder = begin({ modelOverrides: { small: { ...SMALL_LIMITS, maxTokens: 5_000 } } }).withMemory([])
    assert.strictEqual(built(builder.withModel({ name: "small" })).report.limit, 1_000)
    assert.strictEqual(built(builder.withModel({ name: "large" })).report.limit, 192_000)
  })

  it("F104 history keeps to its tokens, and the whole to the window less the reply", () => {
    const lines = Array.from({ length: 100 }, (_, index) => user(`line ${String(index).padStart(2, "0")} of the log`))
    const each = lines[0]?.tokens ?? 0
    const limits = {
      maxTokens: each * 60,
      memoryTokens: 1_000,
      historyTokens: each * 30,
      reservedResponseTokens: each * 10
    }
    const prompt = built(begin({ defaultLimits: limits }).withMemory([]).withMessages(lines))
    assert.strictEqual(prompt.window.messages.length, 24)
    assert.strictEqual(prompt.report.leftOut[0]?.messages, 76)
    const whole = built(
      begin({ defaultLimits: { ...limits, historyTokens: 1e6 } })
        .withMemory([])
        .withMessages(lines)
    )
    assert.isAtMost(whole.report.tokens, each * 50)
    assert.isAbove(whole.window.messages.length, 24)
  })

  it("F103 the cap of messages, and what truncating keeps", () => {
    const lines = Array.from({ length: 40 }, (_, index) => user(`line ${index}`))
    const kept = (config: Partial<ContextBuildConfig>) =>
      built(begin(config).withMemory([]).withMessages(openWindow(lines, 10_000))).window.messages.length
    assert.strictEqual(kept({ maxMessagesCap: 30, compressionStrategy: { type: "truncate", keepRecent: 12 } }), 12)
    assert.strictEqual(kept({ maxMessagesCap: 40, compressionStrategy: { type: "truncate", keepRecent: 12 } }), 40)
    assert.strictEqual(
      kept({
        maxMessagesCap: 30,
        compressionStrategy: { type: "recursive-summarization", chunkSize: 10, summarizationModel: "small" }
      }),
      30
    )
  })

  it("F104 over the limit of memory what is only referred to leaves, the last first, and is named", () => {
    const working = (label: string, pinned: boolean) =>
      block(label, { type: "working", pinned, content: "berth ".repeat(50) })
    const blocks = [block("core"), working("pinned", true), working("one", false), working("two", false)]
    const prompt = (memoryTokens: number) =>
      built(
        begin({ defaultLimits: { ...DEFAULT_BUILD_CONFIG.defaultLimits, memoryTokens } })
          .withMemory(blocks)
          .withBatchBlocks(["id-one", "id-two"])
      )
    const labels = (memoryTokens: number) =>
      contents(prompt(memoryTokens))
        .join("\n")
        .match(/(?<=<block:)\w+/g)
    assert.deepStrictEqual(labels(10_000), ["core", "pinned", "one", "two"])
    assert.deepStrictEqual(labels(300), ["core", "pinned", "one"])
    assert.deepStrictEqual(labels(10), ["core", "pinned"])
    assert.deepInclude(prompt(300).report.absent, { key: "block:two", reason: "over-memory" })
  })

  it("F103 descriptions, schemas and the limit of activity are as the configuration says", () => {
    const described = block("human", { description: "Known.", schema: { type: "text" } })
    const text = (config: Partial<ContextBuildConfig>) =>
      contents(
        built(
          begin(config)
            .withMemory([described])
            .withActivity((limit) => `last ${limit}`)
        )
      ).join("\n")
    assert.include(text({}), "Known.\n\nhuman content")
    assert.notInclude(text({ includeDescriptions: false }), "Known.")
    assert.include(text({ includeSchemas: true }), "Schema: ")
    assert.notInclude(text({}), "Schema: ")
    assert.include(text({ activityEntriesLimit: 3 }), "last 3")
  })
})
