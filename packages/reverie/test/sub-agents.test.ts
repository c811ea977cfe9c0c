import { StatementSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import type { Prompt } from "@reverie/model"
import type { Script } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { defineAssistant, defineFleet, DelegationRefused } from "../src/index.ts"
import { vi } from "vitest"
import { failureOf, gate, openFleet } from "./rig.ts"

const isChild = ({ messages }: Prompt): boolean =>
  messages.some(({ content, role }) => role === "system" && content.includes("finish_task"))

const wise: Script = (prompt) =>
  Effect.succeed(
    isChild(prompt)
      ? { text: "Nine ships.", usage: { inputTokens: 200, outputTokens: 20, source: "provider" } }
      : { text: "I have nothing to do." }
  )

describe("sub-agents in the SDK", () => {
  it("A35 a task is handed on from outside, its report is waited for, and the tree tells what came back", async () => {
    await using fleet = await openFleet({
      says: wise,
      assistant: { subAgents: { maxConcurrent: 2, budget: { tokens: 9_000 } } }
    })
    const task = await fleet.subAgents.delegate("clerk", "Count the ships")
    const report = await task.report()
    assert.deepInclude(report, { end: "completed", summary: "Nine ships.", cut: false })
    const subAgentTree = await fleet.subAgents.tree("clerk")
    assert.deepStrictEqual(subAgentTree?.slots, { enabled: true, budget: 2, open: 0 })
    assert.deepInclude(subAgentTree?.spent, { tokens: 220, calls: 1 })
    const [child] = subAgentTree?.subAgents ?? []
    assert.deepInclude(child, { id: task.child, phase: "completed", state: "retired" })
    assert.deepInclude(child?.granted, { tokens: 9_000, calls: 20 })
    assert.deepInclude(child?.returned, { tokens: 8_780, calls: 19 })
    // The same order is one.
    const again = await fleet.subAgents.delegate("clerk", "Count the ships", { id: "again" })
    assert.strictEqual((await fleet.subAgents.delegate("clerk", "Count the ships", { id: "again" })).child, again.child)
  })

  it("D3 a report that is waited for is looked for after commits of the parent, and not by the clock", async () => {
    const work = gate()
    const model: Script = (prompt, call) =>
      isChild(prompt)
        ? Effect.andThen(
            Effect.promise(() => work.passed),
            wise(prompt, call)
          )
        : wise(prompt, call)
    await using fleet = await openFleet({ says: model, assistant: { subAgents: {} } })
    const task = await fleet.subAgents.delegate("clerk", "Count the ships")
    const timers = vi.spyOn(globalThis, "setTimeout")
    const report = task.report()
    const turns = async (count: number) => {
      for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
    await turns(200)
    const reads = vi.spyOn(StatementSync.prototype, "get")
    await turns(200)
    const short = timers.mock.calls.filter(([, millis = 0]) => millis > 0 && millis <= 20)
    const count = reads.mock.calls.length
    vi.restoreAllMocks()
    work.open()
    assert.deepInclude(await report, { summary: "Nine ships." })
    assert.deepStrictEqual(short, [])
    assert.strictEqual(count, 0)
  })

  it("A35 a refusal is an error that says why", async () => {
    await using fleet = await openFleet({ says: wise })
    const failure = await failureOf(fleet.subAgents.delegate("clerk", "Count the ships"))
    assert.instanceOf(failure, DelegationRefused)
    assert.match(failure.message, /sub_agents_not_allowed/)
    assert.strictEqual(
      failure.message,
      "clerk refused the task: its definition allows it no sub-agents (subAgents) (sub_agents_not_allowed)"
    )
  })

  it("one that is called back ends, and says so", async () => {
    const slow: Script = (prompt) => (isChild(prompt) ? Effect.never : Effect.succeed({ text: "ok" }))
    await using fleet = await openFleet({ says: slow, assistant: { subAgents: {} } })
    const task = await fleet.subAgents.delegate("clerk", { task: "Count", seconds: 100 })
    while ((await fleet.inspect(task.child))?.state.status !== "awake.thinking.inferring") {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await fleet.subAgents.cancel(task.child, "never mind")
    assert.deepInclude(await task.report(), { end: "cancelled", reason: "never mind" })
  })

  it("a specialist does the work with its own prompt and the tools that both have", async () => {
    const prompts: Array<Prompt> = []
    const script: Script = (prompt, call) => {
      prompts.push(prompt)
      return wise(prompt, call)
    }
    await using fleet = await openFleet({
      says: script,
      fleet: defineFleet({
        assistants: [
          defineAssistant({
            id: "desk",
            instructions: "You are a desk.",
            subAgents: { assistants: ["diver"] }
          }),
          defineAssistant({ id: "diver", instructions: "You dive for wrecks." })
        ]
      })
    })
    const task = await fleet.subAgents.delegate("desk", { task: "Dive", specialist: "diver" })
    await task.report()
    const system = prompts.find(isChild)?.messages.find(({ role }) => role === "system")?.content ?? ""
    assert.include(system, "You dive for wrecks.")
    assert.strictEqual((await fleet.inspect(task.child))?.state.definition, "diver")
    const stranger = await fleet.subAgents.delegate("desk", { task: "Dive", specialist: "desk2" })
    assert.isUndefined(await stranger.report())
  })

  it("what is said wrongly is refused at once", () => {
    const wrong = [
      { subAgents: { maxConcurrent: 101 } },
      { subAgents: { maxRetries: 2 } },
      { subAgents: { budget: { tokens: 0 } } },
      { subAgents: { budget: { costMicros: 0 } } },
      { budget: { calls: 1.5 } }
    ]
    for (const options of wrong)
      assert.throws(() => defineAssistant({ id: "a", instructions: "b", ...options }), /assistant "a"/)
    const assistants = [defineAssistant({ id: "a", instructions: "b", subAgents: { assistants: ["nobody"] } })]
    assert.throws(() => defineFleet({ assistants }), /nobody/)
  })
})
