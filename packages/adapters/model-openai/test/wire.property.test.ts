import { assert, it } from "@effect/vitest"
import type { PromptMessage } from "@reverie/model"
import * as fc from "fast-check"
import { wireId, wireName } from "@reverie/model/wire"
import * as Redacted from "effect/Redacted"
import { takesMarks } from "../src/options.ts"
import { makeResponsesWriter, responseTools } from "../src/wire/responses.ts"
import { makeBodyWriter, type Pieces, Transcripts, wireMessage, wireTools, writtenName } from "../src/wire/wire.ts"

const settings = { seed: 4_711, numRuns: 500 }
const text = fc.string({ unit: "binary", maxLength: 30 })
const json = fc.jsonValue({ maxDepth: 2 })

const message: fc.Arbitrary<PromptMessage> = fc.oneof(
  fc.record({ role: fc.constant("system" as const), content: text }),
  fc.record({ role: fc.constant("user" as const), content: text, name: text }),
  fc.record({ role: fc.constant("tool" as const), content: text, call: text, name: text }),
  fc.record({
    role: fc.constant("assistant" as const),
    content: text,
    calls: fc.array(fc.record({ id: text, tool: text, arguments: json as fc.Arbitrary<never> }), { maxLength: 3 })
  })
)

/** Pieces as the one text that they are. */
const whole = (pieces: Pieces): string => Buffer.concat(pieces.map((piece) => Buffer.from(piece as string))).toString()

const write = makeBodyWriter({
  model: 'a "model"',
  baseURL: "http://h/v1",
  streamUsage: true,
  extraBody: { temperature: 0 }
})

it("W2 W3 every body is well-formed JSON that says what the prompt says", () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 6 }), fc.boolean(), (messages, isStream) => {
      const body = whole(write(new Transcripts().render(messages), "", isStream, 50))
      const read = JSON.parse(body) as Record<string, unknown>
      assert.isTrue(body.isWellFormed() && !/\\ud[89a-f]/i.test(body))
      assert.strictEqual(read["model"], 'a "model"')
      assert.strictEqual(read["temperature"], 0)
      assert.strictEqual(read["max_tokens"], 50)
      assert.strictEqual(read["stream"], isStream ? true : undefined)
      const wired = read["messages"] as ReadonlyArray<Record<string, unknown>>
      assert.lengthOf(wired, messages.length)
      for (const [index, sent] of messages.entries()) {
        const got = wired[index] ?? {}
        assert.strictEqual(got["role"], sent.role)
        const hasCalls = (sent.calls?.length ?? 0) > 0
        assert.strictEqual(got["content"], hasCalls && sent.content === "" ? null : sent.content.toWellFormed())
        assert.lengthOf((got["tool_calls"] ?? []) as ReadonlyArray<unknown>, sent.calls?.length ?? 0)
      }
    }),
    settings
  )
})

it("W2 names and ids are safe and short whatever they were", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (name) => {
      assert.match(wireName(name), /^[A-Za-z0-9_-]{1,64}$/)
      assert.match(wireId(name), /^[A-Za-z0-9_-]{0,40}$/)
    }),
    settings
  )
})

it("W2 our ids stay apart on the wire, long ones too", () => {
  assert.strictEqual(wireId("12.3.0"), "12_3_0")
  const long = "tick-".repeat(20)
  assert.notStrictEqual(wireId(`${long}.1`), wireId(`${long}.2`))
})

it("W1 what was said is rendered once, and so is a list of tools", () => {
  const said: PromptMessage = { role: "user", content: "hello" }
  const tools = [{ name: "look", description: "Looks.", parameters: { type: "object" } }]
  const transcripts = new Transcripts()
  const first = whole(transcripts.render([said]))
  // A change that a second rendering would show, and memory does not.
  Object.assign(said, { content: "changed" })
  const next = whole(transcripts.render([said, { role: "assistant", content: "good day" }]))
  assert.strictEqual(next, `${first},{"role":"assistant","content":"good day"}`)
  assert.strictEqual(wireTools(tools), wireTools(tools))
})

const rendered = (messages: ReadonlyArray<PromptMessage>): string => messages.map(wireMessage).join(",")

it("W1 whatever was sent before, the text is that of the prompt at hand", () => {
  const pool = fc.array(message, { minLength: 1, maxLength: 8 })
  const places = fc.array(fc.array(fc.nat(7), { maxLength: 10 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(pool, places, fc.nat(400), (messages, prompts, mostBytes) => {
      const transcripts = new Transcripts(undefined, mostBytes)
      for (const prompt of prompts) {
        const sent = prompt.map((place) => messages[place % messages.length]!)
        assert.strictEqual(whole(transcripts.render(sent)), rendered(sent))
        assert.isAtMost(transcripts.bytes, mostBytes)
      }
    }),
    settings
  )
})

it("W1 what a call is yet to be sent with stays as it was, whatever is rendered meanwhile", () => {
  const pool = fc.array(message, { minLength: 1, maxLength: 6 })
  const places = fc.array(fc.array(fc.nat(5), { minLength: 1, maxLength: 8 }), { minLength: 2, maxLength: 8 })
  fc.assert(
    fc.property(pool, places, (messages, prompts) => {
      const transcripts = new Transcripts()
      const sent = prompts.map((prompt) => prompt.map((place) => messages[place % messages.length]!))
      const pieces = sent.map((each) => transcripts.render(each))
      assert.deepStrictEqual(pieces.map(whole), sent.map(rendered))
    }),
    settings
  )
})

it("W2 two tools that look alike on the wire are distinguished and found again", () => {
  const offers = ["harbor.look", "harbor_look", "harbor look"].map((name) => ({
    name,
    description: "",
    parameters: {}
  }))
  const { json: list, nameByWire } = wireTools(offers)
  assert.deepStrictEqual(
    [...nameByWire],
    [
      ["harbor_look", "harbor.look"],
      ["harbor_look_2", "harbor_look"],
      ["harbor_look_3", "harbor look"]
    ]
  )
  const names = (JSON.parse(list) as ReadonlyArray<{ readonly function: { readonly name: string } }>).map(
    (tool) => tool.function.name
  )
  assert.deepStrictEqual(names, [...nameByWire.keys()])
})

it("W2 the limit of the reply goes by the name that the server knows", () => {
  const toOpenAi = makeBodyWriter({
    model: "m",
    baseURL: "https://api.openai.com/v1",
    streamUsage: false,
    extraBody: {}
  })
  assert.deepStrictEqual(JSON.parse(whole(toOpenAi(["1"], "", true, 9))), {
    model: "m",
    messages: [1],
    stream: true,
    max_completion_tokens: 9
  })
})

it("W4 only OpenAI itself is given a key for its cache and a choice that leaves the list of tools as it is", () => {
  const offers = ["look", "a.b", "a_b"].map((name) => ({ name, description: name, parameters: { type: "object" } }))
  const tools = wireTools(offers)
  const hints = { cacheKey: "k1", allowed: ["look", "a_b"].map((name) => writtenName(tools, name)) }
  const bodyAt = (baseURL: string, extraBody = {}) =>
    JSON.parse(
      whole(
        makeBodyWriter({ model: "m", baseURL, streamUsage: true, extraBody })([], tools.json, false, undefined, hints)
      )
    ) as Record<string, unknown>
  const body = bodyAt("https://api.openai.com/v1")
  assert.strictEqual(body["prompt_cache_key"], "k1")
  assert.deepStrictEqual(body["tool_choice"], {
    type: "allowed_tools",
    allowed_tools: {
      mode: "auto",
      tools: ["look", "a_b_2"].map((name) => ({ type: "function", function: { name } }))
    }
  })
  assert.lengthOf(body["tools"] as ReadonlyArray<unknown>, 3)
  const other = bodyAt("http://127.0.0.1:8080/v1")
  assert.notProperty(other, "prompt_cache_key")
  assert.notProperty(other, "tool_choice")
  const own = bodyAt("https://api.openai.com/v1", { prompt_cache_key: "mine", tool_choice: "auto" })
  assert.deepStrictEqual([own["prompt_cache_key"], own["tool_choice"]], ["mine", "auto"])
})

it("W4 the same over the Responses API, as that writes it", () => {
  const offers = ["look", "a.b", "a_b"].map((name) => ({ name, description: name, parameters: { type: "object" } }))
  const tools = responseTools(offers)
  const bodyAt = (baseURL: string, allowed: ReadonlyArray<string>, extraBody = {}, json = tools.json) => {
    const write = makeResponsesWriter({ model: "m", baseURL, streamUsage: true, extraBody })
    const hints = { cacheKey: "k1", allowed: allowed.map((name) => writtenName(tools, name)) }
    return JSON.parse(whole(write([], json, false, undefined, hints))) as Record<string, unknown>
  }
  const openAi = "https://api.openai.com/v1"
  const body = bodyAt(openAi, ["look", "a_b"])
  assert.strictEqual(body["prompt_cache_key"], "k1")
  assert.deepStrictEqual(body["tool_choice"], {
    type: "allowed_tools",
    mode: "auto",
    tools: ["look", "a_b_2"].map((name) => ({ type: "function", name }))
  })
  assert.lengthOf(body["tools"] as ReadonlyArray<unknown>, 3)
  assert.strictEqual(bodyAt(openAi, [])["tool_choice"], "none")
  assert.notProperty(bodyAt(openAi, [], {}, ""), "tool_choice")
  const other = bodyAt("http://127.0.0.1:8080/v1", ["look"])
  assert.notProperty(other, "prompt_cache_key")
  assert.notProperty(other, "tool_choice")
  const own = bodyAt(openAi, ["look"], { prompt_cache_key: "mine", tool_choice: "auto" })
  assert.deepStrictEqual([own["prompt_cache_key"], own["tool_choice"]], ["mine", "auto"])
})

it("W4 marks for a cache are for gateways that pass them on", () => {
  const at = (baseURL: string, model: string, more = {}) =>
    takesMarks({ baseURL, model, apiKey: Redacted.make("none"), ...more })
  assert.isTrue(at("https://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.5"))
  assert.isTrue(at("https://ai-gateway.vercel.sh/v1", "anthropic/claude-sonnet-4.5"))
  assert.isFalse(at("https://ai-gateway.vercel.sh/v1", "openai/gpt-5"))
  // Its compatible address knows no mark.
  assert.isFalse(at("https://api.anthropic.com/v1", "claude-sonnet-4-5"))
  assert.isTrue(at("http://127.0.0.1:4000/v1", "claude", { cacheMarks: true }))
  assert.isFalse(at("https://openrouter.ai/api/v1", "m", { cacheMarks: false }))
})

it("W5 a mark changes the form of one message, the last that can carry it of those that last, and no text", () => {
  const textOf = (content: unknown): unknown =>
    Array.isArray(content) ? (content[0] as { readonly text: string }).text : content
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 6 }), fc.nat(6), (messages, lasting) => {
      const wired = JSON.parse(`[${whole(new Transcripts().renderMarked(messages, lasting))}]`) as ReadonlyArray<
        Record<string, unknown>
      >
      const plain = JSON.parse(`[${messages.map(wireMessage).join(",")}]`) as ReadonlyArray<Record<string, unknown>>
      assert.deepStrictEqual(
        wired.map(({ content, ...rest }) => ({ ...rest, content: textOf(content) })),
        plain.map(({ content, ...rest }) => ({ ...rest, content }))
      )
      const canCarry = messages.map(({ calls = [], content }) => content !== "" && calls.length === 0)
      const at = canCarry.slice(0, lasting).lastIndexOf(true)
      assert.deepStrictEqual(
        wired.flatMap(({ content }, index) => (Array.isArray(content) ? [index] : [])),
        at === -1 ? [] : [at]
      )
    }),
    settings
  )
})
