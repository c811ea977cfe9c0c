import { assert, describe, it } from "@effect/vitest"
import type { PromptMessage, Reply } from "@reverie/model"
import { HOSTILE_TOOL, type ModelServer, saying, type Script } from "@reverie/testkit/model-server"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { makeOpenAiModel } from "../src/index.ts"
import type { OpenAiModelOptions } from "../src/options.ts"
import { ResponsesAnswer } from "../src/wire/responses-answer.ts"
import { aPrompt, harbor, KEY, started } from "./harbor-model.ts"

// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

const thought = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed", status: null }
const kept = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" }

const thinking: Script = ({ tools }) =>
  tools.length === 0
    ? { text: "Berth 7 is free.", reasoning: [thought] }
    : { reasoning: [thought], calls: [{ tool: HOSTILE_TOOL, arguments: { text: "x" } }] }

const lastBody = ({ requests }: ModelServer): Loose => requests.at(-1)?.body

const askedBy = (script: Script, options: Partial<OpenAiModelOptions>, prompt = aPrompt()) =>
  Effect.gen(function* () {
    const { model, server } = yield* harbor({ script }, options)
    const reply = yield* model.infer(prompt)
    const [request] = server.requests
    return { reply, body: request?.body as Loose, headers: request?.headers }
  })

/** What the next prompt says of a reply, and of the results of its calls. */
const told = ({ calls, reasoning = [], text }: Reply): ReadonlyArray<PromptMessage> => [
  { role: "assistant", content: text, calls, reasoning },
  ...calls.map(({ id }): PromptMessage => ({ role: "tool", content: "free", call: id }))
]

describe("R1 a request over the Responses API", () => {
  it.live("is the whole conversation, in items, and keeps nothing there", () =>
    Effect.gen(function* () {
      const messages: ReadonlyArray<PromptMessage> = [
        { role: "system", content: "You assign berths." },
        { role: "user", content: "Which berth\ud800?", name: "olga" },
        { role: "assistant", content: "", calls: [{ id: "7.1.0", tool: HOSTILE_TOOL, arguments: { text: "x" } }] },
        { role: "tool", content: "berth 7", call: "7.1.0" },
        { role: "user", content: "And now?" }
      ]
      const { body } = yield* askedBy(
        saying("Berth 7."),
        { wire: "responses" },
        aPrompt({ messages, maxOutputTokens: 90 })
      )
      assert.deepStrictEqual(body, {
        model: "harbor-1",
        store: false,
        include: ["reasoning.encrypted_content"],
        max_output_tokens: 90,
        input: [
          { type: "message", role: "system", content: "You assign berths." },
          { type: "message", role: "user", content: "olga: Which berth\ufffd?" },
          { type: "function_call", call_id: "7_1_0", name: HOSTILE_TOOL, arguments: '{"text":"x"}' },
          { type: "function_call_output", call_id: "7_1_0", output: "berth 7" },
          { type: "message", role: "user", content: "And now?" }
        ],
        tools: [
          {
            type: "function",
            name: HOSTILE_TOOL,
            description: "Looks at the berths.",
            parameters: { type: "object", properties: { text: { type: "string" } } },
            strict: false
          }
        ]
      })
    }).pipe(Effect.scoped)
  )

  it.live("asks no model for reasoning that has none, and for an answer of a form in its own field", () =>
    Effect.gen(function* () {
      const output = { name: "berth", schema: { type: "object", properties: { berth: { type: "integer" } } } }
      const prompt = aPrompt({ tools: [], output })
      const { body } = yield* askedBy(saying("{}"), { wire: "responses", model: "gpt-4.1-mini" }, prompt)
      assert.isFalse(Object.hasOwn(body, "include"))
      assert.deepStrictEqual(body.text, { format: { type: "json_schema", ...output, strict: false } })
    }).pipe(Effect.scoped)
  )
})

describe("R2 reasoning", () => {
  it.live.each([true, false])("is kept with its reply, and given back at its place (stream: %s)", (stream) =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor({ script: thinking }, { wire: "responses", stream })
      const reply = yield* model.infer(aPrompt())
      assert.deepStrictEqual(
        reply.reasoning?.map(({ at, part }) => ({ at, part })),
        [{ at: 0, part: kept }]
      )
      const { messages } = aPrompt()
      yield* model.infer(aPrompt({ messages: [...messages, ...told(reply)], tools: [] }))
      const { input } = lastBody(server)
      assert.deepStrictEqual(
        input.slice(messages.length).map(({ type }: Loose) => type),
        ["reasoning", "function_call", "function_call_output"]
      )
      assert.deepStrictEqual(input[messages.length], kept)
    }).pipe(Effect.scoped)
  )

  it.live("is given to no other server, no other model and no other wire", () =>
    Effect.gen(function* () {
      const { model } = yield* harbor({ script: thinking }, { wire: "responses" })
      const reply = yield* model.infer(aPrompt())
      const prompt = aPrompt({ messages: [...aPrompt().messages, ...told(reply)] })
      const other = yield* started({ script: saying("Here.") })
      const options = { baseURL: other.url, apiKey: Redacted.make(KEY), model: "harbor-1" }
      for (const change of [
        { wire: "responses" },
        { wire: "chat" },
        { wire: "responses", model: "harbor-2" }
      ] as const) {
        yield* (yield* makeOpenAiModel({ ...options, ...change })).infer(prompt)
      }
      assert.lengthOf(other.requests, 3)
      for (const { body } of other.requests) assert.notInclude(JSON.stringify(body), "sealed")
    }).pipe(Effect.scoped)
  )

  it.live("of a gateway is given back in the field in which it came, pieces put together", () =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor({ script: thinking }, { stream: true })
      const reply = yield* model.infer(aPrompt())
      yield* model.infer(aPrompt({ messages: [...aPrompt().messages, ...told(reply)] }))
      const { messages } = lastBody(server)
      assert.deepStrictEqual(messages.at(-2).reasoning_details, [thought])
    }).pipe(Effect.scoped)
  )

  it.live.each([true, false])("beside a call comes back beside it (stream: %s)", (stream) =>
    Effect.gen(function* () {
      const extra = { google: { thought_signature: "sealed" } }
      const call = { tool: HOSTILE_TOOL, arguments: { text: "x" } }
      const script: Script = () => ({ text: "I look.", calls: [call, { ...call, extra }] })
      const { model, server } = yield* harbor({ script }, { stream })
      const reply = yield* model.infer(aPrompt())
      yield* model.infer(aPrompt({ messages: [...aPrompt().messages, ...told(reply)] }))
      const { messages } = lastBody(server)
      const { content, tool_calls: calls } = messages.find(({ role }: Loose) => role === "assistant")
      assert.strictEqual(content, "I look.")
      assert.deepStrictEqual(
        calls.map(({ extra_content: each }: Loose) => each),
        [undefined, extra]
      )
    }).pipe(Effect.scoped)
  )

  it.live.each([KEY, "\u0000", "\ud800"])("K2 that holds a secret, or what no store keeps, is not kept: %j", (sealed) =>
    Effect.gen(function* () {
      const script: Script = () => ({ text: "Yes.", reasoning: [{ ...thought, encrypted_content: `a${sealed}b` }] })
      const { reply } = yield* askedBy(script, { wire: "responses" })
      assert.deepStrictEqual([reply.text, reply.reasoning], ["Yes.", undefined])
    }).pipe(Effect.scoped)
  )

  it("K2 without anything behind it, or without what it is read by, is not kept", () => {
    const answer = new ResponsesAnswer(undefined)
    const bare = { type: "reasoning", id: "rs_2", summary: [] }
    const call = { type: "function_call", call_id: "c", name: "look", arguments: "{}" }
    answer.take({ object: "response", status: "completed", output: [bare, call, thought] })
    assert.deepStrictEqual(answer.reasoning, [{ part: kept, at: 1 }])
    assert.lengthOf(answer.calls, 1)
  })
})

describe("options", () => {
  const own = { headers: { "X-Team": "harbour", Authorization: "Bearer sk-other-secret" }, temperature: 0.2 }

  it.live.each(["chat", "responses"] as const)("temperature, effort, headers and fields of one's own (%s)", (wire) =>
    Effect.gen(function* () {
      const options = { ...own, wire, reasoningEffort: "low" as const, extraBody: { seed: 7, temperature: 1 } }
      const { body, headers } = yield* askedBy(saying("Yes."), options)
      assert.strictEqual(body.seed, 7)
      assert.strictEqual(body.temperature, 1)
      assert.deepStrictEqual(
        wire === "chat" ? body.reasoning_effort : body.reasoning,
        wire === "chat" ? "low" : { effort: "low" }
      )
      assert.deepInclude(headers, { "x-team": "harbour", authorization: "Bearer sk-other-secret" })
      const plain = yield* askedBy(saying("Yes."), { ...own, wire })
      assert.strictEqual(plain.body.temperature, 0.2)
    }).pipe(Effect.scoped)
  )

  it.live("I3 a key in a header is in no reply and no error", () =>
    Effect.gen(function* () {
      const { reply } = yield* askedBy(saying("It is sk-other-secret, of the harbour."), own)
      assert.strictEqual(reply.text, "It is [redacted], of the harbour.")
    }).pipe(Effect.scoped)
  )
})

/** The last events of streams as they are documented, and what they come to. */
const ends: ReadonlyArray<readonly [name: string, event: Loose, expected: Loose]> = [
  ["completed", { type: "response.completed", response: { status: "completed" } }, { finish: "stop", isOver: true }],
  [
    "cut at the limit",
    {
      type: "response.incomplete",
      response: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }
    },
    { finish: "length" }
  ],
  [
    "filtered",
    {
      type: "response.incomplete",
      response: { incomplete_details: { reason: "content_filter" }, status: "incomplete" }
    },
    { finish: "content_filter" }
  ],
  [
    "failed",
    {
      type: "response.failed",
      response: { status: "failed", error: { code: "rate_limit_exceeded", message: "slow" } }
    },
    { problem: { code: "rate_limit_exceeded", message: "slow", type: undefined } }
  ],
  [
    "an error",
    { type: "error", code: "server_error", message: "oops" },
    { problem: { code: "server_error", message: "oops", type: "error" } }
  ],
  ["going on", { type: "response.in_progress", response: { status: "in_progress" } }, { finish: "", isOver: false }]
]

describe("I1 the end of a stream", () => {
  it.each(ends)("%s", (_, event, expected) => {
    const answer = new ResponsesAnswer(undefined)
    answer.take(event)
    for (const [name, value] of Object.entries(expected)) assert.deepStrictEqual(Reflect.get(answer, name), value, name)
  })

  it("I2 what the last event holds stands in place of what came in pieces", () => {
    const heard: Array<string> = []
    const answer = new ResponsesAnswer({ onText: (text) => heard.push(text) })
    answer.take({ type: "response.output_text.delta", item_id: "m", delta: "The ber" })
    const output = [
      thought,
      { type: "message", id: "m", content: [{ type: "output_text", text: "The berth is free." }] }
    ]
    answer.take({ type: "response.completed", response: { status: "completed", output, usage: { input_tokens: 3 } } })
    assert.strictEqual(answer.text, "The berth is free.")
    assert.deepStrictEqual(heard, ["The ber"])
    assert.deepStrictEqual(answer.reasoning, [{ part: kept, at: 0 }])
  })
})
