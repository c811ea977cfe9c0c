import { assert, it } from "@effect/vitest"
import { Envelope, MAX_MESSAGE_CHARS } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { describe } from "vitest"
import { execute, type Tool, type ToolRun } from "../src/index.ts"
import { callOf, context, running } from "./fixtures.ts"
import { MAX_SENDS } from "../src/tool.ts"

const probe = (tool: Tool) => execute(tool, callOf("probe"), context)

describe("sends I1: messages are named after the key and their place", () => {
  const sending = running(({ send }) => {
    send("archive", "first")
    send("planner", "second")
  })

  it.effect("become envelopes, the same at every attempt", () =>
    Effect.gen(function* () {
      const run = execute(sending, callOf("probe"), { ...context, traceparent: "00-a-b-01" })
      const { sends } = yield* run
      assert.deepStrictEqual(sends, (yield* run).sends)
      assert.deepStrictEqual<ReadonlyArray<unknown>>(sends, [
        {
          v: 1,
          id: `${context.key}#0`,
          to: { tenant: "default", assistant: "archive" },
          from: "assistant:desk",
          event: { type: "message", text: "first" },
          hops: 3,
          traceparent: "00-a-b-01"
        },
        {
          v: 1,
          id: `${context.key}#1`,
          to: { tenant: "default", assistant: "planner" },
          from: "assistant:desk",
          event: { type: "message", text: "second" },
          hops: 3,
          traceparent: "00-a-b-01"
        }
      ])
      yield* Effect.forEach(sends, (envelope) => Schema.decodeUnknownEffect(Envelope)(envelope))
    })
  )

  it.effect("keep apart under keys that are too long for an envelope id", () =>
    Effect.gen(function* () {
      const long = "k".repeat(300)
      const [a] = (yield* execute(sending, callOf("probe"), { ...context, key: `${long}a` })).sends
      const [b] = (yield* execute(sending, callOf("probe"), { ...context, key: `${long}b` })).sends
      assert.match(a?.id ?? "", /^[0-9a-f]{64}#0$/)
      assert.notStrictEqual(a?.id, b?.id)
    })
  )

  it.effect("are refused inside the tool when they can not be sent", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [string, string, string]> = [
        ["", "hello", "send needs the id of an assistant"],
        ["no/slash", "hello", "send needs the id of an assistant"],
        ["archive", 5 as unknown as string, "send needs a text"],
        ["archive", "x".repeat(MAX_MESSAGE_CHARS + 1), "a message can have at most 1000000 characters"]
      ]
      for (const [to, text, why] of cases) {
        const result = yield* probe(running(({ send }) => send(to, text)))
        assert.strictEqual(result.failure, "threw")
        assert.include(result.content, why)
      }
      const flood = running(({ send }) => {
        for (let sent = 0; sent <= MAX_SENDS; sent++) send("archive", "again")
      })
      assert.include((yield* probe(flood)).content, `at most ${MAX_SENDS} messages`)
    })
  )
})

describe("tool I3: only a result that is ok carries sends", () => {
  it.effect("drops them with a failed run, and says so", () =>
    Effect.gen(function* () {
      const threw = yield* probe(
        running(({ send }) => {
          send("archive", "one")
          send("archive", "two")
          throw new Error("then broke")
        })
      )
      assert.deepStrictEqual(threw.sends, [])
      assert.include(threw.content, "then broke The 2 messages it wanted to send were not sent.")
      const unshowable = yield* probe(
        running(({ send }) => {
          send("archive", "one")
          return 1n
        })
      )
      assert.deepStrictEqual(unshowable.sends, [])
      assert.include(unshowable.content, "The message it wanted to send was not sent.")
    })
  )

  it.effect("refuses a send after the end of the run (sends I2)", () =>
    Effect.gen(function* () {
      let send: ToolRun["send"] | undefined
      const result = yield* probe(
        running((run) => {
          send = run.send
          run.send("archive", "in time")
        })
      )
      assert.throws(() => send?.("archive", "too late"), /after the run had ended; the message was not sent/)
      assert.strictEqual(result.sends.length, 1)
    })
  )
})
