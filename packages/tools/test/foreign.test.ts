// Schemas of libraries that have no JSON Schema of their own: those of zod 3 as they are, those of valibot as it makes them.

import { assert, describe, it } from "@effect/vitest"
import { z } from "zod/v3"
import * as Effect from "effect/Effect"
import { defineTool, type ToolInput } from "../src/index.ts"
import { acceptInput } from "../src/schema/input.ts"

const documentOf = (input: unknown) => {
  const accepted = acceptInput(input)
  return typeof accepted === "string" ? assert.fail(accepted) : accepted.document
}

const propertiesOf = (input: unknown) => documentOf(input)["properties"] as { readonly [name: string]: unknown }

/** As valibot makes them: `type`, what it is made of, and a pipe. */
const valibot = (type: string, more: object = {}) => ({
  kind: "schema",
  type,
  "~standard": { version: 1, vendor: "valibot", validate: (value: unknown) => ({ value }) },
  ...more
})
const piped = (type: string, actions: ReadonlyArray<object>, more: object = {}) =>
  valibot(type, { ...more, pipe: [valibot(type, more), ...actions] })
const check = (type: string, requirement?: unknown) => ({ kind: "validation", type, requirement })
const change = (type: string) => ({ kind: "transformation", type })

/** As an enum that counts is compiled. */
const Side = { Port: 0, Starboard: 1, 0: "Port", 1: "Starboard" } as const

const STRING = { type: "string" }
const NUMBER = { type: "number" }

/** What each kind is read as, by zod 3 and by valibot. */
const kinds: Readonly<Record<string, readonly [zod: z.ZodTypeAny, valibot: object, read: object]>> = {
  string: [z.string(), valibot("string"), STRING],
  bounds: [
    z.string().min(1).max(9).describe("Its name."),
    piped("string", [
      check("min_length", 1),
      check("max_length", 9),
      { kind: "metadata", type: "description", description: "Its name." }
    ]),
    { ...STRING, minLength: 1, maxLength: 9, description: "Its name." }
  ],
  format: [z.string().email(), piped("string", [check("email", /@/)]), { ...STRING, format: "email" }],
  pattern: [z.string().regex(/^a$/), piped("string", [check("regex", /^a$/)]), { ...STRING, pattern: "^a$" }],
  flags: [z.string().regex(/^a$/i), piped("string", [check("regex", /^a$/i)]), STRING],
  changed: [z.string().trim().min(2), piped("string", [change("trim"), check("min_length", 2)]), STRING],
  integer: [
    z.number().int().min(1).lt(400).multipleOf(2),
    piped("number", [check("integer"), check("min_value", 1), check("lt_value", 400), check("multiple_of", 2)]),
    { type: "integer", minimum: 1, exclusiveMaximum: 400, multipleOf: 2 }
  ],
  boolean: [z.boolean(), valibot("boolean"), { type: "boolean" }],
  choice: [z.enum(["a", "b"]), valibot("picklist", { options: ["a", "b"] }), { enum: ["a", "b"] }],
  native: [z.nativeEnum(Side), valibot("enum", { enum: Side }), { enum: [0, 1] }],
  literal: [z.literal("x"), valibot("literal", { literal: "x" }), { const: "x" }],
  nullable: [
    z.string().nullable(),
    valibot("nullable", { wrapped: valibot("string") }),
    { anyOf: [STRING, { type: "null" }] }
  ],
  list: [
    z.array(z.number()).min(1).max(3),
    piped("array", [check("min_length", 1), check("max_length", 3)], { item: valibot("number") }),
    { type: "array", items: NUMBER, minItems: 1, maxItems: 3 }
  ],
  record: [
    z.record(z.number()),
    valibot("record", { key: valibot("string"), value: valibot("number") }),
    { type: "object", additionalProperties: NUMBER }
  ],
  union: [
    z.union([z.string(), z.number()]),
    valibot("union", { options: [valibot("string"), valibot("number")] }),
    { anyOf: [STRING, NUMBER] }
  ],
  variant: [
    z.discriminatedUnion("k", [z.object({ k: z.literal("a") })]),
    valibot("variant", {
      key: "k",
      options: [valibot("object", { entries: { k: valibot("literal", { literal: "a" }) } })]
    }),
    { anyOf: [{ type: "object", properties: { k: { const: "a" } }, required: ["k"] }] }
  ],
  effects: [z.string().transform((text) => text.length), piped("string", [change("transform")]), STRING],
  anything: [z.any(), valibot("any"), {}]
}

describe("R1 a schema of zod 3, and one of valibot alone", () => {
  it.each(Object.entries(kinds))("%s: is read as what a model is to write", (_, [zod, own, read]) => {
    assert.deepStrictEqual(propertiesOf(z.object({ at: zod }))["at"], read)
    assert.deepStrictEqual(propertiesOf(valibot("object", { entries: { at: own } }))["at"], read)
  })

  it("what may be left out is not required, and what it is then is said", () => {
    const zod = z.object({
      a: z.string(),
      b: z.string().optional(),
      c: z.boolean().default(true),
      d: z.number().catch(3)
    })
    const wrapped = (type: string, inner: string, more: object = {}) =>
      valibot(type, { wrapped: valibot(inner), ...more })
    const own = valibot("object", {
      entries: {
        a: valibot("string"),
        b: wrapped("optional", "string"),
        c: wrapped("optional", "boolean", { default: true })
      }
    })
    for (const schema of [zod, own]) {
      assert.deepStrictEqual(documentOf(schema)["required"], ["a"])
      assert.deepStrictEqual(propertiesOf(schema)["c"], { type: "boolean", default: true })
    }
  })

  it("an object is as open as its schema says", () => {
    const rest = (schema: unknown) => documentOf(schema)["additionalProperties"]
    const entries = { a: valibot("string") }
    const shape = z.object({ a: z.string() })
    assert.deepStrictEqual([shape, shape.strict(), shape.catchall(z.number())].map(rest), [undefined, false, NUMBER])
    const own = [
      valibot("object", { entries }),
      valibot("strict_object", { entries }),
      valibot("object_with_rest", { entries, rest: valibot("number") })
    ]
    assert.deepStrictEqual(own.map(rest), [undefined, false, NUMBER])
  })

  it("the schema itself decides what is taken, and a tool gets what it makes of it: inferred", async () => {
    const moor = defineTool({
      name: "moor",
      description: "Moors a ship.",
      input: z.object({
        ship: z.string().transform((name) => name.toUpperCase()),
        metres: z.number().default(1)
      }),
      run: ({ metres, ship }) => `${ship}${metres + 1}`
    })
    const taken = await Effect.runPromise(moor.validate({ ship: "aurora" }))
    assert.deepStrictEqual(taken, { ship: "AURORA", metres: 1 })
    assert.strictEqual(await moor.run(taken as { readonly ship: string; readonly metres: number }), "AURORA2")
    assert.match((await Effect.runPromise(Effect.flip(moor.validate({ ship: 7 })))).join(), /^ship: /)
  })
})

describe("R2 a kind that has no form in JSON", () => {
  it.each([
    [
      z.object({ when: z.date() }),
      /^its input \(zod\) can not be shown as JSON Schema: z\.date\(\) at when has no form in JSON/
    ],
    [z.object({ a: z.object({ t: z.tuple([z.string()]) }) }), /z\.tuple\(\) at a\.t has no form/],
    [z.object({ a: z.preprocess(String, z.string()) }), /z\.preprocess\(\) at a has no form/],
    [z.object({ a: z.array(z.literal(7n)) }), /the literal 7 at a\[\] has no form/],
    [
      valibot("object", { entries: { when: valibot("date") } }),
      /\(valibot\) .* v\.date\(\) at when has no form in JSON/
    ],
    [valibot("object", { entries: { l: valibot("strict_tuple") } }), /v\.strictTuple\(\) at l has no form/]
  ] as const)("is refused by its name and its place (%#)", (input, says) => {
    assert.match(String(acceptInput(input)), says)
    assert.throws(
      () => defineTool({ name: "t", description: "d", input: input as ToolInput, run: () => 1 }),
      new RegExp(says.source.slice(says.source.startsWith("^") ? 1 : 0))
    )
  })

  it("a zod from before the standard is refused with what to do", () => {
    assert.match(
      String(acceptInput({ _def: {}, safeParse: () => ({}) })),
      /use zod 3\.24 or newer, or give a JSON Schema$/
    )
  })
})
