import { assert, it } from "@effect/vitest"
import { componentToPromptComponent, type PromptRegistry } from "@reverie/context"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import { aComponent, aTemplate, START_MILLIS, withRegistry } from "./registries.ts"

const idsOf = (list: ReadonlyArray<{ readonly id: number }>) => list.map(({ id }) => id)

const create = (registry: PromptRegistry, key: string, afterStatic = 1000) =>
  registry.createComponent({ ...aComponent, key, afterStatic })

describe("components", () => {
  it.effect("F27 a component gets the lowest free id after its static one, and is found by id and by key", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        const { createdAt, updatedAt, version, ...first } = yield* registry.createComponent(aComponent)
        assert.deepStrictEqual(first, { ...aComponent, role: "system", id: 1001, isStatic: false, enabled: true })
        assert.deepStrictEqual([createdAt, updatedAt, version], [START_MILLIS, START_MILLIS, 1])
        assert.strictEqual((yield* create(registry, "second")).id, 1002)
        assert.strictEqual((yield* create(registry, "elsewhere", 1500)).id, 1501)
        assert.strictEqual((yield* registry.getComponent(1002)).key, "second")
        assert.strictEqual((yield* registry.getComponentByKey("elsewhere")).id, 1501)
        for (const read of [
          registry.getComponent(1003),
          registry.getComponent(1000),
          registry.getComponentByKey("no")
        ]) {
          assert.strictEqual((yield* Effect.flip(read))._tag, "PromptUnknown")
        }
      })
    )
  )

  it.effect("F27 a component is changed and deleted, and its id is free for the next", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        yield* create(registry, "first")
        yield* create(registry, "second")
        yield* TestClock.adjust(1_000)
        const updated = yield* registry.updateComponent(1001, 1, { content: "New.", role: "user", enabled: false })
        assert.deepStrictEqual(
          [updated.content, updated.role, updated.enabled, updated.name, updated.createdAt, updated.updatedAt],
          ["New.", "user", false, "Custom context", START_MILLIS, START_MILLIS + 1_000]
        )
        assert.deepStrictEqual(yield* registry.getComponent(1001), updated)
        yield* registry.deleteComponent(1001, updated.version)
        assert.strictEqual((yield* Effect.flip(registry.getComponent(1001)))._tag, "PromptUnknown")
        assert.strictEqual((yield* Effect.flip(registry.getComponentByKey("first")))._tag, "PromptUnknown")
        assert.strictEqual((yield* create(registry, "third")).id, 1001)
        assert.strictEqual((yield* create(registry, "first")).id, 1003)
      })
    )
  )

  it.effect("F27 lists are in the order of ids, whatever the order of creation and of keys", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        for (const [key, after] of [
          ["z", 0],
          ["a", 7000],
          ["m", 1000],
          ["b", 0],
          ["c", 1500]
        ] as const) {
          yield* create(registry, key, after)
        }
        assert.deepStrictEqual(idsOf(yield* registry.listPluggableComponents), [1, 2, 1001, 1501, 7001])
        assert.deepStrictEqual(
          idsOf(yield* registry.listComponents({ includeStatic: false })),
          [1, 2, 1001, 1501, 7001]
        )
        const all = yield* registry.listComponents()
        assert.deepStrictEqual(idsOf(all), [0, 1, 2, 1000, 1001, 1500, 1501, 2000, 3000, 4000, 5000, 6000, 7000, 7001])
        assert.deepStrictEqual(
          all.filter(({ isStatic }) => !isStatic).map(({ key }) => key),
          ["z", "b", "m", "c", "a"]
        )
        const after = (id: number) => Effect.map(registry.listComponentsAfter(id), idsOf)
        assert.deepStrictEqual(yield* Effect.forEach([0, 1000, 1500, 2000, 7000], after), [
          [1, 2],
          [1001],
          [1501],
          [],
          [7001]
        ])
        assert.strictEqual((yield* Effect.flip(registry.listComponentsAfter(1001)))._tag, "NoPlaceAfter")
      })
    )
  )

  it.effect("F27 a key is used once and is none of a built-in one, and a component stands after a static one", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        yield* create(registry, "mine")
        const failures = [create(registry, "mine", 0), create(registry, "goals"), create(registry, "x", 1001)]
        const tags = yield* Effect.forEach(failures, (each) => Effect.map(Effect.flip(each), ({ _tag }) => _tag))
        assert.deepStrictEqual(tags, ["KeyTaken", "PromptInvalid", "NoPlaceAfter"])
        assert.deepStrictEqual(idsOf(yield* registry.listPluggableComponents), [1001])
      })
    )
  )

  it.effect("A3 the role mixed is refused for a pluggable component, and so is a word that is no role", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        for (const role of ["mixed", "developer", ""]) {
          const refused = yield* Effect.flip(registry.createComponent({ ...aComponent, role }))
          assert.strictEqual(
            refused.message,
            `component my_context: its role is one of system, user, assistant, tool, not ${role}`
          )
        }
        yield* registry.createComponent(aComponent)
        assert.strictEqual(
          (yield* Effect.flip(registry.updateComponent(1001, 1, { role: "mixed" })))._tag,
          "PromptInvalid"
        )
        assert.strictEqual((yield* registry.getComponent(1001)).role, "system")
      })
    )
  )

  it.effect("A4 a component is enabled unless it says otherwise", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        assert.isTrue((yield* create(registry, "on")).enabled)
        assert.isFalse((yield* registry.createComponent({ ...aComponent, key: "off", enabled: false })).enabled)
        assert.deepStrictEqual(
          (yield* registry.listComponents({ includeStatic: false })).map(({ enabled, key }) => [key, enabled]),
          [
            ["on", true],
            ["off", false]
          ]
        )
      })
    )
  )
})

describe("moving", () => {
  it.effect("F28 a moved component has a new id in the new range, its old id is free, all else stays", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        const before = yield* create(registry, "mover")
        yield* create(registry, "there", 2000)
        yield* TestClock.adjust(1_000)
        const moved = yield* registry.moveComponent(1001, 1, 2000)
        assert.deepStrictEqual(moved, {
          ...before,
          id: 2002,
          afterStatic: 2000,
          updatedAt: START_MILLIS + 1_000,
          version: 2
        })
        assert.deepStrictEqual(yield* registry.getComponent(2002), moved)
        assert.strictEqual((yield* Effect.flip(registry.getComponent(1001)))._tag, "PromptUnknown")
        assert.strictEqual((yield* create(registry, "heir")).id, 1001)
      })
    )
  )

  it.effect("F28 a component moves nowhere but after a static one, and not into a full range", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        for (let index = 0; index < 499; index++) yield* create(registry, `c-${index}`)
        yield* create(registry, "mover", 0)
        const full = yield* Effect.flip(registry.moveComponent(1, 1, 1000))
        const nowhere = yield* Effect.flip(registry.moveComponent(1, 1, 1001))
        assert.deepStrictEqual([full._tag, nowhere._tag], ["PlacesTaken", "NoPlaceAfter"])
        assert.strictEqual((yield* registry.getComponent(1)).key, "mover")
        yield* registry.moveComponent(1200, 1, 0)
        assert.strictEqual((yield* registry.moveComponent(1, 1, 1000)).id, 1200)
      })
    )
  )
})

describe("bridge", () => {
  it.effect("F29 a template's content is copied into a component, gaps and all, and is its own from then on", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        yield* registry.createTemplate(aTemplate)
        yield* registry.createComponent(aComponent)
        const applied = yield* registry.applyTemplateToComponent("my_template", 1001, 1)
        assert.deepStrictEqual([applied.content, applied.name], [aTemplate.content, aComponent.name])
        yield* registry.updateTemplate("my_template", 1, { content: "Other." })
        assert.strictEqual((yield* registry.getComponent(1001)).content, aTemplate.content)
        yield* registry.applyTemplateToComponent("reflection", 1001, 2)
        assert.include((yield* registry.getComponent(1001)).content, "{goals_open}")
        const failures = [
          registry.applyTemplateToComponent("none", 1001, 3),
          registry.applyTemplateToComponent("default", 1002, 1)
        ]
        for (const each of failures) assert.strictEqual((yield* Effect.flip(each))._tag, "PromptUnknown")
      })
    )
  )

  it.effect("F29 A28 a component saved as a template has its placeholders found in its content", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        yield* registry.createComponent({ ...aComponent, content: "{b}, {a} and {b}, but not {{c}}" })
        const saved = yield* registry.saveComponentAsTemplate(1001, { key: "saved", name: "Saved" })
        assert.deepStrictEqual(yield* registry.getTemplate("saved"), saved)
        assert.deepStrictEqual(
          [saved.name, saved.description, saved.content, saved.placeholders],
          ["Saved", "Custom context block", "{b}, {a} and {b}, but not {{c}}", ["b", "a"]]
        )
        const taken = yield* Effect.flip(registry.saveComponentAsTemplate(1001, { key: "saved", name: "Again" }))
        assert.strictEqual(taken._tag, "KeyTaken")
      })
    )
  )

  it.effect("F29 a component becomes what assembly takes, with the fields of a prompt component and no other", () =>
    withRegistry((registry) =>
      Effect.gen(function* () {
        const component = yield* registry.createComponent({ ...aComponent, role: "user" })
        assert.deepStrictEqual(componentToPromptComponent(component), {
          id: 1001,
          key: "my_context",
          name: "Custom context",
          description: "Custom context block",
          content: "Mind the tide.",
          isStatic: false,
          enabled: true,
          role: "user"
        })
      })
    )
  )
})
