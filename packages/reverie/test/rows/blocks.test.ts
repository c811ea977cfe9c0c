// Blocks: memory blocks of a running fleet, as persons and assistants change them, as prompts show them, and who learns of it.

import type { Json } from "@reverie/protocol"
import type { Line, Script } from "@reverie/testkit"
import { later } from "@reverie/testkit/later"
import * as Effect from "effect/Effect"
import { assert, describe, test } from "vitest"
import {
  type AssistantOptions,
  type BlockOperation,
  type BlockPermission,
  type BlockSchema,
  blockTools,
  type Fleet,
  type KeptChange
} from "../../src/index.ts"
import { aDirectory, failureOf, heard, openFleet } from "../rig.ts"

type Blocks = NonNullable<AssistantOptions["blocks"]>

const edit = (args: { readonly [key: string]: Json }): Line => ({ calls: [{ tool: "block_edit", arguments: args }] })

/** Makes each edit in an order of its own, "Edit 0." first. */
const editing = (edits: ReadonlyArray<{ readonly [key: string]: Json }>): Script => {
  return ({ messages }) =>
    Effect.sync(() => {
      const { content = "", role } = messages.at(-1) ?? {}
      const [, at] = role === "tool" ? [] : (/^Edit (\d+)\.$/.exec(content) ?? [])
      const args = at === undefined ? undefined : edits[Number(at)]
      return args === undefined ? { text: "Aye." } : edit(args)
    })
}

const opened = async (blocks: Blocks, edits: ReadonlyArray<{ readonly [key: string]: Json }> = []) => {
  const fleet = await openFleet({
    says: editing(edits),
    tools: blockTools,
    assistant: { blocks, memory: { recall: "off" } }
  })
  later(() => fleet.close())
  return fleet
}

/** What the tool answered to an edit. */
const answered = async (fleet: Fleet, at: number): Promise<string> => {
  await fleet.answer("desk", `Edit ${at}.`)
  const messages = (await fleet.history.entries("desk", 1, 10_000)).flatMap(({ entry }) => entry.messages)
  return messages.findLast(({ role }) => role === "tool")?.content ?? ""
}

const textOf = async (fleet: Fleet, label: string): Promise<string> => {
  const { id = "" } = (await fleet.blocks.find("desk", label)) ?? {}
  return (await fleet.blocks.read(id)).text
}

/** Makes changes as a person does, and answers the text after them. */
const edited = async (
  schema: BlockSchema,
  operations: ReadonlyArray<BlockOperation>,
  more: Partial<Blocks[number]> = {}
) => {
  const fleet = await opened([{ label: "block", type: "core", schema, permission: "Admin", ...more }])
  const { id = "" } = (await fleet.blocks.find("desk", "block")) ?? {}
  const changes: Array<boolean> = []
  for (const operation of operations) changes.push((await fleet.blocks.edit(id, operation)).changed)
  return { fleet, id, changes, text: (await fleet.blocks.read(id)).text }
}

describe("what a block holds", () => {
  test("F95 a text is set, appended to, and replaced where it occurs first, and the answer says whether it does", async () => {
    const { changes, text } = await edited({ kind: "text" }, [
      { op: "set_text", text: "Ebb, ebb" },
      { op: "append_text", text: " and ebb." },
      { op: "replace_text", old: "bb", new: "ach" },
      { op: "replace_text", old: "nowhere", new: "x" }
    ])
    assert.strictEqual(text, "Each, ebb and ebb.")
    assert.deepStrictEqual(changes, [true, true, true, false])
    const fleet = await opened(
      [{ label: "notes", type: "core", content: "Ebb, ebb." }],
      [{ block: "notes", action: "replace", old: "bb", new: "ach" }]
    )
    assert.include(await answered(fleet, 0), "Each, ebb.")
  })

  test("F96 F100 fields are set, appended to and counted, and shown as name: value", async () => {
    const schema = {
      kind: "map",
      fields: [
        { name: "name", type: "text" },
        { name: "tags", type: "list" },
        { name: "calls", type: "counter" },
        { name: "paid", type: "boolean" }
      ]
    } as const
    const { fleet, id, text } = await edited(schema, [
      { op: "set_text_field", field: "name", text: "Birch" },
      { op: "append_to_list_field", field: "tags", value: "barge" },
      { op: "append_to_list_field", field: "tags", value: "blue" },
      { op: "increment_counter", field: "calls", by: 5 },
      { op: "increment_counter", field: "calls", by: -2 },
      { op: "set_field", field: "paid", value: false }
    ])
    assert.strictEqual(text, "name: Birch\ntags: barge, blue\ncalls: 3\npaid: false")
    const wrong = await failureOf(fleet.blocks.edit(id, { op: "increment_counter", field: "name", by: 1 }))
    assert.match(wrong.message, /no counter/)
  })

  test("F97 F100 items are pushed, inserted and taken out where it is said, and shown with their numbers or as boxes", async () => {
    const { text } = await edited({ kind: "list" }, [
      { op: "push_item", value: "rope" },
      { op: "push_item", value: "tar" },
      { op: "insert_item", index: 1, value: "oil" },
      { op: "delete_item", index: 2 },
      { op: "push_item", value: { done: true, what: "Paint." } }
    ])
    assert.strictEqual(text, "1. rope\n2. oil\n3. [x] Paint.")
    const list = { label: "list", type: "core", schema: { kind: "list" }, permission: "Admin" } as const
    const fleet = await opened(
      [{ ...list, content: ["rope", "tar"] }],
      [{ block: "list", action: "delete", position: 2 }]
    )
    await answered(fleet, 0)
    assert.strictEqual(await textOf(fleet, "list"), "1. rope")
  })

  test("F98 F100 a log shows its newest entries first, with when and who, and keeps them all", async () => {
    const entrySchema = { timestamp: true, agent: true, fields: [{ name: "said", type: "text" }] } as const
    const entry = (said: string) => ({ op: "append_log_entry", entry: { said } }) as const
    const { fleet, id, text } = await edited(
      { kind: "log", displayLimit: 2, entrySchema },
      [entry("Fog."), entry("Rain."), entry("Sun.")],
      { type: "log" }
    )
    assert.match(text, /^\[\d{4}-[^\]]+\] \(person\) Sun\.\n\[\d{4}-[^\]]+\] \(person\) Rain\.$/)
    const { content } = await fleet.blocks.read(id)
    assert.deepStrictEqual(
      (content as ReadonlyArray<{ readonly said: string }>).map(({ said }) => said),
      ["Fog.", "Rain.", "Sun."]
    )
  })

  test("F99 F100 F101 a section has a schema of its own; what is read-only in it the system changes and an assistant does not", async () => {
    const schema = {
      kind: "composite",
      sections: [
        { name: "notes", schema: { kind: "text" } },
        { name: "ship", schema: { kind: "map", fields: [{ name: "berth", type: "text", readOnly: true }] } },
        { name: "gauges", schema: { kind: "list" }, readOnly: true }
      ]
    } as const
    const block = { label: "board", type: "core", schema, permission: "Admin" } as const
    const fleet = await opened(
      [block],
      [
        { block: "board", section: "notes", action: "set", text: "Fog." },
        { block: "board", section: "ship", action: "set_field", field: "berth", value: "9" },
        { block: "board", section: "gauges", action: "push", value: "low" }
      ]
    )
    const { id = "" } = (await fleet.blocks.find("desk", "board")) ?? {}
    await fleet.blocks.edit(id, { op: "set_field", section: "ship", field: "berth", value: "7" })
    await fleet.blocks.edit(id, { op: "push_item", section: "gauges", value: "high" })
    assert.include(await answered(fleet, 0), "Fog.")
    assert.match(await answered(fleet, 1), /the field berth is read-only/)
    assert.match(await answered(fleet, 2), /the section gauges is read-only/)
    assert.strictEqual(
      await textOf(fleet, "board"),
      "=== notes ===\nFog.\n=== ship ===\nberth [read-only]: 7\n=== gauges [read-only] ===\n1. high"
    )
    const nowhere = await failureOf(fleet.blocks.edit(id, { op: "set_text", section: "log", text: "x" }))
    assert.match(nowhere.message, /there is no section "log", only notes, ship, gauges/)
  })

  test("F100 a text with a window shows those lines and which they are", async () => {
    const content = Array.from({ length: 9 }, (_, at) => `line ${at + 1}`).join("\n")
    const schema = { kind: "text", viewport: { startLine: 3, displayLines: 2 } } as const
    const { text } = await edited(schema, [{ op: "set_text", text: content }])
    assert.strictEqual(text, "[Showing lines 3-4 of 9]\nline 3\nline 4")
  })
})

describe("who may do what to a block", () => {
  const asked = async (permission: BlockPermission): Promise<ReadonlyArray<string>> => {
    const list = { label: "list", type: "core", schema: { kind: "list" }, content: ["a"], permission } as const
    const fleet = await opened(
      [{ label: "text", type: "core", content: "a", permission }, list],
      [
        { block: "text", action: "append", text: "b" },
        { block: "text", action: "set", text: "c" },
        { block: "list", action: "delete", position: 1 }
      ]
    )
    const outcomes: Array<string> = []
    for (const at of [0, 1, 2]) {
      await fleet.send("desk", `Edit ${at}.`)
      await fleet.idle()
      const [waiting] = await fleet.approvals.list("desk")
      if (waiting !== undefined) await fleet.deny("desk", waiting.approval)
      await fleet.idle()
      const rows = await fleet.history.entries("desk", 1, 10_000)
      const said = rows.flatMap(({ entry }) => entry.messages).findLast(({ role }) => role === "tool")?.content ?? ""
      const isRefused = /does not allow to/.test(said)
      outcomes.push(waiting !== undefined ? "asked" : isRefused ? "refused" : "done")
    }
    return outcomes
  }

  test("F90 what an assistant may append, overwrite and delete under each permission, and what a person is asked for", async () => {
    const permissions = ["ReadOnly", "Partner", "Human", "Append", "ReadWrite", "Admin"] as const
    const found = await Promise.all(permissions.map(async (each) => [each, ...(await asked(each))]))
    assert.deepStrictEqual(found, [
      ["ReadOnly", "refused", "refused", "refused"],
      ["Partner", "asked", "asked", "refused"],
      ["Human", "asked", "asked", "refused"],
      ["Append", "done", "refused", "refused"],
      ["ReadWrite", "done", "done", "refused"],
      ["Admin", "done", "done", "done"]
    ])
  })

  test("F91 permissions and read-only marks bind the assistant and not the person who holds the fleet", async () => {
    const schema = { kind: "map", fields: [{ name: "berth", type: "text", readOnly: true }] } as const
    const fleet = await opened(
      [
        { label: "notes", type: "core", content: "a", permission: "ReadOnly" },
        { label: "ship", type: "core", schema }
      ],
      [{ block: "notes", action: "append", text: "b" }]
    )
    assert.match(await answered(fleet, 0), /does not allow to append/)
    const { id = "" } = (await fleet.blocks.find("desk", "notes")) ?? {}
    await fleet.blocks.edit(id, { op: "append_text", text: "c" })
    await fleet.blocks.edit(id, { op: "set_text", text: `${await textOf(fleet, "notes")}d` })
    assert.strictEqual(await textOf(fleet, "notes"), "acd")
    await fleet.blocks.delete(id)
    assert.isUndefined(await fleet.blocks.load(id))
    const { id: ship = "" } = (await fleet.blocks.find("desk", "ship")) ?? {}
    await fleet.blocks.edit(ship, { op: "set_field", field: "berth", value: "7" })
    assert.strictEqual(await textOf(fleet, "ship"), "berth [read-only]: 7")
  })
})

describe("blocks in a prompt", () => {
  const shownTo = async (blocks: Blocks, refersTo: ReadonlyArray<string> = []) => {
    const { prompts, says } = heard()
    await using fleet = await openFleet({ says, assistant: { blocks, memory: { recall: "off" } } })
    const shared = await fleet.blocks.create({ owner: "clerk", label: "shared", type: "core", content: "Ours." })
    await fleet.blocks.share(shared.block, "desk", "Append")
    const found = await Promise.all(refersTo.map((label) => fleet.blocks.find("desk", label)))
    await fleet.answer("desk", "Hello.", { blocks: found.flatMap((block) => block?.id ?? []) })
    return prompts.at(-1)?.messages.map(({ content }) => content) ?? []
  }

  test("F87 F88 F89 after the instructions come core blocks, then the working ones that are pinned; no log, nothing put away", async () => {
    const texts = await shownTo(
      [
        { label: "human", type: "core", content: "Name: Ann", description: "Whom you serve." },
        { label: "todo", type: "working", pinned: true, permission: "Append", content: "Sail." },
        { label: "spare", type: "working", content: "unseen" },
        { label: "past", type: "archival", content: "unseen" },
        { label: "log", type: "log", content: "unseen" }
      ],
      ["past", "log"]
    )
    const core =
      '<block:human permission="ReadWrite">\nWhom you serve.\n\nName: Ann\n</block:human>\n\n' +
      '<block:shared permission="Append" shared_from="clerk">\nOurs.\n</block:shared>'
    const working = '<block:todo permission="Append">\nSail.\n</block:todo>'
    assert.deepStrictEqual(texts.slice(1), [core, working, "Hello."])
    assert.match(texts[0] ?? "", /You are under test\.$/)
  })
})

describe("the documents of blocks", () => {
  test("F93 at most 64 are held in memory, and what was let go comes back whole, in this process and the next one", async () => {
    const data = aDirectory()
    const ids: Array<string> = []
    const append = (text: string) => ({ op: "append_text", text }) as const
    {
      await using fleet = await openFleet({ data, durability: "normal" })
      for (let at = 0; at < 70; at++) {
        const { block } = await fleet.blocks.create({
          owner: "desk",
          label: `no-${at}`,
          type: "archival",
          content: "a"
        })
        ids.push(block)
      }
      assert.match(await fleet.monitor.metrics(), /\nreverie_block_documents 64\n/)
      for (const text of ["b", "c"]) await fleet.blocks.edit(ids[0] ?? "", append(text))
      for (const id of ids.slice(1)) await fleet.blocks.edit(id, append("z"))
      await fleet.blocks.edit(ids[0] ?? "", append("d"))
      assert.match(await fleet.monitor.metrics(), /\nreverie_block_documents 64\n/)
    }
    await using again = await openFleet({ data })
    assert.strictEqual((await again.blocks.load(ids[0] ?? ""))?.text, "abcd")
    assert.strictEqual((await again.blocks.read(ids[0] ?? "", 3)).text, "abc")
    await again.blocks.edit(ids[0] ?? "", append("e"))
    assert.strictEqual((await again.blocks.read(ids[0] ?? "")).text, "abcde")
  })

  test("F102 who subscribes hears of each change once it is durable, an assistant's and a person's, and of no refused one", async () => {
    const fleet = await opened(
      [{ label: "notes", type: "core", content: "a", permission: "Append" }],
      [
        { block: "notes", action: "append", text: "b" },
        { block: "notes", action: "set", text: "c" }
      ]
    )
    const { id = "" } = (await fleet.blocks.find("desk", "notes")) ?? {}
    const kept: Array<KeptChange> = []
    const texts: Array<Promise<string | undefined>> = []
    const stop = await fleet.blocks.subscribe((change) => {
      kept.push(change)
      texts.push(fleet.blocks.load(change.block).then((block) => block?.text))
    })
    const foreign: Array<KeptChange> = []
    await fleet.forTenant("tower").blocks.subscribe((change) => void foreign.push(change))
    assert.include(await answered(fleet, 0), "ab")
    assert.match(await answered(fleet, 1), /does not allow to overwrite/)
    await fleet.blocks.edit(id, { op: "append_text", text: "c" }, { key: "once", by: "ann" })
    await fleet.blocks.edit(id, { op: "append_text", text: "c" }, { key: "once", by: "ann" })
    await fleet.blocks.undo(id)
    stop()
    await fleet.blocks.delete(id)
    assert.deepStrictEqual(
      kept.map(({ block, by, version, what }) => [block === id, by, what, version]),
      [
        [true, "desk", "change", 2],
        [true, "ann", "change", 3],
        [true, "person", "undo", 4]
      ]
    )
    assert.strictEqual((await Promise.all(texts))[0], "ab")
    assert.deepStrictEqual(foreign, [])
  })
})
