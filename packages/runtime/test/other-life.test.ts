import { assert, describe, it } from "@effect/vitest"
import { Ledger } from "@reverie/ledger"
import { type Recall, RecallUnavailable } from "@reverie/memory"
import { TenantId } from "@reverie/protocol"
import { blockDisk, MemoryDisk, memoryBlockStore, memoryRecall, RecallDisk } from "@reverie/testkit"
import { memoryTools } from "@reverie/tools"
import * as Effect from "effect/Effect"
import { recallFor } from "../src/index.ts"
import { type Life, live, type LifeOptions } from "./rig.ts"

/** The store as it is now, for a life that begins here again. */
const backupOf = ({ disk }: Life): MemoryDisk => Object.assign(new MemoryDisk(), structuredClone(disk))

const HOUR = 3_600_000

/** What happens after a store was restored: time has gone on. */
const restored = (disk: MemoryDisk, before: Life, options: LifeOptions = {}) =>
  live({ model: { text: "Noted." }, ...options, disk, startAt: before.time.now + HOUR })

const saying = (life: Life, ...texts: ReadonlyArray<string>): void => {
  for (const [at, text] of texts.entries()) {
    life.say(text, { from: "Ann", id: `${life.time.now}-${at}` })
    life.rest()
  }
  life.pass(20_000)
}

const ask = (life: Life, question: string, options: Parameters<typeof recallFor>[2] = {}) =>
  life.run(Effect.provide(recallFor(life.address(), question, options), life.services()))

const textsOf = (life: Life, question: string, options: Parameters<typeof recallFor>[2] = {}) =>
  ask(life, question, options).hits.map(({ entry }) => entry.text)

const warnings = ({ logged }: Life) => logged.filter((line) => line.includes("ahead of its ledger"))

/** A life whose backup is older than what its index has seen. */
const ahead = (options: LifeOptions & { readonly recall: Recall["Service"] }) => {
  const first = live({ model: { text: "Noted." }, ...options })
  saying(first, "The tug Juniper lies at berth nine.")
  const backup = backupOf(first)
  saying(first, "The walrus sings at dawn.", "No one heard the walrus.")
  assert.isNotEmpty(textsOf(first, "walrus"))
  return { first, backup }
}

describe("an index that is ahead of a ledger that was restored", () => {
  it("Q5 finds nothing that was never said in this life, and whatever is said in it, in a process that goes on", () => {
    const recall = memoryRecall()
    const { backup, first } = ahead({ recall })
    const second = restored(backup, first, { recall })
    assert.deepStrictEqual(textsOf(second, "walrus"), [])
    assert.deepStrictEqual(textsOf(second, "Juniper"), ["The tug Juniper lies at berth nine."])
    saying(second, "A pelican sleeps on the crane.")
    assert.strictEqual(textsOf(second, "pelican")[0], "A pelican sleeps on the crane.")
    assert.strictEqual(warnings(second).length, 1)
  })

  it("Q5 also when this life has come as far as the other one, or further", () => {
    const disk = new RecallDisk()
    const { backup, first } = ahead({ recall: memoryRecall(disk) })
    const without = restored(backup, first)
    saying(without, "A pelican sleeps.", "A heron stands.", "An otter swims.", "A seal barks.")
    const second = restored(backupOf(without), without, { recall: memoryRecall(disk) })
    assert.deepStrictEqual(textsOf(second, "walrus"), [])
    assert.strictEqual(textsOf(second, "pelican")[0], "A pelican sleeps.")
    assert.strictEqual(textsOf(second, "seal")[0], "A seal barks.")
  })

  it("Q5 what comes to mind by itself is of this life", () => {
    const definition = { maxContextTokens: 700, reservedResponseTokens: 100 }
    const recall = memoryRecall()
    const first = live({ model: { text: "Noted." }, recall, definition })
    const days = Array.from({ length: 30 }, (_, day) => `Day ${day}: the ferry was late and the gulls were loud.`)
    saying(first, ...days)
    const backup = backupOf(first)
    saying(first, "The walrus sings at dawn.", ...days)
    const second = restored(backup, first, { recall, definition })
    const from = second.scripted.prompts.length
    saying(second, "What does the walrus do at dawn, and was the ferry late on day 3?")
    const shown = JSON.stringify(second.scripted.prompts.slice(from))
    assert.include(shown, "the ferry was late")
    assert.notInclude(shown, "walrus sings")
  })

  it("O1 what another assistant shared and never said in this life is shown to no one else", () => {
    const disk = new RecallDisk()
    const store = { tool: "store_memory", arguments: { text: "The walrus sings at dawn.", readers: "fleet" } }
    const first = live({
      recall: memoryRecall(disk),
      assistants: ["ada", "bob"],
      tools: memoryTools,
      model: ({ messages }) =>
        Effect.succeed(messages.at(-1)?.content === "Keep it." ? { calls: [store] } : { text: "Noted." })
    })
    const backup = backupOf(first)
    first.say("Keep it.", { to: "bob" })
    first.rest()
    first.pass(20_000)
    const fleet = { scope: "fleet" } as const
    assert.deepStrictEqual(textsOf(first, "walrus", fleet), ["The walrus sings at dawn."])
    const second = restored(backup, first, { recall: memoryRecall(disk), assistants: ["ada", "bob"] })
    assert.deepStrictEqual(textsOf(second, "walrus", fleet), [])
    // Who is not in the store at all has said nothing either.
    const third = live({ recall: memoryRecall(disk), assistants: ["ada"] })
    assert.deepStrictEqual(textsOf(third, "walrus", fleet), [])
  })

  it.effect("B1 O1 blocks are found as they are in this life, its own and those of others", () =>
    Effect.gen(function* () {
      const kept = blockDisk()
      const blocks = memoryBlockStore(kept)
      const system = { tenant: TenantId.make("harbor"), by: "system", isSystem: true, at: 0 }
      // Made before a life begins: what blocks are made of is loaded in real time.
      for (const owner of ["ada", "bob"]) {
        const draft = { owner, label: "berths", type: "archival", content: "The third berth is free." } as const
        const { block } = yield* blocks.create(draft, { ...system, key: `make ${owner}` })
        yield* blocks.configure(
          block,
          { ...system, key: `share ${owner}` },
          { set: "share", with: "*", permission: "ReadOnly" }
        )
      }
      const backup = structuredClone(kept)
      for (const { id } of yield* blocks.list(system, {})) {
        yield* blocks.change(
          id,
          { ...system, key: `change ${id}` },
          { op: "append_text", text: " A walrus lies there." }
        )
      }
      const recall = memoryRecall()
      const assistants = ["ada", "bob"]
      const found = (life: Life, text: string) =>
        recallFor(life.address(), text, { scope: "fleet" }).pipe(
          Effect.provide(life.services()),
          Effect.map(({ hits }) => hits.map(({ owner }) => owner).toSorted())
        )
      const first = live({ recall, blocks, assistants, idle: true })
      const bob = recallFor(first.address("bob"), "walrus").pipe(Effect.provide(first.services()))
      assert.lengthOf((yield* bob).hits, 1)
      assert.deepStrictEqual(yield* found(first, "walrus"), ["ada", "bob"])
      // The ledgers are the same: only what was changed in blocks is gone.
      const after = { recall: { ...recall }, blocks: memoryBlockStore(backup), assistants, idle: true }
      const second = live({ ...after, disk: first.disk })
      assert.deepStrictEqual(yield* found(second, "walrus"), [])
      assert.deepStrictEqual(yield* found(second, "third berth"), ["ada", "bob"])
    })
  )

  it("Q5 an index that can not be emptied is not asked", () => {
    const disk = new RecallDisk()
    const { backup, first } = ahead({ recall: memoryRecall(disk) })
    const refused = new RecallUnavailable({ operation: "erase", message: "attempt to write a readonly database" })
    const recall = { ...memoryRecall(disk), erase: () => Effect.fail(refused) }
    const second = restored(backup, first, { recall })
    const { degraded, hits } = ask(second, "walrus Juniper")
    assert.deepStrictEqual(
      hits.map(({ entry }) => entry.text),
      ["The tug Juniper lies at berth nine."]
    )
    assert.include(degraded, "readonly database")
  })

  it("I5 a life is held against its index once a claim, not with every tick", () => {
    const recall = memoryRecall()
    const options = { recall, definition: { maxContextTokens: 700, reservedResponseTokens: 100 } }
    const first = live({ model: { text: "Noted." }, ...options })
    saying(first, ...Array.from({ length: 30 }, (_, day) => `Day ${day}: the ferry was late and the gulls were loud.`))
    let reads = 0
    const second = live({
      model: { text: "Noted." },
      ...options,
      disk: first.disk,
      startAt: first.time.now + HOUR,
      store: (store) => ({
        ...store,
        ledger: {
          ...store.ledger,
          entries: (address, from, limit) => {
            // The entry that the index has come to, and a page behind it.
            if (limit === 65) reads++
            return store.ledger.entries(address, from, limit)
          }
        }
      })
    })
    for (let day = 30; day < 60; day++) {
      second.say(`Day ${day}: was the ferry late?`, { id: `later-${day}` })
      second.rest()
    }
    assert.strictEqual(reads, 1)
  })

  it("S3 S4 what the store itself answers is read once, then only what is new, and is of this life", () => {
    const first = live({ model: { text: "Noted." } })
    saying(first, "The tug Juniper lies at berth nine.")
    const backup = backupOf(first)
    saying(first, "The walrus sings at dawn.")
    let present = first.store.ledger
    const reads: Array<number> = []
    const ledger: typeof present = {
      ...present,
      inspect: (address) => present.inspect(address),
      records: (...asked) => present.records(...asked),
      entries: (address, from, limit) => {
        reads.push(limit)
        return present.entries(address, from, limit)
      }
    }
    const asked = (question: string) =>
      first
        .run(Effect.provideService(recallFor(first.address(), question), Ledger, ledger))
        .hits.map(({ entry }) => entry.text)
    assert.strictEqual(asked("walrus")[0], "The walrus sings at dawn.")
    saying(first, "A pelican sleeps on the crane.")
    assert.strictEqual(asked("pelican")[0], "A pelican sleeps on the crane.")
    assert.strictEqual(asked("walrus")[0], "The walrus sings at dawn.")
    assert.deepStrictEqual(reads, [512, 3, 1])
    present = restored(backup, first).store.ledger
    assert.deepStrictEqual(asked("walrus"), [])
    assert.deepStrictEqual(asked("Juniper"), ["The tug Juniper lies at berth nine."])
  })
})
