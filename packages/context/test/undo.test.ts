import { assert, it } from "@effect/vitest"
import { getPromptRegistry, PromptConflict, PromptStore } from "@reverie/context"
import { memoryPromptStore, memoryPromptStoreLayer } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import { aComponent, aTemplate, harbor, START_MILLIS, withRegistry } from "./registries.ts"
import { builtInTemplates } from "../src/prompt/templates.ts"

describe("history", () => {
  it.effect("F26 every version of a template is kept, newest first, with its time and what became of it", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        const first = yield* registry.createTemplate(aTemplate)
        yield* TestClock.adjust(1_000)
        yield* registry.updateTemplate("my_template", 1, { name: "Second" })
        yield* registry.deleteTemplate("my_template", 2)
        yield* TestClock.adjust(1_000)
        yield* registry.undo("template", "my_template")
        const told = yield* registry.history("template", "my_template")
        assert.deepStrictEqual(
          told.map(({ at, change, definition, restores, version }) => [
            version,
            at - START_MILLIS,
            change,
            restores,
            definition?.name
          ]),
          [
            [4, 2_000, "restored", 2, "Second"],
            [3, 1_000, "deleted", undefined, undefined],
            [2, 1_000, "written", undefined, "Second"],
            [1, 0, "written", undefined, "Custom assistant"]
          ]
        )
        const { version: _, ...definition } = first
        assert.deepStrictEqual(told[3]?.definition, definition)
        const page = yield* registry.history("template", "my_template", { before: 3, limit: 1 })
        assert.deepStrictEqual(page, told.slice(2, 3))
      })
    )
  )
})

describe("undo", () => {
  it.effect("F26 undoing a change brings the version before it back, exactly as it was", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        const { version: _, ...first } = yield* registry.createTemplate(aTemplate)
        yield* TestClock.adjust(1_000)
        yield* registry.updateTemplate("my_template", 1, { name: "Second" })
        assert.deepStrictEqual(yield* registry.undo("template", "my_template"), first)
        assert.deepStrictEqual(yield* registry.getTemplate("my_template"), { ...first, version: 3 })
      })
    )
  )

  it.effect("F26 undoing a deletion restores, undoing a creation deletes, and then nothing is left to undo", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        yield* registry.createTemplate({ ...aTemplate, key: "default" })
        yield* registry.deleteTemplate("default", 1)
        yield* registry.undo("template", "default")
        assert.strictEqual((yield* registry.getTemplate("default")).name, "Custom assistant")
        assert.isUndefined(yield* registry.undo("template", "default"))
        assert.strictEqual((yield* registry.getTemplate("default")).name, builtInTemplates.get("default")?.name)
        for (const key of ["default", "none"]) {
          assert.strictEqual((yield* Effect.flip(registry.undo("template", key)))._tag, "NothingToUndo")
        }
        assert.strictEqual((yield* registry.history("template", "default")).length, 4)
      })
    )
  )

  it.effect("F26 a change after an undo is undone to what it was made on", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        const nameAfter = Effect.map(registry.undo("template", "my_template"), (back) => back?.name)
        yield* registry.createTemplate({ ...aTemplate, name: "1" })
        yield* registry.updateTemplate("my_template", 1, { name: "2" })
        yield* registry.updateTemplate("my_template", 2, { name: "3" })
        assert.deepStrictEqual([yield* nameAfter, yield* nameAfter], ["2", "1"])
        yield* registry.updateTemplate("my_template", 5, { name: "4" })
        assert.deepStrictEqual([yield* nameAfter, yield* nameAfter], ["1", undefined])
      })
    )
  )

  it.effect("F28 undoing a move brings the old id back, or the lowest free one when another has it by now", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        yield* registry.createComponent(aComponent)
        yield* registry.moveComponent(1001, 1, 2000)
        yield* registry.undo("component", "my_context")
        assert.strictEqual((yield* registry.getComponent(1001)).key, "my_context")
        assert.strictEqual((yield* Effect.flip(registry.getComponent(2001)))._tag, "PromptUnknown")
        yield* registry.moveComponent(1001, 3, 2000)
        yield* registry.createComponent({ ...aComponent, key: "heir" })
        const back = yield* registry.undo("component", "my_context")
        assert.deepStrictEqual(back, yield* Effect.map(registry.getComponent(1002), ({ version: _, ...rest }) => rest))
        assert.strictEqual((yield* registry.getComponent(1001)).key, "heir")
        assert.strictEqual((yield* registry.createComponent({ ...aComponent, key: "x", afterStatic: 2000 })).id, 2001)
      })
    )
  )

  it.effect("F27 undoing a component's deletion and creation takes its id and gives it free again", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        yield* registry.createComponent(aComponent)
        yield* registry.updateComponent(1001, 1, { enabled: false })
        yield* registry.deleteComponent(1001, 2)
        yield* registry.undo("component", "my_context")
        assert.isFalse((yield* registry.getComponent(1001)).enabled)
        yield* registry.undo("component", "my_context")
        assert.isTrue((yield* registry.getComponent(1001)).enabled)
        assert.isUndefined(yield* registry.undo("component", "my_context"))
        assert.deepStrictEqual(yield* registry.listPluggableComponents, [])
        assert.strictEqual((yield* registry.createComponent({ ...aComponent, key: "next" })).id, 1001)
      })
    )
  )
})

describe("two editors", () => {
  it.effect(
    "F26 F27 who changes what another has changed since he read it learns of it, and nothing is overwritten",
    () =>
      withRegistry((registry) =>
        Effect.gen(function* () {
          yield* registry.createTemplate(aTemplate)
          yield* registry.createComponent(aComponent)
          const template = yield* registry.updateTemplate("my_template", 1, { name: "First editor" })
          const component = yield* registry.updateComponent(1001, 1, { name: "First editor" })
          const late = [
            Effect.flip(registry.updateTemplate("my_template", 1, { name: "Second editor" })),
            Effect.flip(registry.deleteTemplate("my_template", 1)),
            Effect.flip(registry.updateComponent(1001, 1, { name: "Second editor" })),
            Effect.flip(registry.deleteComponent(1001, 1)),
            Effect.flip(registry.moveComponent(1001, 1, 2000)),
            Effect.flip(registry.applyTemplateToComponent("my_template", 1001, 1)),
            Effect.flip(registry.undo("template", "my_template", 1)),
            Effect.flip(registry.undo("component", "my_context", 1))
          ]
          for (const each of late) {
            const error = yield* each
            assert.isTrue(error instanceof PromptConflict, error._tag)
            assert.include(error.message, "is at version 2, the change was made on version 1")
          }
          assert.deepStrictEqual(yield* registry.getTemplate("my_template"), template)
          assert.deepStrictEqual(yield* registry.getComponent(1001), component)
        })
      )
  )

  it.effect("F26 of many who change one version at once, one does and the others learn of it", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        yield* registry.createTemplate(aTemplate)
        const outcomes = yield* Effect.forEach(
          ["a", "b", "c"],
          (name) => Effect.result(registry.updateTemplate("my_template", 1, { name })),
          { concurrency: "unbounded" }
        )
        const [done, ...others] = outcomes.filter(Result.isSuccess)
        assert.deepStrictEqual(others, [])
        const failures = outcomes.filter(Result.isFailure).map(({ failure }) => failure._tag)
        assert.deepStrictEqual(failures, ["PromptConflict", "PromptConflict"])
        assert.deepStrictEqual(yield* registry.getTemplate("my_template"), done?.success)
      })
    )
  )

  it.effect("F27 of two who take an id at once, each ends with an id of his own", () =>
    Effect.gen(function* () {
      const right = memoryPromptStore()
      let isFirst = true
      // Between the first writer's look and his append the second one writes.
      const store: PromptStore["Service"] = {
        ...right,
        append: (tenant, changes) =>
          Effect.suspend(() => {
            if (!isFirst) return right.append(tenant, changes)
            isFirst = false
            return Effect.andThen(second, right.append(tenant, changes))
          })
      }
      const open = Effect.provideService(getPromptRegistry(harbor), PromptStore, store)
      const registry = yield* open
      const second = Effect.orDie(registry.createComponent({ ...aComponent, key: "second" }))
      const first = yield* registry.createComponent({ ...aComponent, key: "first" })
      assert.strictEqual(first.id, 1002)
      const kept = yield* registry.listPluggableComponents
      assert.deepStrictEqual(
        kept.map(({ id, key }) => [id, key]),
        [
          [1001, "second"],
          [1002, "first"]
        ]
      )
    })
  )

  it.effect(
    "F27 a key that another takes in between is reported as taken, and a conflict that never ends as a conflict",
    () =>
      Effect.gen(function* () {
        const right = memoryPromptStore()
        let appends = 0
        const store: PromptStore["Service"] = {
          ...right,
          append: (tenant, changes) =>
            Effect.suspend(() => {
              appends++
              const [change] = changes
              if (change?.key === "cursed") {
                return Effect.fail(new PromptConflict({ kind: "template", key: "cursed", expected: 0, current: 1 }))
              }
              return appends === 1
                ? Effect.andThen(right.append(tenant, changes), right.append(tenant, changes))
                : right.append(tenant, changes)
            })
        }
        const registry = yield* Effect.provideService(getPromptRegistry(harbor), PromptStore, store)
        assert.strictEqual((yield* Effect.flip(registry.createTemplate(aTemplate)))._tag, "KeyTaken")
        appends = 0
        const cursed = yield* Effect.flip(registry.createTemplate({ ...aTemplate, key: "cursed" }))
        assert.strictEqual(cursed._tag, "PromptConflict")
        assert.strictEqual(appends, 9)
      }).pipe(Effect.provide(memoryPromptStoreLayer()))
  )
})
