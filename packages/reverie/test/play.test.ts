// Playing, looking in from outside, and views, on a fleet with the offline model.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, test } from "vitest"
import { defineAssistant, defineFleet, defineTool, Fleet, FleetReader, play, readScript } from "../src/index.ts"

const sign = defineTool({ name: "sign", description: "Signs.", needsApproval: true, run: () => "signed" })
const fleet = defineFleet({
  assistants: [defineAssistant({ id: "clerk", instructions: "You are a clerk.", tools: [sign] })]
})

const lettersOf = (...lines: ReadonlyArray<object>) =>
  readScript(lines.map((line) => JSON.stringify(line)).join("\n"), fleet).letters

const open = (data = ":memory:") => Fleet.open({ fleet, data, model: "offline" })

describe("play", () => {
  test("P1 letters are accepted in the order of the script, each once", async () => {
    await using opened = await open()
    const letters = lettersOf(
      ...Array.from({ length: 300 }, (_, index) => ({ id: `${index}`, text: `Number ${index}` }))
    )
    assert.deepStrictEqual(await play(opened, letters), { accepted: 300, duplicates: 0 })
    assert.deepStrictEqual(await play(opened, letters.slice(0, 10)), { accepted: 0, duplicates: 10 })
    await opened.idle()
    const said = (await opened.history.entries("clerk", 1, 1_000)).flatMap(({ entry }) =>
      entry.messages.filter(({ role }) => role === "user").map(({ content }) => content)
    )
    assert.deepStrictEqual(
      said,
      letters.map((_, index) => `Number ${index}`)
    )
  })

  test("P2 a decision is sent when there is something to decide", async () => {
    await using opened = await open()
    const letters = lettersOf(
      { id: "1", text: "/sign" },
      { id: "2", text: "And then?" },
      { id: "3", event: { type: "approval", decision: "approved" } }
    )
    await play(opened, letters)
    await opened.idle()
    const [view] = await opened.views()
    assert.deepInclude(view, { state: "awake.idle", ticks: 2, waiting: 0 })
    assert.include(JSON.stringify(await opened.history.entries("clerk")), `"content":"signed"`)
  })

  test("a signal ends it between two groups", async () => {
    await using opened = await open()
    const letters = lettersOf({ id: "1", text: "a" })
    assert.deepStrictEqual(await play(opened, letters, { signal: AbortSignal.abort() }), { accepted: 0, duplicates: 0 })
  })
})

describe("FleetReader", () => {
  test("P1 sees beside a running fleet what is stored, and disturbs it not", async () => {
    const data = await mkdtemp(join(tmpdir(), "reverie-peek-"))
    try {
      await using opened = await open(data)
      await opened.send("clerk", "/sign", { id: "1" })
      await opened.idle()
      await using peek = await FleetReader.open(data)
      const [seen] = await peek.views()
      assert.deepInclude(seen, {
        id: "clerk",
        definition: "clerk",
        state: "awake.awaitingApproval",
        ticks: 1,
        waiting: 0
      })
      assert.deepStrictEqual(
        seen?.approvals.map(({ call, tool }) => ({ call, tool })),
        [{ call: "1.1.0", tool: "sign" }]
      )
      assert.strictEqual(seen?.timers.length, 1)
      await opened.approve("clerk", seen?.approvals[0]?.approval ?? "")
      await opened.idle()
      assert.deepStrictEqual(await peek.monitor.totals(), await opened.monitor.totals())
      assert.deepStrictEqual(await peek.views(), await opened.views())
      await opened.halt("clerk", "enough")
      await opened.idle()
      assert.deepInclude((await peek.views())[0], { state: "halted", haltReason: "enough", approvals: [] })
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })

  test("there is nothing to see where nothing is", async () => {
    const problem = await FleetReader.open(join(tmpdir(), "reverie-nothing-here")).catch((error: unknown) => error)
    assert.strictEqual(Reflect.get(problem as object, "_tag"), "StoreUnopenable")
  })
})
