import { assert, describe, it } from "@effect/vitest"
import { scriptedModel } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { Fleet } from "reverie"
import council from "../council/fleet.ts"

const votes: ReadonlyArray<readonly [view: string, vote: string]> = [
  ["Ships and their crews", "The crews come first.\nVOTE: close"],
  ["A closed harbour", "No figures, no closing.\nVOTE: keep open"],
  ["You know the water", "The swell will be four metres.\nVOTE: close"]
]

/** Everybody does their work, told apart by what they are told of it. */
const { model, prompts } = scriptedModel(({ messages }) => {
  const system = messages.find(({ role }) => role === "system")?.content ?? ""
  const last = messages.at(-1)
  const asked = messages.findLast(({ role }) => role === "user")?.content ?? ""
  const vote = votes.find(([view]) => system.includes(view))?.[1]
  if (vote !== undefined) return Effect.succeed({ text: vote })
  if (system.includes("You draft")) return Effect.succeed({ text: `NOTICE: ${asked}` })
  if (system.includes("You check")) return Effect.succeed({ text: asked.replace("freiday", "Friday") })
  if (system.includes("You cut")) return Effect.succeed({ text: `Hear: ${asked}` })
  if (last?.role === "tool" || asked.startsWith("Decision")) return Effect.succeed({ text: asked })
  const to = { to: "group:council", text: asked, expect_answer: true }
  return Effect.succeed({ calls: [{ tool: "send_message", arguments: to }] })
})

describe("the council of Port Merrow", () => {
  it("decides by the votes that were cast, and its notices go from hand to hand", async () => {
    await using fleet = await Fleet.open({ data: ":memory:", fleet: council, model })
    const decision = await fleet.answer("group:council", "A storm from the west. Close?")
    assert.strictEqual(decision, "Decision: close.\nVotes: close: 2 (pilot, warden); keep open: 1 (purser). Needed: 2.")
    const notice = await fleet.answer("notices", "The west pier is shut until freiday.")
    assert.strictEqual(notice, "Hear: NOTICE: The west pier is shut until Friday.")
    await fleet.rest()
    // Three votes and three stages: the teams themselves and the clerk have asked no model.
    assert.strictEqual(prompts.length, 6)
    const overheard = await fleet.desk("clerk", ["overheard"])
    assert.isAbove(overheard.length, 0)
  })

  it("answers an assistant that brought a question before it", async () => {
    await using fleet = await Fleet.open({ data: ":memory:", fleet: council, model })
    await fleet.send("porter", "The surveyor asks whether the harbour closes.")
    await fleet.rest()
    const said: Array<string> = []
    for await (const { entry } of fleet.newest("porter")) {
      said.push(...entry.messages.flatMap(({ content, name }) => (name === "assistant:council" ? [content] : [])))
    }
    assert.strictEqual(said.length, 1)
    assert.match(said[0] ?? "", /^Decision: close\./)
  })
})
