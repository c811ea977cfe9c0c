// Nights of a fleet, as its user sees them: the journal over a hundred entries, and consolidation as a context of its own.

import { type Line, type Script } from "@reverie/testkit"
import { later } from "@reverie/testkit/later"
import * as Effect from "effect/Effect"
import { assert, describe, test } from "vitest"
import { type AssistantOptions, type Fleet, memoryTools, selfTools } from "../src/index.ts"
import { openFleet } from "./rig.ts"

type ModelRequest = Parameters<Script>[0]

const textOf = ({ messages }: ModelRequest): string => messages.map(({ content }) => content).join("\n")
const isConsolidation = (request: ModelRequest): boolean => /^Task: consolidate$/m.test(textOf(request))

const call = (tool: string, args: { readonly [key: string]: unknown }) => ({ tool, arguments: args as never })

/** Notes 14 things on "Day N.", reads its whole journal on "Read X.", and dreams as it is given. */
const opened = async (dreams: (request: ModelRequest) => Line, assistant: Partial<AssistantOptions> = {}) => {
  const asked: Array<ModelRequest> = []
  const awake = ({ messages }: ModelRequest): Line => {
    const { content = "", role } = messages.at(-1) ?? {}
    const [, verb, what = ""] = /(Day|Read) (\w+)\.$/.exec(role === "user" ? content : "") ?? []
    if (verb === "Read") return { calls: [call("review_journal", { text: what, older: true })] }
    if (verb !== "Day") return { text: role === "tool" ? content : "Aye." }
    const notes = Array.from({ length: 14 }, (_, index) => ({
      content: `Barge d${what}n${index} came in.`,
      importance: 1
    }))
    return { calls: notes.map((note) => call("add_journal_entry", note)) }
  }
  const says: Script = (request) =>
    Effect.sync(() => {
      if (!isConsolidation(request)) return /^Task: /m.test(textOf(request)) ? { text: "[]" } : awake(request)
      asked.push(request)
      return dreams(request)
    })
  const fleet = await openFleet({ says, tools: [...selfTools, ...memoryTools], assistant: { ...assistant } })
  later(() => fleet.close())
  return { fleet, asked }
}

const night = async (fleet: Fleet): Promise<void> => {
  await fleet.sleep("desk")
  await fleet.idle()
  await fleet.wake("desk")
  await fleet.idle()
}

describe("nights", () => {
  test("F83 F115 the journal is permanent: beyond a hundred entries every one is found, read again and listed", async () => {
    const { fleet } = await opened(() => ({ text: "[]" }), { settings: { compactEnabled: false } })
    for (let day = 0; day < 8; day++) await fleet.answer("desk", `Day ${day}.`)
    assert.lengthOf(await fleet.memory.records("desk", ["journal"]), 112)
    await night(fleet)
    await fleet.answer("desk", "Day 8.")
    assert.lengthOf(await fleet.memory.records("desk", ["journal"]), 100)
    assert.lengthOf(await fleet.memory.records("desk", ["episode"]), 26)
    const { hits } = await fleet.memory.recall("desk", "barge d0n3", { kinds: ["episode"] })
    assert.strictEqual(hits[0]?.entry.text, "Barge d0n3 came in.")
    const read = await fleet.answer("desk", "Read d0n3.")
    assert.include(read, "Barge d0n3 came in.")
    assert.include(read, '"kept":126')
  })

  test("F4 F7 F11 consolidating is a context: recall_memories runs in it, and its answer goes by what was found", async () => {
    const { asked, fleet } = await opened(({ messages }) => {
      const found = messages.find(({ role }) => role === "tool")?.content
      if (found === undefined) return { calls: [call("recall_memories", { query: "boathouse key" })] }
      const [, id = ""] = /^\[([^\]]+)\]/m.exec(messages[1]?.content ?? "") ?? []
      const text = found.includes("blue barrel") ? "The key of the boathouse hangs behind the blue barrel." : "Nothing."
      return { text: JSON.stringify([{ id, importance: 8, facts: [{ text, entities: ["boathouse"] }] }]) }
    })
    await fleet.answer("desk", "The boathouse key hangs behind the blue barrel.", { from: "Ann" })
    await night(fleet)
    assert.deepStrictEqual(
      asked.map(({ messages }) => messages.map(({ role }) => role)),
      [
        ["system", "user"],
        ["system", "user", "assistant", "tool"]
      ]
    )
    const facts = await fleet.memory.facts("desk")
    assert.deepStrictEqual(
      facts.map(({ text }) => text),
      ["The key of the boathouse hangs behind the blue barrel."]
    )
  })

  test("F118 contexts.sleep_consolidate narrows how often a model is asked over a batch, and with which tools", async () => {
    const { asked, fleet } = await opened(() => ({ calls: [call("review_journal", {})] }), {
      contexts: { sleep_consolidate: { maxSteps: 3, tools: ["review_journal", "noop"] } }
    })
    await fleet.answer("desk", "Good morning.", { from: "Ann" })
    await night(fleet)
    assert.deepStrictEqual(
      asked.map(({ tools }) => tools.map(({ name }) => name)),
      [["noop", "review_journal"], ["noop", "review_journal"], []]
    )
  })
})
