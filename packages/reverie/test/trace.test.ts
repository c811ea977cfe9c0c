import { assert, describe, it } from "@effect/vitest"
import type { Prompt } from "@reverie/model"
import { collectSpans, type RecordedSpan, type Script } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { defineAssistant, defineFleet, defineTool } from "../src/index.ts"
import { aDirectory, openFleet } from "./rig.ts"

const TRACE = "0af7651916cd43dd8448eb211c80319c"
const CALLER = "b7ad6b7169203331"
const traceparent = `00-${TRACE}-${CALLER}-01`

const pass = defineTool({
  name: "pass",
  description: "Passes a note on to the clerk.",
  run: (_, { send }) => {
    send("clerk", "a note")
    return "passed"
  }
})

const isChild = ({ messages }: Prompt): boolean =>
  messages.some(({ content, role }) => role === "system" && content.includes("finish_task"))
const hasResult = ({ messages }: Prompt, tool: string): boolean =>
  messages.some(({ name, role }) => role === "tool" && name === tool)

const script: Script = (prompt) => {
  if (isChild(prompt)) return Effect.succeed({ text: "Nine ships." })
  if (!prompt.tools.some(({ name }) => name === "pass")) return Effect.succeed({ text: "Noted." })
  if (!hasResult(prompt, "pass")) return Effect.succeed({ calls: [{ tool: "pass" }] })
  if (hasResult(prompt, "delegate_task")) return Effect.succeed({ text: "Nine, and noted." })
  return Effect.succeed({ calls: [{ tool: "delegate_task", arguments: { task: "Count the ships" } }] })
}

const fleet = defineFleet({
  assistants: [
    defineAssistant({ id: "desk", instructions: "You run the desk.", tools: [pass], subAgents: {} }),
    defineAssistant({ id: "clerk", instructions: "You help the desk." })
  ]
})

const only = (spans: ReadonlyArray<RecordedSpan>): RecordedSpan => {
  const [first] = spans
  if (first === undefined || spans.length !== 1) assert.fail(`${spans.length} spans, and one is wanted`)
  return first
}

describe("one trace", () => {
  it("goes through accept, tick, tool, another assistant, a sub-agent, its report and the next iteration", async () => {
    const { layer, spans } = collectSpans()
    await using opened = await openFleet({ data: aDirectory(), tracing: layer, says: script, fleet })
    assert.strictEqual(await opened.answer("desk", "How many?", { traceparent }), "Nine, and noted.")
    await opened.idle()
    const named = (name: string, who?: string) =>
      spans.filter(
        (span) => span.name === name && [who, undefined].includes(span.attributes.get("gen_ai.agent.id") as string)
      )
    const turnsOf = (who: string) =>
      spans.filter(
        ({ attributes, name }) => name.startsWith("invoke_agent") && attributes.get("gen_ai.agent.id") === who
      )

    // Everything is in it but the batches of the relay, which are linked to it.
    const apart = spans.filter(({ traceId }) => traceId !== TRACE)
    assert.isAbove(apart.length, 0)
    for (const { links, name, parent } of apart) {
      if (name === "ledger.relay") continue
      assert.strictEqual(parent, "ledger.relay", name)
      for (const { span } of links) assert.strictEqual(span.traceId, TRACE)
    }
    const accepted = spans.filter(({ name, parent }) => name === "mailbox.accept" && parent === undefined)
    assert.strictEqual(only(accepted).parentId, CALLER)

    const [first, second, ...more] = turnsOf("desk")
    assert.isEmpty(more)
    if (first === undefined || second === undefined) return assert.fail("the desk had two turns")
    assert.strictEqual(first.parentId, CALLER)
    assert.strictEqual(first.attributes.get("reverie.outcome"), "waiting")
    const passed = only(spans.filter(({ attributes }) => attributes.get("tool") === "pass"))
    assert.strictEqual(passed.parentId, first.spanId)
    assert.strictEqual(only(turnsOf("clerk")).parentId, passed.spanId)

    const child = only(
      spans.filter(
        ({ name, attributes }) =>
          name.startsWith("invoke_agent") && !["desk", "clerk"].includes(String(attributes.get("gen_ai.agent.id")))
      )
    )
    assert.strictEqual(child.parentId, first.spanId)
    assert.strictEqual(second.parentId, child.spanId)
    assert.strictEqual(second.attributes.get("reverie.outcome"), "answered")
    const last = named("model.infer", "desk").at(-1)
    assert.strictEqual(last?.parentId, second.spanId)
    assert.isTrue(spans.every(({ ok }) => ok))
  })

  it("says of model and tool calls what the conventions ask for, and nothing of their content", async () => {
    const { layer, spans } = collectSpans()
    await using opened = await openFleet({ tracing: layer, says: script, fleet })
    await opened.answer("desk", "How many?")
    await opened.idle()
    const chat = spans.find(({ name }) => name === "model.infer")?.attributes
    assert.deepInclude(Object.fromEntries(chat ?? []), {
      "gen_ai.operation.name": "chat",
      "gen_ai.agent.id": "desk",
      "gen_ai.agent.name": "desk",
      "gen_ai.response.model": "scripted",
      "gen_ai.response.finish_reasons": ["tool-calls"],
      "gen_ai.usage.input_tokens": 1,
      "gen_ai.usage.output_tokens": 1,
      "reverie.tenant": "default"
    })
    const tool = spans.find(({ attributes }) => attributes.get("tool") === "pass")?.attributes
    assert.deepInclude(Object.fromEntries(tool ?? []), {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "pass",
      "gen_ai.tool.call.id": "1.1.0"
    })
    const said = JSON.stringify(spans.map(({ attributes }) => [...attributes]))
    for (const text of ["How many?", "a note", "Count the ships", "Nine"]) assert.notInclude(said, text)
  })

  it("C2 shows content where it is wanted, cut, and without what looks like a secret", async () => {
    const { layer, spans } = collectSpans()
    const telling = defineTool({
      name: "pass",
      description: "Tells.",
      input: { type: "object", properties: { key: { type: "string" } } },
      run: () => `password=hunter2hunter2 ${"x".repeat(99)}`
    })
    await using opened = await openFleet({
      tracing: layer,
      traceContent: { maxChars: 40 },
      says: [{ calls: [{ tool: "pass", arguments: { key: "sk-abcdefghijklmnop" } }] }, { text: "Done." }],
      tools: [telling]
    })
    await opened.answer("desk", "How many?")
    await opened.idle()
    const attributes = new Map(spans.flatMap((span) => [...span.attributes]))
    assert.include(String(attributes.get("gen_ai.input.messages")), "How many?")
    assert.include(String(attributes.get("gen_ai.output.messages")), "Done.")
    assert.strictEqual(attributes.get("gen_ai.tool.call.arguments"), '{"key":"[redacted]"}')
    const result = String(attributes.get("gen_ai.tool.call.result"))
    assert.isAtMost(result.length, 41)
    assert.match(result, /^password=\[redacted\] x+…$/)
  })

  it("begins with the acceptance when no one brought one, and what is no trace context is passed over", async () => {
    for (const wrong of [undefined, "", "nonsense", `00-${"0".repeat(32)}-${CALLER}-01`, `ff-${TRACE}-${CALLER}-01`]) {
      const { layer, spans } = collectSpans()
      await using opened = await openFleet({ tracing: layer })
      await opened.answer("desk", "Hello", wrong === undefined ? {} : { traceparent: wrong })
      await opened.idle()
      const accepted = only(spans.filter(({ name }) => name === "mailbox.accept"))
      assert.isUndefined(accepted.parentId)
      const turn = only(spans.filter(({ name }) => name.startsWith("invoke_agent")))
      assert.strictEqual(turn.parentId, accepted.spanId)
    }
  })

  it("T3 is passed on without a tracer, and nothing is made up where no one brought one", async () => {
    const traces = async (options: { readonly traceparent?: string }) => {
      await using opened = await openFleet({ says: script, fleet })
      await opened.answer("desk", "How many?", options)
      await opened.idle()
      const rows = await opened.history.entries("desk")
      const sends = rows.flatMap(({ entry }) => entry.sends ?? [])
      assert.isAtLeast(sends.length, 2)
      return new Set(sends.map((send) => send.traceparent))
    }
    assert.deepStrictEqual(await traces({ traceparent }), new Set([traceparent]))
    assert.deepStrictEqual(await traces({}), new Set([undefined]))
  })

  it("M1 measures calls, tools, turns and waits, and names no assistant and no tenant", async () => {
    await using opened = await openFleet({ says: script, fleet, tenant: "t-canary" })
    await opened.answer("desk", "How many?")
    await opened.idle()
    const metrics = await opened.monitor.metrics()
    const counted = [
      "gen_ai_client_operation_duration",
      "gen_ai_client_token_usage",
      "gen_ai_execute_tool_duration",
      "reverie_turn_duration",
      "reverie_queue_age"
    ]
    for (const name of counted) assert.match(metrics, new RegExp(`^${name}_count\\{[^}]*\\} [1-9]`, "m"), name)
    assert.match(metrics, /gen_ai_tool_name="pass"/)
    for (const name of ["t-canary", "desk", "clerk"]) assert.notInclude(metrics, name)
  })
})
