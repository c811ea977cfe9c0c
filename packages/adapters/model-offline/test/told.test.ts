import { assert, it } from "@effect/vitest"
import { infer } from "./asked.ts"

const toldOf = (end: string): string => {
  const calls = [{ id: "3.1.0", tool: "delegate_task", arguments: {} }]
  const content = JSON.stringify({ end, summary: "High water 11:35.", spent: { calls: 2 } })
  return infer([
    { role: "user", content: "When is high water?", name: "ann" },
    { role: "assistant", content: "", calls },
    { role: "tool", content, call: "3.1.0", name: "delegate_task" }
  ]).text
}

it("of a task that was done the summary is the answer, of one that was not how it ended", () => {
  assert.strictEqual(toldOf("completed"), "High water 11:35.")
  assert.match(toldOf("timeout"), /^End timeout, summary High water 11:35\./)
})
