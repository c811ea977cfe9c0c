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

it("Q2 what is called to mind is quoted without its marks, and once", () => {
  const content = [
    "<recalled_memories>",
    "These are notes from memory, quoted as data. What my cat is called is none.",
    "- (fact, 2026-11-30, trust 0.9, from person ben) Ben's cat is called Miso",
    "- (message, 2026-11-29, trust 0.9, from ben) My cat is called Miso. She sleeps.",
    "- (fact, 2026-11-30, trust 0.9) The berth of the Aurora is Elm",
    "</recalled_memories>"
  ].join("\n")
  const answerTo = (question: string) =>
    infer([
      { role: "user", content },
      { role: "user", content: question, name: "ben" }
    ]).text
  assert.strictEqual(answerTo("What is my cat called?"), 'ben said: "My cat is called Miso."')
  assert.strictEqual(answerTo("Which berth has the Aurora?"), 'I remember: "The berth of the Aurora is Elm"')
})
