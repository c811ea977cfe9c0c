import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { calling, modelOf, opened, refusingDig, type Turn, turn, two } from "./stream-rig.ts"

const text = Schema.String
const id = { id: text }
const toolCall = { toolCallId: text }
const named = { ...toolCall, toolName: text }
const chunk = (type: string, fields: Schema.Struct.Fields = {}) =>
  Schema.Struct({ type: Schema.Literal(type), ...fields })
const metadata = { messageMetadata: Schema.optionalKey(Schema.Unknown) }

/** The chunks of the protocol, as its documentation has them, as far as an assistant has a use for them. */
const protocol = Schema.Union([
  chunk("start", { messageId: Schema.optionalKey(text), ...metadata }),
  ...["start-step", "finish-step"].map((type) => chunk(type)),
  ...["text-start", "text-end", "reasoning-start", "reasoning-end"].map((type) => chunk(type, id)),
  ...["text-delta", "reasoning-delta"].map((type) => chunk(type, { ...id, delta: text })),
  chunk("tool-input-start", named),
  chunk("tool-input-delta", { ...toolCall, inputTextDelta: text }),
  chunk("tool-input-available", { ...named, input: Schema.Unknown }),
  chunk("tool-input-error", { ...named, input: Schema.Unknown, errorText: text }),
  chunk("tool-approval-request", { ...toolCall, approvalId: text }),
  chunk("tool-output-available", { ...toolCall, output: Schema.Unknown }),
  chunk("tool-output-error", { ...toolCall, errorText: text }),
  chunk("tool-output-denied", toolCall),
  chunk("message-metadata", metadata),
  chunk("error", { errorText: text }),
  chunk("finish", {
    finishReason: Schema.Literals(["stop", "length", "content-filter", "tool-calls", "error", "other"]),
    ...metadata
  }),
  Schema.Struct({
    type: Schema.TemplateLiteral(["data-", Schema.String]),
    id: Schema.optionalKey(text),
    data: Schema.Unknown,
    transient: Schema.optionalKey(Schema.Boolean)
  })
])
const isChunk = Schema.decodeUnknownSync(protocol, { onExcessProperty: "error" })

type Chunk = { readonly type: string; readonly [key: string]: unknown }

/** What is wrong with the order of chunks. */
const flawsOf = (chunks: ReadonlyArray<Chunk>): ReadonlyArray<string> => {
  const flaws: Array<string> = []
  const open = new Set<string>()
  const calls = new Set<unknown>()
  let isInStep = false
  for (const [index, { id: block, toolCallId, type }] of chunks.entries()) {
    if ((type === "start") !== (index === 0)) flaws.push(`${type} at ${index}`)
    if ((type === "finish" || type === "error") !== (index === chunks.length - 1)) flaws.push(`${type} at ${index}`)
    const [kind = "", verb = ""] = type.split("-")
    if (kind === "text" || kind === "reasoning") {
      const key = `${kind} ${String(block)}`
      if (!isInStep) flaws.push(`${type} outside of a step`)
      if ((verb === "start") === open.has(key)) flaws.push(`${type} of ${key}`)
      if (verb === "start") open.add(key)
      if (verb === "end") open.delete(key)
    }
    if (type === "start-step" || type === "finish-step") {
      if (isInStep === (type === "start-step") || open.size > 0) flaws.push(`${type} at ${index}`)
      isInStep = type === "start-step"
    }
    if (type === "tool-input-start" || type === "tool-input-available") calls.add(toolCallId)
    else if (toolCallId !== undefined && !calls.has(toolCallId)) flaws.push(`${type} of no call`)
  }
  return flaws
}

const chunksOf = async (stream: ReadableStream<unknown>): Promise<ReadonlyArray<Chunk>> => {
  const chunks = (await Array.fromAsync(stream as never)) as ReadonlyArray<Chunk>
  for (const each of chunks) isChunk(each)
  assert.deepStrictEqual(flawsOf(chunks), [])
  return chunks
}

describe("a UI message stream", () => {
  it("U1 U2 tells a whole answer in chunks of the protocol: steps, reasoning, texts, tools", async () => {
    await using fleet = await opened(
      modelOf(calling("I look.", two, { tool: "dig", arguments: {} }), calling("Two ships.")),
      {
        hooks: { beforeTool: refusingDig.beforeTool }
      }
    )
    const chunks = await chunksOf(fleet.ask("desk", "What is there?", { id: "q-1" }).toUIMessageStream())
    const types = chunks.map(({ type }) => type).filter((type, index, list) => type !== list[index - 1])
    assert.deepStrictEqual(types, [
      "start",
      "start-step",
      "reasoning-start",
      "reasoning-delta",
      "reasoning-end",
      "text-start",
      "text-delta",
      "text-end",
      "tool-input-start",
      "tool-input-available",
      "message-metadata",
      "tool-output-error",
      "tool-output-available",
      "finish-step",
      "start-step",
      "reasoning-start",
      "reasoning-delta",
      "reasoning-end",
      "text-start",
      "text-delta",
      "text-end",
      "message-metadata",
      "finish-step",
      "finish"
    ])
    assert.deepInclude(chunks[0], { messageId: "answer-q-1" })
    assert.deepInclude(chunks.at(-1), { finishReason: "stop" })
  })

  it("U2 U3 what is made again stands in a step of its own; a failure, and a denied call, are chunks", async () => {
    const breaking: Turn = async ({ onCall, onText }, asked) => {
      if (asked > 1) return asked === 2 ? { calls: [{ tool: "sink", arguments: {} }] } : { text: "Well." }
      onText?.("Six is")
      onCall?.({ call: 0, tool: "look", arguments: '{"ber' })
      await turn()
      throw Object.assign(new Error("overloaded"), { statusCode: 503 })
    }
    await using fleet = await opened(modelOf(breaking))
    fleet.on("approval-asked", ({ approval }) => void fleet.deny("desk", approval))
    const chunks = await chunksOf(fleet.ask("desk", "Sink it.").toUIMessageStream())
    const types = chunks.map(({ type }) => type)
    const at = types.indexOf("data-discarded")
    assert.deepStrictEqual(types.slice(at - 1, at + 3), [
      "tool-input-error",
      "data-discarded",
      "finish-step",
      "start-step"
    ])
    assert.includeMembers(types, ["tool-approval-request", "tool-output-denied"])

    await using broken = await opened({
      name: "broken",
      infer: async () => {
        throw Object.assign(new Error("maximum context length is 10"), { statusCode: 400 })
      }
    })
    assert.strictEqual((await chunksOf(broken.ask("desk", "Go.").toUIMessageStream())).at(-1)?.type, "error")
  })

  it("U4 is the body of an answer: a line of JSON a chunk, and its end", async () => {
    await using fleet = await opened(modelOf(calling("Good morning.")))
    const response = fleet.ask("desk", "Hello.").toUIMessageStreamResponse({ status: 201 })
    assert.strictEqual(response.status, 201)
    assert.strictEqual(response.headers.get("x-vercel-ai-ui-message-stream"), "v1")
    assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
    const frames = (await response.text()).split("\n\n")
    assert.deepStrictEqual(frames.slice(-2), ["data: [DONE]", ""])
    for (const frame of frames.slice(0, -2)) isChunk(JSON.parse(frame.replace(/^data: /, "")))
  })
})
