import { readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { collectSpans } from "@reverie/testkit"
import { startModelServer } from "@reverie/testkit/model-server"
import { defineAssistant, defineFleet, defineTool, Fleet } from "reverie"

interface Step {
  readonly n: number
  readonly span: string
}

/** The table "The walk of one event" of the map. */
const walk = (): ReadonlyArray<Step> => {
  const map = readFileSync(resolve(import.meta.dirname, "../../ARCHITECTURE.md"), "utf8")
  return [...map.matchAll(/^\| (\d+) \|[^|]*\|[^|]*\| `([a-z]+\.[a-z]+)` \|/gm)].map(([, n, span = ""]) => ({
    n: Number(n),
    span
  }))
}

const pass = defineTool({
  name: "pass",
  description: "Passes a note on to the colleague.",
  run: (_, { send }) => {
    send("colleague", "a note")
    return "passed"
  }
})

/** One question is answered with a tool that writes to a colleague; the colleague says thanks. */
const oneEvent = async (): Promise<ReadonlyArray<string>> => {
  const data = await mkdtemp(join(tmpdir(), "reverie-journey-"))
  const server = await startModelServer({
    script: ({ messages }) =>
      messages.at(-1)?.role === "user" && JSON.stringify(messages.at(-1)).includes("please")
        ? { calls: [{ tool: "pass", arguments: {} }] }
        : { text: "Done." }
  })
  const recording = collectSpans()
  try {
    await using fleet = await Fleet.open({
      data,
      tracing: recording.layer,
      model: { baseURL: server.url, model: "scripted", stream: false },
      fleet: defineFleet({
        assistants: [
          defineAssistant({ id: "desk", prompt: "You run the desk.", tools: [pass] }),
          defineAssistant({ id: "colleague", prompt: "You help the desk." })
        ]
      })
    })
    const answer = await fleet.answer("desk", "Tell the colleague, please.")
    assert.strictEqual(answer, "Done.")
    await fleet.rest()
    assert.strictEqual((await fleet.tally()).dead, 0)
    return recording.names()
  } finally {
    await server.close()
    await rm(data, { recursive: true, force: true })
  }
}

describe("the journey of one event", () => {
  it(
    "walks through the rooms of the map, and every room of the map is walked through",
    { timeout: 60_000 },
    async () => {
      const steps = walk()
      assert.isAtLeast(steps.length, 9, "the table is gone from ARCHITECTURE.md")
      assert.deepStrictEqual(
        steps.map(({ n }) => n),
        steps.map((_, index) => index + 1)
      )
      const names = (await oneEvent()).filter((name) => steps.some(({ span }) => span === name))
      assert.deepStrictEqual([...new Set(names)].toSorted(), steps.map(({ span }) => span).toSorted())
      // The first time each room is entered is in the order of the table.
      assert.deepStrictEqual(
        [...new Set(names)].filter((name) => name !== "ledger.commit" && name !== "ledger.relay"),
        steps.map(({ span }) => span).filter((name) => name !== "ledger.commit" && name !== "ledger.relay")
      )
    }
  )

  it("never turns back within one machine event: what a decision asks for is committed before it is done", async () => {
    const order = new Map(walk().map(({ n, span }) => [span, n]))
    const names = (await oneEvent()).filter((name) => order.has(name))
    const decisions = names.flatMap((name, index) => (name === "assistant.decide" ? [index] : []))
    assert.isAtLeast(decisions.length, 4)
    for (const at of decisions) {
      const rest = names.slice(at + 1)
      const commit = rest.indexOf("ledger.commit")
      assert.isAtLeast(commit, 0, "a decision was never committed")
      const between = rest.slice(0, commit)
      assert.notInclude(between, "model.infer")
      assert.notInclude(between, "tools.execute")
    }
  })
})
