// Block store laws: changes that are made once, versions, undo and merging (memory K2-K5).

import * as assert from "node:assert/strict"
import { BlockStore } from "@reverie/memory"
import type { Json } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { LAW_START_MILLIS, type Law } from "../law.ts"
import { blockLimitsLaws } from "./block-limits-laws.ts"
import { blockRightsLaws } from "./block-rights-laws.ts"
import {
  append,
  as,
  change,
  configure,
  system,
  list,
  load,
  make,
  push,
  read,
  redo,
  refusalOf,
  remove,
  request,
  share,
  textOf,
  tower,
  undo,
  versionsOf
} from "./block-steps.ts"

const once: ReadonlyArray<Law<BlockStore>> = [
  {
    id: "K2.listed",
    says: "a block is listed as it was last left, in the order of labels, the viewer's own first, of the types asked for",
    check: Effect.gen(function* () {
      yield* make({ owner: "bob", label: "a" }).pipe(Effect.flatMap((id) => share(id, "ada")))
      for (const label of ["b", "C", "a", "d"]) yield* make({ label, content: label })
      yield* make({ label: "core", type: "core" })
      const labels = (yield* list(as("ada"))).map(({ label, owner }) => `${owner} ${label}`)
      assert.deepEqual(labels, ["ada C", "ada a", "ada b", "ada core", "ada d", "bob a"])
      const core = yield* BlockStore.use((store) => store.list(as("ada"), { types: ["core"] }))
      assert.deepEqual(
        core.map(({ label }) => label),
        ["core"]
      )
      const bobs = yield* BlockStore.use((store) => store.list(as("ada"), { owner: "bob" }))
      assert.deepEqual(
        bobs.map(({ label }) => label),
        ["a"]
      )
    })
  },
  {
    id: "K2.draft",
    says: "a block is what its draft says, and what that leaves out is ReadWrite, a plain text of 5000, not pinned",
    check: Effect.gen(function* () {
      const bare = yield* load(system, yield* make())
      assert.deepEqual(
        [bare?.permission, bare?.schema, bare?.description, bare?.pinned, bare?.charLimit, bare?.text, bare?.version],
        ["ReadWrite", { kind: "text" }, "", false, 5_000, "", 1]
      )
      assert.deepEqual([bare?.createdAt, bare?.updatedAt], [LAW_START_MILLIS, LAW_START_MILLIS])
      const full = {
        label: "full",
        permission: "Append" as const,
        description: "What is to be done.",
        pinned: true,
        charLimit: 77,
        schema: { kind: "list", maxItems: 9 } as const
      }
      const kept = yield* load(system, yield* make({ ...full, content: ["a", { b: 1 }] }))
      for (const [name, value] of Object.entries(full)) assert.deepEqual(Reflect.get(kept ?? {}, name), value, name)
      assert.equal(kept?.text, "1. a\n2. b: 1")
    })
  },
  {
    id: "K3.repeat",
    says: "a change repeated under its key answers the same and is made once, also after others and after the block is gone",
    check: Effect.gen(function* () {
      const id = yield* make({ permission: "Admin", content: "a" })
      const first = yield* change("ada", id, append("b"), { key: "call 1" })
      assert.deepEqual(yield* change("ada", id, append("b"), { key: "call 1" }), first)
      yield* change("ada", id, append("c"))
      assert.deepEqual(yield* change("ada", id, append("b"), { key: "call 1" }), first)
      assert.equal(yield* textOf(id), "abc")
      assert.equal((yield* versionsOf(id)).length, 3)
      const none = yield* change("ada", id, { op: "replace_text", old: "zzz", new: "b" }, { key: "call 2" })
      assert.deepEqual([none.changed, none.version], [false, 3])
      yield* change("ada", id, append("zzz"))
      const again = yield* change("ada", id, { op: "replace_text", old: "zzz", new: "b" }, { key: "call 2" })
      assert.deepEqual(again, none)
      const gone = yield* remove("ada", id, { key: "call 3" })
      assert.deepEqual(yield* remove("ada", id, { key: "call 3" }), gone)
      assert.deepEqual(yield* change("ada", id, append("b"), { key: "call 1" }), first)
    })
  },
  {
    id: "K3.create",
    says: "a creation or setting repeated under its key is one",
    check: Effect.gen(function* () {
      const id = yield* make({ content: "a" }, { key: "creation" })
      yield* change("ada", id, append("b"))
      assert.equal(yield* make({ content: "a" }, { key: "creation" }), id)
      assert.equal(yield* textOf(id), "ab")
      const pin = { set: "pinned", pinned: true } as const
      const pinned = yield* configure("ada", id, pin, { key: "pin" })
      yield* configure("ada", id, { ...pin, pinned: false })
      assert.deepEqual(yield* configure("ada", id, pin, { key: "pin" }), pinned)
      assert.equal((yield* load(system, id))?.pinned, false)
    })
  },
  {
    id: "K3.undo",
    says: "an undo repeated under its key takes one change back",
    check: Effect.gen(function* () {
      const id = yield* make({ content: "a" })
      yield* change("ada", id, append("b"))
      yield* change("ada", id, append("c"))
      const store = yield* BlockStore
      const asked = yield* request("ada", { key: "undo" })
      const first = yield* store.undo(id, asked)
      assert.deepEqual(yield* store.undo(id, asked), first)
      assert.equal(yield* textOf(id), "ab")
    })
  },
  {
    id: "K3.other",
    says: "a key that was used for one change is refused for another, and is free in another tenant",
    check: Effect.gen(function* () {
      const id = yield* make({ content: "a" })
      const other = yield* make({ label: "other", content: "a" })
      yield* share(id, "bob")
      yield* change("ada", id, append("b"), { key: "call" })
      const others = [
        change("ada", id, append("c"), { key: "call" }),
        change("ada", other, append("b"), { key: "call" }),
        change("bob", id, append("b"), { key: "call" }),
        remove(system, id, { key: "call" })
      ]
      for (const attempt of others) assert.equal(yield* refusalOf(attempt), "BlockRefused key-reused")
      const away = yield* make({ content: "a" }, { tenant: tower })
      yield* change(as("ada", { tenant: tower }), away, append("b"), { key: "call", tenant: tower })
      assert.equal((yield* load(as("ada", { tenant: tower }), away))?.text, "ab")
    })
  },
  {
    id: "K3.refused",
    says: "what was refused under a key may be tried again under it",
    check: Effect.gen(function* () {
      const id = yield* make({ permission: "ReadOnly", content: "a" })
      const attempt = change("ada", id, append("b"), { key: "call" })
      assert.equal(yield* refusalOf(attempt), "BlockRefused permission")
      yield* configure(system, id, { set: "permission", permission: "Append" })
      yield* attempt
      assert.equal(yield* textOf(id), "ab")
    })
  }
]

const lasting: ReadonlyArray<Law<BlockStore>> = [
  {
    id: "K4.versions",
    says: "each change is a version: numbered, with who, when and why, newest first, no more of them than asked for",
    check: Effect.gen(function* () {
      const id = yield* make({ content: "a" })
      yield* share(id, "bob")
      yield* TestClock.adjust(1_000)
      yield* change("bob", id, append("b"), { message: "to go on" })
      yield* TestClock.adjust(1_000)
      yield* change(system, id, append("c"))
      const at = (seconds: number) => LAW_START_MILLIS + seconds * 1_000
      assert.deepEqual(yield* versionsOf(id), [
        { version: 3, at: at(2), by: "system", isSystem: true },
        { version: 2, at: at(1), by: "bob", isSystem: false, message: "to go on" },
        { version: 1, at: at(0), by: "system", isSystem: true }
      ])
      const numbers = (page: { readonly before?: number; readonly limit?: number }) =>
        Effect.map(versionsOf(id, page), (versions) => versions.map(({ version }) => version))
      assert.deepEqual(yield* numbers({ limit: 2 }), [3, 2])
      assert.deepEqual(yield* numbers({ before: 3, limit: 1 }), [2])
      assert.deepEqual(yield* numbers({ before: 1 }), [])
      assert.equal((yield* load(system, id))?.updatedAt, at(2))
    })
  },
  {
    id: "K4.past",
    says: "every version stays readable as it was, however many came after it",
    check: Effect.gen(function* () {
      const id = yield* make({ charLimit: 100_000 })
      const texts = [""]
      // Long enough that snapshots are taken on the way, and shuffled, so that little of it can be compressed.
      for (let version = 2; version <= 24; version++) {
        const more = Array.from({ length: 90 }, (_, word) => ((word * 7_919 + version) ** 3 % 1_000_003).toString(36))
        texts.push(texts.at(-1) + more.join(" "))
        yield* change("ada", id, append(more.join(" ")))
      }
      for (const [index, text] of texts.entries()) {
        const reading = yield* read(id, index + 1)
        assert.equal(reading.version, index + 1)
        assert.ok(reading.text === text, `version ${index + 1} is another text`)
      }
      assert.equal(yield* refusalOf(read(id, 25)), "BlockRefused no-version")
      assert.equal(yield* refusalOf(read(id, 0)), "BlockRefused no-version")
    })
  },
  {
    id: "K4.undo",
    says: "undo takes back one change after another, redo makes them again, and a new change ends that",
    check: Effect.gen(function* () {
      const id = yield* make({ content: "a" })
      for (const text of ["b", "c", "d"]) yield* change("ada", id, append(text))
      const seen: Array<unknown> = []
      for (const step of [undo, undo, redo, undo, undo]) {
        const { restores, version } = yield* step("ada", id)
        seen.push([version, restores, yield* textOf(id)])
      }
      assert.deepEqual(seen, [
        [5, 3, "abc"],
        [6, 2, "ab"],
        [7, 3, "abc"],
        [8, 2, "ab"],
        [9, 1, "a"]
      ])
      assert.equal(yield* refusalOf(undo("ada", id)), "BlockRefused nothing-to-undo")
      yield* redo("ada", id)
      yield* change("ada", id, append("e"))
      assert.equal(yield* refusalOf(redo("ada", id)), "BlockRefused nothing-to-undo")
      yield* undo("ada", id)
      assert.equal(yield* textOf(id), "ab")
      assert.equal((yield* read(id, 4)).text, "abcd")
      assert.equal((yield* versionsOf(id, { limit: 100 })).length, 12)
    })
  },
  {
    id: "K4.whose",
    says: "an assistant can not take back what the system did, nor undo without being allowed to overwrite",
    check: Effect.gen(function* () {
      const id = yield* make({ content: "a" })
      yield* change("ada", id, append("b"))
      yield* change(system, id, append("c"))
      assert.equal(yield* refusalOf(undo("ada", id)), "BlockRefused permission")
      yield* undo(system, id)
      assert.equal(yield* refusalOf(redo("ada", id)), "BlockRefused permission")
      yield* undo("ada", id)
      yield* share(id, "bob", "Append")
      assert.equal(yield* refusalOf(redo("bob", id)), "BlockRefused permission")
      yield* redo("ada", id)
      assert.equal(yield* textOf(id), "ab")
    })
  },
  {
    id: "K5.seen",
    says: "a change of what someone saw is merged with what came since, in places and in texts",
    check: Effect.gen(function* () {
      const id = yield* make({ permission: "Admin", schema: { kind: "list" }, content: ["a", "b", "c"] })
      yield* share(id, "bob", "Admin")
      yield* change("bob", id, { op: "insert_item", index: 0, value: "urgent" })
      yield* change("ada", id, { op: "delete_item", index: 1 }, { seen: 1 })
      assert.equal(yield* textOf(id), "1. urgent\n2. a\n3. c")
      yield* change("bob", id, push("d"), { seen: 1 })
      const items = new Set((yield* read(id)).content as ReadonlyArray<Json>)
      assert.deepEqual(items, new Set(["a", "c", "d", "urgent"]))
      const text = yield* make({ label: "text", content: "one two three" })
      yield* change("ada", text, { op: "replace_text", old: "one", new: "1" })
      yield* change("ada", text, { op: "replace_text", old: "three", new: "3" }, { seen: 1 })
      yield* change("ada", text, { op: "replace_text", old: "one two", new: "zero, 2" }, { seen: 2 })
      assert.equal(yield* textOf(text), "1 two 3")
      assert.equal(yield* refusalOf(change("ada", text, append("x"), { seen: 9 })), "BlockRefused no-version")
    })
  },
  {
    id: "K5.race",
    says: "of many who change a block at once every change is there, each as a version of its own",
    check: Effect.gen(function* () {
      const id = yield* make({ schema: { kind: "map", fields: [{ name: "n", type: "counter" }] } })
      yield* share(id, "*")
      const authors = ["ada", "bob", "cora", "dora", "ezra"]
      const changes = yield* Effect.forEach(
        [...authors, ...authors],
        (by, index) => change(by, id, { op: "increment_counter", field: "n", by: index + 1 }, { seen: 1 }),
        { concurrency: "unbounded" }
      )
      assert.deepEqual(
        changes.map(({ version }) => version).toSorted((a, b) => a - b),
        [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
      )
      assert.equal(yield* textOf(id), "n: 55")
    })
  }
]

const heard: ReadonlyArray<Law<BlockStore>> = [
  {
    id: "K9.kept",
    says: "F102: who subscribes hears of each change of his tenant once it is kept, and of what was refused or repeated nothing",
    check: Effect.gen(function* () {
      const store = yield* BlockStore
      const told: Array<string> = []
      const stop = store.subscribe(as("ada").tenant, ({ at, by, version, what }) => {
        told.push(`${what} ${version} by ${by}, ${(at - LAW_START_MILLIS) / 1_000} s`)
      })
      const id = yield* make({ permission: "Append", content: "a" })
      yield* TestClock.adjust(1_000)
      yield* change("ada", id, append("b"), { key: "call" })
      yield* change("ada", id, append("b"), { key: "call" })
      yield* change(system, id, { op: "replace_text", old: "zzz", new: "b" })
      assert.equal(yield* refusalOf(change("ada", id, { op: "set_text", text: "c" })), "BlockRefused permission")
      yield* make({ content: "of the tower" }, { tenant: tower })
      yield* configure(system, id, { set: "pinned", pinned: true })
      yield* undo(system, id)
      yield* redo(system, id)
      yield* remove(system, id)
      stop()
      yield* make({ label: "later" })
      assert.deepEqual(told, [
        "create 1 by system, 0 s",
        "change 2 by ada, 1 s",
        "configure 2 by system, 1 s",
        "undo 3 by system, 1 s",
        "redo 4 by system, 1 s",
        "delete 4 by system, 1 s"
      ])
    })
  },
  {
    id: "K9.after",
    says: "F102: a change is heard of when everybody reads it, and by the others also where one of them throws",
    check: Effect.gen(function* () {
      const store = yield* BlockStore
      const id = yield* make({ content: "a" })
      const seen: Array<Promise<string | undefined>> = []
      store.subscribe(as("ada").tenant, () => {
        throw new Error("a listener that is at fault")
      })
      store.subscribe(as("ada").tenant, ({ block }) => {
        seen.push(Effect.runPromise(Effect.provideService(textOf(block), BlockStore, store)))
      })
      yield* change("ada", id, append("b"))
      assert.deepEqual(yield* Effect.promise(() => Promise.all(seen)), ["ab"])
    })
  }
]

export const blockStoreLaws: ReadonlyArray<Law<BlockStore>> = [
  ...blockRightsLaws,
  ...once,
  ...lasting,
  ...heard,
  ...blockLimitsLaws
]
