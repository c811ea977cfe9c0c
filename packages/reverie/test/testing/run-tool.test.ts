import { assert, describe, it } from "vitest"
import { defineTool, selfTools } from "../../src/index.ts"
import { runTool, testClock, ToolCallFailed } from "../../src/testing/index.ts"
import { failureOf } from "../rig.ts"

const input = { type: "object", properties: { ship: { type: "string" } }, required: ["ship"] } as const
const find = defineTool({
  name: "find_berth",
  description: "Finds a berth.",
  input,
  run: (_, { assistant, key, now }) => ({ berth: 7, by: assistant, key, at: now })
})

const failureIn = async (promise: Promise<unknown>): Promise<ToolCallFailed> => {
  const failure = await failureOf(promise)
  assert.instanceOf(failure, ToolCallFailed)
  return failure
}

describe("runTool", () => {
  it("R1 gives what the function gave, and the very words for the model", async () => {
    const clock = testClock("2026-01-01T00:00")
    const { changes, content, isPending, output, sends } = await runTool(
      find,
      { ship: "Aurora" },
      { clock, key: "k", assistant: "desk" }
    )
    const expected = { berth: 7, by: "desk", key: "k", at: Date.UTC(2026, 0, 1) }
    assert.deepStrictEqual(output, expected)
    assert.deepStrictEqual(JSON.parse(content), expected)
    assert.deepStrictEqual([changes, sends, isPending], [[], [], false])
  })

  it("R2 throws what the tool threw, and says what else went wrong", async () => {
    const thrown = new RangeError("no such ship")
    const throwing = defineTool({ name: "t", description: "Throws.", run: async () => Promise.reject(thrown) })
    assert.strictEqual(await failureOf(runTool(throwing)), thrown)
    const misfit = await failureIn(runTool(find, { ship: 7 }))
    assert.deepInclude(misfit, { tool: "find_berth", failure: "arguments" })
    assert.include(misfit.message, "Nothing was run")
    const big = defineTool({ name: "big", description: "Gives a bigint.", run: () => 7n })
    assert.strictEqual((await failureIn(runTool(big))).failure, "not-json")
  })

  it("R2 a deadline goes by the clock of the test, an abort by its signal", async () => {
    const clock = testClock()
    const aborted: Array<boolean> = []
    const hang = defineTool({
      name: "hang",
      description: "Never ends.",
      run: (_, { signal }) => {
        signal.addEventListener("abort", () => aborted.push(true))
        return new Promise(() => {})
      }
    })
    const late = failureIn(runTool(hang, {}, { clock }))
    await clock.advance("30s")
    assert.strictEqual((await late).failure, "timeout")
    const controller = new AbortController()
    const halted = failureOf(runTool(hang, {}, { signal: controller.signal }))
    await new Promise((resolve) => setImmediate(resolve))
    controller.abort(new Error("halted"))
    assert.strictEqual((await halted).message, "halted")
    assert.deepStrictEqual(aborted, [true, true])
  })

  it("sees the records it is lent, and its changes and messages are reported", async () => {
    const note = defineTool({
      name: "note",
      description: "Notes.",
      usesRecords: true,
      run: async (_, { records, send }) => {
        const before = records.read("session").get("count")
        records.write("session", "count", Number(before) + 1)
        send("clerk", "It was noted.")
        return records.consult("goal_decompose", "How?")
      }
    })
    const records = { session: { count: 6 } }
    const ran = await runTool(note, {}, { records, consult: (_, text) => `${text} So.` })
    assert.strictEqual(ran.content, "How? So.")
    assert.deepStrictEqual(ran.changes, [{ kind: "session", key: "count", value: 7 }])
    assert.deepStrictEqual(ran.sends, [{ to: "clerk", text: "It was noted." }])
    assert.include((await failureOf(runTool(note))).message, "give runTool a `consult`")
    const journal = selfTools.find(({ name }) => name === "add_journal_entry")
    assert.ok(journal)
    assert.strictEqual(
      (await runTool(journal, { title: "Day", content: "Calm.", importance: 5 })).changes[0]?.kind,
      "journal"
    )
  })
})
