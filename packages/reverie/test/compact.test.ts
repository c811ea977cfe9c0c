import { assert, describe, it } from "@effect/vitest"
import type { Line } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { type AssistantOptions, type Fleet, memoryTools, type RetainedDetail, viewOf } from "../src/index.ts"
import { openFleet } from "./rig.ts"

const NOOP: Line = { calls: [{ tool: "noop", arguments: {} }] }
const said = (at: number): string => `Word ${at}. ${"The tide was fair and the wind stood east. ".repeat(6)}`

/** What the last model call of a tick was shown. */
interface Shown {
  texts: ReadonlyArray<string>
}

const openKeeper = async (words: number, settings: AssistantOptions["settings"] = {}) => {
  const shown: Shown = { texts: [] }
  const fleet = await openFleet({
    says: ({ messages, tools }) => {
      if (tools.length === 0) return Effect.succeed({ text: "They talked about the tide." })
      if (messages.some(({ content }) => content.includes("is about to be compacted"))) return Effect.succeed(NOOP)
      shown.texts = messages.map(({ content }) => content)
      return Effect.succeed({ text: "Aye." })
    },
    assistant: { memory: { recall: "off" }, compaction: { compactPreserveWindow: 4 }, settings }
  })
  for (let at = 0; at < words; at++) await fleet.send("desk", said(at))
  await fleet.idle()
  return { fleet, shown }
}

const shownNext = async (fleet: Fleet, shown: Shown): Promise<ReadonlyArray<string>> => {
  await fleet.send("desk", "And now?")
  await fleet.idle()
  return shown.texts
}

const viewed = async (fleet: Fleet) => {
  const record = await fleet.inspect("desk")
  assert.isDefined(record)
  return viewOf(record)
}

const settledAs = async (fleet: Fleet, id: string) =>
  (await fleet.history.entries("desk", 1, 1_000))
    .flatMap(({ entry }) => entry.settled ?? [])
    .find((each) => each.id === id)

describe("a compaction that a person orders", () => {
  it("F50 F53 compacts a history that fills no window, and an undo brings it back; the life is replayed the same", async () => {
    const { fleet, shown } = await openKeeper(8)
    await using _ = fleet
    const receipt = await fleet.compactions.run("desk", { id: "order-1" })
    assert.deepStrictEqual(
      [receipt.outcome, (await fleet.compactions.run("desk", { id: "order-1" })).outcome],
      ["accepted", "duplicate"]
    )
    await fleet.idle()
    const [compaction, ...others] = await fleet.compactions.list("desk")
    assert.deepStrictEqual(others, [])
    assert.deepInclude(compaction, { trigger: "order", threshold: 0, preserved_count: 4, compacted_count: 12 })
    assert.isBelow(compaction?.after.tokens ?? Infinity, compaction?.before.tokens ?? 0)
    assert.strictEqual((await viewed(fleet)).state, "awake.idle")
    const after = await shownNext(fleet, shown)
    assert.isFalse(after.some((text) => text.startsWith("Word 0.")))
    assert.isTrue(after.some((text) => text.startsWith("[CONTEXT SUMMARY]\nThey talked about the tide.")))
    await fleet.compactions.undo("desk", compaction?.id ?? "")
    await fleet.idle()
    const again = await shownNext(fleet, shown)
    assert.isTrue(again.some((text) => text.startsWith("Word 0.")))
    assert.isFalse(again.some((text) => text.startsWith("[CONTEXT SUMMARY]")))
    assert.deepInclude(await fleet.replay.verify("desk"), { equal: true })
  })

  it("R1 R5 tells what of it is left: in the summary, only in memory, or nowhere, and the window part by part", async () => {
    const fleet = await openFleet({
      says: ({ messages, tools }) =>
        Effect.succeed(
          tools.length === 0
            ? { text: "The Birch has a berth." }
            : messages.some(({ content }) => content.includes("is about to be compacted"))
              ? NOOP
              : messages.at(-1)?.content.endsWith("Keep it.") === true
                ? { calls: [{ tool: "store_memory", arguments: { text: "Nora is the pilot." } }] }
                : { text: "Noted." }
        ),
      tools: [...memoryTools],
      assistant: { memory: { recall: "off" }, compaction: { compactPreserveWindow: 4 } }
    })
    await using _ = fleet
    await fleet.send("desk", "Put the Birch at berth 14, and call Nora at 07:30.")
    await fleet.send("desk", "Nora is the pilot. Keep it.")
    for (let at = 0; at < 6; at++) await fleet.send("desk", "The tide was fair and the wind stood east. ".repeat(6))
    await fleet.idle()
    assert.isUndefined(await fleet.compactions.outcome("desk", "compact_none"))
    await fleet.compactions.run("desk")
    await fleet.idle()
    const [compaction] = await fleet.compactions.list("desk")
    const left = await fleet.compactions.outcome("desk", compaction?.id ?? "")
    const shown = (list: ReadonlyArray<RetainedDetail> = []) => list.map(({ message, text }) => [text, message])
    assert.deepInclude(shown(left?.inSummary), ["Birch", "m/2/0"])
    assert.deepStrictEqual(shown(left?.lost), [
      ["14", "m/2/0"],
      ["07:30", "m/2/0"]
    ])
    assert.deepStrictEqual(shown(left?.inMemory), [["Nora", "m/2/0"]])
    const sum = (when: "before" | "after") => (left?.parts ?? []).reduce((total, part) => total + part[when], 0)
    assert.deepStrictEqual([sum("before"), sum("after")], [compaction?.before.tokens, compaction?.after.tokens])
  })

  it("asleep it compacts too, and sleeps on", async () => {
    const { fleet } = await openKeeper(8)
    await using _ = fleet
    await fleet.sleep("desk")
    await fleet.idle()
    assert.strictEqual((await viewed(fleet)).state, "dreaming.resting")
    await fleet.compactions.run("desk")
    await fleet.idle()
    assert.deepStrictEqual(
      (await fleet.compactions.list("desk")).map(({ trigger }) => trigger),
      ["order"]
    )
    assert.strictEqual((await viewed(fleet)).state, "dreaming.resting")
    assert.deepInclude(await fleet.replay.verify("desk"), { equal: true })
  })

  it("J1 says why when there is nothing to compact, or it may not", async () => {
    const short = await openKeeper(2)
    await using _ = short.fleet
    const off = await openKeeper(8, { compactEnabled: false })
    await using __ = off.fleet
    for (const [{ fleet }, reason] of [
      [short, "the history is no longer than the window that is preserved"],
      [off, "compaction is switched off"]
    ] as const) {
      await fleet.compactions.run("desk", { id: "order-1" })
      await fleet.idle()
      assert.deepInclude(await settledAs(fleet, "order-1"), { outcome: "ignored", reason })
      assert.deepStrictEqual(await fleet.compactions.list("desk"), [])
    }
    const accepts = await Promise.all([short, off].map(async ({ fleet }) => (await viewed(fleet)).accepts))
    assert.deepStrictEqual(
      accepts.map((events) => events.includes("compact")),
      [true, false]
    )
  })

  it("S2 stands in the timeline as a compaction that someone ordered", async () => {
    const { fleet } = await openKeeper(8)
    await using _ = fleet
    await fleet.compactions.run("desk", { id: "order-1", from: "kim" })
    await fleet.idle()
    const { ticks } = await fleet.history.ticks("desk")
    const [compaction] = ticks
    assert.deepInclude(compaction, { kind: "compaction", envelope: "order-1", type: "compact", from: "kim" })
    assert.deepStrictEqual(
      compaction?.steps.map(({ name }) => name),
      ["compact extracting", "compact summarizing", "compact replacing"]
    )
  })
})
