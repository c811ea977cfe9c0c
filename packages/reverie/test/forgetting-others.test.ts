import { assert, describe, it } from "@effect/vitest"
import { defineAssistant, defineFleet, exportFleet, Fleet } from "../src/index.ts"
import { scriptedModel } from "../src/testing/index.ts"
import { attributesOf, night, said, textsOf } from "./forgetting-desk.ts"
import { aDirectory, filesWith, openFleet } from "./rig.ts"

const desk = defineAssistant({ id: "desk", instructions: "You keep the harbour book." })

const open = (data: string): Promise<Fleet> =>
  Fleet.open({ data, fleet: defineFleet({ assistants: [desk] }), model: "offline" })

const answersOf = async (fleet: Fleet) =>
  (await fleet.history.entries("desk", 1, 1_000)).flatMap(({ entry: { messages } }) =>
    messages.flatMap(({ content, role }) => (role === "assistant" ? [content] : []))
  )

const exported = async (data: string): Promise<string> =>
  (await Array.fromAsync(exportFleet({ from: { data } }))).join("\n")

describe("what others said", () => {
  for (const what of ["person", "message"] as const) {
    it(`K5 of a ${what} goes nothing that others have said too: their facts, their profiles, what they wrote`, async () => {
      const data = aDirectory()
      const fleet = await open(data)
      await fleet.memory.addFact("desk", "The ferry leaves at nine.")
      await fleet.idle()
      await said(fleet, "bob", "The ferry leaves at nine. I live in Oslo.")
      await night(fleet)
      await fleet.memory.addAttribute("desk", "bob", "The office closes at noon.")
      await fleet.idle()
      const facts = ["The ferry leaves at nine.", "bob lives in Oslo", "bob said: The ferry leaves at nine"]
      const attributes = ["The office closes at noon.", "bob lives in Oslo"]
      assert.sameMembers(await textsOf(fleet), facts)
      await said(fleet, "peter", "The office closes at noon. The ferry leaves at nine. The zephyrine lock is rusty.")
      const entries = await fleet.history.entries("desk", 1, 1_000)
      const no = entries.findLast(({ entry }) => entry.messages.some(({ role }) => role === "user"))?.entry.no
      await night(fleet)
      assert.include((await textsOf(fleet)).join(), "zephyrine")
      const request = what === "person" ? { person: "peter" } : { assistant: "desk", messages: [`m/${no}/0`] }
      const tried = await fleet.forget(request, { dryRun: true })
      assert.deepStrictEqual((await fleet.forget(request)).gone, tried.gone)
      assert.sameMembers(await textsOf(fleet), facts)
      assert.deepStrictEqual(await attributesOf(fleet, "bob"), attributes)
      assert.deepStrictEqual(filesWith(data, "zephyrine"), [])
      assert.notInclude(await exported(data), "zephyrine")
      assert.isTrue((await fleet.replay.verify("desk")).equal)
      assert.deepStrictEqual((await fleet.forget(request)).gone, {})
      await fleet.close()
    })
  }

  it("K5 an answer to another one says still what that one said, and nothing that the person alone said", async () => {
    const data = aDirectory()
    const answers: Readonly<Record<string, string>> = {
      "Is the harbour open?": "You said it: The ferry leaves at nine.",
      "And the lock?": "The zephyrine lock is rusty."
    }
    const model = scriptedModel(({ last, purpose }) => (purpose === "tick" ? (answers[last] ?? "Aye.") : undefined))
    const fleet = await Fleet.open({ data, fleet: defineFleet({ assistants: [desk] }), model })
    await said(fleet, "peter", "The ferry leaves at nine. The zephyrine lock is rusty.")
    for (const text of ["The ferry leaves at nine.", "Is the harbour open?", "And the lock?"])
      await said(fleet, "bob", text)
    await fleet.forget({ person: "peter" })
    assert.deepStrictEqual(await answersOf(fleet), [
      "[forgotten]",
      "Aye.",
      "You said it: The ferry leaves at nine.",
      "[forgotten]"
    ])
    assert.deepStrictEqual(filesWith(data, "zephyrine"), [])
    await fleet.close()
  })

  it("K5 what another assistant repeats is no one's own: an answer that says it goes", async () => {
    const rusty = "The zephyrine lock is rusty."
    const fleet = await openFleet({ data: aDirectory(), says: ["Aye.", "Aye.", rusty].map((text) => ({ text })) })
    await said(fleet, "peter", rusty)
    await said(fleet, "assistant:clerk", rusty)
    await said(fleet, "bob", "And the lock?")
    await fleet.forget({ person: "peter" })
    assert.deepStrictEqual(await answersOf(fleet), ["[forgotten]", "Aye.", "[forgotten]"])
    await fleet.close()
  })

  it("K2 a sentence about the person goes out of memories, no matter who said it", async () => {
    const data = aDirectory()
    const fleet = await open(data)
    await said(fleet, "ann", "Peter works at the airport. I live in Oslo.")
    await said(fleet, "peter", "Peter works at the airport.")
    await night(fleet)
    await fleet.forget({ person: "peter" })
    assert.deepStrictEqual(await textsOf(fleet), ["ann lives in Oslo"])
    await fleet.close()
  })
})
