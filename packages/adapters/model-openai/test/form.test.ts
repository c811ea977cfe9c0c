import type { ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import type { OutputForm, Prompt } from "@reverie/model"
import { type ModelRequest, saying } from "@reverie/testkit/model-server"
import * as Effect from "effect/Effect"
import { aPrompt, harbor } from "./harbor-model.ts"

const closed = (properties: OutputForm["schema"], required = Object.keys(properties)): OutputForm => ({
  name: "answer",
  schema: { type: "object", properties, required, additionalProperties: false }
})

const BERTH = closed({ berth: { type: "number" }, from: { type: "string" } })
const ANSWER = '{"berth":7,"from":"noon"}'

const formatIn = ({ body }: ModelRequest): unknown => (body as { readonly response_format?: unknown }).response_format

const lastIn = ({ messages }: ModelRequest): string => String(messages.at(-1)?.content)

const refusal = (message: string) => ({
  serve: (_request: unknown, response: ServerResponse) => {
    response.writeHead(400, { "content-type": "application/json" })
    response.end(JSON.stringify({ error: { message, type: "invalid_request_error" } }))
  }
})

describe("an answer of a form", () => {
  it.live("is asked for by response_format, together with tools, streaming and not", () =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor({ script: saying(ANSWER) })
      const prompt = aPrompt({ output: BERTH })
      assert.strictEqual(model.serves?.output, "native")
      assert.strictEqual((yield* model.infer(prompt)).text, ANSWER)
      yield* model.infer(prompt, { onText: () => {} })
      assert.lengthOf(server.requests, 2)
      for (const request of server.requests) {
        assert.deepStrictEqual(formatIn(request), {
          type: "json_schema",
          json_schema: { name: "answer", strict: true, schema: BERTH.schema }
        })
        assert.lengthOf(request.tools, 1)
        assert.strictEqual(lastIn(request), "Is there a berth free?")
      }
      yield* model.infer(aPrompt())
      assert.notProperty(server.requests[2]?.body, "response_format")
    })
  )

  it.live("W6 strictly only where the strictest servers take the schema", () =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor({ script: saying("{}") })
      const strictOf = Effect.fnUntraced(function* (output: OutputForm) {
        yield* model.infer(aPrompt({ output }))
        const format = formatIn(server.requests.at(-1) as ModelRequest) as { json_schema: { strict: boolean } }
        return format.json_schema.strict
      })
      const inner = { type: "object", properties: { at: { type: "string" } } }
      assert.isTrue(
        yield* strictOf(closed({ side: { enum: ["port", "starboard"] }, at: { type: ["string", "null"] } }))
      )
      assert.isTrue(
        yield* strictOf(closed({ lines: { type: "array", items: closed({ at: { type: "string" } }).schema } }))
      )
      assert.isFalse(yield* strictOf(closed({ berth: { type: "number" } }, [])), "a property that may be left out")
      assert.isFalse(yield* strictOf(closed({ lines: { type: "array", items: inner } })), "an open object inside")
      assert.isFalse(yield* strictOf(closed({ at: { anyOf: [{ type: "string" }, inner] } })), "in a union")
      assert.isFalse(yield* strictOf(closed({ name: { type: "string", minLength: 1 } })), "a keyword of its own")
    })
  )

  it.live("a field of one's own comes first", () =>
    Effect.gen(function* () {
      const own = { response_format: { type: "json_object" } }
      const { model, server } = yield* harbor({ script: saying(ANSWER) }, { extraBody: own })
      yield* model.infer(aPrompt({ output: BERTH }))
      assert.deepStrictEqual(formatIn(server.requests[0] as ModelRequest), own.response_format)
    })
  )

  it.live("G1 a server that refuses it is asked again in words, once, and not asked with it any more", () =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor({
        sequence: [refusal("response_format of type json_schema is not supported"), { script: saying(ANSWER) }]
      })
      const prompt = aPrompt({ output: BERTH })
      assert.strictEqual((yield* model.infer(prompt)).text, ANSWER)
      assert.strictEqual((yield* model.infer(aPrompt({ output: closed({ ok: { type: "boolean" } }) }))).text, ANSWER)
      const [refused, ...others] = server.requests
      assert.isDefined(formatIn(refused as ModelRequest))
      assert.lengthOf(others, 2)
      for (const request of others) {
        assert.isUndefined(formatIn(request))
        assert.match(lastIn(request), /^Give your answer as one JSON object that fits this JSON Schema/)
        assert.lengthOf(request.tools, 1)
      }
      assert.include(lastIn(others[0] as ModelRequest), JSON.stringify(BERTH.schema))
    })
  )

  it.live("G1 one that refuses a schema is asked with others as before", () =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor({
        sequence: [refusal("Invalid schema for response_format 'answer': no such keyword"), { script: saying(ANSWER) }]
      })
      const other = closed({ ok: { type: "boolean" } })
      for (const output of [BERTH, BERTH, other]) yield* model.infer(aPrompt({ output }))
      assert.deepStrictEqual(
        server.requests.map((request) => formatIn(request) !== undefined),
        [true, false, false, true]
      )
    })
  )

  it.live("G1 a refusal that was not about the form stays one, and nothing is remembered", () =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor(refusal("messages: too many images"))
      const prompt = aPrompt({ output: BERTH })
      const failure = yield* Effect.flip(model.infer(prompt))
      assert.deepInclude(failure, { _tag: "ModelRefused", message: "messages: too many images" })
      assert.lengthOf(server.requests, 2)
      server.become({ script: saying(ANSWER) })
      yield* model.infer(prompt)
      assert.isDefined(formatIn(server.requests[2] as ModelRequest))
    })
  )

  it.live("the option says it in words at once, and what the messages say already is not said twice", () =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor({ script: saying(ANSWER) }, { output: "described" })
      yield* model.infer(aPrompt({ output: BERTH }))
      const { messages } = aPrompt()
      const said = lastIn(server.requests[0] as ModelRequest)
      yield* model.infer(aPrompt({ output: BERTH, messages: [...messages, { role: "user", content: said }] }))
      assert.deepStrictEqual(
        server.requests.map((request) => request.messages.length),
        [3, 3]
      )
      assert.deepStrictEqual(server.requests.map(formatIn), [undefined, undefined])
    })
  )

  it.live("on a wire without tools it may use the words of calls, and stand inside of what the rules ask for", () =>
    Effect.gen(function* () {
      const { model, server } = yield* harbor({ script: saying("{}") }, { tools: "json" })
      const output = closed({ name: { type: "string" }, answer: { type: "string" } })
      const prompt: Prompt = aPrompt({ output })
      const reading = Effect.fnUntraced(function* (text: string) {
        server.become({ script: saying(text) })
        const { calls, text: said } = yield* model.infer(prompt)
        return calls.length > 0 ? calls.map(({ tool }) => tool) : said
      })
      const formed = '{"name":"Aurora","answer":"berth 7"}'
      assert.strictEqual(yield* reading(formed), formed)
      assert.strictEqual(yield* reading(`{"answer":${formed}}`), formed)
      assert.strictEqual(yield* reading(`{"answer":${JSON.stringify(formed)}}`), formed)
      const tool = aPrompt().tools[0]?.name ?? ""
      assert.deepStrictEqual(yield* reading(`{"tool":"${tool}","arguments":{"text":"x"}}`), [tool])
      assert.isTrue(server.requests.every((request) => formatIn(request) === undefined))
      assert.include(JSON.stringify(server.requests[0]?.messages), "Give your answer as one JSON object")
    })
  )
})
