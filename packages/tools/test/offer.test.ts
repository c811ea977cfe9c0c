import { assert, it } from "@effect/vitest"
import { isJsonObject, type Json } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import { describe } from "vitest"
import { defineTool } from "../src/index.ts"
import { MAX_SCHEMA_NODES } from "../src/schema/inline.ts"
import { ToolDefinitionInvalid } from "../src/errors.ts"
import { type ToolInput } from "../src/schema/input.ts"

const offered = (input: ToolInput) =>
  defineTool({ name: "offered", description: "For tests.", input, run: () => "ok" }).parameters

const keysIn = (value: Json): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap(keysIn)
  return isJsonObject(value) ? Object.entries(value).flatMap(([key, member]) => [key, ...keysIn(member)]) : []
}

describe("inline I1: references are replaced by what they name", () => {
  it("resolves pointers, escaped names, anchors and the schema's own $id", () => {
    const parameters = offered({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: "https://example.test/tool",
      $comment: "for people",
      type: "object",
      properties: {
        a: { $ref: "#/$defs/plain" },
        b: { $ref: "#/definitions/a~1b~0c%20d" },
        c: { $ref: "#here", description: "said beside the reference" },
        d: { $ref: "https://example.test/tool#/$defs/plain" }
      },
      $defs: { plain: { type: "string" }, here: { $anchor: "here", type: "boolean", description: "said there" } },
      definitions: { "a/b~c d": { type: "integer" } }
    })
    assert.deepStrictEqual(parameters, {
      type: "object",
      properties: {
        a: { type: "string" },
        b: { type: "integer" },
        c: { type: "boolean", description: "said beside the reference" },
        d: { type: "string" }
      },
      additionalProperties: false
    })
  })

  it("keeps constraints beside a reference as an intersection", () => {
    const { properties } = offered({
      type: "object",
      properties: { a: { $ref: "#/$defs/text", maxLength: 3 } },
      $defs: { text: { type: "string", maxLength: 9 } }
    })
    assert.deepStrictEqual(properties, { a: { maxLength: 3, allOf: [{ type: "string", maxLength: 9 }] } })
  })

  it("does not take data for a schema", () => {
    const data = { $ref: "#/nowhere", type: "nonsense" }
    const { properties } = offered({
      type: "object",
      properties: { a: { const: data, default: data, examples: [data] } }
    })
    assert.deepStrictEqual(properties, { a: { const: data, default: data, examples: [data] } })
  })

  it("refuses a small document that would become a huge one", () => {
    const level = (next: string) => ({
      type: "object",
      properties: Object.fromEntries("abcdefghij".split("").map((name) => [name, { $ref: `#/$defs/${next}` }]))
    })
    const bomb = {
      ...level("l1"),
      $defs: { l1: level("l2"), l2: level("l3"), l3: level("l4"), l4: { type: "string" } }
    }
    assert.throws(() => offered(bomb), ToolDefinitionInvalid, `over ${MAX_SCHEMA_NODES} parts`)
  })

  it("refuses nesting without end", () => {
    let nested: object = { type: "string" }
    for (let level = 0; level < 40; level++) nested = { type: "array", items: nested }
    assert.throws(() => offered({ type: "object", properties: { nested } }), ToolDefinitionInvalid, "deeper than 32")
  })
})

describe("inline I2: a schema that contains itself ends", () => {
  it("shows a recursive Effect Schema twice, then its type alone", () => {
    interface Crate {
      readonly label: string
      readonly inside: ReadonlyArray<Crate>
    }
    const Crate: Schema.Codec<Crate> = Schema.Struct({
      label: Schema.String,
      inside: Schema.Array(Schema.suspend((): Schema.Codec<Crate> => Crate))
    }).annotate({ identifier: "Crate" })
    const crate = (inside: object) => ({
      type: "object",
      properties: { label: { type: "string" }, inside: { type: "array", items: inside } },
      required: ["label", "inside"],
      additionalProperties: false
    })
    assert.deepStrictEqual<object>(offered(Crate), crate(crate({ type: "object" })))
  })
})

describe("offer I1: the root is one plain object schema", () => {
  it("pulls the properties of a union up, required only where every branch requires them", () => {
    const parameters = offered(
      Schema.Union([
        Schema.TaggedStruct("Moor", { ship: Schema.String, quay: Schema.String }),
        Schema.TaggedStruct("Sail", { ship: Schema.String })
      ])
    )
    assert.deepStrictEqual(parameters, {
      type: "object",
      properties: {
        _tag: {
          anyOf: [
            { type: "string", enum: ["Moor"] },
            { type: "string", enum: ["Sail"] }
          ]
        },
        ship: { type: "string" },
        quay: { type: "string" }
      },
      required: ["_tag", "ship"],
      additionalProperties: false
    })
  })

  it("pulls the parts of an intersection up, all they require with them", () => {
    const parameters = offered({
      allOf: [
        { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
        { properties: { b: { type: "number" } }, required: ["b"] }
      ],
      not: { required: ["c"] }
    })
    assert.deepStrictEqual(parameters, {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "number" } },
      required: ["a", "b"],
      additionalProperties: false
    })
  })

  it("drops alternatives of `required`, which say nothing of properties", () => {
    const parameters = offered({
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
      anyOf: [{ required: ["a"] }, { required: ["b"] }]
    })
    assert.deepStrictEqual(parameters, {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
      additionalProperties: false
    })
  })

  it("gives an open object its `properties`, and stays open", () => {
    assert.deepStrictEqual(offered({ type: "object" }), { type: "object", properties: {} })
  })
})

describe("offer I2: silent objects are closed where nothing beside them contradicts", () => {
  const inner = { type: "object", properties: { x: { type: "string" } } }
  const shut = { ...inner, additionalProperties: false }

  it("closes below properties, items and a union that stands alone", () => {
    const parameters = offered({
      type: "object",
      properties: { one: inner, many: { type: "array", items: inner }, either: { anyOf: [inner, { type: "null" }] } }
    })
    assert.deepStrictEqual(parameters["properties"], {
      one: shut,
      many: { type: "array", items: shut },
      either: { anyOf: [shut, { type: "null" }] }
    })
  })

  it("leaves open what said so, maps, intersections, negations and unions beside properties", () => {
    const properties = {
      said: { ...inner, additionalProperties: true },
      map: { type: "object", additionalProperties: { type: "string" } },
      free: { type: "object" },
      both: { allOf: [inner, { type: "object", properties: { y: inner } }] },
      not: { not: inner },
      beside: { type: "object", properties: { y: { type: "string" } }, anyOf: [inner] }
    }
    assert.deepStrictEqual(offered({ type: "object", properties })["properties"], properties)
  })

  it("does not charge for the bounds of a double", () => {
    const { properties } = offered(Schema.Struct({ any: Schema.Int, few: Schema.Int.check(Schema.isLessThan(5)) }))
    assert.deepStrictEqual(properties, {
      any: { type: "integer" },
      few: { type: "integer", exclusiveMaximum: 5 }
    })
  })

  it("leaves no keyword that providers do not know", () => {
    const parameters = offered({
      $schema: "x",
      type: "object",
      properties: { a: { $id: "y", $comment: "z", $defs: { b: { type: "string" } }, type: "string" } }
    })
    assert.deepStrictEqual(
      keysIn(parameters).filter((key) => key.startsWith("$")),
      []
    )
  })
})
