import { assert, describe, it } from "@effect/vitest"
import { defineTool } from "../src/index.ts"
import { openFleet } from "./rig.ts"

const burn = defineTool({
  name: "burn",
  description: "Burns.",
  needsApproval: true,
  input: { type: "object", properties: { what: { type: "string" }, deep: { type: "array" } } },
  run: () => "burnt"
})

const burning = (what: string) => ({ calls: [{ tool: "burn", arguments: { what, deep: [{ note: "all of it" }] } }] })

describe("approvals", () => {
  it("A1 an open one tells the exact arguments, the time that is left and who wanted it", async () => {
    await using fleet = await openFleet({
      tools: [burn],
      assistant: { settings: { approvalMs: 60_000 } },
      says: [burning("the letters"), { text: "Done." }]
    })
    assert.deepStrictEqual(await fleet.approvals.list("desk"), [])
    await fleet.send("desk", "Burn the letters.", { id: "q-1", from: "ann" })
    await fleet.idle()
    const open = await fleet.approvals.list("desk")
    const [asked, ...others] = open
    assert.deepStrictEqual(others, [])
    assert.ok(asked)
    assert.deepInclude(asked, {
      assistant: "desk",
      tool: "burn",
      call: "1.1.0",
      arguments: '{"what":"the letters","deep":[{"note":"all of it"}]}',
      category: "dangerous",
      tick: 1,
      invisible: false,
      chain: [{ who: "ann", to: "desk", text: "Burn the letters." }]
    })
    assert.strictEqual((asked.expiresAt ?? 0) - asked.askedAt, 60_000)
    assert.strictEqual(asked.epoch, (await fleet.inspect("desk"))?.epoch)
    assert.deepStrictEqual(JSON.parse(JSON.stringify(open)), open)
    const view = (await fleet.views()).find(({ id }) => id === "desk")
    assert.deepInclude(view, { mode: "awake", iteration: 1, tick: 1 })
    assert.deepStrictEqual(view?.approvals, [{ approval: asked.approval, tool: "burn", call: "1.1.0" }])
    assert.includeMembers([...(view?.accepts ?? [])], ["approval", "halt", "retire"])
    assert.notInclude(view?.accepts ?? [], "message")
    await fleet.approve("desk", asked.approval)
    await fleet.idle()
    assert.deepStrictEqual(await fleet.approvals.list("desk"), [])
    assert.strictEqual((await fleet.history.ticks("desk")).ticks[0]?.tools[0]?.result, "burnt")
  })

  it("A2 what can not be seen is reported, wherever in the arguments it stands", async () => {
    const hidden = ["a\u200bb", "safe\u202egpj.exe", "esc\u001b[2Jape", "tag\u{e0041}"]
    const plain = ["two\nlines\tand a tab", "👩‍👩‍👧 नमस्ते", "naïve é"]
    for (const what of [...hidden, ...plain]) {
      await using fleet = await openFleet({ tools: [burn], says: [burning(what)] })
      await fleet.send("desk", "Burn.")
      await fleet.idle()
      const [asked] = await fleet.approvals.list("desk")
      assert.ok(asked)
      assert.strictEqual(asked.invisible, hidden.includes(what), JSON.stringify(what))
      assert.deepStrictEqual((JSON.parse(asked.arguments) as { readonly what: string }).what, what)
    }
  })

  it("every open one of the tenant, the oldest first, and no one else's", async () => {
    await using fleet = await openFleet({ tools: [burn], says: [burning("it")] })
    const other = fleet.forTenant("zulu")
    await other.create("desk")
    await other.send("desk", "Burn.")
    await fleet.idle()
    await fleet.send("desk", "Burn.")
    await fleet.idle()
    await fleet.send("clerk", "Burn.")
    await fleet.idle()
    assert.deepStrictEqual(
      (await fleet.approvals.list()).map(({ assistant }) => assistant),
      ["desk", "clerk"]
    )
    assert.strictEqual((await other.approvals.list()).length, 1)
    await fleet.halt("desk", "wait")
    await fleet.idle()
    const [halted] = await fleet.approvals.list("desk")
    assert.ok(halted)
    assert.notProperty(halted, "expiresAt")
  })

  it("A1 what a sub-agent asks for is traced to the one who asked the assistant above it", async () => {
    await using fleet = await openFleet({
      tools: [burn],
      assistant: { subAgents: {} },
      says: [{ calls: [{ tool: "delegate_task", arguments: { task: "Burn it for me." } }] }, burning("it")]
    })
    await fleet.send("desk", "See that it burns.", { from: "ann" })
    await fleet.idle()
    const [asked, ...others] = await fleet.approvals.list()
    assert.deepStrictEqual(others, [])
    assert.ok(asked)
    assert.strictEqual(asked.assistant, "desk+1.1.0")
    const [nearest, ...above] = asked.chain
    assert.deepInclude(nearest, { who: "assistant:desk", to: "desk+1.1.0" })
    assert.include(nearest?.text, "Burn it for me.")
    assert.deepStrictEqual(above, [{ who: "ann", to: "desk", text: "See that it burns." }])
    assert.strictEqual((await fleet.views()).find(({ id }) => id === "desk")?.subAgents, 1)
  })
})
