import { assert, test } from "@effect/vitest"

import * as Result from "effect/Result"
import { describe } from "vitest"
import {
  builtInTemplates,
  defaultTemplate,
  fallbackTemplate,
  REFLECTION_METRICS,
  reflectionTemplate
} from "../src/prompt/templates.ts"
import { placeholdersIn, renderTemplate, safeRenderTemplate } from "../src/prompt/template.ts"

const of = (content: string) => ({ key: "greeting", content })

const missingIn = (content: string, values: Readonly<Record<string, string | number>>) => {
  const rendered = renderTemplate(of(content), values)
  return Result.isFailure(rendered) ? rendered.failure : undefined
}

describe("placeholders", () => {
  test("F22 are the names of the gaps, each once, in the order in which they appear", () => {
    assert.deepStrictEqual(placeholdersIn("{b} and {a}, {b} again, {_x9}"), ["b", "a", "_x9"])
  })

  test("A28 a doubled brace and anything that is no name make no gap", () => {
    for (const content of ["{{a}}", "{ a }", "{1a}", "{a-b}", "{}", "{a", "a}", "{é}", "{{{{a}}}}"]) {
      assert.deepStrictEqual(placeholdersIn(content), [], content)
    }
    assert.deepStrictEqual(placeholdersIn("{{{a}}}"), ["a"])
  })
})

describe("rendering", () => {
  test("F24 fills every gap with its value, numbers too", () => {
    const rendered = renderTemplate(of("{name} wakes every {tick_rate} s; {name}!"), { name: "Ada", tick_rate: 5 })
    assert.deepStrictEqual(rendered, Result.succeed("Ada wakes every 5 s; Ada!"))
  })

  test("F24 fails and names every gap without a value, once", () => {
    const failure = missingIn("{c}{a}{b}{c}", { a: "" })
    assert.deepStrictEqual(failure?.missing, ["c", "b"])
    assert.strictEqual(failure?.message, "greeting can not be filled: no value for {c}, {b}")
    assert.strictEqual(failure?.recovery, "tell-owner")
  })

  test("F24 the tolerant way fills what it can and leaves {x} where there is no value", () => {
    assert.strictEqual(safeRenderTemplate(of("{x}, {a}, {x}, {{x}}"), { a: 1 }), "{x}, 1, {x}, {x}")
  })

  test("A28 a doubled brace is one brace in the text, a value more than needed is of no account", () => {
    assert.deepStrictEqual(
      renderTemplate(of('{{"tool": "{tool}"}} {{{tool}}}'), { tool: "noop", more: 1 }),
      Result.succeed('{"tool": "noop"} {noop}')
    )
    for (const lone of ["{ a }", "a } b { c", "{1}"]) assert.strictEqual(safeRenderTemplate(of(lone), {}), lone)
  })

  test("F24 a value is never read again", () => {
    const values = { a: "{b} {{ }} $& $1", b: "{a}" }
    assert.deepStrictEqual(renderTemplate(of("{a}{b}"), values), Result.succeed("{b} {{ }} $& $1{a}"))
    assert.strictEqual(safeRenderTemplate(of("{a}{b}"), values), "{b} {{ }} $& $1{a}")
  })

  test("F24 a name of every object is a gap like any other", () => {
    const failure = missingIn("{constructor}{toString}{__proto__}", {})
    assert.deepStrictEqual(failure?.missing, ["constructor", "toString", "__proto__"])
    assert.deepStrictEqual(renderTemplate(of("{constructor}"), { constructor: "a yard" }), Result.succeed("a yard"))
  })
})

describe("built-in templates", () => {
  test("F23 there are three, under their keys, each of its category", () => {
    assert.deepStrictEqual(
      [...builtInTemplates].map(([key, template]) => [key, template.key, template.category, template.isBuiltin]),
      [
        ["default", "default", "system_prompt", true],
        ["default_fallback", "default_fallback", "system_prompt", true],
        ["reflection", "reflection", "reflection", true]
      ]
    )
  })

  test("F23 default asks for tick_rate, default_fallback for tool_schemas too, reflection for six metrics", () => {
    assert.deepStrictEqual(defaultTemplate.placeholders, ["tick_rate"])
    assert.deepStrictEqual(fallbackTemplate.placeholders, ["tick_rate", "tool_schemas"])
    assert.sameMembers([...reflectionTemplate.placeholders], [...REFLECTION_METRICS])
    assert.strictEqual(new Set(REFLECTION_METRICS).size, 6)
  })

  test("F23 default_fallback shows the JSON that a model without native tools replies with", () => {
    const rendered = Result.getOrThrow(renderTemplate(fallbackTemplate, { tick_rate: 5, tool_schemas: "- noop" }))
    assert.include(rendered, 'to use a tool: {"tool": "<name>", "arguments": { ... }}')
    assert.include(rendered, 'to answer: {"answer": "<text>"}')
    assert.include(rendered, "every 5 seconds")
    assert.include(rendered, "\n- noop\n")
    assert.notInclude(Result.getOrThrow(renderTemplate(defaultTemplate, { tick_rate: 5 })), "JSON")
  })
})
