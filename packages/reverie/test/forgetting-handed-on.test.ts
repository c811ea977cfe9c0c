// What a forgotten turn handed on to other assistants goes from these too: members of a team, sub-agents, and who was sent a message.

import { assert, describe, it } from "@effect/vitest"
import { later } from "@reverie/testkit/later"
import {
  type AssistantDefinition,
  defineAssistant,
  defineFleet,
  defineTeam,
  defineTool,
  exportFleet,
  Fleet,
  type Forgettable
} from "../src/index.ts"
import { HandingOn } from "../src/forgetting/handing-on.ts"
import { scriptedModel } from "../src/testing/index.ts"
import { aDirectory, filesWith } from "./rig.ts"

const SECRETS = ["Klothilde", "Schnurzelheim", "Sparkasse", "Quittenweg"]

const pass = defineTool({
  name: "pass",
  description: "Passes a note on.",
  run: (_, { send }) => {
    send("clerk", "A neighbour moves to the Quittenweg.")
    return "passed"
  }
})
const back = defineTool({
  name: "back",
  description: "Passes a note back.",
  run: (_, { send }) => {
    send("desk", "Noted, the Quittenweg it is.")
    return "passed"
  }
})

const assistant = (id: string, more = {}): AssistantDefinition =>
  defineAssistant({ id, instructions: "You help.", ...more })
const [ca, cb] = [assistant("ca"), assistant("cb")]

/** Hands on what it hears: to a sub-agent what a doctor says, to the clerk the words about the neighbour. */
const model = scriptedModel(({ last, tools }) => {
  if (tools.some(({ name }) => name === "finish_task"))
    return { calls: [{ tool: "finish_task", arguments: { summary: "The account at the Sparkasse is overdrawn." } }] }
  if (last.startsWith("My doctor"))
    return { calls: [{ tool: "delegate_task", arguments: { task: "The doctor in Schnurzelheim says it is rare." } }] }
  if (last.startsWith("My neighbour")) return { calls: [{ tool: "pass", arguments: {} }] }
  if (last.startsWith("A neighbour")) return { calls: [{ tool: "back", arguments: {} }] }
  return "I have heard it."
})

const fleetOf = (type: "round-robin" | "voting") =>
  defineFleet({
    assistants: [
      ca,
      cb,
      assistant("desk", { subAgents: { maxConcurrent: 2 }, tools: [pass] }),
      assistant("clerk", { tools: [back] })
    ],
    teams: [
      defineTeam({
        id: "council",
        members: [{ assistant: ca }, { assistant: cb }],
        pattern: type === "voting" ? { type } : type
      })
    ]
  })

const DAUGHTER = "My daughter Klothilde was expelled from the school."
const DOCTOR = "My doctor in Schnurzelheim says that I have a rare disease."
const NEIGHBOUR = "My neighbour moves to the Quittenweg."

const lived = async (pattern: "round-robin" | "voting" = "round-robin") => {
  const data = aDirectory()
  const fleet = await Fleet.open({ data, fleet: fleetOf(pattern), model })
  later(() => fleet.close())
  const told = async (to: string, text: string, from: string): Promise<void> => {
    await fleet.answer(to, text, { from })
    await fleet.idle()
  }
  for (const to of ["desk", "clerk", "ca", "group:council"])
    await told(to, `The ferry leaves at nine for ${to}.`, "bob")
  await told("group:council", DAUGHTER, "eve")
  await told("desk", DOCTOR, "eve")
  await told("desk", NEIGHBOUR, "eve")
  for (const secret of SECRETS) assert.isNotEmpty(filesWith(data, secret), secret)
  return { data, fleet, told }
}

const numberOf = async (fleet: Fleet, id: string, text: string): Promise<number> =>
  (await fleet.history.entries(id, 1, 100)).find(({ entry }) =>
    entry.messages.some(({ content }) => content.startsWith(text))
  )?.entry.no ?? 0

const EVERYONE = ["ca", "cb", "council", "desk", "clerk"]

const assertWhole = async (fleet: Fleet): Promise<void> => {
  const items = (await fleet.list()).map(({ address }) => address.assistant)
  for (const id of items) assert.isTrue((await fleet.replay.verify(id)).equal, id)
  for (const id of ["desk", "clerk", "ca", "council"]) {
    const entries = await fleet.history.entries(id, 1, 100)
    const bob = `The ferry leaves at nine for ${id === "council" ? "group:council" : id}.`
    assert.isTrue(
      entries.some(({ entry }) => entry.messages.some(({ content }) => content === bob)),
      id
    )
  }
}

const exported = async (data: string) => (await Array.fromAsync(exportFleet({ from: { data } }))).join("\n")

describe("what a forgotten turn handed on", () => {
  for (const pattern of ["round-robin", "voting"] as const) {
    it(`K8 of a person goes from a team's members (${pattern}), sub-agents and recipients too, and what others said stays`, async () => {
      const { data, fleet } = await lived(pattern)
      const tried = await fleet.forget({ person: "eve" }, { dryRun: true })
      assert.includeMembers(
        [...new Set(tried.found?.samples.map((sample) => sample.assistant))],
        ["clerk", "council", "desk"]
      )
      const { assistants, gone } = await fleet.forget({ person: "eve" })
      assert.deepStrictEqual({ assistants, gone }, { assistants: tried.assistants, gone: tried.gone })
      for (const secret of SECRETS) {
        assert.deepStrictEqual(filesWith(data, secret), [], secret)
        assert.notInclude(await exported(data), secret)
      }
      await assertWhole(fleet)
      assert.deepStrictEqual((await fleet.forget({ person: "eve" })).gone, {})
    })
  }

  it("K8 of a message of one assistant goes from the others as well, and nothing that was not handed on", async () => {
    const { data, fleet, told } = await lived()
    await told("ca", "Klothilde is a fine name, says Klothilde herself.", "bob")
    const message = await numberOf(fleet, "desk", "My doctor")
    await fleet.forget({ assistant: "desk", messages: [`m/${message}/0`] })
    for (const secret of ["Schnurzelheim", "Sparkasse"]) assert.deepStrictEqual(filesWith(data, secret), [], secret)
    for (const secret of ["Klothilde", "Quittenweg"]) assert.isNotEmpty(filesWith(data, secret), secret)
    const asked = await numberOf(fleet, "council", "My daughter")
    await fleet.forget({ assistant: "council", messages: [`m/${asked}/0`] })
    assert.include(await exported(data), "Klothilde is a fine name")
    assert.notInclude(await exported(data), "expelled")
    await assertWhole(fleet)
  })

  for (const [name, what] of [
    ["a time", { since: 0, assistant: "desk" }],
    ["a topic", { topic: "doctor Schnurzelheim", assistant: "desk" }]
  ] as ReadonlyArray<readonly [string, Forgettable]>) {
    it(`K8 of ${name} goes from sub-agents too`, async () => {
      const { data, fleet } = await lived()
      await fleet.forget(what)
      for (const secret of ["Schnurzelheim", "Sparkasse"]) assert.deepStrictEqual(filesWith(data, secret), [], secret)
      assert.isNotEmpty(filesWith(data, "Klothilde"))
      for (const id of EVERYONE) assert.isTrue((await fleet.replay.verify(id)).equal, id)
    })
  }

  it("K8 an answer of a sub-agent goes from who waited for it, whose own words stay", async () => {
    const { data, fleet } = await lived()
    const items = (await fleet.list()).map(({ address }) => address.assistant)
    const child = items.find((id) => id.startsWith("desk+")) ?? ""
    await fleet.forget({ assistant: child, messages: [`m/${await numberOf(fleet, child, "The doctor")}/0`] })
    assert.deepStrictEqual(filesWith(data, "Sparkasse"), [])
    assert.isAbove(await numberOf(fleet, "desk", DOCTOR), 0)
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    assert.isTrue((await fleet.replay.verify(child)).equal)
  })
})

it("K1 an order that someone gave after a turn is not of that turn, and stays with what it wrote", async () => {
  const { fleet } = await lived()
  await fleet.memory.addFact("desk", "The lock is rusty at the north pier.", { from: "bob" })
  await fleet.subAgents.delegate("desk", "Count the ships at the north pier.", { from: "bob" })
  await fleet.idle()
  await fleet.forget({ person: "eve" })
  const facts = (await fleet.memory.facts("desk")).map(({ text }) => text)
  assert.include(facts, "The lock is rusty at the north pier.")
  const child =
    (await fleet.list()).find(({ address }) => address.assistant.includes("order-"))?.address.assistant ?? ""
  assert.isAbove(await numberOf(fleet, child, "Count the ships"), 0)
  for (const id of ["desk", child]) assert.isTrue((await fleet.replay.verify(id)).equal, id)
})

it("K8 what someone had a sub-agent do goes with it", async () => {
  const { data, fleet } = await lived()
  await fleet.subAgents.delegate("desk", "Ask for Krummhorn at the north pier.", { from: "eve" })
  await fleet.idle()
  assert.isNotEmpty(filesWith(data, "Krummhorn"))
  await fleet.forget({ person: "eve" })
  assert.deepStrictEqual(filesWith(data, "Krummhorn"), [])
})

it("H1 who shows what was sent to an assistant keeps it from being looked for there no more than who asks again", () => {
  const handed = new HandingOn()
  handed.learn([{ id: "ask-1", to: "clerk" }])
  assert.isTrue(handed.has("clerk"))
  assert.isFalse(handed.has("desk"))
  assert.deepStrictEqual([...handed.waiting()], ["clerk"])
  handed.learn([{ id: "ask-1", to: "clerk" }])
  assert.deepStrictEqual([...handed.waiting()], [])
})
