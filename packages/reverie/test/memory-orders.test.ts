// Orders about a memory: what is not there is refused, and leaves nothing behind.

import { assert, describe, test } from "vitest"
import {
  type AssistantOptions,
  defineAssistant,
  EnvelopeInvalid,
  MemoryRefused,
  MemoryUnknown,
  UnknownAssistant
} from "../src/index.ts"
import { testFleet } from "../src/testing/index.ts"

const opened = (options: Partial<AssistantOptions> = {}) =>
  testFleet(defineAssistant({ id: "desk", instructions: "You only listen.", sleep: { enabled: false }, ...options }), {
    model: "offline"
  })
type Opened = Awaited<ReturnType<typeof opened>>

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "accepted",
    (error: unknown) => error
  )

const night = async (fleet: Opened): Promise<void> => {
  await fleet.sleep("desk")
  await fleet.idle()
  await fleet.wake("desk")
  await fleet.idle()
}

const acceptedCount = async (fleet: Opened): Promise<number> =>
  (await fleet.history.entries("desk", 1, 1_000)).flatMap(({ entry }) => entry.settled ?? []).length

const unknown: Readonly<Record<string, (fleet: Opened, dream: string) => Promise<unknown>>> = {
  retireFact: (fleet) => fleet.memory.retireFact("desk", "fact_9_9"),
  releaseFact: (fleet) => fleet.memory.releaseFact("desk", "fact_9_9"),
  correctFact: (fleet) => fleet.memory.correctFact("desk", "fact_9_9", "The ferry leaves at nine."),
  deletePassage: (fleet) => fleet.memory.deletePassage("desk", "passage_9"),
  undoDream: (fleet) => fleet.memory.undoDream("desk", "dream_99"),
  acceptDream: (fleet) => fleet.memory.acceptDream("desk", "strange"),
  "undoDream of an item": (fleet, dream) => fleet.memory.undoDream("desk", dream, { items: ["bogus"] }),
  "acceptDream of an item": (fleet, dream) => fleet.memory.acceptDream("desk", dream, { items: ["bogus"] }),
  correctAttribute: (fleet) => fleet.memory.correctAttribute("desk", "ann", "a99", "Keeps bees."),
  removeAttribute: (fleet) => fleet.memory.removeAttribute("desk", "ann", "a99"),
  undoAttribute: (fleet) => fleet.memory.undoAttribute("desk", "strange", "a1"),
  "post of the event itself": (fleet) => fleet.post("desk", { type: "retireFact", fact: "fact_9_9" })
}

const empty: Readonly<Record<string, (fleet: Opened) => Promise<unknown>>> = {
  addFact: (fleet) => fleet.memory.addFact("desk", "  "),
  correctFact: (fleet) => fleet.memory.correctFact("desk", "fact_9_9", ""),
  addAttribute: (fleet) => fleet.memory.addAttribute("desk", "Ann", "\n"),
  "acceptDream of nothing": (fleet) => fleet.memory.acceptDream("desk", "dream_1", { items: [] }),
  "undoDream of nothing": (fleet) => fleet.memory.undoDream("desk", "dream_1", { items: [] }),
  "addAttribute of no one": (fleet) => fleet.memory.addAttribute("desk", " ", "Keeps bees.")
}

describe("an order about a memory", () => {
  test("O1 J1 is refused with a tagged error when it names what is not there, and nothing reaches the mailbox", async () => {
    const fleet = await opened()
    await fleet.answer("desk", "My name is Ann and I sail the Aurora out of Bergen.", { from: "Ann" })
    await night(fleet)
    const [report] = await fleet.memory.dreams("desk")
    const before = await acceptedCount(fleet)
    for (const [name, order] of Object.entries(unknown)) {
      const error = await failure(order(fleet, report?.id ?? ""))
      assert.instanceOf(error, MemoryUnknown, name)
      assert.match((error as Error).message, /^there is no .* in the memory of desk; /, name)
    }
    for (const [name, order] of Object.entries(empty)) {
      const error = await failure(order(fleet))
      assert.instanceOf(error, EnvelopeInvalid, name)
      assert.match((error as Error).message, /is empty|has no name|names no item/, name)
    }
    await fleet.idle()
    assert.strictEqual(await acceptedCount(fleet), before)
    assert.instanceOf(await failure(fleet.memory.retireFact("other", "fact_1_0")), UnknownAssistant)
    await fleet.close()
  })

  test("O1 uses up no id: a fact that was asked for too early is retired later, with a reason", async () => {
    const fleet = await opened()
    await fleet.answer("desk", "My name is Ann and I sail the Aurora out of Bergen.", { from: "Ann" })
    const early = await Promise.all(
      ["fact_1_0", "fact_2_0", "fact_3_0"].map((fact) => failure(fleet.memory.retireFact("desk", fact)))
    )
    for (const each of early) assert.instanceOf(each, MemoryUnknown)
    await night(fleet)
    const [fact] = await fleet.memory.facts("desk")
    const order = () => fleet.memory.retireFact("desk", fact?.id ?? "", { reason: "a joke" })
    assert.strictEqual((await order()).outcome, "accepted")
    await fleet.idle()
    assert.deepInclude((await fleet.memory.facts("desk"))[0], { state: "retired", reason: "a joke" })
    assert.strictEqual((await order()).outcome, "duplicate")
    await fleet.close()
  })

  test("O3 a dream over what retention deleted is not taken back", async () => {
    const fleet = await opened({ retention: { deleteAfter: 5 } })
    await fleet.answer("desk", "My boat is called Heron.", { from: "ann" })
    await fleet.sleep("desk")
    await fleet.idle()
    const [slept] = await fleet.memory.dreams("desk")
    const dream = slept?.id ?? ""
    for (let each = 0; each < 20; each++) await fleet.answer("desk", `Filler ${each}`, { from: "bob" })
    assert.isAbove((await fleet.vacuum()).deleted.entries, 0)
    const before = await acceptedCount(fleet)
    const refused = await failure(fleet.memory.undoDream("desk", dream, { reason: "wrong" }))
    assert.instanceOf(refused, MemoryRefused)
    assert.match(refused.message, /dream_\d+ (?:did )?was deleted by retention/)
    assert.strictEqual(await acceptedCount(fleet), before)
    await fleet.close()
  })

  test("O2 a fact that holds no more is not corrected, and the error says what to do; the same order twice is one", async () => {
    const fleet = await opened()
    await fleet.memory.addFact("desk", "Berth 7 is closed until May.")
    await fleet.idle()
    const [old] = await fleet.memory.facts("desk")
    const correct = (fact: string, text: string, id?: string) =>
      fleet.memory.correctFact("desk", fact, text, id === undefined ? {} : { id })
    const first = () => correct(old?.id ?? "", "Berth 7 is closed until June.", "mail-1")
    assert.strictEqual((await first()).outcome, "accepted")
    await fleet.idle()
    const facts = await fleet.memory.facts("desk")
    const stateOf = (id: string) => facts.find((each) => each.id === id)?.state
    const next = facts.find(({ state }) => state === "active")?.id ?? ""
    assert.strictEqual(stateOf(old?.id ?? ""), "superseded")
    assert.strictEqual((await first()).outcome, "duplicate")
    const before = await acceptedCount(fleet)
    const superseded = await failure(correct(old?.id ?? "", "Berth 7 is open."))
    assert.instanceOf(superseded, MemoryRefused)
    assert.strictEqual(superseded.message, `${old?.id} is superseded: correct ${next}, or add what is right`)
    await fleet.memory.addFact("desk", "Berth 8 is open.")
    await fleet.idle()
    const joke = (await fleet.memory.facts("desk")).find(({ text }) => text === "Berth 8 is open.")?.id ?? ""
    await fleet.memory.retireFact("desk", joke)
    await fleet.idle()
    const retired = await failure(correct(joke, "Berth 8 is closed."))
    assert.instanceOf(retired, MemoryRefused)
    assert.strictEqual(retired.message, `${joke} is retired: add what is right`)
    assert.strictEqual(await acceptedCount(fleet), before + 2)
    await fleet.close()
  })
})
