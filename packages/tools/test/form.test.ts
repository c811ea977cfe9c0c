import { assert, describe, it } from "@effect/vitest"
import { MAX_FORM_CHARS } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { acceptForm, type Form, formOf, readAnswer, rejectionOf } from "../src/index.ts"
import { handMade } from "./fixtures.ts"

const BERTH = {
  type: "object",
  properties: { berth: { type: "number" }, from: { type: "string" } },
  required: ["berth", "from"]
} as const

const form = (output: unknown): Form => {
  const accepted = acceptForm(output)
  if (typeof accepted === "string") throw new Error(accepted)
  return accepted
}

const refusal = (output: unknown): string => {
  const accepted = acceptForm(output)
  if (typeof accepted !== "string") throw new Error("it was accepted")
  return accepted
}

describe("a form", () => {
  it("is taken and refused as the input of a tool is, in words of its own", () => {
    assert.deepStrictEqual(form(BERTH).document, BERTH)
    assert.deepInclude(form(BERTH).schema, { additionalProperties: false })
    assert.strictEqual(refusal("berth"), "its output is neither a Standard Schema nor a JSON Schema object")
    assert.strictEqual(refusal({ type: "array" }), 'its output must be an object schema (type "object"), not "array"')
    assert.match(refusal({ type: "objekt" }), /its schema names the type "objekt", which JSON Schema does not have/)
    const mute = { "~standard": { version: 1, vendor: "zod", validate: () => ({ value: {} }) } }
    assert.match(refusal(mute), /^its output \(zod\) can not show itself as JSON Schema: use zod 4\.2 or newer/)
  })

  it("is bounded", () => {
    const long = { ...BERTH, description: "x".repeat(MAX_FORM_CHARS) }
    assert.match(refusal(long), /^its output has 3\d{4} characters as JSON Schema, and at most 32768 are taken$/)
  })

  it("I3 is compiled once for all who say the same, and the oldest of many is forgotten", () => {
    const first = formOf(BERTH)
    assert.strictEqual(formOf({ ...BERTH }), first)
    for (let at = 0; at < 63; at++) formOf({ ...BERTH, title: `${at}` })
    assert.strictEqual(formOf({ ...BERTH }), first)
    for (let at = 0; at < 64; at++) formOf({ ...BERTH, title: `more ${at}` })
    assert.notStrictEqual(formOf({ ...BERTH }), first)
  })
})

describe("an answer", () => {
  const issuesOf = (output: unknown, text: string) => Effect.flip(readAnswer(form(output), text))

  it.effect.each([
    '{"berth":7,"from":"noon"}',
    '\n {"berth":7, "from":"noon"} ',
    '```json\n{"berth":7,"from":"noon"}\n```',
    '```\r\n{"berth":7,"from":"noon"}```'
  ])("I1 alone or in a code fence: %s", (text) =>
    Effect.gen(function* () {
      const { json, value } = yield* readAnswer(form(BERTH), text)
      assert.deepStrictEqual(json, { berth: 7, from: "noon" })
      assert.deepStrictEqual(value, json)
    })
  )

  it.effect.each([
    ["", /^the answer: is empty$/],
    ["Berth 7, from noon.", /^the answer: is not JSON \(/],
    ['Here it is: {"berth":7,"from":"noon"}', /^the answer: is not JSON/],
    ['Here it is:\n```json\n{"berth":7,"from":"noon"}\n```', /^the answer: is not JSON/],
    ["[7]", /^the answer: must be one JSON object$/],
    ["7", /^the answer: must be one JSON object$/],
    ['{"berth":"7"}', /^from: is missing$/]
  ] as const)("I1 anything else is not guessed at: %s", ([text, sentence]) =>
    Effect.gen(function* () {
      assert.match((yield* issuesOf(BERTH, text))[0] ?? "", sentence)
    })
  )

  it.effect("I2 what the author's check admits is admitted, though the model learns of a narrower schema", () =>
    Effect.gen(function* () {
      const { json } = yield* readAnswer(form(BERTH), '{"berth":7,"from":"noon","why":"it is free"}')
      assert.deepStrictEqual(json, { berth: 7, from: "noon", why: "it is free" })
    })
  )

  it.effect("has what the schema makes of it beside its JSON", () =>
    Effect.gen(function* () {
      const by = yield* readAnswer(form(handMade()), '{"quay":"east","meters":17}')
      assert.deepStrictEqual(by, { json: { quay: "east", meters: 17 }, value: { quay: "east", meters: 34 } })
      const dated = form(Schema.Struct({ at: Schema.Date }))
      const { json, value } = yield* readAnswer(dated, '{"at":"2026-11-24T09:00:00.000Z"}')
      assert.deepStrictEqual(json, { at: "2026-11-24T09:00:00.000Z" })
      assert.deepStrictEqual(value, { at: new Date("2026-11-24T09:00:00.000Z") })
    })
  )

  it.effect("that does not fit is named in bounded sentences, with what to correct", () =>
    Effect.gen(function* () {
      const said = rejectionOf(yield* issuesOf(BERTH, '{"berth":"7","from":"noon"}'))
      assert.strictEqual(
        said,
        "Your answer was not accepted: berth: must be number. Answer again with one JSON object of the form that was asked for, and nothing else."
      )
      const long = rejectionOf(Array.from({ length: 20 }, () => "x".repeat(300)))
      assert.isBelow(long.length, 2_200)
    })
  )
})
