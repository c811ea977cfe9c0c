import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { Json } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { blockTools, type Blocks, defineAssistant, type Fleet, type Part } from "../src/index.ts"
import { aDirectory, all, failureOf, openFleet } from "./rig.ts"

const editing = (args: Record<string, string>) => ({
  calls: [{ tool: "block_edit", arguments: { block: "notes", ...args } }]
})

const notes = { label: "notes", type: "core", content: "a" } as const

const textOf = async (fleet: Fleet, label = "notes"): Promise<string | undefined> =>
  (await fleet.blocks.find("desk", label))?.text

const withNotes = (over: Partial<Parameters<Blocks["create"]>[0]> = {}) => ({
  tools: blockTools,
  assistant: { blocks: [{ ...notes, ...over }] }
})

/** How a model call is reported that calls a tool. */
const CALL = ["tool-start", "tool-arguments", "tool-call", "usage"]

describe("blocks of a fleet", () => {
  it("B2 an assistant is created with its blocks once; what was deleted stays deleted, also when it is defined anew", async () => {
    const data = aDirectory()
    const open = (content: string) => openFleet({ data, assistant: { blocks: [{ ...notes, content }] } })
    {
      await using fleet = await open("first")
      const blocks = fleet.blocks
      assert.deepStrictEqual(
        (await blocks.list()).map(({ label, owner, text }) => [owner, label, text]),
        [
          ["clerk", "notes", "first"],
          ["desk", "notes", "first"]
        ]
      )
      const clerks = await blocks.find("clerk", "notes")
      await blocks.delete(clerks?.id ?? "")
      const notes = await blocks.find("desk", "notes")
      await blocks.edit(notes?.id ?? "", { op: "append_text", text: "!" })
    }
    for (const content of ["first", "second"]) {
      await using again = await open(content)
      const found = (await again.blocks.list()).map(({ owner, text }) => [owner, text])
      assert.deepStrictEqual(found, [["desk", "first!"]])
    }
  })

  it("F92 anyone who holds the fleet creates, edits, shares, reads versions, undoes and deletes", async () => {
    await using fleet = await openFleet()
    const blocks = fleet.blocks
    const { block } = await blocks.create({ owner: "desk", label: "plan", type: "working", permission: "ReadOnly" })
    await blocks.edit(block, { op: "set_text", text: "Sail." }, { message: "to begin", by: "ann" })
    await blocks.edit(block, { op: "append_text", text: " Soon." }, { key: "once" })
    await blocks.edit(block, { op: "append_text", text: " Soon." }, { key: "once" })
    assert.strictEqual((await blocks.load(block))?.text, "Sail. Soon.")
    assert.deepStrictEqual(
      (await blocks.versions(block)).map(({ by, message, version }) => [version, by, message]),
      [
        [3, "person", undefined],
        [2, "ann", "to begin"],
        [1, "person", undefined]
      ]
    )
    assert.strictEqual((await blocks.read(block, 2)).text, "Sail.")
    await blocks.undo(block)
    assert.strictEqual((await blocks.read(block)).content, "Sail.")
    await blocks.redo(block)
    await blocks.share(block, "clerk", "Append")
    assert.deepStrictEqual((await blocks.load(block))?.shares, [{ with: "clerk", permission: "Append" }])
    assert.deepInclude((await blocks.readBy("clerk"))[0], { label: "plan", sharedFrom: "desk", permission: "ReadOnly" })
    await blocks.unshare(block, "clerk")
    await blocks.configure(block, { set: "pinned", pinned: true })
    assert.deepInclude(await blocks.find("desk", "plan"), { pinned: true, shares: [], text: "Sail. Soon." })
    await blocks.delete(block)
    assert.strictEqual(await blocks.load(block), undefined)
    assert.match((await failureOf(blocks.undo(block))).message, /there is no block/)
  })

  it("F119 an entry names who made it, a reading has every entry, and items of items keep to their schema", async () => {
    const watch = { action: "append", block: "watch", text: "Seen by the clerk." }
    await using fleet = await openFleet({
      tools: blockTools,
      says: [
        { calls: [{ tool: "block_edit", arguments: watch }] },
        { calls: [{ tool: "block", arguments: { action: "list" } }] },
        { text: "Noted." }
      ]
    })
    const blocks = fleet.blocks
    const schema = {
      kind: "log",
      displayLimit: 1,
      entrySchema: { timestamp: false, agent: true, fields: [{ name: "said", type: "text" }] }
    } as const
    const { block } = await blocks.create({ owner: "desk", label: "watch", type: "log", schema, permission: "Admin" })
    await blocks.edit(block, { op: "append_log_entry", entry: { said: "Fog." } }, { by: "ann" })
    await blocks.share(block, "clerk", "Append")
    await fleet.answer("clerk", "Note it.")
    const told = JSON.stringify((await fleet.history.entries("clerk")).map(({ entry }) => entry.messages))
    assert.include(told.replaceAll("\\", ""), `"permission":"Append"`)
    assert.include(told.replaceAll("\\", ""), `"shared_from":"desk"`)
    const { content, text } = await blocks.read(block)
    assert.strictEqual(text, "(clerk) Seen by the clerk.")
    assert.deepStrictEqual(
      (content as ReadonlyArray<{ readonly agent: string; readonly said: string }>).map((entry) => entry.said),
      ["Fog.", "Seen by the clerk."]
    )
    const itemSchema = { kind: "list", itemSchema: { kind: "map", fields: [{ name: "ship", type: "text" }] } } as const
    const berths = await blocks.create({
      owner: "desk",
      label: "berths",
      type: "core",
      schema: { kind: "list", itemSchema }
    })
    const push = (value: ReadonlyArray<object>) =>
      blocks.edit(berths.block, { op: "push_item", value: value as ReadonlyArray<{ readonly ship: string }> })
    assert.match((await failureOf(push([{ ship: "Ann" }, { ship: 9 }]))).message, /takes a text/)
    await push([{ ship: "Ann" }, { ship: "Bo" }])
    assert.strictEqual(await textOf(fleet, "berths"), "1. ship: Ann, ship: Bo")
  })

  it("K1 two tenants on one directory have nothing to do with one another", async () => {
    const data = aDirectory()
    let foreign = ""
    {
      await using fleet = await openFleet({ data, tenant: "harbor", ...withNotes() })
      foreign = (await fleet.blocks.find("desk", "notes"))?.id ?? ""
    }
    await using other = await openFleet({ data, tenant: "tower" })
    const blocks = other.blocks
    assert.deepStrictEqual(await blocks.list(), [])
    assert.strictEqual(await blocks.load(foreign), undefined)
    assert.match((await failureOf(blocks.read(foreign))).message, /there is no block/)
  })

  it("an assistant changes its block, and its next tick is shown it", async () => {
    await using fleet = await openFleet({
      ...withNotes(),
      says: [editing({ action: "append", text: "b" }), { text: "Done." }, { text: "Again." }]
    })
    assert.strictEqual(await fleet.answer("desk", "Note it."), "Done.")
    assert.strictEqual(await textOf(fleet), "ab")
    await fleet.answer("desk", "And now?")
    const report = await fleet.history.contextReport("desk")
    assert.include(report?.parts.map(({ key }) => key) ?? [], "core_blocks")
  })

  it("K5 a change is made to what the assistant was shown, whatever others did in between", async () => {
    const list = { schema: { kind: "list" }, permission: "Admin", content: ["a", "b"] } as const
    let between: Promise<unknown> | undefined
    await using fleet: Fleet = await openFleet({
      tools: blockTools,
      assistant: { blocks: [{ ...notes, ...list }] },
      says: () =>
        Effect.promise(async () => {
          if (between !== undefined) return { text: "Done." }
          const blocks = fleet.blocks
          const id = (await blocks.find("desk", "notes"))?.id ?? ""
          between = blocks.edit(id, { op: "insert_item", index: 0, value: "urgent" })
          await between
          return {
            calls: [{ tool: "block_edit", arguments: { block: "notes", action: "delete", position: 1 } }]
          }
        })
    })
    await fleet.answer("desk", "Drop the first one.")
    assert.strictEqual(await textOf(fleet), "1. urgent\n2. b")
  })

  for (const { permission, settings } of [
    { permission: "Human", settings: {} },
    { permission: "Partner", settings: { requireApproval: false } }
  ] as const) {
    it(`F90 a change of a ${permission} block waits for a person, and is made when it is approved`, async () => {
      await using fleet = await openFleet({
        tools: blockTools,
        assistant: { blocks: [{ ...notes, permission }], settings },
        says: [editing({ action: "append", text: "b" }), { text: "Done." }]
      })
      const types: Array<Part["type"]> = []
      for await (const part of fleet.ask("desk", "Note it.")) {
        types.push(part.type)
        if (part.type !== "approval") continue
        assert.deepInclude(part, { tool: "block_edit" })
        assert.strictEqual(await textOf(fleet), "a")
        await fleet.approve("desk", part.approval)
      }
      assert.deepStrictEqual(types, [...CALL, "approval", "approval-decided", "tool-result", "text", "usage", "done"])
      assert.strictEqual(await textOf(fleet), "ab")
    })
  }

  it("F90 a change that is denied is not made, and one under a permission that allows it asks no one", async () => {
    await using fleet = await openFleet({
      tools: blockTools,
      assistant: {
        blocks: [
          { ...notes, permission: "Human" },
          { ...notes, label: "own" }
        ]
      },
      says: [
        editing({ action: "append", text: "b" }),
        { text: "A pity." },
        editing({ block: "own", action: "append", text: "b" }),
        { text: "Done." }
      ]
    })
    for await (const part of fleet.ask("desk", "Note it.")) {
      if (part.type === "approval") await fleet.deny("desk", part.approval)
    }
    assert.strictEqual(await textOf(fleet), "a")
    const parts = await all(fleet.ask("desk", "Then yours."))
    assert.deepStrictEqual(
      parts.map(({ type }) => type),
      [...CALL, "tool-result", "text", "usage", "done"]
    )
    assert.strictEqual(await textOf(fleet, "own"), "ab")
  })

  it("F108 a message may refer to a block that is shown for its sake", async () => {
    await using fleet = await openFleet({
      assistant: { blocks: [{ ...notes, type: "working" }] },
      says: [{ text: "Aye." }, { text: "Aye." }]
    })
    const id = (await fleet.blocks.find("desk", "notes"))?.id ?? ""
    const shown: Array<boolean> = []
    for (const blocks of [[id], []]) {
      await fleet.answer("desk", "Look.", { blocks })
      shown.push(
        (await fleet.history.contextReport("desk"))?.parts.some(({ key }) => key === "working_blocks") ?? false
      )
    }
    assert.deepStrictEqual(shown, [true, false])
  })

  it("F94 of a list with a most of items the oldest go, of a section too", async () => {
    const list = { kind: "list", maxItems: 2 } as const
    const board = { kind: "composite", sections: [{ name: "ships", schema: list }] } as const
    await using fleet = await openFleet({
      assistant: {
        blocks: [
          { label: "list", type: "core", schema: list },
          { label: "board", type: "core", schema: board }
        ]
      }
    })
    for (const [label, where] of [
      ["list", {}],
      ["board", { section: "ships" }]
    ] as const) {
      const { id = "" } = (await fleet.blocks.find("desk", label)) ?? {}
      const push = (value: string) => fleet.blocks.edit(id, { op: "push_item", value, ...where })
      await push("Ann")
      await push("Bob")
      assert.deepInclude(await push("Cid"), { changed: true, dropped: 1 })
      assert.match((await textOf(fleet, label)) ?? "", /1\. Bob\n2\. Cid$/)
    }
  })

  it("F119 a log is read whole, whatever of it is shown, and each entry names who wrote it", async () => {
    const entrySchema = { timestamp: false, agent: true, fields: [{ name: "said", type: "text" }] } as const
    const log = { label: "log", type: "log", schema: { kind: "log", displayLimit: 2, entrySchema } } as const
    const appending = { tool: "block_edit", arguments: { block: "log", action: "append", value: { said: "0" } } }
    await using fleet = await openFleet({
      tools: blockTools,
      assistant: { blocks: [log] },
      says: [{ calls: [appending] }, { text: "Done." }]
    })
    await fleet.answer("desk", "Log it.")
    const { id = "" } = (await fleet.blocks.find("desk", "log")) ?? {}
    for (let at = 1; at < 5; at++) await fleet.blocks.edit(id, { op: "append_log_entry", entry: { said: `${at}` } })
    const { content, text } = await fleet.blocks.read(id)
    assert.deepStrictEqual(
      (content as ReadonlyArray<Record<string, unknown>>).map(({ said }) => said),
      ["0", "1", "2", "3", "4"]
    )
    assert.deepInclude((content as ReadonlyArray<object>)[0], { agent: "desk" })
    assert.lengthOf(text.split("\n"), 2)
  })

  it("F119 items of a list may be lists of items that have a schema", async () => {
    const crew = { kind: "map", fields: [{ name: "name", type: "text" }] } as const
    const ships = { kind: "list", itemSchema: { kind: "list", itemSchema: crew, maxItems: 2 } } as const
    await using fleet = await openFleet({ assistant: { blocks: [{ label: "ships", type: "core", schema: ships }] } })
    const { id = "" } = (await fleet.blocks.find("desk", "ships")) ?? {}
    const push = (value: Json) => fleet.blocks.edit(id, { op: "push_item", value })
    await push([{ name: "Ann" }, { name: "Bob" }])
    const refused: ReadonlyArray<readonly [Json, RegExp]> = [
      [{ name: "Ann" }, /an item of this list is a list/],
      [["Ann"], /an object of its fields/],
      [[{ name: 1 }], /takes a text/],
      [[{ name: "a" }, { name: "b" }, { name: "c" }], /at most 2 items/]
    ]
    for (const [value, why] of refused) assert.match((await failureOf(push(value))).message, why)
    assert.deepStrictEqual((await fleet.blocks.read(id)).content, [[{ name: "Ann" }, { name: "Bob" }]])
  })

  it("I1 a definition with a wrong block is refused with a sentence", () => {
    const wrong = [
      [{ ...notes, label: "a b" }, /its block "a b": its label/],
      [{ ...notes, pinned: true }, /only a working block is pinned/],
      [{ ...notes, charLimit: 0 }, /its limit must be/],
      [{ ...notes, schema: { kind: "list", maxItems: 0 } as never }, /maxItems/]
    ] as const
    for (const [block, why] of wrong) {
      assert.throws(() => defineAssistant({ id: "desk", instructions: "x", blocks: [block] }), why)
    }
    assert.throws(() => defineAssistant({ id: "desk", instructions: "x", blocks: [notes, notes] }), /two of its blocks/)
  })

  it("L1 of blocks: the library is loaded with the first change, not with a start, a prompt or a list", async () => {
    const data = aDirectory()
    const script = fileURLToPath(new URL("children/library.ts", import.meta.url))
    const run = async (): Promise<unknown> =>
      JSON.parse((await promisify(execFile)(process.execPath, [script, data])).stdout)
    assert.deepStrictEqual(await run(), { before: true, after: true, text: "Name: Ann" })
    assert.deepStrictEqual(await run(), { before: false, after: true, text: "Name: Ann." })
  }, 30_000)
})

describe("blocks among memories", () => {
  const ids = async (fleet: Fleet, id: string, question: string, scope: "own" | "shared" | "fleet" = "shared") =>
    (await fleet.memory.recall(id, question, { kinds: ["block"], scope })).hits.map(({ entry }) => entry.id)

  it("B1 B2 F89 a block is found as it is now, by whom it was given to, and by no one when it is gone", async () => {
    await using fleet = await openFleet()
    const blocks = fleet.blocks
    const { block } = await blocks.create({
      owner: "desk",
      label: "rope",
      type: "archival",
      content: "The rope is tarred."
    })
    const hit = [`b/${block}`]
    assert.deepStrictEqual(await ids(fleet, "desk", "tarred rope"), hit)
    assert.deepStrictEqual(await ids(fleet, "clerk", "tarred rope", "fleet"), [])
    await blocks.edit(block, { op: "append_text", text: " The anchor is rusty." })
    assert.deepStrictEqual(await ids(fleet, "desk", "rusty anchor"), hit)
    await blocks.share(block, "clerk", "ReadOnly")
    await fleet.memory.recall("desk", "anything")
    assert.deepStrictEqual(await ids(fleet, "clerk", "rusty anchor"), hit)
    assert.deepStrictEqual(await ids(fleet, "clerk", "rusty anchor", "own"), [])
    // No one has told the index yet: what it holds is looked up before it is shown.
    await blocks.unshare(block, "clerk")
    assert.deepStrictEqual(await ids(fleet, "clerk", "rusty anchor"), [])
    await fleet.memory.rebuild("desk")
    assert.deepStrictEqual(await ids(fleet, "desk", "rusty anchor"), hit)
    await blocks.delete(block)
    assert.deepStrictEqual(await ids(fleet, "desk", "rusty anchor"), [])
  })
})
