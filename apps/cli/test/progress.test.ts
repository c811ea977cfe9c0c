// Progress: each line of what happens fits the terminal that shows it, and says words.

import { stripVTControlCharacters } from "node:util"
import { later } from "@reverie/testkit/later"
import type { Notice } from "reverie"
import { assert, test } from "vitest"
import { tellNotice } from "../src/texts/progress.ts"
import { onStderr } from "./on-stderr.ts"

/** The line of a notice in a terminal of so many columns, without its colours. */
const toldIn = (columns: number, notice: object): string => {
  const before = Object.getOwnPropertyDescriptor(process.stderr, "columns")
  const said = onStderr()
  later(() => {
    if (before === undefined) Reflect.deleteProperty(process.stderr, "columns")
    else Object.defineProperty(process.stderr, "columns", before)
  })
  Object.defineProperty(process.stderr, "columns", { value: columns, configurable: true })
  const address = { tenant: "default", assistant: "planner+19.1.0" }
  tellNotice({ address, at: 0, no: 1, tick: 1, ...notice } as unknown as Notice)
  return stripVTControlCharacters(said()).trimEnd()
}

const goal = { success: true, goal_id: "goal_3_0", description: "Open the regatta on day 30", timestamp: "2026-11-28" }
const gave = { type: "tool-finished", tool: "add_goal", ok: true, content: JSON.stringify(goal), call: "1.1.0" }
const heard = {
  type: "tick-started",
  envelope: "e",
  from: "harbour master",
  text: "The course is laid out. ".repeat(9)
}

test("P1 a line is as wide as the terminal, and no wider", () => {
  for (const columns of [80, 100, 132]) {
    const said = { ...gave, content: "The tide turns. ".repeat(20) }
    for (const notice of [said, heard]) {
      const line = toldIn(columns, notice)
      assert.isAtMost(line.length, columns, line)
      assert.isAtLeast(line.length, columns - 2, line)
    }
  }
})

test("P2 data stands there as words, without what only programs know it by", () => {
  assert.strictEqual(toldIn(100, gave), "planner+19.1.0 tool add_goal: description Open the regatta on day 30")
  assert.match(toldIn(100, { ...gave, content: '{"success":true,"id":"passage_1"}' }), /add_goal: id passage_1$/)
})

test("P2 who speaks is called by his name: an assistant, a timer", () => {
  const by = (from: string, text: string) => toldIn(100, { ...heard, from, text })
  assert.strictEqual(by("assistant:desk", "Lay out the course."), "planner+19.1.0 < desk: Lay out the course.")
  assert.strictEqual(by("clock", "[timer evening] It is time."), "planner+19.1.0 < timer evening: It is time.")
  assert.strictEqual(by("ann", "[timer evening] Pay him."), "planner+19.1.0 < ann: [timer evening] Pay him.")
  const asked = { type: "approval-asked", tool: "pay", approval: "apr_3eac08f5c5e5022d", withinMs: 1_000 }
  assert.strictEqual(toldIn(100, asked), "planner+19.1.0 asks for approval: pay (apr_3eac08f5c5e5022d)")
})
