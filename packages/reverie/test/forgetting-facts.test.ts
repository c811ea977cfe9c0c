import { assert, describe, it } from "@effect/vitest"
import { defineAssistant, defineFleet, Fleet, type Forgettable } from "../src/index.ts"
import { aDirectory, filesWith } from "./rig.ts"

const desk = defineAssistant({ id: "desk", instructions: "You keep the harbour book." })

const open = (data: string): Promise<Fleet> =>
  Fleet.open({ data, model: "offline", fleet: defineFleet({ assistants: [desk] }) })

type Said = readonly [from: string, text: string]

const night = async (fleet: Fleet, ...said: ReadonlyArray<Said>): Promise<void> => {
  for (const [from, text] of said) await fleet.answer("desk", text, { from })
  await fleet.sleep("desk")
  await fleet.idle()
}

/** What holds. */
const factsOf = async (fleet: Fleet) =>
  (await fleet.memory.facts("desk")).flatMap(({ state, text }) => (state === "active" ? [text] : []))

const told = async (fleet: Fleet, name: string) => {
  const profiles = await fleet.memory.profiles("desk")
  return profiles
    .filter((each) => each.name.toLowerCase() === name)
    .flatMap((each) => each.attributes.map(({ text }) => text))
}

/** The messages that say a text, and when. */
const placesOf = async (fleet: Fleet, text: string) =>
  (await fleet.history.entries("desk")).flatMap(({ entry: { at, messages, no } }) =>
    messages.flatMap(({ content, role }, index) =>
      role === "user" && content.includes(text) ? [{ id: `m/${no}/${index}`, at }] : []
    )
  )

const placeOf = async (fleet: Fleet, text: string) => (await placesOf(fleet, text))[0] ?? { id: "", at: 0 }

const assertEqual = async (fleet: Fleet): Promise<void> => {
  const { equal, mismatches } = await fleet.replay.verify("desk")
  assert.isTrue(equal, JSON.stringify(mismatches))
}

describe("facts whose place was taken by one that is forgotten", () => {
  for (const way of ["message", "span", "text", "topic"] as const) {
    it(`T1 T3 hold again, and profiles hear of them, where that goes by its ${way}`, async () => {
      const data = aDirectory()
      await using fleet = await open(data)
      await night(fleet, ["ann", "I live in Bergen."], ["ann", "I have a dog called Biscuit."])
      await night(fleet, ["ann", "I live in Oslo."])
      assert.sameMembers(await factsOf(fleet), ["ann has a dog called Biscuit", "ann lives in Oslo"])
      const { at, id } = await placeOf(fleet, "Oslo")
      const ways: Readonly<Record<typeof way, Forgettable>> = {
        message: { assistant: "desk", messages: [id] },
        span: { since: at, until: at },
        text: { text: "Oslo" },
        topic: { topic: "Oslo" }
      }
      const tried = await fleet.forget(ways[way], { dryRun: true })
      assert.deepStrictEqual((await fleet.forget(ways[way])).gone, tried.gone)
      assert.isEmpty(filesWith(data, "Oslo"))
      assert.sameMembers(await factsOf(fleet), ["ann has a dog called Biscuit", "ann lives in Bergen"])
      const { hits } = await fleet.memory.recall("desk", "Where does ann live?", { kinds: ["fact"] })
      assert.include(hits.map(({ entry }) => entry.text).join(), "Bergen")
      await assertEqual(fleet)
      assert.deepStrictEqual((await fleet.forget(ways[way])).gone, {})
      await night(fleet, ["ann", "Good evening."])
      assert.include((await told(fleet, "ann")).join(), "Bergen")
      await assertEqual(fleet)
    })
  }

  it("T1 are led on to what took the place of that one", async () => {
    await using fleet = await open(":memory:")
    await night(fleet, ["ann", "I live in Bergen."])
    await night(fleet, ["ann", "I live in Oslo."])
    await night(fleet, ["ann", "I live in Rome."])
    await fleet.forget({ assistant: "desk", messages: [(await placeOf(fleet, "Oslo")).id] })
    assert.deepStrictEqual(await factsOf(fleet), ["ann lives in Rome"])
    const facts = await fleet.memory.facts("desk")
    const rome = facts.find(({ text }) => text.includes("Rome"))
    const bergen = facts.find(({ text }) => text.includes("Bergen"))
    assert.deepInclude(bergen ?? {}, { state: "superseded", superseded_by: rome?.id })
    await assertEqual(fleet)
  })
})

describe("facts that were heard more than once", () => {
  const rex = "ann has a dog called Rex"

  for (const which of [0, 1] as const) {
    it(`S1 stay with the source that stays, where the ${which === 0 ? "first" : "second"} is forgotten`, async () => {
      await using fleet = await open(aDirectory())
      await night(fleet, ["ann", "I have a dog called Rex."], ["ben", "I live in Oslo."])
      await night(fleet, ["ann", "I have a dog called Rex."])
      const places = await placesOf(fleet, "Rex")
      const before = (await fleet.memory.facts("desk")).find(({ text }) => text === rex)
      assert.deepStrictEqual(
        before?.sources,
        places.map(({ id }) => id)
      )
      assert.include((await told(fleet, "ann")).join(), "Rex")
      const what = { assistant: "desk", messages: [places[which]?.id ?? ""] }
      await fleet.forget(what)
      const after = (await fleet.memory.facts("desk")).find(({ text }) => text === rex)
      const left = places[1 - which]
      assert.deepInclude(after ?? {}, { state: "active", sources: [left?.id] })
      assert.isAtLeast(after?.at ?? 0, left?.at ?? Infinity)
      assert.include((await told(fleet, "ann")).join(), "Rex")
      assert.lengthOf(await placesOf(fleet, "Rex"), 1)
      const { hits } = await fleet.memory.recall("desk", "What is the dog of ann called?", { kinds: ["fact"] })
      assert.include(hits.map(({ entry }) => entry.text).join(), "Rex")
      assert.deepStrictEqual((await fleet.forget(what)).gone, {})
      await assertEqual(fleet)
      await fleet.forget({ assistant: "desk", messages: [left?.id ?? ""] })
      assert.notInclude(JSON.stringify([await fleet.memory.facts("desk"), await fleet.memory.profiles("desk")]), "Rex")
      await assertEqual(fleet)
    })
  }

  it("S1 go where a person is forgotten that they are of, and where both messages are", async () => {
    await using fleet = await open(":memory:")
    await night(fleet, ["ann", "I have a dog called Rex."])
    await night(fleet, ["ann", "I have a dog called Rex."])
    await fleet.forget({ person: "ann" })
    assert.isEmpty(await factsOf(fleet))
    await assertEqual(fleet)
  })

  it("S4 a later fact in the same words stays", async () => {
    await using fleet = await open(":memory:")
    await night(fleet, ["ann", "I live in Bergen."])
    await night(fleet, ["ann", "I live in Oslo."])
    await night(fleet, ["ann", "I live in Bergen."])
    assert.deepStrictEqual(await factsOf(fleet), ["ann lives in Bergen"])
    await fleet.forget({ assistant: "desk", messages: [(await placeOf(fleet, "Bergen")).id] })
    assert.deepStrictEqual(await factsOf(fleet), ["ann lives in Bergen"])
    await assertEqual(fleet)
  })
})
