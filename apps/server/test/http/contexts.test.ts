import { assert, describe, it } from "@effect/vitest"
import { defineTool } from "reverie"
import { assertFailure, bearer, type Loose, openRig, SECRETS, tokens } from "./rig.ts"

const look = defineTool({ name: "look", description: "Looks.", run: () => "seen" })

const contexts = {
  tick_event: { maxSteps: 3 },
  planning: {
    description: "Plans first.",
    mode: "plan_execute",
    maxSteps: 2,
    tokenBudget: 4_000,
    components: ["system_prompt", "plan_first", "pending_event"],
    overrides: { system_prompt: "You plan before you act." },
    tools: ["look"],
    timers: ["tide"]
  }
} as const

const request = { assistant: { contexts, maxSteps: 4 }, tools: [look] }
const kindsOf = "/v1/assistants/desk/context-kinds"
const named = (items: Loose, name: string): Loose => items.find((each: Loose) => each.name === name)

describe("kinds of context by HTTP", () => {
  it("F118 F2 each is shown with limits, parts, tools and overrides, and a message is handled in the one it asks for", async () => {
    const { ask, fleet, post } = await openRig({ ...request, says: [{ text: "Aye." }] })
    const { json } = await ask(kindsOf)
    assert.strictEqual(json.definition, "desk")
    assert.deepStrictEqual(
      json.items.map(({ name }: Loose) => name),
      [
        "tick_event",
        "tick_autonomous",
        "reflection",
        "reflection_cont",
        "sleep_consolidate",
        "goal_decompose",
        "pre_compaction",
        "planning"
      ]
    )
    assert.deepStrictEqual(named(json.items, "planning"), {
      name: "planning",
      description: "Plans first.",
      isOwn: true,
      mode: "plan_execute",
      maxSteps: 2,
      components: ["system_prompt", "plan_first", "pending_event"],
      overrides: { system_prompt: "You plan before you act." },
      tools: ["look"],
      toolCategories: null,
      tokenBudget: 4_000,
      requireApproval: true,
      stopOnFinal: true,
      multiStep: true,
      subAgents: false,
      timers: ["tide"]
    })
    // What the assistant may do in a tick bounds its kinds; a dream and an extraction are no ticks.
    const steps = json.items.map(({ maxSteps, name }: Loose) => [name, maxSteps])
    assert.deepStrictEqual(Object.fromEntries(steps), {
      tick_event: 3,
      tick_autonomous: 4,
      reflection: 3,
      reflection_cont: 2,
      sleep_consolidate: 10,
      goal_decompose: 1,
      pre_compaction: 5,
      planning: 2
    })
    await post("/v1/assistants/desk/messages", { text: "Plan it.", context: "planning" })
    await fleet.idle()
    assert.strictEqual((await ask("/v1/assistants/desk/context")).json.context, "planning")
    const refused = await post("/v1/assistants/desk/messages", { text: "Plan it.", context: "planing" })
    assertFailure(refused, 400, "Malformed")
    assert.include(refused.json.message, "planning")
  })

  it("V3 the system tells them with each definition; a token that may only look sees no text of a prompt", async () => {
    const rig = await openRig({ ...request, tokens })
    const told = async (secret: string, path: string) => (await rig.ask(path, { headers: bearer(secret) })).json
    await rig.fleet.forTenant("north").create("desk")
    const whole = named((await told(SECRETS.north, "/v1/system")).definitions, "desk")
    assert.strictEqual(named(whole.contexts, "planning").overrides.system_prompt, "You plan before you act.")
    for (const path of ["/v1/system", kindsOf]) {
      const seen = JSON.stringify(await told("onlooker-secret-0123456789", path))
      assert.include(seen, '"planning"', path)
      assert.notInclude(seen, "You plan before you act.", path)
    }
    assertFailure(
      await rig.ask("/v1/assistants/nobody/context-kinds", { headers: bearer(SECRETS.north) }),
      404,
      "NotFound"
    )
  })
})
