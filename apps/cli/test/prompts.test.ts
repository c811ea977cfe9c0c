// Templates and components by the command line, in a store and at a server, until the next prompt.

import { join } from "node:path"
import { openServer } from "@reverie/server"
import { Fleet } from "reverie"
import { assert, describe, test, vi } from "vitest"
import { temporary } from "./command-line.ts"
import definition from "./fixtures/fleet.ts"
import { said } from "./in-process.ts"

vi.setConfig({ testTimeout: 120_000 })

/** What the first part of the prompt of a tick says: made again, word by word. */
const firstPart = async (fleet: Fleet, tick: number): Promise<string> => {
  const prompt = await fleet.replay.prompt({ assistant: "clerk", tick })
  return prompt?.messages[0]?.content ?? ""
}

describe("reverie prompts", () => {
  test("F112 F26 a template written at a server begins the next prompt; undo takes it back", async () => {
    await using place = await temporary()
    await using fleet = await Fleet.open({ fleet: definition, data: join(place.path, "data"), model: "offline" })
    const server = await openServer({ fleet, role: "all", tokens: [] })
    const prompts = (...args: ReadonlyArray<string>) => said(["prompts", ...args, "--url", server.url, "--json"])
    try {
      const listed = JSON.parse((await prompts("ls")).stdout) as { readonly templates: ReadonlyArray<{ key: string }> }
      assert.sameMembers(
        listed.templates.map(({ key }) => key),
        ["default", "default_fallback", "reflection"]
      )
      const written = await prompts("write", "default", "The office of {assistant}.")
      assert.strictEqual(JSON.parse(written.stdout).version, 1, written.stderr)
      await fleet.answer("clerk", "Good morning.")
      assert.strictEqual(await firstPart(fleet, 1), "The office of clerk.\n\nYou are a clerk.")
      const refused = await prompts("write", "default", "Hello {stranger}.")
      assert.include(refused.stdout, "nothing fills {stranger}")
      assert.notStrictEqual(refused.code, 0)
      assert.strictEqual((await prompts("undo", "default")).code, 0)
      await fleet.answer("clerk", "And now?")
      assert.match(await firstPart(fleet, 2), /^You are a long-lived assistant/)
      const history = JSON.parse((await prompts("history", "default")).stdout) as { versions: ReadonlyArray<object> }
      assert.lengthOf(history.versions, 2)
    } finally {
      await server.close()
    }
  })

  test("F27 F28 a component is written, moved, deleted and brought back in a store", async () => {
    await using place = await temporary()
    const data = join(place.path, "data")
    await (await Fleet.open({ fleet: definition, data, model: "offline" })).close()
    const prompts = async (...args: ReadonlyArray<string>) => {
      const { code, stderr, stdout } = await said(["prompts", ...args, "--component", "--data", data, "--json"])
      assert.strictEqual(code, 0, stderr + stdout)
      return JSON.parse(stdout) as { readonly id?: number; readonly components: ReadonlyArray<{ place: string }> }
    }
    assert.strictEqual((await prompts("write", "weather", "Sunny.", "--after", "1000")).id, 1001)
    assert.strictEqual((await prompts("write", "weather", "--after", "2000")).id, 2001)
    await prompts("rm", "weather")
    assert.lengthOf((await prompts("ls")).components, 9)
    await prompts("undo", "weather")
    assert.include(
      (await prompts("ls")).components.map((each) => each.place),
      "2001 system, version 4"
    )
  })
})
