import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { Json } from "@reverie/protocol"
import { defineAssistant, defineFleet, Fleet } from "../src/index.ts"

const open = (data: string): Promise<Fleet> =>
  Fleet.open({
    data,
    model: "offline",
    fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You run the desk." })] })
  })

/** Ids of the parts of the newest prompt. */
const shownTo = async (fleet: Fleet): Promise<ReadonlyArray<number>> => {
  const rows = await fleet.history.entries("desk", 1, 1_000)
  const report = rows.findLast(({ entry }) => entry.step?.kind === "infer")?.entry.step?.detail?.["context"] as Json
  return (report as unknown as { readonly parts: ReadonlyArray<{ readonly id: number }> }).parts.map(({ id }) => id)
}

const weather = {
  key: "weather",
  name: "Weather",
  description: "",
  content: "Sunny for {assistant}.",
  afterStatic: 1000,
  role: "system"
} as const

describe("the prompt registry of a fleet", () => {
  it(
    "F19 F27 what is plugged in stands in the next prompt, and is gone when it was deleted",
    { timeout: 30_000 },
    async () => {
      await using fleet = await open(":memory:")
      const prompts = fleet.prompts
      const created = await prompts.createComponent(weather)
      assert.strictEqual(created.id, 1001)
      await fleet.answer("desk", "Good morning.")
      assert.include(await shownTo(fleet), 1001)
      await prompts.updateComponent(1001, created.version, { enabled: false })
      await fleet.answer("desk", "And now?")
      assert.notInclude(await shownTo(fleet), 1001)
    }
  )

  it(
    "F25 F31 it is the same registry after the fleet was closed and opened again, and a change can be undone",
    { timeout: 30_000 },
    async () => {
      const data = await mkdtemp(join(tmpdir(), "reverie-prompts-"))
      try {
        {
          await using first = await open(data)
          const prompts = first.prompts
          const { id, version } = await prompts.createComponent(weather)
          await prompts.updateComponent(id, version, { content: "Rain." })
        }
        await using second = await open(data)
        const prompts = second.prompts
        const kept = await prompts.getComponentByKey("weather")
        assert.deepInclude(kept, { content: "Rain.", version: 2 })
        await prompts.undo("component", "weather", kept.version)
        assert.deepInclude(await prompts.getComponentByKey("weather"), { content: weather.content, version: 3 })
      } finally {
        await rm(data, { recursive: true, force: true })
      }
    }
  )

  it("a typed error reaches the user as a rejection", async () => {
    await using fleet = await open(":memory:")
    const prompts = fleet.prompts
    const failure: unknown = await prompts.getComponentByKey("nothing").then(
      () => undefined,
      (error: unknown) => error
    )
    assert.propertyVal(failure, "_tag", "PromptUnknown")
  })
})
