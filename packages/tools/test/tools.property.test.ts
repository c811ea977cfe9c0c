import { assert, it } from "@effect/vitest"
import { isJsonObject, type Json, type ToolCategory, toolCategories } from "@reverie/protocol"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as fc from "fast-check"
import { approvalId, canonicalJson, defineTool, execute, type Tool, type ToolResult, toolkitOf } from "../src/index.ts"
import { callOf, context, everyForm } from "./fixtures.ts"

import { ToolDefinitionInvalid } from "../src/errors.ts"
import { type ToolFilter } from "../src/define.ts"

const settings = { seed: 4_711, numRuns: 300 }

const hostileKey = fc.oneof(
  fc.constantFrom(
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "quay",
    "meters",
    "label",
    "inside",
    "a",
    "list"
  ),
  fc.constantFrom("at", "many", "next", "", "\u0000", "\uD800", "$ref", "length"),
  fc.string({ unit: "binary" })
)
const hostileText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("\uD800", "\u0000", "x".repeat(50_000), "1970-01-01T00:00:00Z", "not a date", "{}")
)
const hostileJson = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    fc.constantFrom(null, true, -0, 1e308, Number.MAX_SAFE_INTEGER + 1, 0.1),
    hostileText,
    fc.array(tie("value"), { maxLength: 4 }),
    fc
      .array(fc.tuple(hostileKey, tie("value")), { maxLength: 5 })
      .map((members) => Object.fromEntries(members) as { readonly [key: string]: Json })
  )
})).value
/** Deeper than any stack: what a parser without a limit would let in. */
const nested = (levels: number, key: string): Json => {
  let value: Json = { label: "core", inside: [] }
  for (let level = 0; level < levels; level++) value = { label: "crate", a: 1, [key]: [value] }
  return value
}

const assertBounded = async (tool: Tool, args: Json): Promise<ToolResult> => {
  const exit = await Effect.runPromiseExit(execute(tool, callOf(tool.name, args), context))
  if (Exit.isFailure(exit)) return assert.fail("execute failed")
  const { content, failure, ok, sends } = exit.value
  assert.isAtMost(content.length, 16_000)
  assert.isTrue(content.isWellFormed())
  assert.deepStrictEqual(sends, [])
  assert.strictEqual(ok, failure === undefined)
  assert.notProperty(Object.prototype, "polluted")
  return exit.value
}

it("tool I1: hostile arguments end in a bounded result, whatever form the input has", async () => {
  let ran = 0
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...everyForm), hostileJson, async (tool, args) => {
      const { failure, ok } = await assertBounded(tool, args)
      if (ok) ran++
      else assert.strictEqual(failure, "arguments")
    }),
    { ...settings, numRuns: 1_000 }
  )
  assert.isAbove(ran, 0)
})

it("tool I1: arguments deeper than any stack end in a bounded result as well", async () => {
  for (const tool of everyForm) {
    for (const key of ["list", "inside", "next"]) {
      for (const levels of [10, 1_000, 100_000]) await assertBounded(tool, nested(levels, key))
    }
  }
})

it("define I1: any object for an input is a tool or ToolDefinitionInvalid, in one line", () => {
  const keyword = fc.constantFrom(
    "type",
    "properties",
    "items",
    "anyOf",
    "allOf",
    "$ref",
    "$defs",
    "required",
    "enum",
    "pattern",
    "not",
    "~standard"
  )
  const word = fc.constantFrom("object", "array", "string", "#", "#/$defs/a", "#/properties/a", "(", "__proto__", "a")
  const schema = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      word,
      fc.constantFrom(null, 1, true, "object"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.array(fc.tuple(fc.oneof(keyword, word), tie("value")), { maxLength: 5 }).map(Object.fromEntries)
    )
  })).value
  let accepted = 0
  fc.assert(
    fc.property(fc.array(fc.tuple(keyword, schema), { maxLength: 5 }), (members) => {
      const input = Object.fromEntries([["type", "object"], ...members])
      try {
        const tool = defineTool({ name: "any", description: "Any.", input, run: () => 1 })
        accepted++
        assert.strictEqual(tool.parameters["type"], "object")
        assert.isTrue(isJsonObject(tool.parameters["properties"]))
      } catch (thrown) {
        assert.instanceOf(thrown, ToolDefinitionInvalid)
        assert.notInclude(thrown.message, "\n")
      }
    }),
    { ...settings, numRuns: 2_000 }
  )
  assert.isAbove(accepted, 100)
})

it("offer I2: without alternatives at the top, what fits the offer fits what the author wrote", () => {
  const name = fc.constantFrom("a", "b", "c")
  const names = fc.uniqueArray(name, { maxLength: 2 })
  const schema = fc.letrec<{ any: { readonly [key: string]: Json }; object: { readonly [key: string]: Json } }>(
    (tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom({ type: "string" }, { type: "integer" }),
        tie("object"),
        tie("any").map((items) => ({ type: "array", items })),
        fc.array(tie("any"), { minLength: 1, maxLength: 2 }).map((anyOf) => ({ anyOf })),
        fc.array(tie("any"), { minLength: 1, maxLength: 2 }).map((allOf) => ({ allOf })),
        tie("any").map((not) => ({ not }))
      ),
      object: fc
        .tuple(fc.dictionary(name, tie("any"), { maxKeys: 3 }), names)
        .map(([properties, required]) => ({ type: "object", properties, required }))
    })
  ).object
  const value = fc.letrec<{ any: Json; object: Json }>((tie) => ({
    any: fc.oneof({ maxDepth: 4 }, fc.constantFrom("x", 1), fc.array(tie("any"), { maxLength: 2 }), tie("object")),
    object: fc.dictionary(name, tie("any"), { maxKeys: 3 }).map((members): Json => members)
  })).object
  let fitting = 0
  fc.assert(
    fc.property(schema, fc.array(value, { minLength: 20, maxLength: 20 }), (author, values) => {
      const ajv = new Ajv2020({ strict: false, meta: false, validateSchema: false })
      const { parameters } = defineTool({ name: "any", description: "Any.", input: author, run: () => 1 })
      const [offered, written] = [ajv.compile(parameters), ajv.compile(author)]
      for (const args of values.filter((candidate) => offered(candidate))) {
        fitting++
        assert.isTrue(written(args))
      }
    }),
    { ...settings, numRuns: 60 }
  )
  assert.isAbove(fitting, 100)
})

it("toolkit I2: narrowing never adds, and narrowing twice is narrowing by both", () => {
  const tools: ReadonlyArray<Tool> = toolCategories.flatMap((category, index) =>
    ["x", "y"].map((letter) => ({
      ...defineTool({ name: `${letter}${index}`, description: "Any.", run: () => letter }),
      category
    }))
  )
  const known = tools.map(({ name }) => name)
  const filter: fc.Arbitrary<ToolFilter> = fc.record(
    {
      categories: fc.uniqueArray(fc.constantFrom<ToolCategory>(...toolCategories)),
      allow: fc.array(fc.constantFrom(...known, "nowhere", "__proto__"))
    },
    { requiredKeys: [] }
  )
  const wide = toolkitOf(tools)
  fc.assert(
    fc.property(filter, filter, (first, second) => {
      const once = wide.only(first)
      const twice = once.only(second)
      assert.includeMembers([...wide.names], [...once.names])
      assert.includeMembers([...once.names], [...twice.names])
      assert.deepStrictEqual(twice.names, wide.only(second).only(first).names)
      assert.deepStrictEqual(
        twice.names,
        once.offers(second).map(({ name }) => name)
      )
      for (const name of known) {
        assert.strictEqual(twice.get(name) !== undefined, twice.names.includes(name))
        assert.isTrue(twice.get(name) === undefined || twice.get(name) === wide.get(name))
      }
    }),
    settings
  )
})

const shuffled = (value: Json, turn: number): Json => {
  if (Array.isArray(value)) return value.map((item: Json) => shuffled(item, turn))
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).map(([key, member]): [string, Json] => [key, shuffled(member, turn)])
  const at = members.length === 0 ? 0 : turn % members.length
  return Object.fromEntries([...members.slice(at), ...members.slice(0, at)].toReversed())
}

it("approval I2: canonical JSON forgets the order of keys and nothing else", () => {
  fc.assert(
    fc.property(hostileJson, fc.nat(7), (value, turn) => {
      const text = canonicalJson(value)
      assert.strictEqual(canonicalJson(shuffled(value, turn)), text)
      assert.deepStrictEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)))
    }),
    settings
  )
})

it("approval I1: two calls share an id only when their arguments are equal", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
      const id = (args: unknown) =>
        approvalId({ ...context.address, tick: 1, call: "1.1.0", tool: "any", arguments: args as Json })
      assert.strictEqual(id(left) === id(right), canonicalJson(left as Json) === canonicalJson(right as Json))
    }),
    settings
  )
})
