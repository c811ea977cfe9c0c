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

  test("the built-in components stand in their order", async () => {
    await using fleet = await openFleet()
    const { items } = await asker(fleet)("default", ({ prompts }) => prompts.components())
    assert.deepStrictEqual(
      items.map((item) => Reflect.get(item as object, "id")),
      [0, 1000, 1500, 2000, 3000, 4000, 5000, 6000, 7000]
    )
  })
})
