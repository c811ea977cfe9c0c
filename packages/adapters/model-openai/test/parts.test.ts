import type { ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import type { PromptMessage, PromptPart } from "@reverie/model"
import { saying, type Script } from "@reverie/testkit/model-server"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { OpenAiModelOptions } from "../src/options.ts"
import { Assembly } from "../src/wire/assembly.ts"
import { ResponsesAnswer } from "../src/wire/responses-answer.ts"
import { aPrompt, harbor } from "./harbor-model.ts"

// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

const bytes = Uint8Array.of(1, 2, 3)
const part = (over: Partial<PromptPart> = {}): PromptPart => ({
  type: "image",
  digest: "0".repeat(64),
  mediaType: "image/png",
  bytes: 3,
  ...over
})
const image = part({ name: "berth.png" })
const plan = part({ type: "file", mediaType: "application/pdf", name: "plan.pdf" })
const sound = part({ type: "audio", mediaType: "audio/mpeg" })

const call = { id: "7.1.0", tool: "look", arguments: {} }

const conversation: ReadonlyArray<PromptMessage> = [
  { role: "system", content: "You assign berths." },
  { role: "user", content: "Look.", parts: [image, plan] },
  { role: "assistant", content: "", calls: [call] },
  { role: "tool", content: "seen", call: "7.1.0", parts: [image] },
  { role: "user", content: "", parts: [sound] }
]

const read: Array<string> = []
const bytesOf = ({ digest }: PromptPart) =>
  Effect.sync(() => {
    read.push(digest)
    return bytes
  })

const asked = (options: Partial<OpenAiModelOptions>, messages = conversation, script: Script = saying("Berth 7.")) =>
  Effect.gen(function* () {
    const { model, server } = yield* harbor({ script }, options)
    const reply = yield* Effect.result(model.infer(aPrompt({ messages, tools: [], lasting: 4 }), { bytesOf }))
    return { reply, bodies: server.requests.map(({ body }) => body as Loose), accepts: model.serves?.accepts }
  })

const png = "data:image/png;base64,AQID"

describe("parts on the wire", () => {
  it.live("Chat Completions: images, files and audio stand beside the text, those of a result behind it", () =>
    Effect.gen(function* () {
      const { bodies } = yield* asked({ accepts: ["image", "file", "audio"] })
      assert.deepStrictEqual(bodies[0].messages.slice(1), [
        {
          role: "user",
          content: [
            {
              type: "text",
              text: "Look.\n[image berth.png, image/png, 3 bytes]\n[file plan.pdf, application/pdf, 3 bytes]"
            },
            { type: "image_url", image_url: { url: png } },
            { type: "file", file: { filename: "plan.pdf", file_data: "data:application/pdf;base64,AQID" } }
          ]
        },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "7_1_0", type: "function", function: { name: "look", arguments: "{}" } }]
        },
        { role: "tool", tool_call_id: "7_1_0", content: "seen\n[image berth.png, image/png, 3 bytes]" },
        {
          role: "user",
          content: [
            { type: "text", text: "What the result above holds:" },
            { type: "image_url", image_url: { url: png } }
          ]
        },
        { role: "user", content: [{ type: "input_audio", input_audio: { data: "AQID", format: "mp3" } }] }
      ])
    }).pipe(Effect.scoped)
  )

  it.live("the Responses API: input_image and input_file", () =>
    Effect.gen(function* () {
      const { bodies } = yield* asked({ wire: "responses", accepts: ["image", "application/pdf"] })
      const [, said, , , held, heard] = bodies[0].input
      assert.deepStrictEqual(said.content.slice(1), [
        { type: "input_image", detail: "auto", image_url: png },
        { type: "input_file", filename: "plan.pdf", file_data: "data:application/pdf;base64,AQID" }
      ])
      assert.deepStrictEqual(held.content[1], { type: "input_image", detail: "auto", image_url: png })
      assert.strictEqual(heard.content, "[audio, audio/mpeg, 3 bytes: not shown to this model]")
    }).pipe(Effect.scoped)
  )

  it.live("a model that is known for nothing reads of them in words, and no bytes are read for it", () =>
    Effect.gen(function* () {
      read.length = 0
      const { accepts, bodies } = yield* asked({})
      assert.deepStrictEqual(accepts, [])
      assert.deepStrictEqual(read, [])
      assert.strictEqual(
        bodies[0].messages[1].content,
        "Look.\n[image berth.png, image/png, 3 bytes: not shown to this model]\n[file plan.pdf, application/pdf, 3 bytes: not shown to this model]"
      )
    }).pipe(Effect.scoped)
  )

  it.live("what a well-known name takes is known", () =>
    Effect.gen(function* () {
      const { accepts } = yield* asked({ model: "gpt-4o-mini" })
      assert.deepStrictEqual(accepts, ["image"])
      const other = yield* asked({ model: "gpt-5", wire: "responses" })
      assert.deepStrictEqual(other.accepts, ["image", "application/pdf"])
      const plain = yield* asked({ model: "gpt-5", tools: "json" })
      assert.deepStrictEqual(plain.accepts, [])
    }).pipe(Effect.scoped)
  )

  it.live(
    "L3 a server that refuses parts is asked once more in words, and one that refuses anyway refuses as before",
    () =>
      Effect.gen(function* () {
        const picky: Script = ({ messages }) =>
          JSON.stringify(messages).includes("image_url")
            ? { refuse: "this model does not support image input" }
            : { text: "Told." }
        const { bodies, reply } = yield* asked({ accepts: ["image"] }, conversation.slice(0, 2), picky)
        assert.ok(Result.isSuccess(reply), JSON.stringify(reply))
        assert.strictEqual(reply.success.text, "Told.")
        assert.strictEqual(bodies.length, 2)
        const never: Script = () => ({ refuse: "the prompt is wrong" })
        const refused = yield* asked({ accepts: ["image"] }, conversation.slice(0, 2), never)
        assert.ok(Result.isFailure(refused.reply))
        assert.strictEqual(refused.reply.failure._tag, "ModelRefused")
      }).pipe(Effect.scoped)
  )
})

describe("I3 I4 images and audio of an answer", () => {
  const url = (address: string) => ({ type: "image_url", image_url: { url: address } })

  it("Chat Completions: each is a part, once, whole or in a stream; one at an address is a line of text", () => {
    const message = { content: "Here.", images: [url(png), url("https://h/a.png")] }
    const streamed = [
      { delta: { content: "Here." } },
      { delta: { images: [url(png)] } },
      { delta: { images: [url(png), url("https://h/a.png")] }, finish_reason: "stop" }
    ]
    for (const choices of [[{ message, finish_reason: "stop" }], streamed]) {
      const shown: Array<string> = []
      const assembly = new Assembly({ onText: (piece) => shown.push(piece) })
      for (const choice of choices) assembly.take({ choices: [{ index: 0, ...choice }] })
      assert.deepStrictEqual(assembly.parts, [{ type: "image", data: png }])
      assert.strictEqual(assembly.text, "Here.\n[image at https://h/a.png]")
      assert.strictEqual(shown.join(""), assembly.text)
    }
    const inContent = new Assembly()
    inContent.take({ choices: [{ index: 0, message: { content: [{ type: "text", text: "Here." }, url(png)] } }] })
    assert.deepStrictEqual([inContent.text, inContent.parts.length], ["Here.", 1])
  })

  it("Chat Completions: audio is a part, and what it says is the text", () => {
    const wav = Buffer.from("RIFF....WAVE")
    const assembly = new Assembly()
    const pieces = [
      { id: "a", transcript: "Berth " },
      { data: wav.subarray(0, 6).toString("base64"), transcript: "7." },
      { data: wav.subarray(6).toString("base64") }
    ]
    for (const audio of pieces) assembly.take({ choices: [{ index: 0, delta: { audio } }] })
    assert.strictEqual(assembly.text, "Berth 7.")
    assert.deepStrictEqual(assembly.parts, [{ type: "audio", data: wav, mediaType: "audio/wav" }])
  })

  it("Responses: an image that was generated is a part, whole or in a stream", () => {
    const item = { type: "image_generation_call", id: "ig_1", result: "AQID", output_format: "webp" }
    const whole = new ResponsesAnswer()
    whole.take({ status: "completed", output: [item] })
    const streamed = new ResponsesAnswer()
    streamed.take({ type: "response.output_item.added", output_index: 0, item: { ...item, result: null } })
    streamed.take({ type: "response.output_item.done", output_index: 0, item })
    for (const { parts } of [whole, streamed])
      assert.deepStrictEqual(parts, [{ type: "image", data: "data:image/webp;base64,AQID" }])
  })

  it.live("a reply of an image alone is a reply, and has it", () =>
    Effect.gen(function* () {
      const message = { role: "assistant", content: null, images: [url(png)] }
      const serve = (_: unknown, response: ServerResponse) => {
        response.writeHead(200, { "content-type": "application/json" })
        response.end(JSON.stringify({ model: "m", choices: [{ index: 0, message, finish_reason: "stop" }] }))
      }
      const { model } = yield* harbor({ serve })
      const reply = yield* model.infer(aPrompt({ tools: [] }))
      assert.deepStrictEqual(reply.parts, [{ type: "image", data: png }])
    }).pipe(Effect.scoped)
  )
})
