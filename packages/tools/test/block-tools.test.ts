import { assert, describe, it } from "@effect/vitest"
import { type BlockDraft, type BlockStore, type BlockView } from "@reverie/memory"
import { AssistantId, DEFAULT_TENANT, isJsonObject, type Json } from "@reverie/protocol"
import { memoryBlockStore } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { type BlockAccess, blockTools, execute, toolkitOf } from "../src/index.ts"

const kit = toolkitOf(blockTools)
const tenant = DEFAULT_TENANT
const system = { tenant, by: "system", isSystem: true }

/** The blocks as the runtime lends them to one assistant. */
const recordsOf = (store: BlockStore["Service"], by: string, hasConsent: boolean): BlockAccess => {
  const viewer = { tenant, by }
  const asked = (key: string) => ({ ...viewer, key, at: 0, hasConsent })
  const run = Effect.runPromise
  return {
    list: () => run(store.list(viewer)),
    read: (id, version) => run(store.read(viewer, id, version)),
    versions: (id, limit) => run(store.versions(viewer, id, { limit })),
    change: (key, id, operation) => run(store.change(id, asked(key), operation)),
    undo: (key, id) => run(store.undo(id, asked(key))),
    redo: (key, id) => run(store.redo(id, asked(key))),
    configure: (key, id, setting) => run(store.configure(id, asked(key), setting))
  }
}

const world = () => {
  const store = memoryBlockStore()
  let count = 0
  const make = (draft: Partial<BlockDraft> = {}) =>
    Effect.map(
      store.create(
        { owner: "ada", label: "notes", type: "working", ...draft },
        { ...system, key: `${count++}`, at: 0 }
      ),
      ({ block }) => block
    )
  const call = Effect.fnUntraced(function* (
    tool: string,
    args: Json,
    { by = "ada", hasConsent = false, key = `call ${count++}` } = {}
  ) {
    const access = {
      read: () => new Map<string, Json>(),
      consult: () => Promise.reject(new Error("nobody")),
      blocks: recordsOf(store, by, hasConsent),
      loop: {
        tick: 1,
        iteration: 1,
        maxIterations: 5,
        tokensUsed: 0,
        maxContextTokens: 1,
        reservedResponseTokens: 0,
        toolsThisTick: [],
        pendingTools: [],
        sleepBlockers: { isAsleep: false, unfinished: [] }
      }
    }
    const address = { tenant, assistant: AssistantId.make(by) }
    const result = yield* execute(
      kit.get(tool),
      { id: "1.1.0", tool, arguments: args },
      {
        address,
        key,
        hops: 0,
        records: access
      }
    )
    const told: unknown = result.ok ? JSON.parse(result.content) : { content: result.content }
    assert.isTrue(isJsonObject(told))
    return isJsonObject(told) ? told : {}
  })
  const edit = (action: string, args: { readonly [name: string]: Json } = {}, who: Parameters<typeof call>[2] = {}) =>
    call("block_edit", { block: "notes", action, ...args }, who)
  return { call, edit, make, store }
}

describe("block_edit", () => {
  it.effect("F95 append, replace and set change a text, and the answer shows it", () =>
    Effect.gen(function* () {
      const { edit, make } = world()
      yield* make({ content: "Hello, world!" })
      const told = { success: true, label: "notes", changed: true }
      assert.deepStrictEqual(yield* edit("append", { text: " More." }), {
        ...told,
        version: 2,
        text: "Hello, world! More."
      })
      assert.deepInclude(yield* edit("replace", { old: "Hello", new: "Hi" }), { ...told, text: "Hi, world! More." })
      assert.deepInclude(yield* edit("replace", { old: "zzz", new: "Hi" }), { success: true, changed: false })
      assert.deepInclude(yield* edit("set", { text: "new" }), { ...told, text: "new" })
      assert.deepInclude(yield* edit("undo"), { ...told, restores: 3, text: "Hi, world! More." })
      assert.deepInclude(yield* edit("redo"), { ...told, restores: 4, text: "new" })
    })
  )

  it.effect("F96 F97 F98 it changes fields, items by the numbers that are shown, and logs", () =>
    Effect.gen(function* () {
      const { edit, make } = world()
      const fields = [
        { name: "name", type: "text" },
        { name: "score", type: "counter" },
        { name: "tags", type: "list" }
      ] as const
      yield* make({ label: "map", schema: { kind: "map", fields } })
      const map = { block: "map" }
      yield* edit("set_field", { ...map, field: "name", value: "Ann" })
      yield* edit("increment", { ...map, field: "score" })
      yield* edit("increment", { ...map, field: "score", by: 4 })
      const tagged = yield* edit("append", { ...map, field: "tags", value: "new" })
      assert.strictEqual(tagged["text"], "name: Ann\nscore: 5\ntags: new")
      yield* make({ label: "list", permission: "Admin", schema: { kind: "list", maxItems: 3 } })
      const list = { block: "list" }
      yield* edit("push", { ...list, value: "b" })
      yield* edit("append", { ...list, value: { task: "c", done: false } })
      yield* edit("insert", { ...list, value: "a", position: 1 })
      assert.deepInclude(yield* edit("push", { ...list, value: "d" }), {
        dropped: 1,
        text: "1. a\n2. [ ] c\n3. d"
      })
      assert.strictEqual((yield* edit("delete", { ...list, position: 2 }))["text"], "1. a\n2. d")
      const entrySchema = { timestamp: false, agent: true, fields: [{ name: "message", type: "text" }] } as const
      yield* make({ label: "log", type: "log", schema: { kind: "log", displayLimit: 5, entrySchema } })
      yield* edit("append", { block: "log", text: "one" })
      const logged = yield* edit("append", { block: "log", value: { message: "two" } })
      assert.strictEqual(logged["text"], "(ada) two\n(ada) one")
    })
  )

  it.effect("F90 F101 what may not be is refused with a reason, and changes nothing", () =>
    Effect.gen(function* () {
      const { edit, make, store } = world()
      const id = yield* make({ permission: "Append", content: "a" })
      const refused = (told: { readonly [name: string]: Json }, why: string) => {
        assert.strictEqual(told["success"], false)
        assert.include(String(told["error"]), why)
      }
      refused(yield* edit("set", { text: "b" }), "does not allow to overwrite")
      refused(yield* edit("undo"), "does not allow to overwrite")
      refused(yield* edit("append"), "Say what is to be appended")
      refused(yield* edit("push", { value: 1 }), "not for what it holds")
      refused(yield* edit("append", { text: "x".repeat(5_000) }), "its limit is 5000")
      refused(yield* edit("append", { block: "other", text: "x" }), "There are: notes.")
      assert.strictEqual((yield* store.load(system, id))?.text, "a")
    })
  )

  it.effect("I2 of tools: a call that is made again under its key is made once, and answers the same", () =>
    Effect.gen(function* () {
      const { edit, make, store } = world()
      const id = yield* make({ content: "a" })
      const first = yield* edit("append", { text: "b" }, { key: "call" })
      yield* edit("append", { text: "c" })
      assert.deepStrictEqual(yield* edit("append", { text: "b" }, { key: "call" }), first)
      assert.strictEqual((yield* store.load(system, id))?.text, "abc")
    })
  )

  it.effect("F90 a change that needs consent says so, and is made with it", () =>
    Effect.gen(function* () {
      const { edit, make } = world()
      yield* make({ permission: "Human", content: "a" })
      const asked = yield* edit("append", { text: "b" })
      assert.deepStrictEqual(asked["success"], false)
      assert.include(String(asked["error"]), "needs the consent of a person")
      assert.deepInclude(yield* edit("append", { text: "b" }, { hasConsent: true }), { success: true, text: "ab" })
    })
  )

  it.effect("F90 whether a call needs consent follows from the block and what is done to it", () =>
    Effect.gen(function* () {
      const { make, store } = world()
      for (const permission of ["Human", "Partner", "Append", "ReadWrite", "ReadOnly"] as const) {
        yield* make({ label: permission, permission })
      }
      const shared = yield* make({ owner: "bob", label: "bobs", permission: "Human" })
      const share = { set: "share", with: "ada", permission: "Append" } as const
      yield* store.configure(shared, { ...system, key: "share", at: 0 }, share)
      const blocks = yield* store.list({ tenant, by: "ada" })
      const needs = (args: Json, known: ReadonlyArray<BlockView> = blocks) =>
        kit.get("block_edit")?.needsConsent?.(args, known)
      assert.isTrue(needs({ block: "Human", action: "append" }))
      assert.isTrue(needs({ block: "Partner", action: "set" }))
      assert.isTrue(needs({ block: blocks.find(({ label }) => label === "Human")?.id ?? "", action: "undo" }))
      assert.isTrue(needs({ block: "bobs", action: "append" }))
      assert.isFalse(needs({ block: "bobs", action: "set" }))
      assert.isFalse(needs({ block: "Human", action: "delete" }))
      for (const block of ["Append", "ReadWrite", "ReadOnly", "nowhere"]) {
        assert.isFalse(needs({ block, action: "append" }))
      }
      for (const args of [null, [], "x", {}, { block: 1, action: "append" }, { block: "Human", action: "burn" }]) {
        assert.isFalse(needs(args))
      }
      assert.isFalse(needs({ block: "Human", action: "append" }, []))
      assert.isUndefined(kit.get("block")?.needsConsent)
    })
  )
})

describe("block", () => {
  it.effect("lists and shows blocks, an earlier version too", () =>
    Effect.gen(function* () {
      const { call, edit, make, store } = world()
      const id = yield* make({ content: "a", description: "What is to be kept." })
      yield* edit("append", { text: "b" })
      const share = { set: "share", with: "bob", permission: "Append" } as const
      yield* store.configure(id, { ...system, key: "share", at: 0 }, share)
      const entry = {
        label: "notes",
        id,
        type: "working",
        pinned: false,
        description: "What is to be kept.",
        characters: "2 of 5000",
        version: 2
      }
      assert.deepStrictEqual(yield* call("block", { action: "list" }), {
        success: true,
        blocks: [{ ...entry, permission: "ReadWrite", shared_with: [{ with: "bob", permission: "Append" }] }]
      })
      assert.deepStrictEqual(yield* call("block", { action: "list" }, { by: "bob" }), {
        success: true,
        blocks: [{ ...entry, permission: "Append", shared_from: "ada" }]
      })
      assert.deepInclude(yield* call("block", { action: "show", block: id }), { text: "ab", version: 2 })
      assert.deepInclude(yield* call("block", { action: "show", block: "notes", version: 1 }), {
        text: "a",
        version: 1
      })
      assert.deepStrictEqual(yield* call("block", { action: "list" }, { by: "cora" }), { success: true, blocks: [] })
    })
  )

  it.effect("F92 pins, puts away, shares and moves the window, for its owner only", () =>
    Effect.gen(function* () {
      const { call, make, store } = world()
      const id = yield* make({ content: "a\nb\nc" })
      const state = Effect.map(store.load(system, id), (block) => [
        block?.type,
        block?.pinned,
        block?.shares,
        block?.text
      ])
      const on = (args: { readonly [name: string]: Json }, by = "ada") =>
        call("block", { block: "notes", ...args }, { by })
      yield* on({ action: "pin" })
      yield* on({ action: "share", with: "bob", permission: "Append" })
      yield* on({ action: "viewport", start_line: 2, lines: 1 })
      const shares = [{ with: "bob", permission: "Append" as const }]
      assert.deepStrictEqual(yield* state, ["working", true, shares, "[Showing lines 2-2 of 3]\nb"])
      const refused = yield* on({ action: "pin" }, "bob")
      assert.include(String(refused["error"]), "only its owner")
      yield* on({ action: "unshare", with: "bob" })
      yield* on({ action: "archive" })
      yield* on({ action: "viewport" })
      assert.deepStrictEqual(yield* state, ["archival", false, [], "a\nb\nc"])
      assert.include(String((yield* on({ action: "share" }))["error"]), "with whom")
      assert.include(String((yield* call("block", { action: "show" }))["error"]), "which block")
    })
  )

  it.effect("N1 its own block goes before one it was given; two that were given are distinguished by their ids", () =>
    Effect.gen(function* () {
      const { call, make, store } = world()
      const ids: Array<string> = []
      for (const owner of ["bob", "cora"]) {
        const id = yield* make({ owner, content: owner })
        const share = { set: "share", with: "ada", permission: "ReadOnly" } as const
        yield* store.configure(id, { ...system, key: `share ${owner}`, at: 0 }, share)
        ids.push(id)
      }
      const several = String((yield* call("block", { action: "show", block: "notes" }))["error"])
      for (const id of ids) assert.include(several, id)
      assert.deepInclude(yield* call("block", { action: "show", block: ids[1] ?? "" }), { text: "cora" })
      yield* make({ content: "ada" })
      assert.deepInclude(yield* call("block", { action: "show", block: "notes" }), { text: "ada" })
    })
  )
})
