import { defineTool, type Part } from "reverie"
import { assert, describe, test } from "vitest"
import { openFleet } from "../inside/rig.ts"
import { allIn, chatOf, headersOf, serve } from "./chat-rig.ts"

const look = defineTool({ name: "look", description: "Looks.", input: { type: "object" }, run: () => "two ships" })
const sink = defineTool({ name: "sink", description: "Sinks.", needsApproval: true, run: () => "sunk" })
const looking = { text: "Let me see. ", thinks: ["Hm."], calls: [{ tool: "look", arguments: { at: 7 } }] }
const sinking = { calls: [{ tool: "sink" }] }

interface Frame {
  readonly id: string | undefined
  readonly data: string
}

/** The events of a stream, as they come. */
async function* framesIn(response: Response): AsyncGenerator<Frame> {
  assert.strictEqual(response.status, 200)
  assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/)
  let text = ""
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    const frames = text.split("\n\n")
    text = frames.pop() ?? ""
    for (const frame of frames) {
      const [, id, data = ""] = /^(?:id: (\S+)\n)?data: ([^\n]*)$/.exec(frame) ?? []
      if (!frame.startsWith(":")) yield { id, data }
    }
  }
}

const aRig = async (says: ReadonlyArray<object>) => {
  const fleet = await openFleet({ tenant: "north", tools: [look, sink], says } as never)
  const server = await serve(fleet)
  const at = `${server.url}/v1/assistants/desk`
  const headers = headersOf("north")
  return {
    fleet,
    url: server.url,
    send: (id: string) =>
      fetch(`${at}/messages`, { method: "POST", headers, body: JSON.stringify({ text: "What is there?", id }) }),
    answers: (envelope: string, query: string, more: Record<string, string> = {}) =>
      fetch(`${at}/answers/${envelope}?${query}`, { headers: { ...headers, ...more } }),
    chat: (messages: ReadonlyArray<object>, more: object = {}) => {
      const body = JSON.stringify({ id: "chat-1", messages, trigger: "submit-message", ...more })
      return fetch(`${at}/chat`, { method: "POST", headers, body })
    },
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await fleet.close()
    }
  }
}

const partsIn = async (response: Response) =>
  (await Array.fromAsync(framesIn(response))).map(({ data }) => JSON.parse(data) as Part)

type Chunk = { readonly type: string; readonly [key: string]: unknown }

const chunksIn = async (response: Response): Promise<ReadonlyArray<Chunk>> => {
  assert.strictEqual(response.headers.get("x-vercel-ai-ui-message-stream"), "v1")
  const frames = await Array.fromAsync(framesIn(response))
  assert.strictEqual(frames.at(-1)?.data, "[DONE]")
  return frames.slice(0, -1).map(({ data }) => JSON.parse(data) as Chunk)
}

const user = (id: string, text: string) => ({ id, role: "user", parts: [{ type: "text", text }] })

/** What stands on a screen in the end. */
const durable = (parts: ReadonlyArray<Part>): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let reply: Array<string> = []
  for (const part of parts) {
    if (part.type === "discarded") reply = []
    else if (part.type === "text") reply.push(part.text)
    else if (part.type === "tool-call") reply.push(`calls ${part.tool}`)
    else if (part.type === "usage") lines.push(reply.splice(0).join(""))
    else if (!["reasoning", "tool-start", "tool-arguments"].includes(part.type)) lines.push(JSON.stringify(part))
  }
  return lines
}

describe("an answer as parts", () => {
  test("K1 is what ask gives; cut behind any event and asked again with its id, none is reported twice or missing", async () => {
    await using rig = await aRig([looking, { text: "Two ships." }])
    await rig.send("m-1")
    const parts = await partsIn(await rig.answers("m-1", "format=parts"))
    assert.includeMembers(
      parts.map(({ type }) => type),
      ["text", "tool-call", "usage", "tool-result", "done"]
    )
    const expected = durable(parts)
    const frames = await Array.fromAsync(framesIn(await rig.answers("m-1", "format=parts&after=")))
    assert.isTrue(frames.some(({ id }) => id !== undefined))
    for (let cut = 1; cut <= frames.length; cut++) {
      const read = frames.slice(0, cut)
      const last = read.findLast(({ id }) => id !== undefined)?.id
      const rest = await partsIn(
        await rig.answers("m-1", "format=parts", last === undefined ? {} : { "last-event-id": last })
      )
      const first = read.map(({ data }) => JSON.parse(data) as Part)
      assert.deepStrictEqual(durable([...first, ...rest]), expected, `cut behind event ${cut}`)
    }
    assert.strictEqual((await rig.answers("m-1", "format=parts&after=nonsense")).status, 400)
  })

  test("it comes while it is made: reasoning, and a call before it is whole", async () => {
    await using rig = await aRig([looking, { text: "Two ships." }])
    const response = await allIn(await chatOf(rig.url).run("desk", "run-1", "What is there?"))
    const types = response.map(({ type }) => type)
    assert.includeMembers(types, ["REASONING_START", "REASONING_MESSAGE_CONTENT", "REASONING_END"])
    assert.isBelow(types.indexOf("REASONING_END"), types.indexOf("TEXT_MESSAGE_START"))
    assert.strictEqual(types.filter((type) => type === "TOOL_CALL_START").length, 1)
    assert.strictEqual(response.find(({ type }) => type === "TOOL_CALL_ARGS")?.["delta"], '{"at":7}')
  })
})

describe("a chat of useChat", () => {
  test("C1 the last message is said under its own id, and the stream is its answer; said again it is reported again", async () => {
    await using rig = await aRig([looking, { text: "Two ships." }])
    const older = [user("m-0", "An older one."), { id: "a-0", role: "assistant", parts: [] }]
    const first = await chunksIn(await rig.chat([...older, user("m-1", "What is there?")]))
    assert.deepInclude(first[0], { type: "start", messageId: "answer-m-1" })
    assert.deepInclude(first.at(-1), { type: "finish", finishReason: "stop" })
    const types = first.map(({ type }) => type)
    assert.includeMembers(types, ["reasoning-delta", "text-delta", "tool-input-available", "tool-output-available"])
    const again = await chunksIn(await rig.chat([user("m-1", "What is there?")]))
    assert.deepStrictEqual(
      again.filter(({ type }) => type.startsWith("tool-output")),
      first.filter(({ type }) => type.startsWith("tool-output"))
    )
    assert.strictEqual((await rig.fleet.views()).find(({ id }) => id === "desk")?.ticks, 1)
    assert.strictEqual((await chunksIn(await rig.answers("m-1", "format=ui"))).at(-1)?.type, "finish")
    for (const messages of [
      [],
      [{ id: "x", role: "user", parts: [] }],
      [{ id: "answer-m-1", role: "assistant", parts: [] }]
    ])
      assert.strictEqual((await rig.chat(messages)).status, 400)
  })

  test("K2 C1 a call that waits for a person ends the message; its decision goes on behind that place", async () => {
    for (const approved of [true, false]) {
      await using rig = await aRig([sinking, { text: "Well." }])
      const asked = await chunksIn(await rig.chat([user("m-1", "Sink it.")]))
      const request = asked.find(({ type }) => type === "tool-approval-request")
      assert.deepInclude(request, { toolCallId: "1.1.0" })
      const end = asked.at(-1)
      assert.deepInclude(end, { type: "finish", finishReason: "tool-calls" })
      const answer = {
        id: "answer-m-1",
        role: "assistant",
        metadata: end?.["messageMetadata"],
        parts: [
          { type: "step-start" },
          {
            type: "tool-sink",
            toolCallId: "1.1.0",
            state: "approval-responded",
            input: {},
            approval: { id: request?.["approvalId"], approved }
          }
        ]
      }
      const rest = await chunksIn(await rig.chat([user("m-1", "Sink it."), answer]))
      const types = rest.map(({ type }) => type)
      assert.include(types, approved ? "tool-output-available" : "tool-output-denied")
      assert.notInclude(types, "tool-input-available")
      assert.deepInclude(rest[0], { messageId: "answer-m-1" })
      assert.strictEqual(rest.find(({ type }) => type === "text-delta")?.["delta"], "Well.")
      assert.deepInclude(rest.at(-1), { finishReason: "stop" })
    }
  })
})
