import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import { defineTool, execute, noop, type Tool, toolkitOf } from "../src/index.ts"
import { callOf, context } from "./fixtures.ts"
import { ToolDefinitionInvalid } from "../src/errors.ts"

const toolNamed = (name: string, category: Tool["category"] = "safe_chain"): Tool => ({
  ...defineTool({ name, description: `Does ${name}.`, run: () => name }),
  category
})

const search = toolNamed("search")
const reply = toolNamed("reply", "terminal")
const fine = toolNamed("fine", "dangerous")

describe("toolkit I1: a name stands for one tool", () => {
  it("finds by name, and nothing under another", () => {
    const kit = toolkitOf([search, reply])
    assert.strictEqual(kit.get("reply"), reply)
    for (const name of ["Reply", "", "constructor", "__proto__"]) assert.strictEqual(kit.get(name), undefined)
    assert.deepStrictEqual(kit.names, ["search", "reply"])
  })

  it("refuses two tools of one name", () => {
    assert.throws(() => toolkitOf([search, toolNamed("search")]), ToolDefinitionInvalid, `tool "search": two tools`)
  })

  it("keeps built-in names for the built-in tools", () => {
    assert.throws(() => toolkitOf([toolNamed("noop")]), ToolDefinitionInvalid, "belongs to a built-in tool")
    assert.strictEqual(toolkitOf([noop, search]).get("noop"), noop)
  })

  it.effect("noop does nothing, ends nothing and says ok", () =>
    Effect.gen(function* () {
      assert.strictEqual(noop.category, "safe_chain")
      assert.deepStrictEqual(yield* execute(noop, callOf("noop"), context), { ok: true, content: "ok", sends: [] })
    })
  )
})

describe("toolkit I2: narrowing", () => {
  const kit = toolkitOf([search, reply, fine])

  it("keeps what the categories and the allow-list both admit", () => {
    const named = (filter: Parameters<typeof kit.only>[0]) => kit.offers(filter).map(({ name }) => name)
    assert.deepStrictEqual(named({}), ["search", "reply", "fine"])
    assert.deepStrictEqual(named({ categories: ["terminal", "safe_chain"] }), ["search", "reply"])
    assert.deepStrictEqual(named({ allow: ["fine", "reply", "nowhere"] }), ["reply", "fine"])
    assert.deepStrictEqual(named({ allow: ["fine", "reply"], categories: ["terminal"] }), ["reply"])
    assert.deepStrictEqual(named({ allow: [] }), [])
  })

  it("hides from lookup what it does not offer", () => {
    const narrow = kit.only({ allow: ["search"] })
    assert.strictEqual(narrow.get("fine"), undefined)
    assert.deepStrictEqual(narrow.names, ["search"])
    assert.deepStrictEqual(narrow.only({ allow: ["fine", "reply"] }).names, [])
  })
})

describe("toolkit I3: offers are built once", () => {
  it("gives the same list for the same filter, of the same offers for any", () => {
    const kit = toolkitOf([search, reply])
    const filter = { categories: ["terminal"] as const }
    assert.strictEqual(kit.offers(), kit.offers())
    assert.strictEqual(kit.offers(filter), kit.offers(filter))
    assert.strictEqual(kit.offers(filter)[0], kit.offers()[1])
    assert.deepStrictEqual(kit.offers()[0], {
      name: "search",
      description: "Does search.",
      parameters: { type: "object", properties: {}, additionalProperties: false }
    })
  })
})
