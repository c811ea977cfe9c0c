import type { Script } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { assert, describe, test } from "vitest"
import { asker, type Heard, openFleet, refusalOf } from "./rig.ts"
import { HOSTILE } from "./seed.ts"

const TEXT = HOSTILE.replaceAll("{", "{{").replaceAll("}", "}}")

describe("prompts", () => {
  test("P1 a template is written over the version that was seen, and belongs to its tenant", async () => {
    const heard: Heard = { audit: [], trouble: [] }
    await using fleet = await openFleet({ tenant: "north" })
    const ask = asker(fleet, heard)
    const write = (token: string, expected: number, text = TEXT) =>
      ask(token, ({ prompts }) =>
        prompts.write({ params: { key: "greeting" }, payload: { name: "Greeting", text, expected } })
      )
    const { version } = await write("north", 0)
    assert.strictEqual(await refusalOf(write("north", 0)), "Conflict")
    assert.isAbove((await write("north", version, "Hello {name}")).version, version)
    assert.strictEqual(await refusalOf(write("north", version)), "Conflict")
    assert.strictEqual(await refusalOf(write("north", version + 1, "a lone { brace")), "Malformed")
    assert.strictEqual(await refusalOf(write("north:ro", version + 1)), "Forbidden")
    assert.strictEqual(await refusalOf(write("south", version + 1)), "NotFound")
    const own = await ask("north", ({ prompts }) => prompts.templates())
    assert.deepInclude(
      own.items.find(({ key }) => key === "greeting"),
      { text: "Hello {name}", builtin: false, version: version + 1 }
    )
    const others = await ask("south", ({ prompts }) => prompts.templates())
    assert.isNotEmpty(others.items)
    assert.isUndefined(others.items.find(({ key }) => key === "greeting"))
    assert.deepStrictEqual(heard.trouble, [])
  })

  test("F112 F26 a template written by HTTP begins the next prompt, and an undo the one after it", async () => {
    const shown: Array<string> = []
    const says: Script = ({ messages }) => {
      shown.push(messages[0]?.content ?? "")
      return Effect.succeed({ text: "Good." })
    }
    await using fleet = await openFleet({ tenant: "north", says })
    const ask = asker(fleet)
    const template = { params: { key: "default" } }
    const write = (text: string, expected: number) =>
      ask("north", ({ prompts }) => prompts.write({ ...template, payload: { name: "Ours", text, expected } }))
    await fleet.answer("desk", "One?")
    const first = shown.at(-1)
    assert.strictEqual(await refusalOf(write("Hello {stranger}", 0)), "Malformed")
    const { version } = await write("The harbour of {assistant}.", 0)
    await fleet.answer("desk", "Two?")
    assert.strictEqual(shown.at(-1), "The harbour of desk.\n\nYou are under test.")
    const past = await ask("north", ({ prompts }) => prompts.history(template))
    assert.deepStrictEqual(
      past.items.map((item) => [item.version, item.change]),
      [[1, "written"]]
    )
    assert.strictEqual(
      await refusalOf(ask("north", ({ prompts }) => prompts.remove({ ...template, query: { expected: version + 1 } }))),
      "Conflict"
    )
    const undone = await ask("north", ({ prompts }) => prompts.undo({ ...template, payload: { expected: version } }))
    assert.deepStrictEqual(undone, {})
    await fleet.answer("desk", "Three?")
    assert.strictEqual(shown.at(-1), first)
  })

  test("F27 F28 F29 components are written, switched off, moved, deleted and brought back by HTTP", async () => {
    const heard: Heard = { audit: [], trouble: [] }
    const shown: Array<string> = []
    const says: Script = ({ messages }) => {
      shown.push(messages.map(({ content }) => content).join("|"))
      return Effect.succeed({ text: "Good." })
    }
    await using fleet = await openFleet({ tenant: "north", says })
    const ask = asker(fleet, heard)
    const weather = { params: { key: "weather" } }
    const write = (payload: object) =>
      ask("north", ({ prompts }) => prompts.writeComponent({ ...weather, payload: payload as { expected: number } }))
    const isShown = async (): Promise<boolean> => {
      await fleet.answer("desk", "And now?")
      return shown.at(-1)?.includes("Sunny for desk.") === true
    }
    assert.strictEqual(await refusalOf(write({ text: "Sunny.", expected: 0 })), "Malformed")
    assert.deepStrictEqual(await write({ text: "Sunny for {assistant}.", after: 1000, expected: 0 }), {
      id: 1001,
      version: 1
    })
    assert.isTrue(await isShown())
    assert.strictEqual(await refusalOf(write({ enabled: false, expected: 7 })), "Conflict")
    await write({ enabled: false, expected: 1 })
    assert.isFalse(await isShown())
    const moved = await write({ after: 2000, enabled: true, expected: 2 })
    assert.strictEqual(moved.id, 2001)
    assert.isTrue(await isShown())
    await ask("north", ({ prompts }) => prompts.removeComponent({ ...weather, query: { expected: moved.version } }))
    assert.isFalse(await isShown())
    const { definition } = await ask("north", ({ prompts }) => prompts.undoComponent({ ...weather, payload: {} }))
    assert.deepInclude(definition, { key: "weather", id: 2001 })
    assert.isTrue(await isShown())
    const copied = await write({ template: "reflection", expected: 6 })
    const { items } = await ask("north", ({ prompts }) => prompts.components())
    const kept = items.find((item) => Reflect.get(item as object, "key") === "weather") as object
    assert.include(String(Reflect.get(kept, "content")), "Look back on what you did")
    assert.strictEqual(Reflect.get(kept, "version"), copied.version)
    const past = await ask("north", ({ prompts }) => prompts.componentHistory(weather))
    assert.include(
      past.items.map(({ change }) => change),
      "deleted"
    )
    assert.strictEqual(
      await refusalOf(ask("north:ro", ({ prompts }) => prompts.undoComponent({ ...weather, payload: {} }))),
      "Forbidden"
    )
    assert.deepStrictEqual(heard.trouble, [])
  })

  test("F26 F30 a template is cloned, exported and imported by HTTP, each undone like any other change", async () => {
    const heard: Heard = { audit: [], trouble: [] }
    const shown: Array<string> = []
    const says: Script = ({ messages }) => {
      shown.push(messages[0]?.content ?? "")
      return Effect.succeed({ text: "Good." })
    }
    await using fleet = await openFleet({ tenant: "north", says })
    const ask = asker(fleet, heard)
    const [original, copy] = [{ params: { key: "default" } }, { params: { key: "copy" } }]
    const clone = (token: string, payload: { readonly to: string; readonly name?: string }) =>
      ask(token, ({ prompts }) => prompts.clone({ ...original, payload }))
    const textOf = async (key: string): Promise<string | undefined> =>
      (await ask("north", ({ prompts }) => prompts.templates())).items.find((item) => item.key === key)?.text
    assert.deepStrictEqual(await clone("north", { to: "copy", name: "A copy" }), { key: "copy", version: 1 })
    assert.strictEqual(await textOf("copy"), await textOf("default"))
    assert.strictEqual(await refusalOf(clone("north", { to: "copy" })), "Conflict")
    assert.strictEqual(await refusalOf(clone("north:ro", { to: "other" })), "Forbidden")
    const lost = ask("north", ({ prompts }) => prompts.clone({ params: { key: "none" }, payload: { to: "other" } }))
    assert.strictEqual(await refusalOf(lost), "NotFound")

    const exported = (await ask("north", ({ prompts }) => prompts.export(copy))) as { readonly template: object }
    assert.deepInclude(exported as object, { format: "reverie.prompt-template", version: 1 })
    assert.deepInclude(exported.template, { key: "copy", name: "A copy" })
    assert.deepStrictEqual(await ask("north", ({ prompts }) => prompts.undo({ ...copy, payload: {} })), {})
    assert.isUndefined(await textOf("copy"))

    const ours = { ...exported, template: { ...exported.template, key: "default", content: "Ours.", placeholders: [] } }
    const bring = (token: string, payload: object) =>
      ask(token, ({ prompts }) => prompts.import({ payload: { export: ours, ...payload } }))
    assert.deepStrictEqual(await bring("north", {}), { key: "default", version: 1 })
    await fleet.answer("desk", "One?")
    assert.strictEqual(shown.at(-1), "Ours.\n\nYou are under test.")
    assert.strictEqual(await refusalOf(bring("north", {})), "Conflict")
    assert.strictEqual(await refusalOf(bring("north", { overwrite: true, expected: 7 })), "Conflict")
    assert.strictEqual(await refusalOf(bring("north", { export: { format: "another" } })), "Malformed")
    assert.strictEqual(await refusalOf(bring("north:ro", { overwrite: true })), "Forbidden")
    assert.deepInclude(await bring("north", { overwrite: true, expected: 1 }), { version: 2 })
    await ask("north", ({ prompts }) => prompts.undo({ ...original, payload: {} }))
    await ask("north", ({ prompts }) => prompts.undo({ ...original, payload: {} }))
    await fleet.answer("desk", "Two?")
    assert.notInclude(shown.at(-1), "Ours.")
    // What is imported for one tenant is no one else's.
    const others = await ask("south", ({ prompts }) => prompts.templates())
    assert.isUndefined(others.items.find(({ builtin }) => !builtin))
    assert.includeMembers(
      heard.audit.map(({ action }) => action),
      ["prompts.clone", "prompts.import"]
    )
    assert.deepStrictEqual(heard.trouble, [])
  })

  test("F29 F30 a component is exported and imported by HTTP, and its text saved as a template", async () => {
    await using fleet = await openFleet({ tenant: "north" })
    const ask = asker(fleet)
    const weather = { params: { key: "weather" } }
    const payload = { text: "Sunny for {assistant}.", after: 1000, expected: 0 }
    await ask("north", ({ prompts }) => prompts.writeComponent({ ...weather, payload }))
    const exported = await ask("north", ({ prompts }) => prompts.exportComponent(weather))
    assert.deepInclude((exported as { readonly component: object }).component, { id: 1001, key: "weather" })
    const bring = (more: object = {}) =>
      ask("north", ({ prompts }) => prompts.importComponent({ payload: { export: exported, ...more } }))
    assert.strictEqual(await refusalOf(bring()), "Conflict")
    await ask("north", ({ prompts }) => prompts.removeComponent({ ...weather, query: { expected: 1 } }))
    assert.deepStrictEqual(await bring(), { key: "weather", id: 1001, version: 3 })
    const saved = await ask("north", ({ prompts }) => prompts.saveComponent({ ...weather, payload: { to: "sunny" } }))
    assert.deepStrictEqual(saved, { key: "sunny", version: 1 })
    const { items } = await ask("north", ({ prompts }) => prompts.templates())
    assert.strictEqual(items.find(({ key }) => key === "sunny")?.text, "Sunny for {assistant}.")
    const { definition } = await ask("north", ({ prompts }) => prompts.undoComponent({ ...weather, payload: {} }))
    assert.isUndefined(definition)
  })

  test("the built-in components stand in their order", async () => {
    await using fleet = await openFleet()
    const { items } = await asker(fleet)("default", ({ prompts }) => prompts.components())
    assert.deepStrictEqual(
      items.map((item) => Reflect.get(item as object, "id")),
      [0, 1000, 1500, 2000, 3000, 4000, 5000, 6000, 7000]
    )
  })
})
