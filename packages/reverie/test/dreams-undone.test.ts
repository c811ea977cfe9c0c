import { assert, describe, it } from "@effect/vitest"
import { defineAssistant, defineFleet, Fleet } from "../src/index.ts"
import { night, said } from "./forgetting-desk.ts"
import { aDirectory } from "./rig.ts"

const open = (): Promise<Fleet> =>
  Fleet.open({
    data: aDirectory(),
    model: "offline",
    fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You only listen." })] })
  })

const days: ReadonlyArray<ReadonlyArray<readonly [from: string, text: string]>> = [
  [
    ["ann", "I live in Bergen."],
    ["ann", "My sister Quillon works as a baker in Oslo."]
  ],
  [
    ["ann", "I live in Stavanger now."],
    ["bob", "My sister Hedwiga works as a baker in Porto."],
    ["bob", "I live in Turku."],
    ["ann", "My sister Quillon works as a tailor in Oslo."]
  ]
]

const namesOf = async (fleet: Fleet) => (await fleet.memory.profiles("desk")).map(({ id }) => id).toSorted()

/** What the index holds of profiles. */
const indexed = async (fleet: Fleet) => {
  const question = "Who is a baker or tailor in Oslo, Porto, Bergen, Stavanger, Turku, Riga? Quillon Hedwiga ann bob"
  const { hits } = await fleet.memory.recall("desk", question, { kinds: ["profile"], limit: 1_000 })
  return hits.map(({ entry }) => `${entry.id} ${entry.text}`).toSorted()
}

/** Lives through the days, and answers the dreams of the nights, with what was known before each. */
const lived = async (fleet: Fleet) => {
  const nights: Array<{ readonly dream: string; readonly names: unknown; readonly found: unknown }> = []
  for (const day of days) {
    for (const [from, text] of day) await said(fleet, from, text)
    const [names, found] = [await namesOf(fleet), await indexed(fleet)]
    await night(fleet)
    const [report] = await fleet.memory.dreams("desk")
    nights.push({ dream: report?.id ?? "", names, found })
  }
  return nights
}

const undo = async (fleet: Fleet, dream: string): Promise<void> => {
  await fleet.memory.undoDream("desk", dream)
  await fleet.idle()
}

describe("a dream that is taken back", () => {
  it("B6 leaves no profile that it had made, nor anything of one in the index", async () => {
    await using fleet = await open()
    const nights = await lived(fleet)
    assert.includeMembers(await namesOf(fleet), ["hedwiga", "porto", "stavanger", "bob"])
    assert.include((await indexed(fleet)).join(), "e/bob/a1 bob lives in Turku")
    for (const { dream, found, names } of nights.toReversed()) {
      await undo(fleet, dream)
      assert.deepStrictEqual(await namesOf(fleet), names)
      assert.deepStrictEqual(await indexed(fleet), found)
    }
    const { memories } = (await fleet.memory.rebuild("desk"))[0] ?? {}
    assert.isAbove(memories ?? 0, 0)
    assert.deepStrictEqual(await indexed(fleet), [])
    assert.deepInclude(await fleet.replay.verify("desk"), { equal: true })
    await said(fleet, "bob", "I live in Riga.")
    await night(fleet)
    assert.include((await indexed(fleet)).join(), "e/bob/a1 bob lives in Riga")
    const index = await indexed(fleet)
    await fleet.memory.rebuild("desk")
    assert.deepStrictEqual(await indexed(fleet), index)
  })

  it("B6 after a later one, in any order, leaves none either", async () => {
    await using fleet = await open()
    for (const { dream } of await lived(fleet)) await undo(fleet, dream)
    assert.deepStrictEqual(await namesOf(fleet), [])
    assert.deepStrictEqual(await indexed(fleet), [])
    assert.deepInclude(await fleet.replay.verify("desk"), { equal: true })
  })

  it("B2 keeps a profile that a later one has added to", async () => {
    await using fleet = await open()
    const [first] = await lived(fleet)
    await undo(fleet, first?.dream ?? "")
    assert.includeMembers(await namesOf(fleet), ["ann", "quillon", "hedwiga"])
    assert.include((await indexed(fleet)).join(), "ann lives in Stavanger")
  })
})
