import { assert, test } from "@effect/vitest"
import { getPromptRegistry, type PromptStore } from "@reverie/context"
import { memoryPromptStoreLayer } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import { harbor, tower } from "./registries.ts"
import { after, keys, Model, play, shows, step, told } from "./registry-model.ts"

/** On a store of its own and at a time that stands still. */
const onFreshStore = <E>(effect: Effect.Effect<void, E, PromptStore>) =>
  Effect.runPromise(Effect.provide(effect, Layer.provideMerge(memoryPromptStoreLayer(), TestClock.layer())))

test("F26 F27 F28 whatever is done, a registry shows and answers what a simple model does", () =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), (steps) =>
      onFreshStore(
        Effect.gen(function* () {
          const registry = yield* getPromptRegistry(harbor)
          const model = new Model()
          for (const each of steps) {
            yield* play(registry, model, each)
            yield* shows(registry, model)
          }
          yield* shows(yield* getPromptRegistry(tower), new Model())
        })
      )
    )
  ))

test("F26 F27 as many undos as there were changes lead back to the beginning", () =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), (steps) =>
      onFreshStore(
        Effect.gen(function* () {
          const registry = yield* getPromptRegistry(harbor)
          const model = new Model()
          for (const each of steps) {
            if (each.do !== "undo" && each.do !== "undoPlug") yield* play(registry, model, each)
          }
          for (const kind of ["template", "component"] as const) {
            for (const key of keys) {
              const changes = model.version(kind, key)
              for (let undo = 0; undo < changes; undo++) yield* registry.undo(kind, key)
              assert.strictEqual((yield* Effect.flip(registry.undo(kind, key)))._tag, "NothingToUndo")
              assert.strictEqual((yield* registry.history(kind, key, { limit: 1_000 })).length, 2 * changes)
            }
          }
          yield* shows(registry, new Model())
        })
      )
    )
  ))

const text = fc.string({ unit: "binary", maxLength: 200 }).map((each) => each.replaceAll(/[{}]/g, "$&$&"))
const definition = fc.record({
  name: fc.string({ unit: "binary", maxLength: 50 }).map((each) => `n${each}`),
  description: text,
  content: text,
  role: fc.constantFrom("system", "user", "assistant", "tool"),
  enabled: fc.boolean(),
  afterStatic: after
})

test("F30 export and import give the same template and the same component, whatever text is in them", () =>
  fc.assert(
    fc.asyncProperty(definition, (draft) =>
      onFreshStore(
        Effect.gen(function* () {
          const [ours, theirs] = [yield* getPromptRegistry(harbor), yield* getPromptRegistry(tower)]
          const { content, description, name } = draft
          const template = yield* ours.createTemplate({ key: "t", name, description, content: `${content}{gap}` })
          const component = yield* ours.createComponent({ key: "c", ...draft })
          const texts = [yield* ours.exportTemplateJson("t"), yield* ours.exportComponentJson(component.id)] as const
          assert.deepStrictEqual(yield* theirs.importTemplateJson(texts[0]), template)
          assert.deepStrictEqual(yield* theirs.importComponentJson(texts[1]), component)
          const again = [yield* theirs.exportTemplateJson("t"), yield* theirs.exportComponentJson(component.id)]
          assert.deepStrictEqual(again, [...texts])
        })
      )
    )
  ))

test("F30 no text makes an import throw or write", () =>
  fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.json()), (json) =>
      onFreshStore(
        Effect.gen(function* () {
          const registry = yield* getPromptRegistry(harbor)
          for (const each of [told(registry.importTemplateJson(json)), told(registry.importComponentJson(json))]) {
            assert.strictEqual(yield* each, "ImportRefused")
          }
          yield* shows(registry, new Model())
        })
      )
    )
  ))
