import { assert, describe, expectTypeOf, it } from "vitest"
import * as Schema from "effect/Schema"
import { defineTool, type FromJsonSchema, type Tool, type ToolInput } from "../src/index.ts"
import { handMade } from "./fixtures.ts"

const described = { description: "For tests." } as const

describe("the arguments of a tool have the type of its input", () => {
  it("I1 a JSON Schema in place: required, optional, enums, lists and unions, without a cast", async () => {
    const moor = defineTool({
      ...described,
      name: "moorShip",
      input: {
        type: "object",
        properties: {
          ship: { type: "string" },
          metres: { type: ["number", "null"] },
          side: { enum: ["port", "starboard"] },
          lines: { type: "array", items: { type: "integer" } },
          at: { anyOf: [{ type: "string" }, { type: "object", properties: { berth: { const: 7 } } }] }
        },
        required: ["ship", "metres"]
      },
      run: (args) => {
        expectTypeOf(args.ship).toEqualTypeOf<string>()
        expectTypeOf(args.metres).toEqualTypeOf<number | null>()
        expectTypeOf(args.side).toEqualTypeOf<"port" | "starboard" | undefined>()
        expectTypeOf(args.lines).toEqualTypeOf<ReadonlyArray<number> | undefined>()
        expectTypeOf(args.at).toEqualTypeOf<string | { readonly berth?: 7 } | undefined>()
        return args.ship.length
      }
    })
    expectTypeOf(moor.run).returns.resolves.toEqualTypeOf<number>()
    assert.strictEqual(await moor.run({ ship: "Aurora", metres: null }), 6)
    // @ts-expect-error metres is missing
    assert.strictEqual(await moor.run({ ship: "Birch" }), 5)
    expectTypeOf<FromJsonSchema<{ readonly type: "object" }>>().toExtend<object>()
  })

  it("I2 an Effect Schema and a Standard Schema; a tool without input takes nothing", async () => {
    const byEffect = defineTool({
      ...described,
      name: "by-effect",
      input: Schema.Struct({ sides: Schema.Int }),
      run: ({ sides }) => sides + 1
    })
    assert.strictEqual(await byEffect.run({ sides: 5 }), 6)
    const byHand = defineTool({
      ...described,
      name: "byHand",
      input: handMade(),
      needsApproval: ({ meters, quay }) => quay === "east" && meters > 80,
      run: async ({ quay }) => quay.toUpperCase()
    })
    expectTypeOf(byHand.run).returns.resolves.toEqualTypeOf<string>()
    assert.strictEqual(await byHand.run({ quay: "east", meters: 1 }), "EAST")
    assert.isTrue(byHand.needsConsent?.({ quay: "east", meters: 95 }, []))
    assert.isFalse(byHand.needsConsent?.({ quay: "west", meters: 95 }, []))
    const clock = defineTool({ ...described, name: "clock", run: (_, { key }) => key })
    assert.strictEqual(await clock.run(), "test")
    assert.strictEqual(await clock.run({}, { key: "k-1" }), "k-1")
    const all: ReadonlyArray<Tool> = [byEffect, byHand, clock]
    assert.lengthOf(all, 3)
  })

  it("I2 what a plain call has no stand-in for says what to do", async () => {
    const teller = defineTool({ ...described, name: "teller", run: (_, { send }) => send("desk", "Ahoy.") })
    const refused = await teller.run().catch((error: unknown) => error)
    assert.match(String(refused), /there is no send in a plain call of the tool: .* use runTool/)
    const keeper = defineTool({ ...described, name: "keeper", run: (_, { records }) => records.read("goal").size })
    assert.match(String(await keeper.run().catch((error: unknown) => error)), /there is no records.read/)
  })

  it("approval is needed where the function that decides it throws", () => {
    const wire = defineTool({
      ...described,
      name: "wire",
      input: { type: "object", properties: { to: { type: "object", properties: { iban: { type: "string" } } } } },
      needsApproval: ({ to }) => (to?.iban ?? "").startsWith("XX"),
      run: () => "wired"
    })
    assert.isFalse(wire.needsConsent?.({ to: { iban: "DE1" } }, []))
    assert.isTrue(wire.needsConsent?.({ to: { iban: 7 } }, []))
    assert.isTrue(wire.needsConsent?.(null, []))
  })

  it.each([
    ["zod", /its input \(zod\) can not show itself as JSON Schema: use zod 4\.2 or newer, or give a JSON Schema$/],
    ["valibot", /\(valibot\) can not show itself as JSON Schema: wrap it in toStandardJsonSchema of @valibot/],
    ["other", /\(other\) can not show itself as JSON Schema: use a version of it that implements/]
  ])("I1 a schema of %s that shows nothing is refused with the remedy", (vendor, sentence) => {
    const input = { "~standard": { version: 1, vendor, validate: () => ({ value: {} }) } } as ToolInput
    assert.throws(() => defineTool({ ...described, name: "mute", input, run: () => 1 }), sentence)
  })

  it("a schema that shows itself by a method of its own is taken", async () => {
    const input = {
      "~standard": { version: 1, vendor: "own", validate: (value: unknown) => ({ value }) },
      toJsonSchema: () => ({ type: "object", properties: { ship: { type: "string" } } })
    } as ToolInput
    const tool = defineTool({ ...described, name: "shown", input, run: () => 1 })
    assert.deepStrictEqual(tool.parameters["properties"], { ship: { type: "string" } })
  })

  it("names as providers take them: camelCase, dashes, digits", () => {
    for (const name of ["findBerth", "find-berth", "f2", "A".repeat(64)]) {
      assert.strictEqual(defineTool({ ...described, name, run: () => 1 }).name, name)
    }
  })
})
