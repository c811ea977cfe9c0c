import { assert, test } from "@effect/vitest"

import * as Result from "effect/Result"
import * as fc from "fast-check"
import { placeholdersIn, renderTemplate, safeRenderTemplate } from "../src/prompt/template.ts"

const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,5}$/)
const value = fc.oneof(fc.integer(), fc.string(), fc.constantFrom("{a}", "{{", "}}", "$&", "{", "}"))

/** Text out of what the grammar is made of, so that every rule is met often. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom("{{", "}}", "{", "}", "{a}", "{b}", " "),
      name,
      name.map((key) => `{${key}}`),
      fc.string()
    )
  )
  .map((parts) => parts.join(""))

/** A second reading of the grammar, one character at a time. */
const readSlowly = (content: string, valueOf: (name: string) => string | undefined): string => {
  let out = ""
  for (let at = 0; at < content.length;) {
    const two = content.slice(at, at + 2)
    const [gap, key] = /^\{([A-Za-z_][A-Za-z0-9_]*)\}/.exec(content.slice(at)) ?? []
    if (two === "{{" || two === "}}") out += two.charAt(0)
    else if (gap !== undefined && key !== undefined) out += valueOf(key) ?? gap
    else out += content.charAt(at)
    at += two === "{{" || two === "}}" ? 2 : (gap?.length ?? 1)
  }
  return out
}

test("F24 with a value for every placeholder both ways give the text that the grammar says", () => {
  fc.assert(
    fc.property(text, fc.func(value), (content, valueFor) => {
      const names = placeholdersIn(content)
      const values = Object.fromEntries(names.map((key) => [key, valueFor(key)]))
      const rendered = Result.getOrThrow(renderTemplate({ key: "k", content }, values))
      assert.strictEqual(rendered, safeRenderTemplate({ content }, values))
      assert.strictEqual(
        rendered,
        readSlowly(content, (key) => String(values[key]))
      )
    })
  )
})

test("F24 with a value for every placeholder no placeholder is left in the text", () => {
  const plain = fc.string().map((each) => each.replaceAll(/[{}]/g, ""))
  const gap = name.map((key) => `{${key}}`)
  fc.assert(
    fc.property(fc.array(fc.oneof(plain, gap)), plain, (parts, filling) => {
      const content = parts.join("")
      const names = placeholdersIn(content)
      assert.sameMembers(
        [...names],
        [...new Set(parts.filter((part) => part.startsWith("{")).map((part) => part.slice(1, -1)))]
      )
      const rendered = renderTemplate({ key: "k", content }, Object.fromEntries(names.map((key) => [key, filling])))
      assert.deepStrictEqual(placeholdersIn(Result.getOrThrow(rendered)), [])
    })
  )
})

test("F24 what is missing is exactly the placeholders without a value, and the tolerant way leaves exactly them", () => {
  fc.assert(
    fc.property(text, fc.dictionary(name, value), (content, values) => {
      const expected = placeholdersIn(content).filter((key) => !Object.hasOwn(values, key))
      const rendered = renderTemplate({ key: "k", content }, values)
      assert.deepStrictEqual(Result.isFailure(rendered) ? rendered.failure.missing : [], expected)
      assert.strictEqual(
        safeRenderTemplate({ content }, values),
        readSlowly(content, (key) => (Object.hasOwn(values, key) ? String(values[key]) : undefined))
      )
    })
  )
})

test("F24 text that means to be slow is read to its end", () => {
  const length = 400_000
  for (const part of ["{", "{a", "{a{", "}", "{a_", "{{a}", "{a}}{"]) {
    const content = part.repeat(length / part.length)
    const values = Object.fromEntries(placeholdersIn(content).map((key) => [key, "b"]))
    assert.isAtMost(Result.getOrThrow(renderTemplate({ key: "k", content }, values)).length, length)
  }
})
