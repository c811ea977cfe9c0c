import { assert, describe, it } from "@effect/vitest"
import type { Script } from "@reverie/testkit"
import { later } from "@reverie/testkit/later"
import * as Effect from "effect/Effect"
import { defineTool } from "../src/index.ts"
import { calling, openFleet } from "./rig.ts"

const look = defineTool({ name: "look", description: "Looks.", run: () => "seen" })
const wire = defineTool({ name: "wire", description: "Wires.", run: () => "wired" })

type ModelRequest = Parameters<Script>[0]

/** A fleet that keeps what its model was asked. */
const opened = async (assistant: object, says: (n: number) => object) => {
  const asked: Array<ModelRequest> = []
  const fleet = await openFleet({
    assistant,
    tools: [look, wire],
    says: (request: ModelRequest) => Effect.sync(() => says(asked.push(request)))
  })
  later(() => fleet.close())
  return { fleet, asked }
}

const textOf = ({ messages }: ModelRequest): string => messages.map(({ content }) => content).join("\n")

describe("contexts", () => {
  it("K3 maxSteps is what was asked for: 30 model calls where 30 were, and not 5", async () => {
    const { asked, fleet } = await opened({ maxSteps: 30 }, (n) => (n < 30 ? calling("look") : { text: "Done." }))
    assert.strictEqual(await fleet.answer("desk", "Look 29 times."), "Done.")
    assert.lengthOf(asked, 30)
    const { asked: few, fleet: other } = await opened({}, () => calling("look"))
    await other.send("desk", "Look.")
    await other.idle()
    assert.lengthOf(few, 5)
  })

  it("K1 F3 F118 a kind of one's own: its mode, parts, overrides and tools are those of the definition", async () => {
    const planning = {
      mode: "plan_execute" as const,
      overrides: { system_prompt: "You plan before you act." },
      components: ["system_prompt", "plan_first", "pending_event", "tool_result"],
      tools: ["look"],
      maxSteps: 2
    }
    const { asked, fleet } = await opened({ contexts: { planning } }, (n) => {
      return n === 2 ? calling("wire") : n === 3 ? calling("look") : { text: "Aye." }
    })
    await fleet.answer("desk", "A plain one.")
    const failure = await fleet.answer("desk", "Plan it.", { context: "planning" }).catch((error: unknown) => error)
    assert.deepInclude(failure, { code: "StepsSpent" })
    const [plain, first, second] = asked.map(textOf)
    assert.notInclude(plain, "short plan")
    assert.include(plain, "You are under test.")
    assert.include(first, "short plan")
    assert.include(first, "You plan before you act.")
    assert.notInclude(first, "You are under test.")
    assert.notInclude(first, "A plain one.")
    assert.lengthOf(asked, 3)
    const [tick] = (await fleet.history.ticks("desk")).ticks
    assert.deepStrictEqual(
      tick?.tools.map(({ ok, tool }) => [tool, ok]),
      [
        ["wire", false],
        ["look", true]
      ]
    )
    assert.include(second, "Plan it.")
    const report = await fleet.history.contextReport("desk")
    assert.include(JSON.stringify(report), '"planning"')
    assert.include(JSON.stringify(report), '"plan_execute"')
  })

  it("K1 one of the seven is changed, and a timer is handled in the kind that names it", async () => {
    const contexts = {
      tick_event: { mode: "plan_execute" as const },
      watch: { timers: ["tide"], overrides: { system_prompt: "You watch the tide." } }
    }
    const { asked, fleet } = await opened({ contexts }, () => ({ text: "Aye." }))
    await fleet.answer("desk", "Hello.")
    assert.include(textOf(asked[0] as ModelRequest), "short plan")
    await fleet.post("desk", { type: "timer", name: "tide" })
    await fleet.idle()
    assert.include(textOf(asked[1] as ModelRequest), "You watch the tide.")
    await fleet.post("desk", { type: "timer", name: "other" })
    await fleet.idle()
    assert.include(textOf(asked[2] as ModelRequest), "You are under test.")
  })
})
