// Hooks of tool calls and their results: each changes, refuses or has a person asked.

import { assert, describe, test } from "vitest"
import { defineTool, type Hooks } from "../../src/index.ts"
import { aDirectory, calling } from "../rig.ts"
import { masked, paying, withHooks, deedsOf, assertRepeats, asking, TOOL_DEED } from "./rig.ts"

describe("beforeTool", () => {
  test("changes the arguments before anything is decided about them", async () => {
    let calls = 0
    await using fleet = await withHooks(
      {
        beforeTool: ({ args, call, tool }) => {
          calls++
          assert.deepStrictEqual([tool, call], ["pay", "1.1.0"])
          return { args: { cents: Math.min(100, Number(args["cents"])) } }
        }
      },
      { says: [paying(900), { text: "Done." }] }
    )
    await fleet.answer("desk", "Pay.")
    const [tick] = (await fleet.history.ticks("desk")).ticks
    assert.deepInclude(tick?.tools[0], { arguments: '{"cents":100}', result: "paid 100 with 1234 5678", ok: true })
    assert.deepStrictEqual(await deedsOf(fleet), [{ ...TOOL_DEED, did: "changed", before: { cents: 900 } }])
    await assertRepeats(fleet, () => calls)
  })

  test("refuses a call: it does not run, and the model reads why", async () => {
    let calls = 0
    await using fleet = await withHooks(
      {
        beforeTool: () => {
          calls++
          return { refuse: "Payday is Friday." }
        }
      },
      { says: [paying(900), { text: "Done." }] }
    )
    await fleet.answer("desk", "Pay.")
    const [tick] = (await fleet.history.ticks("desk")).ticks
    assert.deepInclude(tick?.tools[0], { result: "Refused: Payday is Friday.", ok: false })
    assert.deepStrictEqual(await deedsOf(fleet), [
      { ...TOOL_DEED, did: "refused", reason: "Payday is Friday.", before: { cents: 900 } }
    ])
    await assertRepeats(fleet, () => calls)
  })

  test("asks a person about the changed call; what was approved runs after a restart, and the hook is not called again", async () => {
    const data = aDirectory()
    let calls = 0
    const hooks: Hooks = {
      beforeTool: ({ args }) => {
        calls++
        return Number(args["cents"]) > 100 ? { ask: "It is much.", args: { cents: 800 } } : undefined
      }
    }
    const first = await withHooks(hooks, { data, says: [paying(900)] })
    await first.send("desk", "Pay.", { id: "q" })
    await first.idle()
    const [asked] = await first.approvals.list("desk")
    assert.deepInclude(asked, { tool: "pay", arguments: '{"cents":800}', category: "dangerous", reason: "It is much." })
    await first.close()
    await using fleet = await withHooks(hooks, { data, says: [{ text: "Done." }] })
    await fleet.approve("desk", asked?.approval ?? "")
    assert.strictEqual(await fleet.answer("desk", "Pay.", { id: "q" }), "Done.")
    assert.strictEqual(calls, 1)
    const [tick] = (await fleet.history.ticks("desk")).ticks
    assert.deepInclude(tick?.tools[0], { result: "paid 800 with 1234 5678", ok: true })
    assert.deepStrictEqual(await deedsOf(fleet), [
      { ...TOOL_DEED, did: "changed", before: { cents: 900 } },
      { ...TOOL_DEED, did: "asked", reason: "It is much." }
    ])
    await assertRepeats(fleet, () => calls)
  })

  test("asks also where no approval is asked for otherwise; what is denied does not run", async () => {
    await using fleet = await withHooks(
      { beforeTool: () => ({ ask: "It is much." }) },
      { says: [paying(900), { text: "Not paid." }], assistant: { settings: { requireApproval: false } } }
    )
    for await (const part of fleet.ask("desk", "Pay.")) {
      if (part.type === "approval") await fleet.deny("desk", part.approval)
      if (part.type === "done") assert.strictEqual(part.reply, "Not paid.")
    }
    const [tick] = (await fleet.history.ticks("desk")).ticks
    assert.match(tick?.tools[0]?.result ?? "", /denied/)
  })
})

describe("afterTool", () => {
  test("changes what the model reads of a result, of a kept one too", async () => {
    let calls = 0
    const kept = defineTool({
      name: "look",
      description: "Looks.",
      cache: { scope: "session" },
      run: () => "card 1234 5678"
    })
    const { prompts, says } = asking(calling("look"), calling("look"), { text: "Done." })
    await using fleet = await withHooks(
      {
        afterTool: ({ args, ok, result, tool }) => {
          calls++
          assert.deepStrictEqual([tool, args, ok], ["look", {}, true])
          return { result: masked(result) }
        }
      },
      { says, tools: [kept] }
    )
    await fleet.answer("desk", "Look.")
    assert.strictEqual(calls, 2)
    const read = prompts[2]?.messages.filter(({ role }) => role === "tool")
    assert.deepStrictEqual(
      read?.map(({ content }) => content),
      ["card [card]", "card [card]"]
    )
    assert.deepInclude((await deedsOf(fleet))[1], {
      hook: "afterTool",
      call: "1.2.0",
      did: "changed",
      before: "card 1234 5678"
    })
    await assertRepeats(fleet, () => calls)
  })

  test("withholds a result; what the run did stands", async () => {
    let calls = 0
    await using fleet = await withHooks(
      {
        afterTool: () => {
          calls++
          return { refuse: "It names a card." }
        }
      },
      { says: [paying(5), { text: "Done." }] }
    )
    await fleet.answer("desk", "Pay.")
    const [tick] = (await fleet.history.ticks("desk")).ticks
    assert.deepInclude(tick?.tools[0], { result: 'What the tool "pay" gave is withheld: It names a card.', ok: false })
    assert.deepInclude((await deedsOf(fleet))[0], { did: "refused", before: "paid 5 with 1234 5678" })
    await assertRepeats(fleet, () => calls)
  })

  test("reads the report of a tool that answers later", async () => {
    const brew = defineTool({ name: "brew", description: "Brews.", background: true, run: () => "begun" })
    await using fleet = await withHooks(
      { afterTool: ({ result, tool }) => ({ result: `${tool}: ${masked(result)}` }) },
      { says: [calling("brew"), { text: "Done." }], tools: [brew] }
    )
    await fleet.send("desk", "Brew.", { id: "q" })
    await fleet.idle()
    await fleet.post("desk", { type: "report", call: "1.1.0", outcome: "reported", content: "for 1234 5678" })
    assert.strictEqual(await fleet.answer("desk", "Brew.", { id: "q" }), "Done.")
    const [tick] = (await fleet.history.ticks("desk")).ticks
    assert.strictEqual(tick?.tools[0]?.result, "brew: for [card]")
  })
})
