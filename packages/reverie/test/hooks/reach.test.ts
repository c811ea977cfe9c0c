// What hooks reach: every purpose of a model, sub-agents, other assistants, the clock of a test, metrics; and no one too early.

import type { Prompt } from "@reverie/model"
import * as Effect from "effect/Effect"
import { assert, describe, test } from "vitest"
import { defineAssistant, defineFleet, defineTool, type HookPurpose, type Hooks, sendMessage } from "../../src/index.ts"
import { calls, scriptedModel, testFleet } from "../../src/testing/index.ts"
import { all, calling, gate, openFleet } from "../rig.ts"
import { asking, deedsOf, masked, OF, paying, withHooks } from "./rig.ts"

describe("what goes to a model", () => {
  test("passes beforeModel, and what comes back afterModel, whatever it is for", async () => {
    const seen: Array<HookPurpose> = []
    const { prompts, says } = asking({ text: '{"complexity": "trivial"}' }, { text: "Good." })
    await using fleet = await withHooks(
      {
        beforeModel: ({ messages, purpose }) => {
          seen.push(purpose)
          return { messages: messages.map((each) => ({ ...each, content: masked(each.content) })) }
        },
        afterModel: ({ purpose }) => void seen.push(purpose)
      },
      { says, assistant: { assessWith: "model", settings: { assessTask: true } } }
    )
    await fleet.answer("desk", "Card 1234 5678?")
    assert.deepStrictEqual(seen, ["assess", "assess", "answer", "answer"])
    assert.notInclude(JSON.stringify(prompts), "1234")
    const entries = (await fleet.history.entries("desk")).map(({ entry }) => entry)
    const assessed = entries.find(({ step }) => step?.kind === "assess")
    assert.deepInclude(assessed?.hooks?.[0], { hook: "beforeModel", did: "changed", of: OF })
    assert.deepInclude(await fleet.replay.verify("desk"), { equal: true })
  })

  test("of an assessment that is refused no model is asked: the heuristic judges", async () => {
    const { prompts, says } = asking({ text: "Good." })
    await using fleet = await withHooks(
      { beforeModel: ({ purpose }) => (purpose === "assess" ? { refuse: "Not for that." } : undefined) },
      { says, assistant: { assessWith: "model", settings: { assessTask: true } } }
    )
    assert.strictEqual(await fleet.answer("desk", "Hello."), "Good.")
    assert.lengthOf(prompts, 1)
    assert.deepInclude((await deedsOf(fleet))[0], { hook: "beforeModel", did: "refused", reason: "Not for that." })
  })

  test("in a dream too", async () => {
    const seen = new Set<HookPurpose>()
    await using fleet = await withHooks({ beforeModel: ({ purpose }) => void seen.add(purpose) })
    await fleet.answer("desk", "The Aurora comes on Friday.")
    await fleet.sleep("desk", { forMs: 3_600_000 })
    await fleet.idle()
    assert.includeMembers([...seen], ["answer", "dream"])
  })

  test("is not shown piece by piece where a hook may still refuse it", async () => {
    const pieces = async (hooks: Hooks) => {
      await using fleet = await withHooks(hooks, { says: [{ text: "1234 5678" }] })
      let count = 0
      fleet.on("part", () => void count++)
      await all(fleet.ask("desk", "Which card?"))
      return count
    }
    assert.deepStrictEqual([await pieces({}), await pieces({ afterModel: () => undefined })], [1, 0])
  })
})

describe("others", () => {
  test("a sub-agent has the hooks of the fleet and its own; its task has passed those of the call", async () => {
    const seen: Array<string> = []
    const isChild = ({ messages }: Prompt) => messages.some(({ content }) => content.includes("finish_task"))
    const noting: Hooks = {
      onMessage: ({ text }) => void seen.push(`message ${text}`),
      beforeTool: ({ tool }) => void seen.push(`call of ${tool}`),
      afterTool: ({ result, tool }) => void seen.push(`result of ${tool}: ${result.includes("Nine") ? "Nine" : ""}`)
    }
    const clerk = defineAssistant({ id: "clerk", instructions: "You count.", subAgents: {} })
    const task = { task: "Count.", success_criteria: "A number." }
    await using fleet = await openFleet({
      fleet: defineFleet({ assistants: [clerk], hooks: noting }),
      says: (prompt, call) =>
        Effect.succeed(
          isChild(prompt)
            ? { calls: [{ tool: "finish_task", arguments: { summary: "Nine ships." } }] }
            : call === 1
              ? { calls: [{ tool: "delegate_task", arguments: task }] }
              : { text: "Nine." }
        )
    })
    assert.strictEqual(await fleet.answer("clerk", "How many?"), "Nine.")
    assert.includeMembers(seen, [
      "message How many?",
      "call of delegate_task",
      "call of finish_task",
      "result of delegate_task: Nine"
    ])
    assert.notInclude(seen.join(), "message Count.")
  })

  test("an assistant that asked another one reads that a hook refused the answer", async () => {
    const desk = defineAssistant({ id: "desk", instructions: "You ask.", tools: [sendMessage] })
    const clerk = defineAssistant({
      id: "clerk",
      instructions: "You answer.",
      hooks: { afterModel: () => ({ refuse: "It names a card." }) }
    })
    const wants = { to: "clerk", text: "Which card?", expect_answer: true }
    const prompts: Array<string> = []
    await using fleet = await openFleet({
      fleet: defineFleet({ assistants: [desk, clerk] }),
      says: (prompt, call) => {
        const isClerk = prompt.messages[0]?.content.includes("You answer.") === true
        if (!isClerk) prompts.push(JSON.stringify(prompt.messages))
        if (call === 1) return Effect.succeed({ calls: [{ tool: "send_message", arguments: wants }] })
        return Effect.succeed({ text: isClerk ? "1234 5678" : "Asked." })
      }
    })
    await fleet.send("desk", "Ask the clerk.")
    await fleet.idle()
    assert.include(prompts.at(-1), "a hook refused its answer: It names a card.")
    assert.notInclude(prompts.join(), "1234")
  })

  test("a tool that ends the tick ends it after a person agreed as well", async () => {
    const close = defineTool({ name: "close", description: "Closes.", final: true, run: () => "closed" })
    await using fleet = await withHooks(
      { beforeTool: () => ({ ask: "Sure?" }) },
      { says: [calling("close")], tools: [close] }
    )
    for await (const part of fleet.ask("desk", "Close.")) {
      if (part.type === "approval") await fleet.approve("desk", part.approval)
      if (part.type === "done") assert.deepInclude(part, { outcome: "terminal", reply: "closed" })
    }
  })

  test("what a hook leaves behind is its failure, and the program goes on", async () => {
    await using fleet = await withHooks(
      {
        beforeTool: () => {
          void Promise.reject(new Error("left behind"))
        }
      },
      { says: [paying(5), { text: "Done." }] }
    )
    assert.strictEqual(await fleet.answer("desk", "Pay."), "Done.")
    const [deed] = await deedsOf(fleet)
    assert.deepInclude(deed, { hook: "beforeTool", did: "failed" })
    assert.match(deed?.reason ?? "", /a promise that it left without a handler was rejected: left behind/)
  })

  test("metrics count what hooks did", async () => {
    await using fleet = await withHooks({ onMessage: () => ({ refuse: "No." }) })
    const counted = async () => {
      const line = /^reverie_hooks_total\{(.*)\} (\d+)$/m
      const lines = (await fleet.monitor.metrics()).split("\n").filter((each) => each.startsWith("reverie_hooks_total"))
      const found = lines.find((each) => each.includes('did="refused"') && each.includes('hook="onMessage"')) ?? ""
      return Number(line.exec(found)?.[2] ?? 0)
    }
    const before = await counted()
    await fleet.send("desk", "Hello.")
    await fleet.idle()
    assert.strictEqual(await counted(), before + 1)
  })
})

describe("a fleet of a test", () => {
  test("calls hooks, and their time is that of its clock", async () => {
    const entered = gate()
    const pay = defineTool({ name: "pay", description: "Pays.", run: () => "paid" })
    const desk = defineAssistant({
      id: "desk",
      instructions: "You pay.",
      tools: [pay],
      hooks: {
        beforeTool: () => {
          entered.open()
          return new Promise(() => {})
        }
      }
    })
    await using fleet = await testFleet(desk, { model: scriptedModel([calls("pay", {}), "Not paid."]), patienceMs: 5 })
    const answer = fleet.answer("desk", "Pay.")
    await entered.passed
    await fleet.clock.advance("10s")
    assert.strictEqual(await answer, "Not paid.")
    assert.match((await deedsOf(fleet))[0]?.reason ?? "", /gave no answer within 10 s$/)
    assert.isAtLeast(fleet.clock.now() - Date.UTC(2026, 0, 5, 9), 10_000)
  })
})

test("without hooks an entry has none, and nothing of it is made", async () => {
  await using fleet = await withHooks({})
  await fleet.answer("desk", "Hello.")
  const entries = (await fleet.history.entries("desk")).map(({ entry }) => entry)
  assert.isTrue(entries.every((entry) => !Object.hasOwn(entry, "hooks")))
  assert.isFalse(fleet.definition.assistants.some((each) => Object.hasOwn(each, "hooks")))
})
