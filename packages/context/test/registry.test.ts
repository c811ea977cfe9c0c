import { assert, it } from "@effect/vitest"
import { getPromptRegistry, PromptStore } from "@reverie/context"
import { memoryPromptStoreLayer } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import { aComponent, aTemplate, harbor, START_MILLIS, tower, withRegistry } from "./registries.ts"
import { builtInTemplates } from "../src/prompt/templates.ts"

const keysOf = (list: ReadonlyArray<{ readonly key: string }>) => list.map(({ key }) => key)

describe("one registry a tenant", () => {
  it.effect("F25 opened twice it shows the same, what one writes the other reads", () =>
    Effect.gen(function* () {
      const first = yield* getPromptRegistry(harbor)
      yield* first.createTemplate(aTemplate)
      const second = yield* getPromptRegistry(harbor)
      yield* second.createComponent(aComponent)
      for (const read of ["listTemplates", "listComponents"] as const) {
        assert.deepStrictEqual(yield* first[read](), yield* second[read]())
      }
      assert.strictEqual((yield* second.getTemplate("my_template")).name, "Custom assistant")
      assert.strictEqual((yield* first.getComponent(1001)).key, "my_context")
    }).pipe(Effect.provide(memoryPromptStoreLayer()))
  )

  it.effect("F25 another tenant has a registry of its own, with ids of its own", () =>
    Effect.gen(function* () {
      const [ours, theirs] = [yield* getPromptRegistry(harbor), yield* getPromptRegistry(tower)]
      yield* ours.createTemplate({ ...aTemplate, key: "default" })
      yield* ours.createComponent(aComponent)
      assert.deepStrictEqual(keysOf(yield* theirs.listTemplates({ includeBuiltin: false })), [])
      assert.isTrue((yield* theirs.getTemplate("default")).isBuiltin)
      assert.deepStrictEqual(yield* theirs.listPluggableComponents, [])
      assert.strictEqual((yield* theirs.createComponent({ ...aComponent, key: "theirs" })).id, 1001)
      assert.deepStrictEqual(yield* theirs.history("template", "default"), [])
    }).pipe(Effect.provide(memoryPromptStoreLayer()))
  )
})

describe("templates", () => {
  it.effect("F26 a template is created, read, changed, listed and deleted", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        const created = yield* registry.createTemplate({ ...aTemplate, placeholders: ["personality"] })
        assert.deepStrictEqual(yield* registry.getTemplate("my_template"), created)
        const updated = yield* registry.updateTemplate("my_template", created.version, { content: "{mood} {name}" })
        assert.deepStrictEqual(updated.placeholders, ["mood", "name"])
        assert.deepStrictEqual(yield* registry.getTemplate("my_template"), updated)
        assert.deepStrictEqual(keysOf(yield* registry.listTemplates({ includeBuiltin: false })), ["my_template"])
        assert.deepStrictEqual(keysOf(yield* registry.listTemplates()), [
          "default",
          "default_fallback",
          "my_template",
          "reflection"
        ])
        yield* registry.deleteTemplate("my_template", updated.version)
        assert.strictEqual((yield* Effect.flip(registry.getTemplate("my_template")))._tag, "PromptUnknown")
        assert.deepStrictEqual(yield* registry.listTemplates({ includeBuiltin: false }), [])
      })
    )
  )

  it.effect("F22 what is created has the fields of a template, and its category", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        const { createdAt, updatedAt, version, ...template } = yield* registry.createTemplate(aTemplate)
        assert.deepStrictEqual(template, { ...aTemplate, placeholders: ["personality"], isBuiltin: false })
        assert.deepStrictEqual([createdAt, updatedAt, version], [START_MILLIS, START_MILLIS, 1])
        const { description, category } = yield* registry.createTemplate({ key: "k", name: "N", content: "" })
        assert.deepStrictEqual([description, category], ["", "custom"])
      })
    )
  )

  it.effect("F26 a key is used once, and what is not there can not be changed", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        yield* registry.createTemplate(aTemplate)
        const again = yield* Effect.flip(registry.createTemplate({ ...aTemplate, name: "Again" }))
        assert.strictEqual(again._tag, "KeyTaken")
        assert.strictEqual((yield* registry.getTemplate("my_template")).name, "Custom assistant")
        for (const change of [registry.updateTemplate("none", 1, {}), registry.deleteTemplate("none", 1)]) {
          assert.strictEqual((yield* Effect.flip(change))._tag, "PromptUnknown")
        }
      })
    )
  )

  it.effect("F26 a clone has a key and a name of its own and all else of its original, a built-in one too", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        const clone = yield* registry.cloneTemplate("default", "my_custom", "My custom")
        const original = builtInTemplates.get("default")
        assert.deepStrictEqual(
          [clone.key, clone.name, clone.isBuiltin, clone.content, clone.placeholders, clone.category],
          ["my_custom", "My custom", false, original?.content, ["tick_rate"], "system_prompt"]
        )
        yield* registry.updateTemplate("my_custom", 1, { content: "Mine." })
        assert.strictEqual((yield* registry.cloneTemplate("my_custom", "copy")).content, "Mine.")
        assert.strictEqual((yield* registry.getTemplate("copy")).name, "My custom")
        const failures = [registry.cloneTemplate("none", "x"), registry.cloneTemplate("default", "copy")]
        const tags = yield* Effect.forEach(failures, (each) => Effect.map(Effect.flip(each), ({ _tag }) => _tag))
        assert.deepStrictEqual(tags, ["PromptUnknown", "KeyTaken"])
      })
    )
  )

  it.effect("A28 a template under a built-in key takes its place, deleting it brings the built-in one back", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        const shadow = yield* registry.createTemplate({ ...aTemplate, key: "default" })
        assert.deepStrictEqual(yield* registry.getTemplate("default"), shadow)
        const listed = (yield* registry.listTemplates()).filter(({ key }) => key === "default")
        assert.deepStrictEqual(listed, [shadow])
        yield* registry.deleteTemplate("default", shadow.version)
        const builtIn = yield* registry.getTemplate("default")
        assert.deepStrictEqual(builtIn, { ...builtInTemplates.get("default"), version: 0 } as typeof builtIn)
      })
    )
  )

  it.effect("A28 a built-in template can not be changed or deleted", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        for (const key of builtInTemplates.keys()) {
          for (const change of [registry.updateTemplate(key, 0, { name: "Mine" }), registry.deleteTemplate(key, 0)]) {
            assert.strictEqual((yield* Effect.flip(change))._tag, "BuiltInLocked")
          }
          const kept = yield* registry.getTemplate(key)
          assert.strictEqual(kept.name, builtInTemplates.get(key)?.name)
        }
      })
    )
  )

  it.effect("A28 a content with a brace that is neither doubled nor of a placeholder is refused", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        const refused = yield* Effect.flip(registry.createTemplate({ ...aTemplate, content: 'Say {"tool": 1}' }))
        assert.strictEqual(
          refused.message,
          "template my_template: the brace at character 4 is no part of a {placeholder}; write it twice"
        )
        yield* registry.createTemplate({ ...aTemplate, content: 'Say {{"tool": {tool}}}' })
        const late = yield* Effect.flip(registry.updateTemplate("my_template", 1, { content: "}" }))
        assert.strictEqual(late._tag, "PromptInvalid")
      })
    )
  )

  it.effect("F26 a definition out of bounds is refused, with the reason", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        for (const [wrong, reason] of [
          [{ key: "" }, "a key has"],
          [{ key: "a b" }, "a key has"],
          [{ key: "../etc" }, "a key has"],
          [{ key: "k".repeat(65) }, "a key has"],
          [{ name: "  " }, "it needs a name"],
          [{ name: "n".repeat(201) }, "a name has at most"],
          [{ description: "d".repeat(2_001) }, "a description has at most"],
          [{ content: "c".repeat(100_001) }, "a content has at most"],
          [{ category: "" }, "a category is"],
          [{ placeholders: [] }, "the placeholders do not name personality"],
          [{ placeholders: ["personality", "mood"] }, "the content has no placeholder mood"]
        ] as const) {
          const refused = yield* Effect.flip(registry.createTemplate({ ...aTemplate, ...wrong }))
          assert.strictEqual(refused._tag, "PromptInvalid")
          assert.include(refused.message, reason)
        }
        assert.deepStrictEqual(yield* registry.listTemplates({ includeBuiltin: false }), [])
      })
    )
  )
})

describe("storage", () => {
  it.effect("F31 A37 what is stored has the names and times of the wire, and an update changes updated only", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(START_MILLIS)
      const registry = yield* getPromptRegistry(harbor)
      const store = yield* PromptStore
      yield* registry.createTemplate(aTemplate)
      yield* registry.createComponent(aComponent)
      yield* TestClock.adjust(90_500)
      yield* registry.updateTemplate("my_template", 1, { name: "Renamed" })
      yield* registry.updateComponent(1001, 1, { content: "Mind the gap." })
      const created = "2025-12-06T10:00:00.000Z"
      const updated = "2025-12-06T10:01:30.500Z"
      const [template] = yield* store.current(harbor, "template")
      assert.deepStrictEqual(template?.body, {
        key: "my_template",
        name: "Renamed",
        description: "Custom personality",
        content: "You are a {personality} assistant.",
        placeholders: ["personality"],
        category: "system_prompt",
        is_builtin: false,
        created,
        updated
      })
      const [component] = yield* store.current(harbor, "component")
      assert.deepStrictEqual(component?.body, {
        id: 1001,
        key: "my_context",
        name: "Custom context",
        description: "Custom context block",
        content: "Mind the gap.",
        role: "system",
        after_static: 1000,
        is_static: false,
        enabled: true,
        created,
        updated
      })
      const { createdAt, updatedAt } = yield* registry.getComponent(1001)
      assert.deepStrictEqual([createdAt, updatedAt], [START_MILLIS, START_MILLIS + 90_500])
    }).pipe(Effect.provide(memoryPromptStoreLayer()))
  )

  it.effect("F31 A4 a stored component that says nothing of enabled is enabled; what does not fit is reported", () =>
    Effect.gen(function* () {
      const registry = yield* getPromptRegistry(harbor)
      const store = yield* PromptStore
      yield* registry.createComponent(aComponent)
      const [kept] = yield* store.current(harbor, "component")
      const { enabled: _, ...body } = (kept?.body ?? {}) as Record<string, string>
      const line = { kind: "component" as const, key: "my_context" }
      yield* store.append(harbor, [{ ...line, expected: 1, body }])
      assert.isTrue((yield* registry.getComponent(1001)).enabled)
      yield* store.append(harbor, [{ ...line, expected: 2, body: { ...body, created: "yesterday" } }])
      const unreadable = yield* Effect.flip(registry.listComponents())
      assert.strictEqual(unreadable._tag, "PromptUnreadable")
      assert.include(unreadable.message, "component my_context can not be read: ")
    }).pipe(Effect.provide(memoryPromptStoreLayer()))
  )
})
