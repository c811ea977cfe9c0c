import { assert, describe, it } from "@effect/vitest"
import { scriptedModel } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import {
  defineAssistant,
  defineFleet,
  defineTeam,
  Fleet,
  FleetDefinitionInvalid,
  TargetAmbiguous,
  type TeamOptions
} from "../src/index.ts"
import { all, aDirectory, failureOf } from "./rig.ts"

const member = (id: string, names: ReadonlyArray<string> = []) =>
  defineAssistant({ id, instructions: "You are under test.", listening: { names } })

const ada = member("ada", ["Countess"])
const bo = member("bo", ["Deputy"])
const cy = member("cy", ["Deputy"])

const aTeam = (over: Partial<TeamOptions> = {}) =>
  defineTeam({
    id: "council",
    members: [{ assistant: ada }, { assistant: bo }, { assistant: cy, role: "observer" }],
    pattern: "round-robin",
    ...over
  })

const fleet = defineFleet({ assistants: [ada, bo, cy], teams: [aTeam()] })

const { model } = scriptedModel((prompt) =>
  Effect.succeed({ text: `re: ${prompt.messages.findLast(({ role }) => role === "user")?.content ?? ""}` })
)

describe("a fleet with teams", () => {
  it("I4 a team answers as an assistant does: by its id, as a group, and again for the same question", async () => {
    const data = aDirectory()
    {
      await using open = await Fleet.open({ data, fleet, model })
      assert.strictEqual(await open.answer("council", "One?"), "re: One?")
      assert.strictEqual(await open.answer("group:council", "Two?", { id: "q2" }), "re: Two?")
      assert.deepStrictEqual(
        open.teams().map(({ id, members }) => [id, members.map((each) => each.id)]),
        [["council", ["ada", "bo", "cy"]]]
      )
      await open.idle()
    }
    await using again = await Fleet.open({ data, fleet, model })
    const parts = await all(again.ask("group:council", "Two?", { id: "q2" }))
    assert.deepStrictEqual(parts, [{ type: "done", outcome: "answered", reply: "re: Two?" }])
    const [seat] = await again.memory.records("council", ["team"])
    assert.deepInclude(seat?.value as object, { order: [], wakeAt: null })
  })

  it("a team that can not answer says why", async () => {
    await using open = await Fleet.open({ data: ":memory:", fleet, model })
    await open.halt("ada", "drill")
    await open.halt("bo", "drill")
    await open.idle()
    assert.match((await failureOf(open.answer("council", "One?"))).message, /Nobody of the team is available/)
  })

  it("reaches by name, refuses what several are called, and sends to all who hold a role", async () => {
    await using open = await Fleet.open({ data: ":memory:", fleet, model })
    assert.strictEqual((await open.send("countess", "Good morning.")).to.assistant, "ada")
    const failure = await failureOf(open.send("Deputy", "Good morning."))
    assert.instanceOf(failure, TargetAmbiguous)
    assert.deepStrictEqual((failure as TargetAmbiguous).candidates, ["bo", "cy"])
    assert.instanceOf(await failureOf(open.send("role:member", "Good morning.")), TargetAmbiguous)
    const receipts = await open.sendAll("role:council/member", "Good morning.")
    assert.deepStrictEqual(
      receipts.map(({ to }) => String(to.assistant)),
      ["ada", "bo"]
    )
    assert.match((await failureOf(open.send("nobody", "Hello."))).message, /nobody/)
  })
})

describe("defineTeam I1: what is wrong is said at once", () => {
  const wrong: ReadonlyArray<readonly [RegExp, Partial<TeamOptions>]> = [
    [/its id must have/, { id: "no/slash" }],
    [/no member can answer/, { members: [{ assistant: ada, role: "observer" }] }],
    [/a member is in it twice/, { members: [{ assistant: ada }, { assistant: "ada" }] }],
    [/role of ada must be/, { members: [{ assistant: ada, role: "boss" as never }] }],
    [/whole numbers/, { maxAsks: 0 }],
    [/no supervisor/, { pattern: { type: "supervisor" } }],
    [/no stages/, { pattern: { type: "pipeline", stages: [] } }],
    [/needs "cy"/, { pattern: { type: "pipeline", stages: [{ member: "cy" }] } }],
    [/needs a decider/, { pattern: { type: "voting", tieBreaker: "specific_member" } }],
    [/nothing to choose/, { pattern: { type: "voting", choices: ["a", "a"] } }],
    [/no triggers/, { pattern: { type: "sleep-time", watcher: "ada", triggers: [] } }],
    [/no regular/, { pattern: { type: "sleep-time", watcher: "ada", triggers: [{ type: "pattern", pattern: "(" }] } }],
    [/its selector/, { pattern: { type: "dynamic", selector: "best" as never } }]
  ]
  for (const [why, over] of wrong) {
    it(`refuses: ${why.source}`, () => {
      assert.throws(() => aTeam(over), why)
      assert.throws(() => aTeam(over), FleetDefinitionInvalid)
    })
  }

  it("a fleet refuses members that it does not have, shared ids, and teams that contain themselves", () => {
    assert.throws(() => defineFleet({ assistants: [ada], teams: [aTeam()] }), /member "bo"/)
    assert.throws(() => defineFleet({ assistants: [ada, bo, cy], teams: [aTeam({ id: "ada" })] }), /same id/)
    const inner = aTeam({ id: "inner", members: [{ assistant: "outer" }] })
    const outer = aTeam({ id: "outer", members: [{ assistant: "inner" }] })
    assert.throws(() => defineFleet({ assistants: [ada], teams: [inner, outer] }), /a member of itself/)
  })
})
