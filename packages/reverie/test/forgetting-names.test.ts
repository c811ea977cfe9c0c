import { assert, describe, it } from "@effect/vitest"
import { atLength } from "@reverie/testkit/length"
import * as fc from "fast-check"
import { blockTools, defineAssistant, defineFleet, Fleet, memoryTools, selfTools } from "../src/index.ts"
import { calls, type ModelRequest, scriptedModel } from "../src/testing/index.ts"
import { aDirectory, filesWith } from "./rig.ts"

/** Random lives of a run. */
const LIVES = Number(process.env["REVERIE_FORGET_LIVES"] ?? atLength(4, 12))

const desk = defineAssistant({
  id: "desk",
  instructions: "You keep the harbour book.",
  tools: [...selfTools, ...memoryTools, ...blockTools]
})

/** It calls a tool for who says `do: NAME ARGUMENTS`, is content with everything else, and keeps what it was shown. */
const doing = () => {
  const seen: Array<string> = []
  const says = ({ last, purpose, text }: ModelRequest) => {
    if (purpose !== "tick") return
    seen.push(text)
    const [, tool, given] = /^do: (\w+) (\{.*\})$/.exec(last) ?? []
    return tool === undefined ? "Aye." : calls(tool, JSON.parse(given ?? ""))
  }
  return { model: scriptedModel(says), seen }
}

const open = (data: string, model: ReturnType<typeof doing>["model"]): Promise<Fleet> =>
  Fleet.open({ data, model, fleet: defineFleet({ assistants: [desk] }) })

const night = async (fleet: Fleet): Promise<void> => {
  await fleet.sleep("desk", { forMs: 600_000 })
  await fleet.idle()
  await fleet.wake("desk")
  await fleet.idle()
}

const said = (fleet: Fleet, from: string, text: string) => fleet.answer("desk", text, { from })

describe("forgetting names, and what was shown of them", () => {
  for (const what of ["person", "message", "topic"] as const) {
    it(`K3 of a ${what} that is forgotten no prompt says anything more, and no name is a key`, async () => {
      const data = aDirectory()
      const { model, seen } = doing()
      const fleet = await open(data, model)
      await said(fleet, "Zed", "My name is Zedward Xylograf and I live in Quagmire-town.")
      await said(fleet, "Ann", "I live in Bergen.")
      for (const _ of [0, 1]) {
        await night(fleet)
        await said(fleet, "Ann", "What do you know of Zed?")
      }
      const words = ["Xylograf", "Quagmire", "xylograf", "quagmire"]
      for (const word of ["Xylograf", "Quagmire"]) assert.include(seen.at(-1) ?? "", word)
      await fleet.forget(
        what === "person"
          ? { person: "Zed" }
          : what === "topic"
            ? { topic: "Xylograf" }
            : { assistant: "desk", messages: ["m/2/0"] }
      )
      await said(fleet, "Ann", "And now?")
      for (const word of words) assert.notInclude(seen.at(-1) ?? "", word)
      for (const word of words) assert.deepStrictEqual(filesWith(data, word), [], word)
      assert.include(seen.at(-1) ?? "", "I live in Bergen.")
      assert.isNotEmpty((await fleet.memory.facts("desk")).filter(({ text }) => /Bergen/.test(text)))
      assert.isTrue((await fleet.replay.verify("desk")).equal)
      await fleet.close()
      for (const word of words) assert.deepStrictEqual(filesWith(data, word), [], word)
    })
  }

  it("K3 the active project is the one that was active before, and no key of another is left", async () => {
    const data = aDirectory()
    const { model, seen } = doing()
    const fleet = await open(data, model)
    await said(fleet, "Ann", 'do: create_project {"key":"berths","summary":"Berths of the winter"}')
    await said(fleet, "Zed", 'do: create_project {"key":"zed-amazonite","summary":"A trade of stones"}')
    await said(fleet, "Zed", 'do: swap_project {"key":"zed-amazonite"}')
    await said(fleet, "Ann", "Good morning.")
    assert.include(seen.at(-1) ?? "", "A trade of stones")
    assert.isNotEmpty(filesWith(data, "zed-amazonite"))
    await fleet.forget({ person: "Zed" })
    await said(fleet, "Ann", "Good morning again.")
    assert.include(seen.at(-1) ?? "", "Berths of the winter")
    assert.deepStrictEqual(filesWith(data, "zed-amazonite"), [])
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    await fleet.close()
  })

  it(
    "random lives: of who is forgotten no name of a person, a place or a project is left, and every life replays",
    { timeout: 240_000 + LIVES * 4_000 },
    () =>
      fc.assert(
        fc.asyncProperty(namedLife, async ({ by, turns }) => {
          await liveWithNames(turns, by)
        }),
        { numRuns: LIVES }
      )
  )
})

const namedLife = fc.record({
  by: fc.constantFrom("person", "messages"),
  turns: fc.array(
    fc.record({
      from: fc.constantFrom("Zed", "Ann"),
      of: fc.constantFrom("person", "place", "sister", "project", "goal", "observation", "night", "question")
    }),
    { minLength: 3, maxLength: 9 }
  )
})
type Turns = (typeof namedLife extends fc.Arbitrary<infer A> ? A : never)["turns"]

let lives = 0

const CONSONANTS = "bdfgklmnprstvz"

/** A name that no other life has, and that nothing has by chance. */
const aName = (from: string, index: number): string => {
  const number = (lives * 20 + index).toString(14).padStart(4, "0")
  const middle = [...number].map((digit) => `${CONSONANTS[Number.parseInt(digit, 14)]}o`).join("")
  return `${from === "Zed" ? "Xyqu" : "Wevy"}${middle}x`
}

const TELLING = {
  person: (name: string) => `My name is ${name} and I like walnuts.`,
  place: (name: string) => `I live in ${name}.`,
  sister: (name: string) => `My sister ${name} works at the shipyard of ${name}haven.`,
  project: (name: string) => `do: create_project {"key":"p-${name.toLowerCase()}","summary":"The work for ${name}"}`,
  goal: (name: string) => `do: add_goal {"description":"Help ${name} to find a berth.","priority":"high"}`,
  observation: (name: string) =>
    `do: update_entity_observation {"entity":"${name}","observation":"${name} sails alone."}`
} as const

const liveWithNames = async (turns: Turns, by: string): Promise<void> => {
  lives += 1
  const data = aDirectory()
  const { model, seen } = doing()
  const fleet = await open(data, model)
  const told: Array<{ readonly from: string; readonly name: string }> = []
  for (const [index, { from, of }] of [...turns, { from: "Ann", of: "night" } as const].entries()) {
    if (of === "night") await night(fleet)
    if (of === "night" || of === "question") await said(fleet, "Ann", "What do you know of Zed and of Ann?")
    else {
      const name = aName(from, index)
      told.push({ from, name })
      await said(fleet, from, TELLING[of](name))
    }
  }
  const messages = (await fleet.history.ticks("desk", { limit: 100 })).ticks
    .filter(({ text }) => told.some(({ from, name }) => from === "Zed" && text?.includes(name)))
    .map(({ commits }) => `m/${commits.from}/0`)
  const before = (await fleet.inspect("desk"))?.version
  await fleet.forget(by === "person" ? { person: "Zed" } : { assistant: "desk", messages })
  assert.strictEqual((await fleet.inspect("desk"))?.version, before)
  await said(fleet, "Ann", "And now?")
  for (const { from, name } of told) {
    const stands = [...filesWith(data, name), ...filesWith(data, name.toLowerCase())]
    assert.strictEqual(stands.length > 0, from === "Ann", `${name}: ${stands.join()}`)
    if (from === "Zed") assert.notInclude(seen.at(-1)?.toLowerCase() ?? "", name.toLowerCase())
  }
  assert.isTrue((await fleet.replay.verify("desk")).equal)
  await fleet.close()
}
