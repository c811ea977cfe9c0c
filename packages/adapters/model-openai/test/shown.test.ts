import { assert, describe, it } from "@effect/vitest"
import type { InferOptions } from "@reverie/model"
import type { Json } from "@reverie/protocol"
import { DONE, piece, saying } from "@reverie/testkit/model-server"
import * as Effect from "effect/Effect"
import { Assembly } from "../src/wire/assembly.ts"
import { ResponsesAnswer } from "../src/wire/responses-answer.ts"
import { aPrompt, harbor } from "./harbor-model.ts"

/** What is shown, a line a piece. */
const showing = (): { readonly lines: Array<string>; readonly options: InferOptions } => {
  const lines: Array<string> = []
  const options: InferOptions = {
    onText: (text) => lines.push(`text ${text}`),
    onReasoning: (text) => lines.push(`thinks ${text}`),
    onCall: ({ arguments: args, call, tool }) => lines.push(`call ${call} ${tool} ${args}`),
    onDropped: () => lines.push("dropped")
  }
  return { lines, options }
}

const delta = (fields: { readonly [key: string]: Json }): Json => ({ choices: [{ index: 0, delta: fields }] })

const toolPiece = (index: number, fields: { readonly [key: string]: Json }, id?: string): Json =>
  delta({ tool_calls: [{ index, ...(id === undefined ? {} : { id }), function: fields }] })

const all = [
  "thinks Let me ",
  "thinks see.",
  "text One moment.",
  "call 0 look ",
  'call 0 look {"berth"',
  "call 0 look :7}",
  "call 1 tide ",
  "call 1 tide {}"
]

describe("what an answer shows while it comes", () => {
  it("Chat Completions: reasoning, text, and each call with its arguments, in their order", () => {
    const { lines, options } = showing()
    const answer = new Assembly(options)
    for (const chunk of [
      delta({ reasoning_content: "Let me " }),
      // Some servers say the same twice.
      delta({ reasoning: "see.", reasoning_details: [{ type: "reasoning.text", index: 0, text: "see." }] }),
      delta({ content: "One moment." }),
      toolPiece(0, { name: "look", arguments: "" }, "a"),
      toolPiece(0, { arguments: '{"berth"' }),
      toolPiece(0, { arguments: ":7}" }),
      toolPiece(1, { name: "tide" }, "b"),
      toolPiece(1, { arguments: "{}" })
    ])
      answer.take(chunk)
    assert.deepStrictEqual(lines, all)
    const { lines: other, options: alone } = showing()
    new Assembly(alone).take(delta({ reasoning_details: [{ type: "reasoning.summary", summary: "Sums up." }] }))
    assert.deepStrictEqual(other, ["thinks Sums up."])
  })

  it("Responses: the same", () => {
    const { lines, options } = showing()
    const answer = new ResponsesAnswer(options)
    const event = (type: string, fields: { readonly [key: string]: Json }) =>
      answer.take({ type: `response.${type}`, ...fields })
    const call = (id: string, name: string) => ({ item: { type: "function_call", id, name, arguments: "" } })
    event("output_item.added", { output_index: 0, item: { type: "reasoning", id: "r" } })
    event("reasoning_summary_part.added", { item_id: "r", summary_index: 0 })
    event("reasoning_summary_text.delta", { item_id: "r", delta: "Let me " })
    event("reasoning_text.delta", { item_id: "r", delta: "see." })
    event("output_text.delta", { item_id: "m", delta: "One moment." })
    event("output_item.added", { output_index: 2, ...call("f1", "look") })
    event("function_call_arguments.delta", { item_id: "f1", delta: '{"berth"' })
    event("function_call_arguments.delta", { item_id: "f1", delta: ":7}" })
    event("output_item.added", { output_index: 3, ...call("f2", "tide") })
    event("function_call_arguments.delta", { item_id: "f2", delta: "{}" })
    assert.deepStrictEqual(lines, all)
  })

  it.live("W1 an attempt that broke off is dropped before the next one shows anything", () =>
    Effect.gen(function* () {
      let tries = 0
      const { model } = yield* harbor({
        serve: (request, response) => {
          response.writeHead(200, { "content-type": "text/event-stream" })
          response.write(
            piece(request.model, { content: tries === 0 ? "Berth six" : "Berth seven." }, tries ? "stop" : undefined)
          )
          if (tries++ > 0) response.end(DONE)
          else setImmediate(() => response.destroy())
        }
      })
      const { lines, options } = showing()
      const reply = yield* model.infer(aPrompt(), options)
      assert.strictEqual(reply.text, "Berth seven.")
      assert.deepStrictEqual(lines, ["text Berth six", "dropped", "text Berth seven."])
    }).pipe(Effect.scoped)
  )

  it.live(
    "W1 a reply that is corrected is dropped, and the corrected one shown; names and arguments are as we know them",
    () =>
      Effect.gen(function* () {
        const { model } = yield* harbor({
          sequence: [
            { script: () => ({ text: "Hm.", calls: [{ tool: "peer", arguments: {} }] }) },
            { script: saying("Better.") }
          ]
        })
        const { lines, options } = showing()
        yield* model.infer(aPrompt(), options)
        const at = lines.indexOf("dropped")
        assert.isAbove(at, 0)
        assert.isTrue(lines.slice(0, at).some((line) => line.startsWith("call 0 peer")))
        assert.strictEqual(
          lines
            .slice(at + 1)
            .map((line) => line.slice("text ".length))
            .join(""),
          "Better."
        )
      }).pipe(Effect.scoped)
  )
})
