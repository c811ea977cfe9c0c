import { assert, it } from "@effect/vitest"
import type { Json } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { describe } from "vitest"
import { defineTool, execute } from "../src/index.ts"
import { type Berth, callOf, context, handMade } from "./fixtures.ts"
import { DEFAULT_TOOL_TIMEOUT_MILLIS } from "../src/tool.ts"
import { ToolDefinitionInvalid } from "../src/errors.ts"

const described = { description: "For tests." }
const contentOf = (tool: Parameters<typeof execute>[0], args: Json) =>
  Effect.map(execute(tool, callOf(tool?.name ?? "?", args), context), ({ content }) => content)

const complaintOf = (define: () => unknown): string => {
  try {
    define()
  } catch (thrown) {
    assert.instanceOf(thrown, ToolDefinitionInvalid)
    assert.strictEqual(thrown.recovery, "stop")
    return thrown.message
  }
  return assert.fail("the definition was accepted")
}

describe("define I2: a plain function becomes a tool", () => {
  it("has careful defaults", () => {
    const tool = defineTool({ name: "ping", ...described, run: () => "pong" })
    assert.strictEqual(tool.category, "safe_chain")
    assert.strictEqual(tool.idempotent, false)
    assert.strictEqual(tool.timeoutMs, DEFAULT_TOOL_TIMEOUT_MILLIS)
    assert.deepStrictEqual(tool.parameters, { type: "object", properties: {}, additionalProperties: false })
  })

  it.effect("gives an Effect Schema's decoded value, fully typed", () =>
    Effect.gen(function* () {
      const tool = defineTool({
        name: "moor",
        ...described,
        input: Schema.Struct({ at: Schema.Date, ship: Schema.optional(Schema.String) }),
        run: ({ at, ship }) => {
          const when: Date = at
          const who: string | undefined = ship
          return `${who ?? "nobody"} at ${when.getTime()}`
        }
      })
      assert.strictEqual(yield* contentOf(tool, { at: "1970-01-01T00:00:01Z", ship: null }), "nobody at 1000")
      assert.include(yield* contentOf(tool, { at: 5 }), "- at: Expected string")
      assert.deepStrictEqual(tool.parameters["required"], ["at"])
    })
  )

  it.effect("takes an Effect Schema class and an empty struct", () =>
    Effect.gen(function* () {
      class Ship extends Schema.Class<Ship>("Ship")({ name: Schema.String }) {
        get shout() {
          return this.name.toUpperCase()
        }
      }
      const hail = defineTool({ name: "hail", ...described, input: Ship, run: (ship) => ship.shout })
      assert.strictEqual(yield* contentOf(hail, { name: "Ida" }), "IDA")
      assert.deepStrictEqual(hail.parameters, {
        type: "object",
        properties: { name: { type: "string" } },
        required: ["name"],
        additionalProperties: false
      })
      const rest = defineTool({ name: "rest", ...described, input: Schema.Struct({}), run: () => "rested" })
      assert.deepStrictEqual(rest.parameters, { type: "object", properties: {}, additionalProperties: false })
      assert.strictEqual(yield* contentOf(rest, {}), "rested")
    })
  )

  it.effect("gives a Standard Schema's output, and waits for one that checks asynchronously", () =>
    Effect.gen(function* () {
      const run = (berth: Berth) => `${berth.quay} ${berth.meters}`
      const now = defineTool({ name: "berth", ...described, input: handMade(), run })
      assert.strictEqual(yield* contentOf(now, { quay: "A", meters: 4 }), "A 8")
      assert.include(yield* contentOf(now, {}), "- quay: should be a text\n- meters: should be a number")
      assert.notProperty(now.parameters, "$schema")
      const later = handMade(async () => ({ value: { quay: "late", meters: 1 } }))
      assert.strictEqual(yield* contentOf(defineTool({ name: "late", ...described, input: later, run }), {}), "late 1")
    })
  )

  it.effect("turns a validator that throws or rejects into a sentence", () =>
    Effect.gen(function* () {
      const run = () => assert.fail("ran on unchecked arguments")
      const throws = handMade(() => {
        throw new Error("validator broke")
      })
      const rejects = handMade(() => Promise.reject(new Error("validator broke")))
      const dies = Schema.Struct({}).check(
        Schema.makeFilter(() => {
          throw new Error("validator broke")
        })
      )
      for (const input of [throws, rejects, dies]) {
        const tool = defineTool({ name: "broken", ...described, input, run })
        assert.include(yield* contentOf(tool, {}), "- the arguments: could not be checked: validator broke")
      }
    })
  )

  it.effect("checks a plain JSON Schema as it was written, and names every issue", () =>
    Effect.gen(function* () {
      const tool = defineTool({
        name: "book",
        ...described,
        input: {
          $schema: "http://json-schema.org/draft-07/schema#",
          type: "object",
          properties: {
            nights: { type: "integer", minimum: 1 },
            pair: { type: "array", items: [{ type: "string" }, { type: "number" }] },
            kind: { enum: ["quay", "buoy"] },
            crew: {
              type: "array",
              items: { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
            },
            "odd/name": { type: "object", additionalProperties: false }
          },
          required: ["nights", "kind", "toString"]
        },
        run: (args) => args["nights"]
      })
      assert.strictEqual(yield* contentOf(tool, { nights: 2, kind: "quay", pair: ["a", 1], toString: 1 }), "2")
      const content = yield* contentOf(tool, { nights: 0, pair: [1], crew: [{ name: "x" }, {}], "odd/name": { a: 1 } })
      assert.deepStrictEqual(content.split("\n").slice(1).toSorted(), [
        `- ["odd/name"].a: is not expected`,
        "- crew[1].name: is missing",
        "- kind: is missing",
        "- nights: must be >= 1",
        "- pair[0]: must be string",
        "- toString: is missing"
      ])
      assert.include(yield* contentOf(tool, { nights: 1, kind: "pier" }), `- kind: must be one of ["quay","buoy"]`)
      assert.include(yield* contentOf(tool, ["nights"]), "- the arguments: must be one JSON object")
    })
  )

  it.effect("lets two tools share an $id, and survives a schema that only fails when compiled", () =>
    Effect.gen(function* () {
      const twin = (name: string, type: string) =>
        defineTool({
          name,
          ...described,
          input: { $id: "https://example.test/same", type: "object", properties: { a: { type } } },
          run: () => name
        })
      assert.strictEqual(yield* contentOf(twin("one", "string"), { a: "x" }), "one")
      assert.strictEqual(yield* contentOf(twin("two", "number"), { a: 1 }), "two")
      const broken = { type: "object", properties: { a: { type: "string", maxLength: "long" } } }
      const tool = defineTool({ name: "broken", ...described, input: broken, run: () => assert.fail("ran") })
      assert.include(yield* contentOf(tool, { a: "x" }), "the schema itself is wrong")
    })
  )

  it.effect("compiles a JSON Schema once, later checks need not wait (input I3)", () =>
    Effect.gen(function* () {
      const input = { type: "object", properties: { a: { type: "integer" } } }
      const tool = defineTool({ name: "quick", ...described, input, run: (args) => args["a"] })
      assert.strictEqual(yield* contentOf(tool, { a: 1 }), "1")
      assert.strictEqual(Effect.runSync(contentOf(tool, { a: 2 })), "2")
    })
  )

  it.effect("keeps the schema as it was defined, whatever the author does to the object later", () =>
    Effect.gen(function* () {
      const input = { type: "object", properties: { a: { type: "string" } }, required: ["a"] }
      const tool = defineTool({ name: "kept", ...described, input, run: () => "ran" })
      input.required.pop()
      assert.include(yield* contentOf(tool, {}), "- a: is missing")
      assert.deepStrictEqual(tool.parameters["required"], ["a"])
    })
  )

  it.effect("takes nothing when there is no input", () =>
    Effect.gen(function* () {
      const tool = defineTool({ name: "ping", ...described, run: () => "pong" })
      for (const args of [{}, null, ""]) assert.strictEqual(yield* contentOf(tool, args), "pong")
      assert.include(yield* contentOf(tool, { loud: true }), "- loud: is not expected")
      assert.include(yield* contentOf(tool, [1]), "- the arguments: must be an empty object")
    })
  )
})

describe("define I1: a wrong definition throws at once, in one sentence", () => {
  const names = ["", "_a", "1st", "-a", "with space", "with.dot", "a".repeat(65), "é"]
  for (const name of names) {
    it(`refuses the name ${JSON.stringify(name.slice(0, 12))}`, () => {
      assert.include(
        complaintOf(() => defineTool({ name, ...described, run: () => 1 })),
        "its name must begin with"
      )
    })
  }

  it("accepts the longest name", () => {
    assert.strictEqual(defineTool({ name: "a".repeat(64), ...described, run: () => 1 }).name.length, 64)
  })

  for (const timeoutMs of [-1, 0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31]) {
    it(`refuses the timeout ${timeoutMs}`, () => {
      const complaint = complaintOf(() => defineTool({ name: "slow", ...described, timeoutMs, run: () => 1 }))
      assert.strictEqual(complaint, `tool "slow": its timeoutMs must be a whole number from 1 to 2147483647`)
    })
  }

  const text = { type: "object", properties: { a: { type: "string" } } }
  const mute = { "~standard": { version: 1 as const, vendor: "mute", validate: (value: unknown) => ({ value }) } }
  const unable = {
    "~standard": {
      ...handMade()["~standard"],
      vendor: "unable",
      jsonSchema: {
        input: (): never => {
          throw new Error("bigint has no JSON Schema")
        },
        output: () => ({})
      }
    }
  }
  const cyclic: { [key: string]: unknown } = { type: "object" }
  cyclic["properties"] = { self: cyclic }
  const inputs: ReadonlyArray<readonly [string, object, string]> = [
    ["an array schema", { type: "array" }, `must be an object schema (type "object"), not "array"`],
    ["a nullable root", { type: ["object", "null"] }, "must be an object schema"],
    ["an Effect Schema of a text", Schema.String, `must be an object schema (type "object"), not "string"`],
    ["a union with a text", { anyOf: [text, { type: "string" }] }, "must be an object schema"],
    ["an empty schema", {}, "must be an object schema"],
    ["a schema that is only itself", { $ref: "#" }, "must be an object schema"],
    ["an unknown type", { type: "object", properties: { a: { type: "strin" } } }, `the type "strin"`],
    [
      "a missing reference",
      { type: "object", properties: { a: { $ref: "#/$defs/a" } } },
      `"#/$defs/a", which is not in`
    ],
    ["a remote reference", { $ref: "https://example.test/a.json" }, "which is not in it"],
    ["a wrong pattern", { type: "object", properties: { a: { pattern: "(" } } }, "no regular expression"],
    ["a wrong required", { type: "object", required: "a" }, "not a list of names"],
    ["properties that are a list", { type: "object", properties: [] }, "not an object"],
    ["an empty enum", { type: "object", properties: { a: { enum: [] } } }, "`enum`"],
    ["a text for a schema", { type: "object", properties: { a: "string" } }, "where a schema is expected"],
    ["a cyclic object", cyclic, "neither a Standard Schema nor a JSON Schema"],
    ["a list", [text], "neither a Standard Schema nor a JSON Schema"],
    ["a Standard Schema that shows nothing", mute, "(mute) can not show itself as JSON Schema"],
    ["a Standard Schema that can not show itself", unable, "(unable) can not be shown as JSON Schema: bigint has no"]
  ]
  for (const [title, input, expected] of inputs) {
    it(`refuses ${title}`, () => {
      const complaint = complaintOf(() =>
        defineTool({ name: "odd", ...described, input: input as { readonly [key: string]: unknown }, run: () => 1 })
      )
      assert.include(complaint, `tool "odd": `)
      assert.include(complaint, expected)
      assert.notInclude(complaint, "\n")
    })
  }

  it("refuses what a caller without types can get wrong", () => {
    const good = { name: "odd", ...described, run: () => 1 }
    const wrong = (more: object) => complaintOf(() => defineTool({ ...good, ...more }))
    assert.include(wrong({ description: "  " }), "needs a description")
    assert.include(wrong({ run: "later" }), "its run must be a function")
    assert.include(wrong({ needsApproval: "always" }), "its needsApproval must be true, false or a function")
    assert.include(wrong({ final: 1 }), "its final must be true or false")
    assert.include(wrong({ final: true, background: true }), "it can not be final and background at once")
    assert.include(wrong({ idempotent: "yes" }), "its idempotent must be true or false")
    assert.include(wrong({ input: null }), "neither a Standard Schema")
    assert.include(wrong({ name: 5 }), "its name must begin with")
  })
})
