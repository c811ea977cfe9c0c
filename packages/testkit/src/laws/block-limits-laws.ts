// Block limits laws: how much a block holds, what is shown of it, and that it comes back exactly (memory K6-K8).

import * as assert from "node:assert/strict"
import { BlockStore } from "@reverie/memory"
import type { Json } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import type { Law } from "../law.ts"
import {
  append,
  as,
  change,
  configure,
  system,
  list,
  load,
  make,
  notes,
  push,
  read,
  refusalOf,
  remove,
  request,
  set,
  share,
  textOf,
  undo,
  versionsOf,
  witness
} from "./block-steps.ts"
import { hostileTexts } from "./steps.ts"

export const blockLimitsLaws: ReadonlyArray<Law<BlockStore>> = [
  {
    id: "K6.full",
    says: "A36: no change makes a block longer than its limit, also not when it is merged",
    check: Effect.gen(function* () {
      const id = yield* make({ charLimit: 10, content: "12345" })
      yield* change("ada", id, append("67890"))
      assert.equal(yield* refusalOf(change("ada", id, append("1"))), "BlockRefused full")
      assert.equal(yield* refusalOf(change(system, id, set("12345678901"))), "BlockRefused full")
      assert.equal(yield* refusalOf(change("ada", id, append("1"), { seen: 1 })), "BlockRefused full")
      yield* configure(system, id, { set: "charLimit", charLimit: 5 })
      yield* change("ada", id, { op: "replace_text", old: "90", new: "" })
      assert.equal(yield* textOf(id), "12345678")
      const store = yield* BlockStore
      const draft = { ...notes, label: "long", charLimit: 3, content: "1234" }
      assert.equal(yield* refusalOf(store.create(draft, yield* request("ada"))), "BlockRefused full")
      const standard = yield* make({ label: "standard", content: "x".repeat(5_000) })
      assert.equal(yield* refusalOf(change("ada", standard, append("x"))), "BlockRefused full")
    })
  },
  {
    id: "K6.items",
    says: "A36: a list that has too many items loses the oldest, wherever they stand",
    check: Effect.gen(function* () {
      const id = yield* make({ schema: { kind: "list", maxItems: 3 }, content: ["a", "b", "c"] })
      assert.equal((yield* change("ada", id, push("d"))).dropped, 1)
      assert.equal(yield* textOf(id), "1. b\n2. c\n3. d")
      yield* change("ada", id, { op: "insert_item", index: 0, value: "e" })
      assert.equal(yield* textOf(id), "1. e\n2. c\n3. d")
      yield* change("ada", id, push("f"))
      yield* change("ada", id, push("g"))
      assert.equal(yield* textOf(id), "1. e\n2. f\n3. g")
      yield* configure(system, id, { set: "schema", schema: { kind: "list", maxItems: 1 } })
      assert.equal(yield* textOf(id), "1. g")
    })
  },
  {
    id: "K6.log",
    says: "F98: a log shows its newest entries and keeps every one, and is only appended to",
    check: Effect.gen(function* () {
      const entrySchema = { timestamp: false, agent: true, fields: [{ name: "message", type: "text" }] } as const
      const id = yield* make({
        type: "log",
        permission: "Admin",
        charLimit: 60,
        schema: { kind: "log", displayLimit: 2, entrySchema }
      })
      for (let no = 1; no <= 12; no++) {
        yield* change("ada", id, { op: "append_log_entry", entry: { message: `entry ${no}`, hidden: no } })
      }
      assert.equal(yield* textOf(id), "(ada) entry 12\n(ada) entry 11")
      assert.equal(((yield* read(id)).content as ReadonlyArray<Json>).length, 12)
      assert.equal(yield* refusalOf(undo("ada", id)), "BlockRefused append-only")
      assert.equal(yield* refusalOf(undo(system, id)), "BlockRefused append-only")
      const text = yield* make({ label: "text", type: "log", permission: "Admin", content: "a" })
      assert.equal(yield* refusalOf(change(system, text, set("b"))), "BlockRefused append-only")
      yield* change("ada", text, append("b"))
      assert.equal(yield* textOf(text), "ab")
    })
  },
  {
    id: "K7.exact",
    says: "what is kept comes back exactly, whatever text is in it; a text of its own is made well-formed",
    check: Effect.gen(function* () {
      const id = yield* make({ schema: { kind: "list" }, charLimit: 100_000, description: hostileTexts.join() })
      const values: ReadonlyArray<Json> = [...hostileTexts, { z: 1, a: [null, true, -1.5e300], m: hostileTexts }]
      for (const value of values) {
        yield* change("ada", id, { op: "push_item", value }, { key: `key ${JSON.stringify(value)}`, message: "\u0000" })
      }
      const kept = (yield* read(id)).content
      assert.equal(JSON.stringify(kept), JSON.stringify(values))
      assert.equal((yield* load(system, id))?.description, hostileTexts.join().toWellFormed())
      assert.equal((yield* versionsOf(id, { limit: 1 }))[0]?.message, "\u0000")
      const text = yield* make({ label: "text" })
      for (const each of hostileTexts) {
        yield* change("ada", text, set(each))
        assert.equal(yield* textOf(text), each.toWellFormed())
      }
    })
  },
  {
    id: "K8.deleted",
    says: "a block that was deleted is gone for everybody with all that was kept of it, and its label is free",
    check: Effect.gen(function* () {
      const before = yield* witness
      const id = yield* make({ content: "secret" })
      yield* share(id, "bob")
      yield* share(id, "*")
      yield* change("ada", id, append(" more"))
      yield* remove(system, id)
      assert.equal(yield* witness, before)
      for (const viewer of [system, as("ada"), as("bob")]) {
        assert.equal(yield* load(viewer, id), undefined)
        assert.equal(yield* refusalOf(read(id, 1, viewer)), "BlockUnknown")
      }
      const next = yield* make({ content: "new" })
      assert.notEqual(next, id)
      assert.deepEqual((yield* versionsOf(next)).length, 1)
      assert.equal((yield* read(next, 1)).text, "new")
      assert.deepEqual(yield* list(as("bob")), [])
    })
  }
]
