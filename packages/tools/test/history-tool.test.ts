import { assert, it } from "@effect/vitest"
import { cleanText } from "@reverie/memory"
import {
  AssistantId,
  DEFAULT_TENANT,
  isBefore,
  type Json,
  type Message,
  type MessagePlace,
  type PlacedMessage
} from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { describe } from "vitest"
import { type RecordAccess, execute, memoryTools, toolkitOf } from "../src/index.ts"

/** As render.ts promises (I1). */
const MAX_RESULT_CHARS = 16_000

const kit = toolkitOf(memoryTools)
const AT = Date.UTC(2025, 11, 6, 17, 15, 0)

const placed = (messages: ReadonlyArray<Omit<Message, "at" | "tokens">>): ReadonlyArray<PlacedMessage> =>
  messages.map((message, at) => ({
    place: { no: 1 + Math.floor(at / 2), index: at % 2 },
    message: { ...message, at: AT + at * 60_000, tokens: 1 }
  }))

const range = { from: { no: 2, index: 0 }, to: { no: 3, index: 0 } }

const recordsOn = (past: ReadonlyArray<PlacedMessage>): RecordAccess => ({
  read: () => new Map(),
  consult: () => Promise.reject(new Error("no one is asked")),
  loop: {
    tick: 7,
    iteration: 1,
    maxIterations: 5,
    tokensUsed: 0,
    maxContextTokens: 100_000,
    reservedResponseTokens: 0,
    toolsThisTick: [],
    pendingTools: [],
    sleepBlockers: { isAsleep: false, unfinished: [] }
  },
  history: {
    read: (from: MessagePlace, limit: number) =>
      Promise.resolve(past.filter(({ place }) => !isBefore(place, from)).slice(0, limit)),
    compacted: (compaction) => Promise.resolve(compaction === "compact_1" ? range : undefined)
  }
})

const read = (past: ReadonlyArray<PlacedMessage> | undefined, args: Json = {}) =>
  execute(
    kit.get("read_history"),
    { id: "7.1.0", tool: "read_history", arguments: args },
    {
      address: { tenant: DEFAULT_TENANT, assistant: AssistantId.make("Wren") },
      key: "default/Wren/7.1.0",
      hops: 0,
      ...(past === undefined ? {} : { records: recordsOn(past) }),
      names: kit.names
    }
  )

interface Answer {
  readonly success: boolean
  readonly error?: string
  readonly messages: ReadonlyArray<{ readonly place: string; readonly who: string; readonly text: string }>
  readonly next: { readonly from: string; readonly offset?: number } | null
}

const answer = Effect.fnUntraced(function* (past: ReadonlyArray<PlacedMessage> | undefined, args: Json = {}) {
  const { content, ok } = yield* read(past, args)
  assert.isTrue(ok, content)
  return JSON.parse(content) as Answer
})

const said = (length: number) =>
  placed(Array.from({ length }, (_, at) => ({ role: "user" as const, content: `word${at}`, name: "ann" })))

const texts = ({ messages }: Answer): ReadonlyArray<string> => messages.map(({ text }) => text)

describe("read_history", () => {
  it("H1 is a safe tool that may run again after a crash", () => {
    assert.deepInclude(kit.get("read_history"), { category: "safe_chain", idempotent: true, usesRecords: true })
  })

  it.effect("H2 tells messages with place, time and speaker, calls and results by their ids", () =>
    Effect.gen(function* () {
      const past = placed([
        { role: "user", content: "The berth\u200b is 12\u202e m", name: "ann" },
        { role: "assistant", content: "I look.", calls: [{ id: "1.1.0", tool: "look", arguments: { berth: 12 } }] },
        { role: "tool", content: "free", call: "1.1.0", name: "look" }
      ])
      assert.deepStrictEqual(yield* answer(past), {
        success: true,
        messages: [
          { place: "m/1/0", when: "2025-12-06T17:15:00.000Z", who: "ann", text: "The berth is 12 m" },
          {
            place: "m/1/1",
            when: "2025-12-06T17:16:00.000Z",
            who: "Wren",
            text: "I look.",
            calls: [{ call: "1.1.0", tool: "look", arguments: '{"berth":12}' }]
          },
          { place: "m/2/0", when: "2025-12-06T17:17:00.000Z", who: "look", result_of: "1.1.0", text: "free" }
        ],
        next: null
      } as object as Answer)
    })
  )

  it.effect("H1 H3 reads from a place on, and says where to read on", () =>
    Effect.gen(function* () {
      const past = said(30)
      assert.lengthOf((yield* answer(past)).messages, 20)
      const first = yield* answer(past, { from: "m/3/1", limit: 2 })
      assert.deepStrictEqual(texts(first), ["word5", "word6"])
      assert.deepStrictEqual(first.next, { from: "m/4/1" })
      assert.deepStrictEqual(texts(yield* answer(past, { from: "15/0" })), ["word28", "word29"])
      assert.deepStrictEqual(yield* answer(past, { from: "m/99/0" }), { success: true, messages: [], next: null })
    })
  )

  it.effect("H1 reads what a compaction has compacted, and nothing beyond", () =>
    Effect.gen(function* () {
      const past = said(30)
      assert.deepStrictEqual(texts(yield* answer(past, { compaction: "compact_1" })), ["word2", "word3", "word4"])
      const inside = yield* answer(past, { compaction: "compact_1", from: "m/2/1" })
      assert.deepStrictEqual(texts(inside), ["word3", "word4"])
      const before = yield* answer(past, { compaction: "compact_1", from: "m/1/0", limit: 1 })
      assert.deepStrictEqual([texts(before), before.next], [["word2"], { from: "m/2/1" }])
      assert.deepStrictEqual(yield* answer(past, { compaction: "compact_2" }), {
        success: false,
        error: "there is no compaction compact_2"
      } as object as Answer)
    })
  )

  it.effect("H2 arguments that name no place are refused with a sentence", () =>
    Effect.gen(function* () {
      for (const from of ["12", "m/1", "m/-1/0", "x/1/2", "1/2/3"]) {
        const result = yield* read(said(3), { from })
        assert.deepInclude(result, { ok: false, failure: "arguments" })
      }
    })
  )

  it("H3 any message is read to its end, piece by piece, within the bound of a result", async () => {
    const content = fc.oneof(
      fc.string({ unit: "binary", maxLength: 30 }),
      fc.integer({ min: 0, max: 20_000 }).map((length) => "anchor ".repeat(length).slice(0, length)),
      fc.constantFrom('"\\\n'.repeat(5_000), "⚓🚢".repeat(6_000), "\u{1f6a2}".repeat(5_999))
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(content, { maxLength: 6 }),
        fc.integer({ min: 1, max: 50 }),
        async (contents, limit) => {
          const past = placed(contents.map((each) => ({ role: "user" as const, content: each, name: "ann" })))
          const found = new Map<string, string>()
          let args: { readonly from?: string; readonly offset?: number } = {}
          for (let rounds = 0; ; rounds++) {
            assert.isBelow(rounds, 60)
            const { content: told, ok } = await Effect.runPromise(read(past, { ...args, limit }))
            assert.isTrue(ok)
            assert.isAtMost(told.length, MAX_RESULT_CHARS)
            const { messages, next } = JSON.parse(told) as Answer
            for (const { place, text } of messages) found.set(place, (found.get(place) ?? "") + text)
            if (next === null) break
            args = next
          }
          for (const { message, place } of past) {
            assert.strictEqual(found.get(`m/${place.no}/${place.index}`), cleanText(message.content))
          }
        }
      ),
      { numRuns: 30 }
    )
  })

  it("H3 many long calls of one message leave the result within its bound", async () => {
    const calls = Array.from({ length: 16 }, (_, at) => ({
      id: `1.1.${at}`,
      tool: "write",
      arguments: { text: '"\\'.repeat(4_000) }
    }))
    const past = placed([{ role: "assistant", content: '"'.repeat(20_000), calls }])
    const { content } = await Effect.runPromise(read(past))
    assert.isAtMost(content.length, MAX_RESULT_CHARS)
    assert.lengthOf((JSON.parse(content) as Answer).messages, 1)
  })

  it.effect("H1 where there is no past there are no messages", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* answer(undefined), { success: true, messages: [], next: null })
      assert.isFalse((yield* answer(undefined, { compaction: "compact_1" })).success)
    })
  )
})
