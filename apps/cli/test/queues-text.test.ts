import { assert, describe, test } from "vitest"
import { queuesText } from "../src/commands/queues.ts"

const view = { backend: "reverie at postgres:5432, hints through redis:6379", queues: [] }
const named = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `1@quay-${at}`, role: "worker" }))
const lineOf = (text: string): string | undefined => text.split("\n")[1]

describe("queues ls", () => {
  test("says who works, that no one does, and nothing where it is not known", () => {
    assert.strictEqual(lineOf(queuesText({ ...view, workers: named(2) })), "2 workers: 1@quay-0, 1@quay-1")
    assert.match(lineOf(queuesText({ ...view, workers: named(30) })) ?? "", /^30 workers: .*1@quay-7, and 22 more$/)
    assert.match(lineOf(queuesText({ ...view, workers: [] })) ?? "", /^no one works/)
    assert.strictEqual(lineOf(queuesText(view)), "")
  })

  test("a name may hold anything, and is one line", () => {
    const workers = [{ name: "1@a\n\u001b[31mred", role: "worker" }]
    const text = queuesText({ ...view, workers })
    for (const part of ["\u001b", "1@a\n"]) assert.notInclude(text, part)
  })
})
