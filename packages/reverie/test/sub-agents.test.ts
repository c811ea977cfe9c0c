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
    await using fleet = await openFleet({ says: wise, assistant: { subAgents: { limits: { tokens: 9_000 } } } })
    const task = await fleet.delegate("clerk", "Count the ships")
    const report = await task.report()
    assert.deepInclude(report, { end: "completed", summary: "Nine ships.", cut: false })
    const subAgentTree = await fleet.subAgents("clerk")
    assert.deepInclude(subAgentTree?.spent, { tokens: 220, calls: 1 })
    const [child] = subAgentTree?.subAgents ?? []
    assert.deepInclude(child, { id: task.child, phase: "completed", state: "retired" })
    assert.deepInclude(child?.granted, { tokens: 9_000, calls: 20 })
    assert.deepInclude(child?.returned, { tokens: 8_780, calls: 19 })
    // The same order is one.
    const again = await fleet.delegate("clerk", "Count the ships", { id: "again" })
    assert.strictEqual((await fleet.delegate("clerk", "Count the ships", { id: "again" })).child, again.child)
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
    const task = await fleet.delegate("clerk", "Count the ships")
    let news = 0
    fleet.on("state-changed", ({ address }) => {
      if (address.assistant === "clerk") news++
    })
    const looks = vi.spyOn(fleet, "inspect")
    const timers = vi.spyOn(globalThis, "setTimeout")
    const report = task.report()
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
    const short = timers.mock.calls.filter(([, millis = 0]) => millis > 0 && millis <= 20)
    timers.mockRestore()
    work.open()
    assert.deepInclude(await report, { summary: "Nine ships." })
    const ofParent = looks.mock.calls.filter(([id]) => id === "clerk")
    assert.deepStrictEqual(short, [])
    assert.isAtMost(ofParent.length, 1 + news)
  })

  it("A35 a refusal is an error that says why", async () => {
    await using fleet = await openFleet({ says: wise })
    const failure = await failureOf(fleet.delegate("clerk", "Count the ships"))
    assert.instanceOf(failure, DelegationRefused)
    assert.match(failure.message, /sub_agents_not_allowed/)
  })

  it("one that is called back ends, and says so", async () => {
    const slow: Script = (prompt) => (isChild(prompt) ? Effect.never : Effect.succeed({ text: "ok" }))
    await using fleet = await openFleet({ says: slow, assistant: { subAgents: {} } })
    const task = await fleet.delegate("clerk", { task: "Count", seconds: 100 })
    while ((await fleet.inspect(task.child))?.state.status !== "awake.thinking.inferring") {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await fleet.cancel(task.child, "never mind")
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
          defineAssistant({ id: "desk", prompt: "You are a desk.", subAgents: { specialists: ["diver"] } }),
          defineAssistant({ id: "diver", prompt: "You dive for wrecks." })
        ]
      })
    })
    const task = await fleet.delegate("desk", { task: "Dive", specialist: "diver" })
    await task.report()
    const system = prompts.find(isChild)?.messages.find(({ role }) => role === "system")?.content ?? ""
    assert.include(system, "You dive for wrecks.")
    assert.strictEqual((await fleet.inspect(task.child))?.state.definition, "diver")
    const stranger = await fleet.delegate("desk", { task: "Dive", specialist: "desk2" })
    assert.isUndefined(await stranger.report())
  })

  it("what is said wrongly is refused at once", () => {
    const wrong = [
      { subAgents: { budget: 99 } },
      { subAgents: { retries: 2 } },
      { subAgents: { limits: { tokens: 0 } } },
      { subAgents: { limits: { costMicros: 5 } } },
      { budget: { calls: 1.5 } }
    ]
    for (const options of wrong)
      assert.throws(() => defineAssistant({ id: "a", prompt: "b", ...options }), /assistant "a"/)
    const assistants = [defineAssistant({ id: "a", prompt: "b", subAgents: { specialists: ["nobody"] } })]
    assert.throws(() => defineFleet({ assistants }), /nobody/)
  })
})
