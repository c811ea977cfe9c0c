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
    it(`F1 F3 hold again, and profiles hear of them, where that goes by its ${way}`, async () => {
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

  it("F1 are led on to what took the place of that one", async () => {
    await using fleet = await open(":memory:")
    await night(fleet, ["ann", "I live in Bergen."])
    await night(fleet, ["ann", "I live in Oslo."])
    await night(fleet, ["ann", "I live in Rome."])
    await fleet.forget({ assistant: "desk", messages: [(await placeOf(fleet, "Oslo")).id] })
    assert.deepStrictEqual(await factsOf(fleet), ["ann lives in Rome"])
    const facts = await fleet.memory.facts("desk")
    const [rome] = facts.filter(({ text }) => text.includes("Rome"))
    const [bergen] = facts.filter(({ text }) => text.includes("Bergen"))
    assert.deepInclude(bergen ?? {}, { state: "superseded", superseded_by: rome?.id })
    await assertEqual(fleet)
  })
})
