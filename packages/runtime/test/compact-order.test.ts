import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { compactions, folder, opened, settings, ship, shownNext, talk } from "./folder.ts"
import type { Life } from "./rig.ts"

describe("compaction by order", () => {
  const order = { type: "compact" } as const
  const settledOf = (life: Life, id: string) => life.settled().find((each) => each.id === id)

  const ordered = (life: Life, id: string): void => {
    life.post(order, { id })
    life.rest()
  }

  it("F53: each marker counts what its own compaction has compacted, and beside it what all of them have", () => {
    const life = opened(folder().script, { settings: { ...settings, compactEmergencyRatio: 1 } })
    for (const count of [29, 20]) {
      talk(life, count)
      life.post({ type: "sleep" })
      life.rest()
      life.post({ type: "wake" })
    }
    const all = compactions(life)
    const [first = 0, second = 0] = all.map(({ compacted_count }) => compacted_count)
    assert.deepStrictEqual(
      all.map(({ marker: { meta } }) => [meta?.["compacted_count"], meta?.["total_count"]]),
      [
        [first, first],
        [second, first + second]
      ]
    )
  })

  it("F50 F53: awake it compacts whatever the ratio, asks for no tick, and a compaction can be taken back", () => {
    const model = folder()
    const life = opened(model.script)
    talk(life, 12)
    const before = { ticks: life.ends().length, shown: life.messages().length }
    ordered(life, "order-1")
    const [compaction] = compactions(life)
    assert.deepInclude(compaction, { trigger: "order", threshold: 0, preserved_count: 20 })
    assert.isBelow(compaction?.ratio ?? 1, 0.7)
    assert.strictEqual(compaction?.compacted_count, before.shown - 20)
    assert.deepStrictEqual([life.status(), life.ends().length], ["awake.idle", before.ticks])
    assert.deepInclude(settledOf(life, "order-1"), { outcome: "handled" })
    assert.strictEqual(model.of("extract").length, 1)
    life.post({ type: "undoCompaction", compaction: compaction?.id ?? "" }, { id: "undo" })
    assert.isTrue(shownNext(life).some(({ content }) => content.startsWith("Ship 0 lies")))
  })

  it("J1: where there is nothing to compact, no one is asked, nothing changes, and the reason is reported", () => {
    const model = folder()
    const life = opened(model.script)
    talk(life, 5)
    const before = life.snapshot()
    ordered(life, "order-1")
    assert.deepInclude(settledOf(life, "order-1"), {
      outcome: "ignored",
      reason: "the history is no longer than the window that is preserved"
    })
    assert.deepStrictEqual([compactions(life), model.asked, life.snapshot()], [[], [], before])
    const off = opened(model.script, { settings: { compactEnabled: false } })
    talk(off, 12)
    ordered(off, "order-1")
    assert.deepInclude(settledOf(off, "order-1"), { outcome: "ignored", reason: "compaction is switched off" })
  })

  it("asleep it compacts and rests on, and the night is no longer for it", () => {
    const model = folder()
    const life = opened(model.script)
    talk(life, 12)
    life.post({ type: "sleep", forMs: 3_600_000 })
    life.until(() => life.status() === "dreaming.resting")
    const due = () => Effect.runSync(life.store.ledger.inspect(life.address()))?.state.timers.map(({ dueAt }) => dueAt)
    const night = due()
    life.pass(1_800_000)
    life.post(order, { id: "order-1" })
    life.until(() => compactions(life).length === 1 && life.status() === "dreaming.resting")
    assert.deepInclude(compactions(life)[0], { trigger: "order" })
    assert.deepStrictEqual(due(), night)
  })

  it("waits as other mail does while a tick is in hand", () => {
    const model = folder()
    const life = opened(model.script)
    talk(life, 11)
    life.say(ship(11), { id: "m-11" })
    life.post(order, { id: "order-1" })
    life.rest()
    const settled = life.settled().map(({ id }) => id)
    assert.isBelow(settled.indexOf("m-11"), settled.indexOf("order-1"))
    assert.strictEqual(compactions(life).length, 1)
  })

  it("a crash between two of its steps repeats one of them, and the history is compacted once", () => {
    const kinds = ["compacting.extracting", "compacting.summarizing", "compacting.replacing"]
    for (const kind of kinds) {
      const life = opened(folder().script)
      talk(life, 12)
      life.post(order, { id: "order-1" })
      life.until(() => life.status() === kind)
      const again = opened(folder().script, { disk: life.disk, startAt: life.time.now + 60_000 })
      again.rest()
      assert.deepStrictEqual(
        [again.status(), compactions(again).map(({ trigger }) => trigger)],
        ["awake.idle", ["order"]]
      )
    }
  })
})
