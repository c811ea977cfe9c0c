import { selfTools } from "reverie"
import type { Prompt } from "@reverie/model"
import type { Script } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { assert, describe, test } from "vitest"
import { asker, type Heard, openFleet, refusalOf } from "./rig.ts"
import { HOSTILE } from "./seed.ts"

const isChild = ({ messages }: Prompt): boolean =>
  messages.some(({ content, role }) => role === "system" && content.includes("finish_task"))

const wise: Script = (prompt) =>
  Effect.succeed(
    isChild(prompt)
      ? { text: "Nine ships.", usage: { inputTokens: 200, outputTokens: 20, source: "provider" } }
      : { text: "I have nothing to do." }
  )

const rig = async (heard?: Heard, says: Script = wise) => {
  const fleet = await openFleet({
    tenant: "north",
    says,
    tools: selfTools,
    assistant: { subAgents: { maxConcurrent: 2, budget: { tokens: 9_000 } } }
  })
  await fleet.forTenant("south").create("desk")
  return { fleet, ask: asker(fleet, heard) }
}

const tree = { params: { id: "desk" } }

describe("subAgentTree", () => {
  test("a task is handed on, and the tree tells its budget, task and tools before and after", async () => {
    const heard: Heard = { audit: [], trouble: [] }
    const { ask, fleet } = await rig(heard)
    await using _ = fleet
    const { child } = await ask("north", ({ subAgentTree }) =>
      subAgentTree.delegate({ params: { id: "desk" }, payload: { task: HOSTILE, id: "order-1" } })
    )
    const again = await ask("north", ({ subAgentTree }) =>
      subAgentTree.delegate({ params: { id: "desk" }, payload: { task: HOSTILE, id: "order-1" } })
    )
    assert.strictEqual(again.child, child)
    await fleet.idle()
    const root = await ask("north", ({ subAgentTree }) => subAgentTree.tree(tree))
    assert.include(root.tools, "add_goal")
    const [below, ...others] = root.subAgents
    assert.isEmpty(others)
    assert.deepInclude(below, { id: child, state: "retired", phase: "completed" })
    assert.deepInclude(below?.granted, { tokens: 9_000 })
    assert.deepInclude(below?.spent, { tokens: 220, calls: 1 })
    assert.include(below?.task ?? "", "<script>alert(2)</script>")
    assert.includeMembers([...(below?.tools ?? [])], ["finish_task", "add_goal"])
    assert.notIncludeMembers([...(below?.tools ?? [])], ["go_to_sleep", "decompose_goal"])
    assert.deepStrictEqual(heard.trouble, [])
  })

  test("F121 sub_agent_budget is found under that name, with how many of it are open", async () => {
    const slow: Script = (prompt) => (isChild(prompt) ? Effect.never : Effect.succeed({ text: "ok" }))
    const { ask, fleet } = await rig(undefined, slow)
    await using _ = fleet
    const { child } = await ask("north", ({ subAgentTree }) =>
      subAgentTree.delegate({ params: { id: "desk" }, payload: { task: "Count" } })
    )
    while ((await fleet.inspect(child)) === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
    const root = await ask("north", ({ subAgentTree }) => subAgentTree.tree(tree))
    assert.deepInclude(root, { sub_agents_enabled: true, sub_agent_budget: 2, sub_agents_open: 1 })
    assert.deepInclude(root.subAgents[0], { sub_agents_enabled: false })
    await fleet.subAgents.cancel(child)
  })

  test("a sub-agent is ended by anyone who may; no one sees or ends another tenant's", async () => {
    const slow: Script = (prompt) => (isChild(prompt) ? Effect.never : Effect.succeed({ text: "ok" }))
    const { ask, fleet } = await rig(undefined, slow)
    await using _ = fleet
    const { child } = await ask("north", ({ subAgentTree }) =>
      subAgentTree.delegate({ params: { id: "desk" }, payload: { task: "Count" } })
    )
    const cancel = (token: string) =>
      ask(token, ({ subAgentTree }) => subAgentTree.cancel({ params: { id: child }, payload: {} }))
    assert.strictEqual(await refusalOf(cancel("south")), "NotFound")
    assert.strictEqual(await refusalOf(cancel("north:ro")), "Forbidden")
    const other = await ask("south", ({ subAgentTree }) => subAgentTree.tree(tree))
    assert.isEmpty(other.subAgents)
    while ((await fleet.inspect(child)) === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
    assert.strictEqual((await cancel("north")).outcome, "accepted")
    await fleet.idle()
    const root = await ask("north", ({ subAgentTree }) => subAgentTree.tree(tree))
    assert.strictEqual(root.subAgents[0]?.phase, "cancelled")
  })

  test("anyone who may hand nothing on says so", async () => {
    await using fleet = await openFleet({ says: wise })
    const refused = asker(fleet)("default", ({ subAgentTree }) =>
      subAgentTree.delegate({ params: { id: "desk" }, payload: { task: "Count" } })
    )
    assert.strictEqual(await refusalOf(refused), "Conflict")
  })
})
