import { assert, describe, it } from "@effect/vitest"
import { Fleet } from "reverie"
import council from "../council/fleet.ts"
import { type Said, scriptedServer, type Told } from "./scripted-server.ts"

const votes: ReadonlyArray<readonly [view: string, vote: string]> = [
  ["Ships and their crews", "The crews come first.\nVOTE: close"],
  ["A closed harbour", "No figures, no closing.\nVOTE: keep open"],
  ["You know the water", "The swell will be four metres.\nVOTE: close"]
]

/** Everybody does their work, distinguished by what they learn of it. */
const answer = (messages: ReadonlyArray<Told>): Said => {
  const system = messages.find(({ role }) => role === "system")?.content ?? ""
  const asked = messages.findLast(({ role }) => role === "user")?.content ?? ""
  const vote = votes.find(([view]) => system.includes(view))?.[1]
  if (vote !== undefined) return vote
  if (system.includes("You draft")) return `NOTICE: ${asked}`
  if (system.includes("You check")) return asked.replace("freiday", "Friday")
  if (system.includes("You cut")) return `Hear: ${asked}`
  if (messages.at(-1)?.role === "tool" || asked.includes("Decision")) return "I shall tell them."
  return { tool: "send_message", arguments: { to: "group:council", text: asked, expect_answer: true } }
}

const DECISION = "Decision: close.\nVotes: close: 2 (pilot, warden); keep open: 1 (purser). Needed: 2."

describe("the council of Port Merrow", () => {
  it("decides by the votes that were cast, and its notices go from hand to hand", async () => {
    await using server = await scriptedServer(answer)
    await using fleet = await Fleet.open({ data: ":memory:", fleet: council, model: server.model })
    assert.strictEqual(await fleet.answer("group:council", "A storm from the west. Close?"), DECISION)
    const notice = await fleet.answer("notices", "The west pier is shut until freiday.")
    assert.match(notice, /^Hear: .*NOTICE: .*The west pier is shut until Friday\.$/)
    await fleet.idle()
    // Three votes and three stages: the teams themselves and the clerk have asked no model.
    assert.strictEqual(server.asked(), 6)
    const ambientMessages = await fleet.memory.records("clerk", ["ambientMessages"])
    assert.isAbove(ambientMessages.length, 0)
  })

  it("answers an assistant that brought a question before it", async () => {
    await using server = await scriptedServer(answer)
    await using fleet = await Fleet.open({ data: ":memory:", fleet: council, model: server.model })
    await fleet.send("porter", "The surveyor asks whether the harbour closes.")
    await fleet.idle()
    const said: Array<string> = []
    for await (const { entry } of fleet.history.newest("porter")) {
      said.push(...entry.messages.flatMap(({ content, name }) => (name === "assistant:council" ? [content] : [])))
    }
    assert.deepStrictEqual(said, [DECISION])
  })
})
