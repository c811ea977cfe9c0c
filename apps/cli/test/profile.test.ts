// Profiles by the command line, at a server: written, corrected, removed, and each taken back.

import { openServer } from "@reverie/server"
import { defineAssistant } from "reverie"
import { scriptedModel, testFleet } from "reverie/testing"
import { assert, describe, test } from "vitest"
import { said } from "./in-process.ts"

const desk = defineAssistant({ id: "desk", instructions: "You keep the desk." })

describe("reverie memory profile", () => {
  test("adds, corrects, removes and takes back; tries without doing; says what it needs", async () => {
    await using fleet = await testFleet(desk, { model: scriptedModel(() => "Hello.") })
    const server = await openServer({ fleet, role: "all", tokens: [] })
    const profile = async (...args: ReadonlyArray<string>) => {
      const told = await said(["memory", "profile", "desk", "nora", ...args, "--no-wait", "--url", server.url])
      await fleet.idle()
      return told
    }
    const texts = async () =>
      (await fleet.memory.profiles("desk"))[0]?.attributes.map(({ id, text }) => `${id} ${text}`)
    try {
      assert.strictEqual((await profile("Swims.", "--dry-run")).stdout, "would write nora: Swims.\n")
      assert.isUndefined(await texts())
      assert.strictEqual((await profile("Swims.")).stdout, "desk will, at rest, write nora: Swims.\n")
      assert.deepStrictEqual(await texts(), ["a1 Swims."])
      await profile("Dives.", "--attribute", "a1")
      assert.deepStrictEqual(await texts(), ["a1 Dives."])
      await profile("--undo", "--attribute", "a1")
      assert.deepStrictEqual(await texts(), ["a1 Swims."])
      await profile("--remove", "--attribute", "a1")
      assert.deepStrictEqual(await texts(), [])
      await profile("--undo", "--attribute", "a1")
      assert.deepStrictEqual(await texts(), ["a1 Swims."])
      for (const wrong of [[], ["--remove"], ["Dives.", "--undo", "--attribute", "a1"]]) {
        const told = await profile(...wrong, "--json")
        assert.strictEqual(JSON.parse(told.stdout).error.code, "usage", wrong.join(" "))
      }
      assert.strictEqual(
        JSON.parse((await profile("Dives.", "--attribute", "a9", "--json")).stdout).error.code,
        "not-found"
      )
    } finally {
      await server.close()
    }
  })
})
