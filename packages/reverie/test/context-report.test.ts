// What a model was shown, found again: in entries made by hand, in a fleet at work, and beside it.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Entry, StepRecord } from "@reverie/protocol"
import { assert, describe, test } from "vitest"
import {
  compareReports,
  contextReportOf,
  defineAssistant,
  defineFleet,
  defineTool,
  Fleet,
  FleetReader,
  selfTools
} from "../src/index.ts"

const stamp = defineTool({ name: "stamp", description: "Stamps a paper.", run: () => "stamped" })

const fleet = defineFleet({
  assistants: [defineAssistant({ id: "clerk", instructions: "You are a clerk.", tools: [stamp, ...selfTools] })]
})

const infer: StepRecord = { id: "9/infer", kind: "infer", name: "infer", ok: true, elapsedMs: 1 }
const entry: Entry = {
  v: 1,
  no: 9,
  at: 77,
  epoch: 1,
  tick: 4,
  iteration: 2,
  cause: { kind: "job", id: "9/infer" },
  event: null,
  status: "awake.idle",
  messages: []
}

describe("contextReportOf", () => {
  test("it tells what the call took, and what had come to mind", () => {
    const usage = { inputTokens: 12, outputTokens: 3, source: "provider" } as const
    const step = { ...infer, usage, detail: { context: { tokens: 12 }, recalled: ["f/fact_1_0"] } }
    assert.deepInclude(contextReportOf({ ...entry, step }), { usage, recalled: ["f/fact_1_0"] })
  })

  test("C1 a report with few fields is one in which nothing was left out", () => {
    const context = { parts: [{ id: 0, key: "system_prompt", messages: 1, tokens: 12 }], tokens: 12 }
    const pattern = { mode: "react_loop", source_layers: { mode: "context" } }
    assert.deepStrictEqual(
      contextReportOf({ ...entry, step: { ...infer, ok: false, detail: { model: "m", context, pattern } } }),
      {
        tick: 4,
        iteration: 2,
        at: 77,
        ok: false,
        model: "m",
        parts: [{ id: 0, key: "system_prompt", messages: 1, tokens: 12 }],
        toolTokens: 0,
        tokens: 12,
        limit: 0,
        share: 0,
        absent: [],
        leftOut: [],
        cuts: [],
        interrupted: [],
        pattern
      }
    )
  })

  test("what is no model call, or left no report, has none", () => {
    assert.isUndefined(contextReportOf(entry))
    assert.isUndefined(contextReportOf({ ...entry, step: infer }))
    assert.isUndefined(contextReportOf({ ...entry, step: { ...infer, detail: { context: "lost" } } }))
    assert.isUndefined(contextReportOf({ ...entry, step: { ...infer, kind: "tool", detail: { context: {} } } }))
  })

  test("a reply whose calls were all refused counts for the iteration that asked for them", () => {
    const asking = (id: string): Entry["messages"] => [
      { role: "assistant", content: "", at: 77, tokens: 1, calls: [{ id, tool: "stamp", arguments: {} }] }
    ]
    const step = { ...infer, detail: { context: {} } }
    assert.strictEqual(contextReportOf({ ...entry, step, messages: asking("4.1.0") })?.iteration, 1)
    assert.strictEqual(contextReportOf({ ...entry, step, messages: asking("4.2.0") })?.iteration, 2)
  })
})

describe("contextReport", () => {
  test("F111 the newest call, one of a tick, one of an iteration, or none; the same beside a running fleet", async () => {
    const data = await mkdtemp(join(tmpdir(), "reverie-context-"))
    try {
      await using opened = await Fleet.open({ fleet, data, model: "offline" })
      assert.isUndefined(await opened.history.contextReport("clerk"))
      await opened.answer("clerk", "Good morning")
      await opened.answer("clerk", "/stamp")
      await opened.post("clerk", { type: "sleep" })
      await opened.idle()
      const newest = await opened.history.contextReport("clerk")
      assert.deepInclude(newest, { tick: 2, iteration: 2, ok: true, model: "reverie-offline", context: "tick_event" })
      const first = await opened.history.contextReport("clerk", { tick: 1 })
      assert.deepInclude(first, { tick: 1, iteration: 1 })
      assert.deepInclude(await opened.history.contextReport("clerk", { tick: 2, iteration: 1 }), {
        tick: 2,
        iteration: 1
      })
      assert.deepInclude(await opened.history.contextReport("clerk", { iteration: 1 }), { tick: 2, iteration: 1 })
      for (const question of [{ tick: 0 }, { tick: 3 }, { tick: 99 }, { tick: 1, iteration: 2 }, { iteration: 7 }]) {
        assert.isUndefined(await opened.history.contextReport("clerk", question), JSON.stringify(question))
      }
      assert.isUndefined(await opened.history.contextReport("nobody"))
      await using peek = await FleetReader.open(data)
      assert.deepStrictEqual(await peek.history.contextReport("clerk"), newest)
      assert.deepStrictEqual(await peek.history.contextReport("clerk", { tick: 1 }), first)
      if (first === undefined || newest === undefined) return assert.fail("both were there")
      const sum = newest.parts.reduce((total, { tokens }) => total + tokens, newest.toolTokens)
      assert.strictEqual(sum, newest.tokens)
      const { parts, tokensMore } = compareReports(first, newest)
      assert.include(
        parts.filter(({ tokens }) => tokens[0] === null).map(({ key }) => key),
        "tool_result"
      )
      assert.strictEqual(tokensMore, newest.tokens - first.tokens)
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })

  test("the records of an assistant, of one kind or all", async () => {
    await using opened = await Fleet.open({ fleet, data: ":memory:", model: "offline" })
    await opened.answer("clerk", `/add_goal description="Clear the desk"`)
    const [goal, ...others] = await opened.memory.records("clerk", ["goal"])
    assert.deepStrictEqual(others, [])
    assert.deepInclude(goal, { kind: "goal", key: "goal_1_0" })
    assert.deepInclude(goal?.value, { description: "Clear the desk", progress: 0 })
    assert.deepStrictEqual(
      new Set((await opened.memory.records("clerk")).map(({ kind }) => kind)),
      new Set(["goal", "state"])
    )
    assert.deepStrictEqual(await opened.memory.records("clerk", ["journal"]), [])
  })
})
