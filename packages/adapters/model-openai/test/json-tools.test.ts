import { assert, describe, it } from "@effect/vitest"
import { type ModelRequest, saying } from "@reverie/testkit/model-server"
import * as Effect from "effect/Effect"
import { aPrompt, harbor } from "./harbor-model.ts"

const plain = { tools: "json" } as const

const asked = (text: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { model, server } = yield* harbor({ script: saying(text) }, plain)
      const reply = yield* model.infer(aPrompt())
      return { reply, requests: server.requests }
    })
  )

const textsOf = (request: ModelRequest | undefined): ReadonlyArray<string> =>
  (request?.messages ?? []).map(({ content, role }) => `${role}: ${String(content)}`)

describe("J2 a call is read", () => {
  const forms: ReadonlyArray<readonly [string, string]> = [
    ["alone", '{"tool":"look","arguments":{"text":"x"}}'],
    ["in a fence", '```json\n{"tool": "look", "arguments": {"text": "x"}}\n```'],
    ["between sentences", 'I will look {at it}. {"tool":"look","arguments":{"text":"x"}} Let me know!'],
    ["with other words for the same", '{"name":"look","parameters":{"text":"x"}}'],
    ["with arguments as text", '{"action":"look","action_input":"{\\"text\\":\\"x\\"}"}'],
    ["in the native form", '{"tool_calls":[{"function":{"name":"look","arguments":"{\\"text\\":\\"x\\"}"}}]}']
  ]
  it.live.each(forms)("%s", ([, text]) =>
    Effect.gen(function* () {
      const { reply, requests } = yield* asked(text)
      assert.deepStrictEqual(reply.calls, [{ id: "7.1.0", tool: "look", arguments: { text: "x" } }])
      assert.strictEqual(reply.finish, "tool-calls")
      assert.strictEqual(reply.text, "")
      assert.lengthOf(requests, 1)
    })
  )
})

describe("J3 an answer is read", () => {
  const forms: ReadonlyArray<readonly [string, string, string]> = [
    ["from its object", '{"answer":"Berth seven."}', "Berth seven."],
    ["from a fence", '```\n{"answer": "Berth seven."}\n```', "Berth seven."],
    ["as it is when it is no object", "Berth seven.", "Berth seven."],
    ["as it is when its object says nothing known", '{"berth":7}', '{"berth":7}'],
    ["as it is when it only looks like an object", "Use {curly braces} freely.", "Use {curly braces} freely."]
  ]
  it.live.each(forms)("%s", ([, text, expected]) =>
    Effect.gen(function* () {
      const { reply, requests } = yield* asked(text)
      assert.strictEqual(reply.text, expected)
      assert.deepStrictEqual(reply.calls, [])
      assert.lengthOf(requests, 1)
    })
  )
})

it.live("J3 a broken object is complained about once, then handed over as malformed", () =>
  Effect.gen(function* () {
    const { reply, requests } = yield* asked('{"tool":"look","arguments":{"text":"x"')
    assert.lengthOf(requests, 2)
    const [said, complaint] = textsOf(requests[1]).slice(-2)
    assert.strictEqual(said, 'assistant: {"tool":"look","arguments":{"text":"x"')
    assert.match(complaint ?? "", /^user: Your last reply could not be used: the JSON object is not closed/)
    assert.lengthOf(reply.calls, 1)
    assert.strictEqual(reply.calls[0]?.tool, "look")
    assert.isString(reply.calls[0]?.malformed)
  })
)

it.live("J1 tools are described, history is reported in plain words, neighbours of one role are joined", () =>
  Effect.gen(function* () {
    const { model, server } = yield* harbor({ script: saying('{"answer":"ok"}') }, plain)
    yield* model.infer(
      aPrompt({
        messages: [
          { role: "system", content: "You are a desk." },
          { role: "user", content: "Look!" },
          { role: "assistant", content: "", calls: [{ id: "1.1.0", tool: "look", arguments: { text: "x" } }] },
          { role: "tool", content: "seven is free", call: "1.1.0" },
          { role: "user", content: "And?" }
        ]
      })
    )
    const [request] = server.requests
    assert.notProperty(request?.body, "tools")
    const [system, ...rest] = textsOf(request)
    assert.match(
      system ?? "",
      /^system: You are a desk\.\n\n.*\n.*"tool": "<name>"[^]*- look: Looks at the berths\.\n.*"type":"object"/
    )
    assert.deepStrictEqual(rest, [
      "user: Look!",
      'assistant: {"tool":"look","arguments":{"text":"x"}}',
      "user: Result of look: seven is free\n\nAnd?"
    ])
  }).pipe(Effect.scoped)
)

it.live("J2 a preview shows the answer alone, not the object around it", () =>
  Effect.gen(function* () {
    const { model } = yield* harbor({ script: saying('{"answer":"Berth seven."}') }, plain)
    const heard: Array<string> = []
    yield* model.infer(aPrompt(), { onText: (text) => heard.push(text) })
    assert.deepStrictEqual(heard, ["Berth seven."])
  }).pipe(Effect.scoped)
)
