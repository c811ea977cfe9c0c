import { assert, it } from "@effect/vitest"
import { getPromptRegistry, type PromptRegistry } from "@reverie/context"
import { memoryPromptStoreLayer } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import { aComponent, aTemplate, harbor, START_MILLIS, tower, withRegistry } from "./registries.ts"
import { builtInTemplates } from "../src/prompt/templates.ts"

const both = Effect.gen(function* () {
  yield* TestClock.setTime(START_MILLIS)
  return [yield* getPromptRegistry(harbor), yield* getPromptRegistry(tower)] as const
})

const templateJson = (over: object = {}, outer: object = {}) => {
  const { category, content, description, key, name } = aTemplate
  const template = { key, name, description, content, placeholders: ["personality"], category, ...over }
  return JSON.stringify({ format: "reverie.prompt-template", version: 1, template, ...outer })
}

const componentJson = (over: object = {}) => {
  const { afterStatic, ...rest } = aComponent
  const component = { id: 1001, ...rest, after_static: afterStatic, enabled: true, ...over }
  return JSON.stringify({ format: "reverie.prompt-component", version: 1, component })
}

describe("export", () => {
  it.effect("F30 a template and a component are each one JSON text that says what it is", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        yield* registry.createTemplate(aTemplate)
        yield* registry.createComponent(aComponent)
        const template: unknown = JSON.parse(yield* registry.exportTemplateJson("my_template"))
        const component: unknown = JSON.parse(yield* registry.exportComponentJson(1001))
        assert.deepStrictEqual(template, JSON.parse(templateJson()))
        assert.deepStrictEqual(component, JSON.parse(componentJson()))
        const builtIn = JSON.parse(yield* registry.exportTemplateJson("default")) as { template: { content: string } }
        assert.strictEqual(builtIn.template.content, builtInTemplates.get("default")?.content)
        for (const none of [registry.exportTemplateJson("none"), registry.exportComponentJson(1002)]) {
          assert.strictEqual((yield* Effect.flip(none))._tag, "PromptUnknown")
        }
      })
    )
  )

  it.effect("F30 export and import in another registry give the same thing, and the same text again", () =>
    Effect.gen(function* () {
      const [ours, theirs] = yield* both
      yield* ours.createTemplate(aTemplate)
      yield* ours.createComponent({ ...aComponent, key: "first" })
      const component = yield* ours.createComponent({ ...aComponent, role: "user", enabled: false })
      const texts = [
        yield* ours.exportTemplateJson("my_template"),
        yield* ours.exportComponentJson(component.id)
      ] as const
      yield* TestClock.adjust(1_000)
      const times = { createdAt: START_MILLIS + 1_000, updatedAt: START_MILLIS + 1_000 }
      assert.deepStrictEqual(yield* theirs.importTemplateJson(texts[0]), {
        ...(yield* ours.getTemplate("my_template")),
        isBuiltin: false,
        ...times
      })
      assert.deepStrictEqual(yield* theirs.importComponentJson(texts[1]), { ...component, id: 1002, ...times })
      assert.strictEqual(yield* theirs.exportTemplateJson("my_template"), texts[0])
      assert.strictEqual(yield* theirs.exportComponentJson(1002), texts[1])
    }).pipe(Effect.provide(memoryPromptStoreLayer()))
  )
})

describe("import", () => {
  it.effect("F30 what exists is not overwritten, unless the import says so", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        const template = yield* registry.createTemplate({ ...aTemplate, name: "Ours" })
        const component = yield* registry.createComponent({ ...aComponent, name: "Ours" })
        for (const options of [undefined, {}, { overwrite: false }]) {
          const failures = [
            Effect.flip(registry.importTemplateJson(templateJson(), options)),
            Effect.flip(registry.importComponentJson(componentJson(), options))
          ]
          for (const each of failures) assert.strictEqual((yield* each)._tag, "KeyTaken")
        }
        assert.deepStrictEqual(yield* registry.getTemplate("my_template"), template)
        assert.deepStrictEqual(yield* registry.getComponent(1001), component)
        yield* TestClock.adjust(1_000)
        const over = { name: "Custom", createdAt: START_MILLIS, updatedAt: START_MILLIS + 1_000, version: 2 }
        assert.deepStrictEqual(
          yield* registry.importTemplateJson(templateJson({ name: "Custom" }), { overwrite: true }),
          { ...template, ...over }
        )
        assert.deepStrictEqual(
          yield* registry.importComponentJson(componentJson({ name: "Custom" }), { overwrite: true }),
          { ...component, ...over }
        )
      })
    )
  )

  it.effect("F30 an imported template under a built-in key takes its place, and overwrites nothing", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        const shadow = yield* registry.importTemplateJson(templateJson({ key: "default" }))
        assert.deepStrictEqual(yield* registry.getTemplate("default"), shadow)
        yield* registry.deleteTemplate("default", 1)
        assert.isTrue((yield* registry.getTemplate("default")).isBuiltin)
      })
    )
  )

  it.effect("F30 an imported component has its id if that is free, or else the lowest free one of its range", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        const idOf = (over: object, options?: { readonly overwrite: boolean }) =>
          Effect.map(registry.importComponentJson(componentJson(over), options), ({ id }) => id)
        assert.strictEqual(yield* idOf({ key: "a", id: 1300 }), 1300)
        assert.strictEqual(yield* idOf({ key: "b", id: 1300 }), 1001)
        for (const [index, id] of [1000, 1500, 2001, -1, 0, 5_000_000].entries()) {
          assert.strictEqual(yield* idOf({ key: `out-${index}`, id }), 1002 + index)
        }
        const overwrite = { overwrite: true }
        assert.strictEqual(yield* idOf({ key: "a", id: 1400 }, overwrite), 1300)
        assert.strictEqual(yield* idOf({ key: "a", id: 2050, after_static: 2000 }, overwrite), 2050)
        assert.strictEqual(yield* idOf({ key: "c", id: 1300 }), 1300)
        assert.strictEqual((yield* registry.getComponent(2050)).key, "a")
      })
    )
  )

  const refusals = (
    use: (
      registry: PromptRegistry,
      json: string
    ) => Effect.Effect<unknown, { readonly message: string; readonly _tag: string }>,
    cases: ReadonlyArray<readonly [json: string, tag: string, says: string]>
  ) =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        for (const [json, tag, says] of cases) {
          const refused = yield* Effect.flip(use(registry, json))
          assert.strictEqual(refused._tag, tag, json.slice(0, 100))
          assert.include(refused.message, says)
          assert.isAtMost(refused.message.length, 400)
        }
        assert.deepStrictEqual(yield* registry.listTemplates({ includeBuiltin: false }), [])
        assert.deepStrictEqual(yield* registry.listPluggableComponents, [])
      })
    )

  it.effect("F30 hostile text for a template is refused with the reason, and changes nothing", () =>
    refusals(
      (registry, json) => registry.importTemplateJson(json, { overwrite: true }),
      [
        ["", "ImportRefused", "this is no exported template: "],
        ["{", "ImportRefused", ""],
        ["null", "ImportRefused", "it is not an object"],
        ["[]", "ImportRefused", "it is not an object"],
        ["{}", "ImportRefused", "its format is not reverie.prompt-template"],
        [componentJson(), "ImportRefused", "its format is not"],
        [templateJson({}, { version: 2 }), "ImportRefused", "reads version 1"],
        [templateJson({}, { version: "1" }), "ImportRefused", "reads version 1"],
        [templateJson({}, { more: 1 }), "ImportRefused", "unknown field more"],
        [templateJson({}, { template: null }), "ImportRefused", ""],
        [templateJson({ is_builtin: true }), "ImportRefused", "is_builtin"],
        [templateJson({ content: undefined }), "ImportRefused", "content"],
        [templateJson({ content: 1 }), "ImportRefused", "content"],
        [templateJson({ content: { toString: "x" } }), "ImportRefused", "content"],
        [templateJson({ placeholders: "personality" }), "ImportRefused", "placeholders"],
        ["[".repeat(100_000), "ImportRefused", "nested deeper"],
        [templateJson({ name: "n".repeat(1_000_001) }), "ImportRefused", "more than 1000000 characters"],
        [templateJson({ [`f${"x".repeat(5_000)}`]: 1 }), "ImportRefused", ""],
        [templateJson({ key: "../../etc" }), "PromptInvalid", "a key has"],
        [templateJson({ key: "k".repeat(100_000) }), "PromptInvalid", "a key has"],
        [templateJson().replace('"my_template"', '"__proto__"'), "PromptInvalid", "a key has"],
        [templateJson({ content: "{open" }), "PromptInvalid", "the brace at character 0"],
        [templateJson({ placeholders: [] }), "PromptInvalid", "do not name personality"]
      ]
    )
  )

  it.effect("F30 A3 hostile text for a component is refused with the reason, and changes nothing", () =>
    refusals(
      (registry, json) => registry.importComponentJson(json, { overwrite: true }),
      [
        [templateJson(), "ImportRefused", "its format is not reverie.prompt-component"],
        [componentJson({ role: "mixed" }), "ImportRefused", "role"],
        [componentJson({ id: 1.5 }), "ImportRefused", "id"],
        [componentJson({ id: "1001" }), "ImportRefused", "id"],
        [componentJson({ enabled: undefined }), "ImportRefused", "enabled"],
        [componentJson({ is_static: true }), "ImportRefused", "is_static"],
        [componentJson({ after_static: 1001 }), "NoPlaceAfter", "1001 is no id of a static component"],
        [componentJson({ key: "goals" }), "PromptInvalid", "a built-in component"]
      ]
    )
  )
})
