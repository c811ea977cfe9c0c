// Templates and components by the command line, in a store and at a server, until the next prompt.

import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { openServer } from "@reverie/server"
import { Fleet } from "reverie"
import { assert, describe, test } from "vitest"
import { temporary } from "./command-line.ts"
import definition from "./fixtures/fleet.ts"
import { said } from "./in-process.ts"

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

  test("F26 F30 a template is cloned, exported to a file and imported from it; undo takes each back", async () => {
    await using place = await temporary()
    const data = join(place.path, "data")
    await (await Fleet.open({ fleet: definition, data, model: "offline" })).close()
    const prompts = (...args: ReadonlyArray<string>) => said(["prompts", ...args, "--data", data])
    const told = async (...args: ReadonlyArray<string>) => {
      const { code, stderr, stdout } = await prompts(...args, "--json")
      assert.strictEqual(code, 0, stderr + stdout)
      return JSON.parse(stdout) as Readonly<Record<string, unknown>>
    }
    assert.deepInclude(await told("clone", "default", "copy", "--name", "A copy"), { key: "copy", version: 1 })
    assert.strictEqual((await told("show", "copy")).text, (await told("show", "default")).text)
    assert.strictEqual((await prompts("clone", "default", "copy")).code, 5)
    assert.strictEqual((await prompts("export", "none")).code, 4)
    const file = join(place.path, "copy.json")
    const exported = await prompts("export", "copy")
    await writeFile(file, exported.stdout)
    assert.deepInclude(JSON.parse(exported.stdout), { format: "reverie.prompt-template" })
    await told("undo", "copy")
    assert.strictEqual((await prompts("show", "copy")).code, 4)
    assert.deepInclude(await told("import", file), { key: "copy", version: 3 })
    const taken = await prompts("import", file)
    assert.include(taken.stderr, "there is a template copy already")
    assert.strictEqual(taken.code, 5)
    assert.strictEqual((await prompts("import", file, "--overwrite", "--expected", "1")).code, 5)
    assert.deepInclude(await told("import", file, "--overwrite", "--expected", "3"), { key: "copy", version: 4 })
    const dry = await told("import", file, "--overwrite", "--dry-run")
    assert.deepInclude(dry, { dryRun: true })
    // A component goes the same way, and its text becomes a template.
    await told("write", "weather", "Sunny.", "--component", "--after", "1000")
    await writeFile(file, (await prompts("export", "weather", "--component")).stdout)
    await told("rm", "weather", "--component")
    assert.deepInclude(await told("import", file), { key: "weather", version: 3 })
    assert.deepInclude(await told("clone", "weather", "sunny", "--component"), { key: "sunny", version: 1 })
    assert.strictEqual((await told("show", "sunny")).text, "Sunny.")
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
