import { assert, it } from "@effect/vitest"
import type { Json } from "@reverie/protocol"
import * as fc from "fast-check"
import { Answer, type Ending } from "../src/wire/answer.ts"
import { Assembly } from "../src/wire/assembly.ts"
import { readPlainReply } from "../src/wire/json-tools.ts"
import { corrections, judge, makeFailures, makeScrub, plainCorrections, roughCount } from "@reverie/model/wire"
import { usageOf } from "../src/openai-model.ts"
import { wireMessage, wireTools } from "../src/wire/wire.ts"
import { aPrompt, KEY } from "./harbor-model.ts"

const scrub = makeScrub(KEY)
const failures = makeFailures("harbor:1", scrub)
const settings = { seed: 4_711, numRuns: 1_000 }

/** Values of every type, with hostile keys and texts among them. */
const junk: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(
      null,
      true,
      0,
      -1,
      1e300,
      "",
      "stop",
      "look",
      "{}",
      '{"text":"x"}',
      "{",
      `Bearer ${KEY}`,
      "\u0000\ud800"
    ),
    fc.string({ unit: "binary", maxLength: 8 }),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom("__proto__", "constructor", "prototype", "function", "name", "arguments", "id", "index", "text"),
      tie("value"),
      { maxKeys: 4 }
    )
  )
})).value

const maybe = (arbitrary: fc.Arbitrary<unknown>) => fc.oneof({ weight: 8, arbitrary }, { weight: 1, arbitrary: junk })

const call = maybe(
  fc.record(
    {
      id: maybe(fc.constantFrom("a", "b")),
      index: maybe(fc.constantFrom(0, 1, -1, 1e9)),
      function: maybe(
        fc.record(
          { name: maybe(fc.constantFrom("look", "unknown")), arguments: maybe(fc.json({ maxDepth: 2 })) },
          { requiredKeys: [] }
        )
      )
    },
    { requiredKeys: [] }
  )
)
const message = maybe(
  fc.record(
    {
      role: junk,
      content: maybe(fc.string({ unit: "binary" })),
      refusal: junk,
      reasoning_content: junk,
      tool_calls: maybe(fc.array(call, { maxLength: 20 })),
      function_call: junk
    },
    { requiredKeys: [] }
  )
)
const choice = fc.record(
  {
    index: maybe(fc.constant(0)),
    message,
    delta: message,
    finish_reason: maybe(fc.constantFrom("stop", "length"))
  },
  { requiredKeys: ["finish_reason"] }
)
const body = maybe(
  fc.record(
    {
      model: junk,
      usage: junk,
      choices: maybe(fc.array(choice, { maxLength: 2 })),
      error: fc.option(junk, { freq: 20 })
    },
    { requiredKeys: ["choices"] }
  )
)

const keysOf = (value: Json): Array<string> =>
  typeof value !== "object" || value === null
    ? []
    : [
        ...(Array.isArray(value) ? [] : Object.keys(value)),
        ...Object.values(value as object).flatMap((inner) => keysOf(inner as Json))
      ]

const read = (bytes: Buffer, contentType: string, cut: number, ending: Ending) => {
  const answer = new Answer(failures, new Assembly({ onText: () => {} }))
  answer.begin(contentType)
  answer.take(bytes.subarray(0, cut))
  answer.take(bytes.subarray(cut))
  return { answer, failure: answer.conclude(ending, () => null, 0) }
}

/** Everything that is done with an answer, and what must hold of it whatever the answer was. */
const digest = (bytes: Buffer, contentType: string, cut: number, ending: Ending, isPlain: boolean): boolean => {
  const { answer, failure } = read(bytes, contentType, cut, ending)
  if (failure !== undefined) {
    assert.notInclude(JSON.stringify(failure), KEY)
    return false
  }
  const prompt = aPrompt()
  const usage = usageOf(prompt, answer.assembly, roughCount)
  assert.isTrue(Number.isSafeInteger(usage.inputTokens) && usage.inputTokens >= 0)
  assert.isTrue(Number.isSafeInteger(usage.outputTokens) && usage.outputTokens >= 0)
  if (isPlain) readPlainReply(answer.assembly, aPrompt())
  const { nameByWire } = wireTools(prompt.tools)
  const judged = judge(answer.assembly, { prompt, nameByWire, usage, model: "m", maxCalls: 16, scrub })
  const { reply } = judged
  assert.isAtMost(reply.calls.length, 16)
  assert.isTrue(reply.text.isWellFormed() && !reply.text.includes("\u0000"))
  assert.notInclude(JSON.stringify(judged), KEY)
  for (const [index, { arguments: args, id, tool }] of reply.calls.entries()) {
    assert.strictEqual(id, `7.1.${index}`)
    assert.match(tool, /^[A-Za-z0-9_-]{1,64}$/)
    assert.isTrue(typeof args === "object" && args !== null && !Array.isArray(args))
    assert.notIncludeMembers(keysOf(args), ["__proto__", "constructor", "prototype"])
    assert.isTrue(JSON.stringify(args).isWellFormed() && !JSON.stringify(args).includes("\\u0000"))
  }
  for (const said of [...corrections(judged), ...plainCorrections(reply.text, ["x"])]) JSON.parse(wireMessage(said))
  return true
}

it("I1 R1 R2 hostile JSON never throws, as one object", () => {
  let whole = 0
  fc.assert(
    fc.property(body, fc.nat(400), fc.boolean(), (value, cut, isPlain) => {
      if (digest(Buffer.from(JSON.stringify(value) ?? ""), "application/json", cut, "end", isPlain)) whole++
    }),
    settings
  )
  assert.isAbove(whole, 100, "too few bodies were whole answers to mean anything")
  assert.isUndefined(({} as { polluted?: unknown }).polluted)
})

it("I1 R1 R2 hostile JSON never throws, as a stream, however the stream ends", () => {
  let whole = 0
  const ending = fc.constantFrom<Ending>("end", "cut", "idle", "timeout", "too-large")
  fc.assert(
    fc.property(
      fc.array(body, { maxLength: 6 }),
      fc.nat(400),
      ending,
      fc.boolean(),
      fc.boolean(),
      (events, cut, end, isPlain, isEnded) => {
        const said = isEnded ? [...events, { choices: [{ delta: {}, finish_reason: "stop" }] }] : events
        const text = said.map((value) => `data: ${JSON.stringify(value)}\n\n`).join("")
        if (digest(Buffer.from(text), "text/event-stream", cut, end, isPlain)) whole++
      }
    ),
    settings
  )
  assert.isAbove(whole, 100, "too few streams were whole answers to mean anything")
})

it("I1 bytes that are nothing at all never throw", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.constantFrom("", "text/event-stream", "text/html"),
      (bytes, type) => {
        assert.isFalse(digest(Buffer.from(bytes), type, 7, "end", false))
      }
    ),
    settings
  )
})

it("J2 J3 hostile text in plain JSON never throws", () => {
  const spoken = fc.array(
    fc.oneof(
      fc.json({ maxDepth: 3 }),
      fc.string(),
      fc.constantFrom("{", "}", "```json\n", "```", '{"tool":', '"', "\\", '{"tool":"look"}')
    )
  )
  let calls = 0
  fc.assert(
    fc.property(spoken, (parts) => {
      const content = parts.join("")
      const { answer } = read(
        Buffer.from(JSON.stringify({ choices: [{ message: { content }, finish_reason: "stop" }] })),
        "application/json",
        3,
        "end"
      )
      readPlainReply(answer.assembly, aPrompt())
      calls += answer.assembly.calls.length
    }),
    settings
  )
  assert.isAbove(calls, 20)
})
