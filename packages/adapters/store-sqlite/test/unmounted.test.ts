// A directory of segments whose disk is not mounted: it takes no new one, and nothing is made in its place.

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { openSqliteStore, segmentDirectory } from "@reverie/store-sqlite"
import { plainLife } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { aDirectory } from "./directories.ts"
import { ada, failureOf, keysNoted, readingsOf } from "./placed-life.ts"

const AWAY =
  /the place of older segments cannot be reached: .*older segments of this store lie in its folder [a-z0-9]+, which is not there; mount/

for (const how of ["absent", "empty"] as const) {
  it.effect(`P4 D3 where the directory is ${how}, archiving and deleting wait, and nothing is made there`, () =>
    Effect.gen(function* () {
      const [data, above] = [aDirectory(), aDirectory()]
      const [root, disk] = [join(above, "mount"), join(above, "disk")]
      const store = yield* openSqliteStore(data, { segments: segmentDirectory(root) })
      yield* plainLife(store, 170)
      assert.isAbove((yield* store.archive.archive(ada, 90)).entries, 0)
      const before = yield* readingsOf(store)
      renameSync(root, disk)
      if (how === "empty") mkdirSync(root)
      const reached = yield* store.archive.reached(ada)
      for (const work of [store.archive.archive(ada, 160), store.archive.remove(ada, 150)]) {
        const failure = yield* failureOf(work)
        assert.match(failure.message, AWAY)
        assert.deepInclude(failure, { _tag: "LedgerUnavailable", recovery: "retry" })
      }
      assert.deepStrictEqual(yield* store.archive.reached(ada), reached)
      assert.strictEqual(existsSync(root), how === "empty")
      if (how === "empty") {
        assert.deepStrictEqual(readdirSync(root), [])
        rmSync(root, { recursive: true })
      }
      assert.deepStrictEqual(keysNoted(data), [])
      renameSync(disk, root)
      assert.deepStrictEqual(yield* readingsOf(store), before)
      assert.isAbove((yield* store.archive.archive(ada, 160)).entries, 0)
      assert.deepStrictEqual((yield* store.archive.apart())?.missing, [])
    })
  )
}

it.effect("P4 where a segment alone lacks it is missing, and archiving goes on", () =>
  Effect.gen(function* () {
    const [data, root] = [aDirectory(), aDirectory()]
    const store = yield* openSqliteStore(data, { segments: segmentDirectory(root) })
    yield* plainLife(store, 170)
    yield* store.archive.archive(ada, 90)
    const [folder = ""] = readdirSync(root)
    for (const name of readdirSync(join(root, folder))) rmSync(join(root, folder, name))
    assert.strictEqual((yield* failureOf(store.ledger.entries(ada, 1, 5)))._tag, "UnreadableRecord")
    assert.isAbove((yield* store.archive.archive(ada, 160)).entries, 0)
  })
)
