import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import {
  defineAssistant,
  defineFleet,
  defineTool,
  Fleet,
  type FleetOptions,
  type Part,
  type PromiseModel,
  type PromiseOptions,
  type PromiseReply
} from "../src/index.ts"
import { all, gate } from "./rig.ts"

type Shown = Pick<PromiseOptions, "onText" | "onReasoning" | "onCall">

/** One model call: what it shows on its way, and its reply. */
type Turn = (shown: Shown, asked: number) => Promise<PromiseReply> | PromiseReply

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Answers the calls of each tick in their order, by their iteration. */
const modelOf = (...turns: ReadonlyArray<Turn>): PromiseModel => {
  let asked = 0
  return {
    name: "harbour",
    infer: async ({ callPrefix }, shown) => {
      const iteration = Number(callPrefix.split(".")[1])
      return (turns[Math.min(iteration, turns.length) - 1] as Turn)(shown, ++asked)
    }
  }
}

/** Thinks, speaks and calls, with a turn of the event loop between any two pieces. */
const calling =
  (text: string, ...calls: ReadonlyArray<{ readonly tool: string; readonly arguments: object }>): Turn =>
  async ({ onCall, onReasoning, onText }) => {
    onReasoning?.("Hm. ")
    await turn()
    onText?.(text.slice(0, 4))
    await turn()
    onText?.(text.slice(4))
    await turn()
    for (const [call, { arguments: args, tool }] of calls.entries()) {
      onCall?.({ call, tool, arguments: "" })
      await turn()
      onCall?.({ call, tool, arguments: JSON.stringify(args) })
      await turn()
    }
    return { text, calls, usage: { inputTokens: 3, outputTokens: 2 } }
  }

const look = defineTool({ name: "look", description: "Looks.", input: { type: "object" }, run: () => "two ships" })
const sink = defineTool({ name: "sink", description: "Sinks.", needsApproval: true, run: () => "sunk" })
const dig = defineTool({ name: "dig", description: "Digs.", run: () => "a hole" })

const refusingDig = {
  beforeTool: ({ tool }: { readonly tool: string }) => (tool === "dig" ? { refuse: "no digging" } : undefined)
}

const opened = (model: FleetOptions["model"], options: Partial<Parameters<typeof defineAssistant>[0]> = {}) =>
  Fleet.open({
    data: ":memory:",
    model,
    fleet: defineFleet({
      assistants: [
        defineAssistant({ id: "desk", instructions: "Assign berths.", tools: [look, sink, dig], ...options })
      ]
    })
  } as FleetOptions)

const two = { tool: "look", arguments: { berth: 7 } }

/** What stands on a screen: everything durable, a line each, and what is shown of the reply at hand. */
class Screen {
  readonly lines: Array<string> = []
  #text = ""
  #calls: Array<string> = []

  take(part: Part): void {
    switch (part.type) {
      case "text":
        this.#text += part.text
        return
      case "tool-call":
        this.#calls.push(`${part.call} ${part.tool} ${JSON.stringify(part.arguments)}`)
        return
      case "discarded":
        this.#text = ""
        this.#calls = []
        return
      case "usage":
        this.lines.push(`replied ${this.#text} [${this.#calls.join()}] ${part.inputTokens}`)
        this.#text = ""
        this.#calls = []
        return
      case "reasoning":
      case "tool-start":
      case "tool-arguments":
        return
      default:
        this.lines.push(JSON.stringify(part, (key, value: unknown) => (key === "approval" ? "apr" : value)))
    }
  }
}

describe("parts", () => {
  it("reasoning, text and calls come as they are made, in turns of the event loop; the reply is told once", async () => {
    await using fleet = await opened(modelOf(calling("I look.", two), calling("Two ships.")))
    const parts = await all(fleet.ask("desk", "What is there?"))
    assert.deepStrictEqual(parts.slice(0, 7), [
      { type: "reasoning", text: "Hm. " },
      { type: "text", text: "I lo" },
      { type: "text", text: "ok." },
      { type: "tool-start", call: "1.1.0", tool: "look" },
      { type: "tool-arguments", call: "1.1.0", text: '{"berth":7}' },
      { type: "tool-call", call: "1.1.0", tool: "look", arguments: { berth: 7 } },
      {
        type: "usage",
        iteration: 1,
        model: "harbour",
        calls: 1,
        inputTokens: 3,
        cachedTokens: 0,
        outputTokens: 2,
        reasoningTokens: 0,
        costMicros: 0,
        unpricedCalls: 1
      }
    ])
    const end = parts.at(-1)
    assert.ok(end?.type === "done")
    assert.deepInclude(end.usage, { calls: 2, inputTokens: 6, outputTokens: 4, unpricedCalls: 2 })
  })

  it("what comes in one turn is one part: a token costs none of its own", async () => {
    const words = Array.from({ length: 500 }, (_, n) => `w${n} `)
    await using fleet = await opened(
      modelOf(({ onText }) => {
        for (const word of words) onText?.(word)
        return { text: words.join("") }
      })
    )
    const texts = (await all(fleet.ask("desk", "Speak."))).filter(({ type }) => type === "text")
    assert.deepStrictEqual(texts, [{ type: "text", text: words.join("") }])
  })

  it("a call that a hook refuses, one that a person denies, and one that is approved each say so", async () => {
    const asks = { tool: "sink", arguments: {} }
    await using fleet = await opened(
      modelOf(calling("", { tool: "dig", arguments: {} }), calling("", asks), calling("Well.")),
      { hooks: refusingDig }
    )
    const seen: Array<Part> = []
    for (const decide of ["deny", "approve"] as const) {
      for await (const part of fleet.ask("desk", "Sink it.")) {
        seen.push(part)
        if (part.type === "approval") await fleet[decide]("desk", part.approval)
      }
    }
    const told = seen.filter(({ type }) => ["tool-refused", "approval-decided", "tool-result"].includes(type))
    assert.deepStrictEqual(
      told.map((part) => ("approval" in part ? { ...part, approval: "" } : part)),
      [
        { type: "tool-refused", tool: "dig", call: "1.1.0", by: "hook", reason: "no digging" },
        { type: "approval-decided", approval: "", call: "1.2.0", decision: "denied" },
        { type: "tool-refused", tool: "sink", call: "1.2.0", by: "person", reason: "A person denied this call." },
        { type: "tool-refused", tool: "dig", call: "2.1.0", by: "hook", reason: "no digging" },
        { type: "approval-decided", approval: "", call: "2.2.0", decision: "approved" },
        { type: "tool-result", tool: "sink", call: "2.2.0", ok: true, content: "sunk" }
      ]
    )
    // What a hook may change is not shown before it has.
    assert.isFalse(seen.some(({ type }) => type === "tool-arguments"))
  })

  it("a task that is handed on begins and ends with the id of its sub-agent", async () => {
    const model: PromiseModel = {
      name: "harbour",
      infer: async ({ messages, callPrefix }) => {
        if (messages.some(({ content, role }) => role === "system" && content.includes("finish_task")))
          return "Nine ships."
        return callPrefix.endsWith(".1")
          ? { calls: [{ tool: "delegate_task", arguments: { task: "Count the ships" } }] }
          : "There are nine."
      }
    }
    await using fleet = await opened(model, { subAgents: {} })
    const parts = await all(fleet.ask("desk", "How many?"))
    const own = parts.filter(({ type }) => type.startsWith("sub-agent"))
    const [start] = own
    assert.ok(start?.type === "sub-agent-start")
    assert.deepStrictEqual(own, [
      { type: "sub-agent-start", id: start.id, call: "1.1.0", task: "Count the ships" },
      { type: "sub-agent-end", id: start.id, call: "1.1.0", end: "completed" }
    ])
    assert.isDefined(await fleet.inspect(start.id))
  })

  it("P2 what an attempt has shown is discarded before the next one shows anything; of several models too", async () => {
    const breaking: Turn = async ({ onText }, asked) => {
      onText?.(asked === 1 ? "Six is" : "Seven is free.")
      await turn()
      if (asked === 1) throw Object.assign(new Error("overloaded"), { statusCode: 503 })
      return { text: "Seven is free." }
    }
    const denied: PromiseModel = {
      name: "first",
      infer: async (_, { onText }) => {
        onText?.("I begin")
        await turn()
        throw Object.assign(new Error("no such key"), { statusCode: 401 })
      }
    }
    for (const model of [modelOf(breaking), [denied, modelOf(calling("Seven is free."))]] as const) {
      await using fleet = await opened(model as FleetOptions["model"])
      const parts = await all(fleet.ask("desk", "Which?"))
      const types = parts.map(({ type }) => type)
      assert.isAbove(types.indexOf("discarded"), types.indexOf("text"))
      const screen = new Screen()
      for (const part of parts) screen.take(part)
      assert.match(screen.lines[0] ?? "", /^replied Seven is free\. /)
    }
  })

  it("with a hook afterModel nothing is shown before it has seen the reply", async () => {
    const seeing = gate()
    const held = gate()
    await using fleet = await opened(modelOf(calling("The key is 1234.")), {
      hooks: {
        afterModel: async () => {
          seeing.open()
          await held.passed
          return { text: "It is hidden." }
        }
      }
    } as never)
    const parts: Array<Part> = []
    const reading = (async () => {
      for await (const part of fleet.ask("desk", "Tell.")) parts.push(part)
    })()
    await seeing.passed
    await turn()
    assert.deepStrictEqual(parts, [])
    held.open()
    await reading
    assert.deepStrictEqual(
      parts.map((part) => (part.type === "text" ? part.text : part.type)),
      ["It is hidden.", "usage", "done"]
    )
  })

  it("a secret is hidden in every part, also where it comes in pieces", async () => {
    const secret = "sk-live-abcdef-0123456789"
    const leaking: Turn = async ({ onCall, onReasoning, onText }, asked) => {
      for (const piece of ["It is sk-li", "ve-abcdef-01234", "56789, as I said, sk-li"]) {
        onText?.(piece)
        onReasoning?.(piece)
        if (asked === 1) onCall?.({ call: 0, tool: "look", arguments: piece })
        await turn()
      }
      return asked === 1
        ? { text: `It is ${secret}, as I said, sk-li`, calls: [{ tool: "look", arguments: { berth: secret } }] }
        : { text: "Done." }
    }
    await using fleet = await Fleet.open({
      data: ":memory:",
      model: modelOf(leaking),
      recall: { url: "http://127.0.0.1:9", apiKey: secret },
      fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "x", tools: [look] })] })
    })
    const parts = await all(fleet.ask("desk", "Tell."))
    const texts = parts.map((part) => (part.type === "text" ? part.text : "")).join("")
    assert.match(texts, /^It is \[redacted\], as I said, sk-li/)
    assert.isFalse(JSON.stringify(parts).includes("live-abcdef"))
  })

  it("P4 cut anywhere and taken up again at its place, nothing durable is told twice or left out", async () => {
    const turns = [
      calling("I look.", two, { tool: "dig", arguments: {} }),
      calling("I ask.", { tool: "sink", arguments: {} }),
      calling("All is done.")
    ]
    await using fleet = await opened(modelOf(...turns), { hooks: refusingDig })
    fleet.on("approval-asked", ({ approval }) => void fleet.approve("desk", approval))
    const nameless = (lines: ReadonlyArray<string>) => lines.map((line) => line.replaceAll(/\b\d+(?=\.\d\.\d)/g, "N"))
    const whole = async (id: string) => {
      const screen = new Screen()
      for await (const part of fleet.ask("desk", "Go.", { id })) screen.take(part)
      return nameless(screen.lines)
    }
    const expected = await whole("whole")
    const count = (await all(fleet.ask("desk", "Go.", { id: "count" }))).length
    assert.isAbove(count, 20)
    for (const isLate of [false, true]) {
      for (let cut = 0; cut <= count; cut++) {
        const id = `cut-${cut}-${isLate}`
        const screen = new Screen()
        const parts = fleet.ask("desk", "Go.", { id, after: "" })
        let read = 0
        for await (const part of parts) {
          screen.take(part)
          if (++read >= cut) break
        }
        if (isLate) await fleet.idle()
        for await (const part of fleet.ask("desk", "Go.", { id, after: parts.place })) screen.take(part)
        assert.deepStrictEqual(nameless(screen.lines), expected, `cut behind part ${cut}${isLate ? ", late" : ""}`)
      }
    }
  })
})

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
