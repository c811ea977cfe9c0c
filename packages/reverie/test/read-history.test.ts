// What a compaction took out of sight is read again by the assistant itself, and by anyone who looks into the store.

import type { Line } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { assert, describe, test } from "vitest"
import { memoryTools, selfTools } from "../src/index.ts"
import { openFleet } from "./rig.ts"

const SECRET = "The number of the lease is 4711-B."

/** Long enough that a window of a few thousand tokens is soon full. */
const chatter = (at: number): string => `Word ${at}. ${"The tide was fair and the wind stood east. ".repeat(12)}`

const reading = (compaction: string): Line => ({
  calls: [{ tool: "read_history", arguments: { compaction, limit: 1 } }]
})

describe("read_history", () => {
  test("F53 F54 finds word for word what only a summary is left of", async () => {
    let last: Line = { text: "I do not know." }
    const seen: Array<string> = []
    await using fleet = await openFleet({
      says: ({ messages, tools }) => {
        if (tools.length === 0) return Effect.succeed({ text: "They talked about the tide, and of a lease." })
        const isQuestion = messages.at(-1)?.content.startsWith("Which number") === true
        if (isQuestion) seen.push(...messages.map(({ content }) => content))
        return Effect.succeed(isQuestion ? last : { text: "Aye." })
      },
      assistant: {
        tools: [...memoryTools, ...selfTools],
        memory: { recall: "off" },
        maxContextTokens: 5_000,
        reservedResponseTokens: 500,
        settings: { compactEnabled: true }
      }
    })
    await fleet.send("desk", SECRET)
    for (let at = 0; at < 40; at++) {
      await fleet.send("desk", chatter(at))
    }
    await fleet.idle()
    const [first] = await fleet.compactions.list("desk")
    assert.isDefined(first)
    const compacted = await fleet.compactions.messages("desk", first)
    assert.strictEqual(compacted[0]?.message.content, SECRET)
    assert.strictEqual(compacted.length, first.compacted_count)
    last = reading(first.id)
    await fleet.send("desk", "Which number has the lease?")
    await fleet.idle()
    assert.isFalse(
      seen.some((content) => content.includes("4711")),
      "it is out of sight"
    )
    assert.isTrue(seen.some((content) => content.startsWith("[CONTEXT SUMMARY]\nThey talked about the tide")))
    const results = (await fleet.history.entries("desk", 1, 1_000)).flatMap(({ entry }) =>
      entry.messages.filter(({ name, role }) => role === "tool" && name === "read_history")
    )
    assert.strictEqual(JSON.parse(results[0]?.content ?? "{}").messages[0].text, SECRET)
  })
})
