// What parts cost, and who takes them.

import type { ContentPart } from "@reverie/protocol"
import { assert, describe, it } from "vitest"
import { acceptsOf, tokensOfParts } from "../src/index.ts"
import { partsOfUser, partTokens, takes } from "../src/parts.ts"

const part = (over: Partial<ContentPart>): ContentPart => ({
  type: "image",
  digest: "0".repeat(64),
  mediaType: "image/png",
  bytes: 1_000,
  ...over
})

describe("tokens of parts", () => {
  it("E1 an image costs its tiles, as OpenAI's own examples have it", () => {
    assert.strictEqual(partTokens(part({ width: 1_024, height: 1_024 })), 765)
    assert.strictEqual(partTokens(part({ width: 2_048, height: 4_096 })), 1_105)
    assert.strictEqual(partTokens(part({ width: 64, height: 64 })), 255)
    assert.strictEqual(partTokens(part({})), 1_445)
  })

  it("E2 E3 files and audio cost by their bytes, and no more than a provider shows", () => {
    const costs = (over: Partial<ContentPart>) => partTokens(part({ type: "file", ...over }))
    assert.strictEqual(costs({ mediaType: "text/plain" }), 250)
    assert.strictEqual(costs({ mediaType: "application/pdf", bytes: 32_000 }), 2_000)
    assert.strictEqual(costs({ type: "audio", mediaType: "audio/mpeg", bytes: 16_000 }), 32)
    assert.strictEqual(costs({ type: "audio", mediaType: "audio/wav", bytes: 32_000 }), 32)
    assert.strictEqual(costs({ mediaType: "application/pdf", bytes: 10_000_000 }), 100_000)
  })

  it("one that a model does not take costs its line", () => {
    const count = (text: string) => text.length
    const line = "[image, image/png, 1 kB: not shown to this model]"
    assert.strictEqual(tokensOfParts([part({})], count, ["audio"]), line.length + 1)
    assert.strictEqual(tokensOfParts([part({})], count), 1_445)
  })
})

describe("who takes parts", () => {
  it("is said by type, by media type or by a range of them", () => {
    const pdf = part({ type: "file", mediaType: "application/pdf" })
    assert.deepStrictEqual(
      [["file"], ["application/pdf"], ["application/*"], ["application/*+json", "image", "text/*"], []].map((accepts) =>
        takes(accepts, pdf)
      ),
      [true, true, true, false, false]
    )
  })

  it("is known of well-known names, and nothing is guessed of others", () => {
    const known = {
      "gpt-4o": ["image", "application/pdf"],
      "openai/gpt-5-mini": ["image", "application/pdf"],
      "anthropic/claude-sonnet-4.5": ["image", "application/pdf"],
      "gemini-2.5-flash": ["image", "audio", "application/pdf"],
      "qwen2.5-vl-7b-instruct": ["image"],
      qwen3: [],
      "o3-mini": [],
      "llama-3.3-70b-versatile": [],
      "deepseek-chat": []
    }
    for (const [model, accepts] of Object.entries(known)) assert.deepStrictEqual(acceptsOf(model), accepts, model)
  })

  it("where only the user has parts, those of results stand behind all results, and what lasts lasts", () => {
    const shown = [part({ name: "a" })]
    const prompt = partsOfUser({
      messages: [
        { role: "user", content: "Look." },
        { role: "assistant", content: "", calls: [] },
        { role: "tool", content: "one", call: "1", parts: shown },
        { role: "tool", content: "two", call: "2" },
        { role: "user", content: "And?" }
      ],
      tools: [],
      callPrefix: "1.1",
      lasting: 5
    })
    assert.deepStrictEqual(
      prompt.messages.map(({ content }) => content),
      ["Look.", "", "one", "two", "What the result above holds:", "And?"]
    )
    assert.deepStrictEqual(prompt.messages[4]?.parts, shown)
    assert.strictEqual(prompt.lasting, 6)
  })
})
