import { assert, describe, it } from "@effect/vitest"
import {
  type BlockLooks,
  type BlockOperation,
  type BlockRequest,
  type BlockTransactions,
  Documents,
  keepBlocks,
  loadLoro,
  StructuredDocument
} from "@reverie/memory"
import { TenantId } from "@reverie/protocol"
import { blockDisk, memoryBlockStore, memoryTransactions, rowsOf } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

const tenant = TenantId.make("harbor")
let keys = 0
const asked = (over: Partial<BlockRequest> = {}): BlockRequest => ({
  tenant,
  by: "ada",
  key: `key ${keys++}`,
  at: 0,
  ...over
})
const system = { tenant, by: "system", isSystem: true }
const append = (text: string): BlockOperation => ({ op: "append_text", text })
const draft = { owner: "ada", label: "notes", type: "working" as const }

/** Transactions that tell what is looked up. */
const watched = () => {
  const disk = blockDisk()
  const right = memoryTransactions(disk)
  const rows = rowsOf(disk)
  const looks: Array<keyof BlockLooks> = []
  const watching = new Proxy(rows, {
    get: (target, name: keyof BlockLooks) => {
      looks.push(name)
      return target[name]
    }
  })
  const transactions: BlockTransactions = {
    ...right,
    look: (_operation, run) => Effect.suspend(() => Effect.fromResult(run(watching))),
    write: (_operation, run) => Effect.suspend(() => Effect.fromResult(run(watching, () => {})))
  }
  return { looks, transactions }
}

describe("a store of blocks", () => {
  it.effect("F93 a document is read with its first change, and kept for the next ones", () =>
    Effect.gen(function* () {
      const { looks, transactions } = watched()
      const { block } = yield* keepBlocks(transactions).create({ ...draft, content: "a" }, asked())
      const store = keepBlocks(transactions)
      const reads = () => looks.filter((name) => name === "patches").length
      assert.strictEqual((yield* store.load(system, block))?.text, "a")
      assert.lengthOf(yield* store.list(system), 1)
      assert.strictEqual(reads(), 0)
      yield* store.change(block, asked(), append("b"))
      assert.strictEqual(reads(), 1)
      yield* store.change(block, asked(), append("c"))
      assert.strictEqual((yield* store.read(system, block)).text, "abc")
      assert.strictEqual(reads(), 1)
    })
  )

  it.effect("F93 what another store over the same rows has changed is seen", () =>
    Effect.gen(function* () {
      const disk = blockDisk()
      const [one, other] = [memoryBlockStore(disk), memoryBlockStore(disk)]
      const { block } = yield* one.create(draft, asked())
      for (const text of ["a", "b", "c", "d"]) {
        yield* one.change(block, asked(), append(text))
        yield* other.change(block, asked(), append(text.toUpperCase()))
      }
      assert.strictEqual((yield* one.read(system, block)).text, "aAbBcCdD")
    })
  )

  it.effect("F93 no more documents are in memory than allowed: the one asked for longest ago goes", () =>
    Effect.gen(function* () {
      const loro = yield* loadLoro
      const documents = new Documents(2)
      for (const id of ["a", "b", "c"]) documents.keep(id, 1, StructuredDocument.empty(loro, id, { kind: "text" }))
      assert.strictEqual(documents.size, 2)
      const { looks, transactions } = watched()
      const store = keepBlocks(transactions, { documents: 2 })
      const ids: Array<string> = []
      for (const label of ["a", "b", "c"]) ids.push((yield* store.create({ ...draft, label }, asked())).block)
      looks.length = 0
      const readAgain = (index: number) =>
        Effect.gen(function* () {
          const before = looks.filter((name) => name === "patches").length
          yield* store.read(system, ids[index] ?? "")
          return looks.filter((name) => name === "patches").length > before
        })
      assert.deepStrictEqual([yield* readAgain(2), yield* readAgain(1), yield* readAgain(0)], [false, false, true])
      assert.deepStrictEqual([yield* readAgain(1), yield* readAgain(2)], [false, true])
    })
  )

  it.effect("F93 a change that was not kept after all is in no document either", () =>
    Effect.gen(function* () {
      const disk = blockDisk()
      const right = memoryTransactions(disk)
      let isFull = false
      const failing: BlockTransactions = {
        ...right,
        write: (operation, run) =>
          Effect.suspend(() => {
            if (!isFull) return right.write(operation, run)
            const undos: Array<() => void> = []
            const silent = { ...rowsOf(disk), putAnswer: () => {}, putBlock: () => {}, putVersion: () => {} }
            return Effect.andThen(
              Effect.fromResult(run(silent, (undo) => undos.push(undo))),
              Effect.suspend(() => {
                for (const undo of undos) undo()
                return Effect.die(new Error("the disk is full"))
              })
            )
          })
      }
      const store = keepBlocks(failing)
      const { block } = yield* store.create({ ...draft, content: "a" }, asked())
      isFull = true
      yield* Effect.exit(store.change(block, asked(), append("lost")))
      isFull = false
      yield* store.change(block, asked(), append("b"))
      assert.strictEqual((yield* store.read(system, block)).text, "ab")
    })
  )

  it.effect("a block that is damaged is reported by its name and keeps no one from another one", () =>
    Effect.gen(function* () {
      const disk = blockDisk()
      const store = memoryBlockStore(disk, { documents: 0 })
      const { block } = yield* store.create({ ...draft, content: "a" }, asked())
      const other = yield* store.create({ ...draft, label: "other", content: "b" }, asked())
      for (const [name, versions] of disk.versions) {
        if (name.includes(block)) disk.versions.set(name, versions.slice(1))
      }
      const failure = yield* Effect.flip(store.change(block, asked(), append("x")))
      assert.strictEqual(failure._tag, "BlockUnreadable")
      assert.include(failure.message, "notes is damaged")
      yield* store.change(other.block, asked(), append("x"))
      assert.strictEqual((yield* store.load(system, block))?.text, "a")
    })
  )
})

describe("settings", () => {
  it.effect("F92 F101 an owner moves the window on a long text, of a section too", () =>
    Effect.gen(function* () {
      const store = memoryBlockStore()
      const { block } = yield* store.create({ ...draft, content: "a\nb\nc" }, asked())
      const viewport = { startLine: 2, displayLines: 1 }
      yield* store.configure(block, asked(), { set: "viewport", viewport })
      assert.strictEqual((yield* store.load(system, block))?.text, "[Showing lines 2-2 of 3]\nb")
      assert.strictEqual((yield* store.read(system, block)).content, "a\nb\nc")
      yield* store.change(block, asked(), append("\nd"))
      assert.strictEqual((yield* store.load(system, block))?.text, "[Showing lines 2-2 of 4]\nb")
      yield* store.configure(block, asked(), { set: "viewport", viewport: null })
      assert.strictEqual((yield* store.load(system, block))?.text, "a\nb\nc\nd")
      const schema = { kind: "composite", sections: [{ name: "log", schema: { kind: "text" } }] } as const
      const whole = yield* store.create({ ...draft, label: "whole", schema, content: { log: "a\nb" } }, asked())
      yield* store.configure(whole.block, asked(), { set: "viewport", viewport, section: "log" })
      assert.strictEqual((yield* store.load(system, whole.block))?.text, "=== log ===\n[Showing lines 2-2 of 2]\nb")
    })
  )

  it.effect("F92 a schema may change as long as the kind stays and what is held fits it", () =>
    Effect.gen(function* () {
      const store = memoryBlockStore()
      const schema = { kind: "map", fields: [{ name: "age", type: "text" }] } as const
      const { block } = yield* store.create({ ...draft, schema, content: { age: "three" } }, asked())
      const set = (fields: ReadonlyArray<{ name: string; type: "text" | "number"; readOnly?: boolean }>) =>
        Effect.result(store.configure(block, asked(system), { set: "schema", schema: { kind: "map", fields } }))
      const other = store.configure(block, asked(system), { set: "schema", schema: { kind: "text" } })
      assert.include((yield* Effect.flip(other)).message, "it is a map and stays one")
      assert.isTrue(Result.isFailure(yield* set([{ name: "age", type: "number" }])))
      assert.isTrue(
        Result.isSuccess(
          yield* set([
            { name: "age", type: "text", readOnly: true },
            { name: "name", type: "text" }
          ])
        )
      )
      assert.strictEqual((yield* store.load(system, block))?.text, "age [read-only]: three")
    })
  )

  it.effect("F89 core blocks can not be swapped out, logs stay logs, and what was put away comes back with a pin", () =>
    Effect.gen(function* () {
      const store = memoryBlockStore()
      const make = (label: string, type: "core" | "log" | "working") =>
        Effect.map(store.create({ ...draft, label, type }, asked()), ({ block }) => block)
      const [core, log, work] = [yield* make("c", "core"), yield* make("l", "log"), yield* make("w", "working")]
      for (const id of [core, log]) {
        const refused = yield* Effect.flip(store.configure(id, asked(), { set: "type", type: "archival" }))
        assert.strictEqual(refused._tag, "BlockRefused")
        const pinned = yield* Effect.flip(store.configure(id, asked(), { set: "pinned", pinned: true }))
        assert.strictEqual(pinned._tag, "BlockRefused")
      }
      yield* store.configure(work, asked(), { set: "type", type: "archival" })
      assert.deepInclude(yield* store.load(system, work), { type: "archival", pinned: false })
      yield* store.configure(work, asked(), { set: "pinned", pinned: true })
      assert.deepInclude(yield* store.load(system, work), { type: "working", pinned: true })
      yield* store.configure(core, asked(system), { set: "type", type: "working" })
    })
  )
})
