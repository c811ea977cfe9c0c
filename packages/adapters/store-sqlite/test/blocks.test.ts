import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, it } from "@effect/vitest"
import { BlockStore } from "@reverie/memory"
import { TenantId } from "@reverie/protocol"
import { openSqliteStore, storeSqliteLayer } from "@reverie/store-sqlite"
import { atLength } from "@reverie/testkit/length"
import * as Effect from "effect/Effect"
import { linesUntilKilled } from "./children/spawn.ts"
import { aDirectory } from "./directories.ts"

const tenant = TenantId.make("harbor")
const viewer = { tenant, by: "ada" }
const draft = { owner: "ada", label: "notes", type: "working" as const }

/** Lines that each life of the child may say before it is killed; it is always in the middle of something. */
const LIVES = [1, 30, ...atLength([], [120, 400])]

it.live(
  "F93 K2 K3 I1 after a SIGKILL every change that was answered is there once, and none is there in part",
  () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      const said: Array<string> = []
      for (const lineCount of LIVES) said.push(...(yield* linesUntilKilled("editing.ts", directory, lineCount)))
      assert.isAtLeast(
        said.length,
        LIVES.reduce((sum, count) => sum + count)
      )
      const { blocks } = yield* openSqliteStore(directory)
      const all = yield* blocks.list(viewer)
      assert.lengthOf(all, 4)
      const told = new Set<string>()
      for (const { id, label, text, version } of all) {
        const index = label.slice("list-".length)
        const versions = yield* blocks.versions(viewer, id, { limit: 100_000 })
        assert.lengthOf(versions, version)
        const { content, text: read } = yield* blocks.read(viewer, id)
        assert.strictEqual(read, text)
        const numbers = (content as ReadonlyArray<string>).map((item) => Number(item.split(" ")[0]))
        assert.deepStrictEqual(
          numbers,
          Array.from({ length: version - 1 }, (_, at) => at + 2)
        )
        for (const number of numbers) told.add(`${index} ${index}/${number} ${number}`)
        const again = yield* blocks.change(
          id,
          { ...viewer, key: `${index}/${version}`, at: 0 },
          { op: "push_item", value: (content as ReadonlyArray<string>).at(-1) ?? "" }
        )
        assert.strictEqual(again.version, version)
        assert.strictEqual((yield* blocks.load(viewer, id))?.version, version)
      }
      assert.deepStrictEqual(
        said.filter((line) => !told.has(line)),
        []
      )
      const database = new DatabaseSync(join(directory, "reverie.db"), { readOnly: true })
      assert.strictEqual(Object.values(database.prepare("PRAGMA integrity_check").get() ?? {})[0], "ok")
      database.close()
    }),
  60_000
)

it.effect("F93 blocks of a store that is opened again are the same, with their past", () =>
  Effect.gen(function* () {
    const directory = aDirectory()
    const open = openSqliteStore(directory)
    const look = (id: string) =>
      Effect.flatMap(open, ({ blocks }) =>
        Effect.all([
          blocks.list(viewer),
          blocks.read(viewer, id, 1),
          blocks.read(viewer, id),
          blocks.versions(viewer, id)
        ])
      )
    const { before, id } = yield* Effect.scoped(
      Effect.gen(function* () {
        const { blocks } = yield* open
        const { block: id } = yield* blocks.create({ ...draft, content: "a" }, { ...viewer, key: "1", at: 1 })
        yield* blocks.change(id, { ...viewer, key: "2", at: 2 }, { op: "append_text", text: "b" })
        yield* blocks.undo(id, { ...viewer, key: "3", at: 3 })
        const all = yield* Effect.all([
          blocks.list(viewer),
          blocks.read(viewer, id, 1),
          blocks.read(viewer, id),
          blocks.versions(viewer, id)
        ])
        return { before: all, id }
      })
    )
    assert.deepStrictEqual(yield* Effect.scoped(look(id)), before)
    assert.strictEqual(before[2].text, "a")
  })
)

it.effect("an opening for reading shows blocks and refuses to change them", () =>
  Effect.gen(function* () {
    const directory = aDirectory()
    const owner = yield* openSqliteStore(directory)
    const { block } = yield* owner.blocks.create({ ...draft, content: "a" }, { ...viewer, key: "1", at: 1 })
    const reader = yield* openSqliteStore(directory, { readOnly: true })
    assert.deepStrictEqual(yield* reader.blocks.list(viewer), yield* owner.blocks.list(viewer))
    assert.strictEqual((yield* reader.blocks.read(viewer, block)).text, "a")
    const change = reader.blocks.change(block, { ...viewer, key: "2", at: 2 }, { op: "append_text", text: "b" })
    assert.strictEqual((yield* Effect.flip(change))._tag, "BlockStoreUnavailable")
  })
)

it.effect("the layer of a store has a store of blocks", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* BlockStore.use((store) => store.list(viewer)), [])
  }).pipe(Effect.provide(storeSqliteLayer(":memory:")))
)
