import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, it } from "@effect/vitest"
import { getPromptRegistry, type PromptRegistry, PromptStore } from "@reverie/context"
import { TenantId } from "@reverie/protocol"
import { openSqliteStore } from "@reverie/store-sqlite"
import * as Effect from "effect/Effect"
import { aDirectory } from "./directories.ts"
import { type StoreOptions } from "../src/store.ts"

const harbor = TenantId.make("harbor")

const registryIn = (directory: string, options?: StoreOptions) =>
  Effect.flatMap(openSqliteStore(directory, options), ({ prompts }) =>
    Effect.provideService(getPromptRegistry(harbor), PromptStore, prompts)
  )

const draft = { key: "greeting", name: "Greeting", content: "Ahoy, {name}." }

it.effect("F25 a registry that is opened again after the store was closed shows the same", () =>
  Effect.gen(function* () {
    const directory = aDirectory()
    const look = (registry: PromptRegistry) =>
      Effect.all([
        registry.listTemplates(),
        registry.listComponents(),
        registry.history("template", "greeting"),
        registry.getComponent(1001)
      ])
    const before = yield* Effect.scoped(
      Effect.gen(function* () {
        const registry = yield* registryIn(directory)
        yield* registry.createTemplate(draft)
        yield* registry.updateTemplate("greeting", 1, { content: "Moin, {name}." })
        yield* registry.undo("template", "greeting")
        yield* registry.createComponent({ ...draft, afterStatic: 1000 })
        return yield* look(registry)
      })
    )
    assert.strictEqual(before[2].length, 3)
    assert.deepStrictEqual(yield* Effect.scoped(Effect.flatMap(registryIn(directory), look)), before)
  })
)

it.effect("an opening for reading shows what is kept and refuses to change it", () =>
  Effect.gen(function* () {
    const directory = aDirectory()
    const owner = yield* registryIn(directory)
    yield* owner.createTemplate(draft)
    const reader = yield* registryIn(directory, { readOnly: true })
    assert.deepStrictEqual(yield* reader.getTemplate("greeting"), yield* owner.getTemplate("greeting"))
    const refused = yield* Effect.flip(reader.createTemplate({ ...draft, key: "other" }))
    assert.strictEqual(refused._tag, "PromptStoreUnavailable")
    assert.strictEqual((yield* Effect.flip(owner.getTemplate("other")))._tag, "PromptUnknown")
  })
)

it.effect("a body that can not be read is reported by its name, and only to who asks for it", () =>
  Effect.gen(function* () {
    const directory = aDirectory()
    yield* Effect.scoped(
      Effect.gen(function* () {
        const registry = yield* registryIn(directory)
        yield* registry.createTemplate(draft)
        yield* registry.createTemplate({ ...draft, key: "other" })
      })
    )
    const database = new DatabaseSync(join(directory, "reverie.db"))
    database.exec(`UPDATE prompts SET body = '{"key":' WHERE key = 'greeting'`)
    database.close()
    const registry = yield* registryIn(directory)
    const unreadable = yield* Effect.flip(registry.getTemplate("greeting"))
    assert.strictEqual(unreadable._tag, "PromptUnreadable")
    assert.include(unreadable.message, "template greeting can not be read: version 1: ")
    assert.strictEqual((yield* registry.getTemplate("other")).key, "other")
  })
)

it.effect("I2 what is current is found without reading what was before it", () =>
  Effect.gen(function* () {
    const directory = aDirectory()
    yield* Effect.scoped(
      Effect.gen(function* () {
        const registry = yield* registryIn(directory)
        yield* registry.createTemplate(draft)
        yield* registry.createTemplate({ ...draft, key: "other" })
        for (let version = 1; version <= 20; version++) {
          yield* registry.updateTemplate("greeting", version, { name: `Greeting ${version}` })
        }
      })
    )
    const database = new DatabaseSync(join(directory, "reverie.db"))
    database.exec("UPDATE prompts SET body = 'broken' WHERE version <= 20 AND key = 'greeting'")
    database.close()
    const registry = yield* registryIn(directory)
    const templates = yield* registry.listTemplates({ includeBuiltin: false })
    assert.deepStrictEqual(
      templates.map(({ name, version }) => [name, version]),
      [
        ["Greeting 20", 21],
        ["Greeting", 1]
      ]
    )
    assert.strictEqual((yield* Effect.flip(registry.history("template", "greeting")))._tag, "PromptUnreadable")
  })
)
