// A data directory on a file system that may not be written.

import { execFileSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, it } from "@effect/vitest"
import { backupDirectory, openSqliteStore, restoreDirectory } from "@reverie/store-sqlite"
import { anAddress, anEntry, anEnvelope, aState } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { aDirectory } from "./directories.ts"

const address = anAddress()

const begun = Effect.fnUntraced(function* (directory: string) {
  const store = yield* openSqliteStore(directory)
  yield* store.ledger.create({ address, state: aState(), entry: anEntry() })
  yield* store.mailbox.accept(anEnvelope({ id: "first", to: address }))
})

/** A copy of a directory that may not be written, while the scope lasts; undefined where this process may not mount. */
const readOnlyCopy = (of: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const path = aDirectory()
      mkdirSync(path)
      try {
        execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m,mode=700", "tmpfs", path], { stdio: "ignore" })
      } catch {
        return undefined
      }
      cpSync(of, path, { recursive: true })
      return path
    }),
    (path) => Effect.sync(() => path === undefined || execFileSync("umount", [path]))
  )

const seal = (path: string): void => void execFileSync("mount", ["-o", "remount,ro", path])

it.effect.skipIf(process.getuid?.() !== 0)(
  "B3 a directory that was closed is backed up from where nothing may be written, and opens",
  (context) =>
    Effect.gen(function* () {
      const data = aDirectory()
      yield* Effect.scoped(begun(data))
      const disk = yield* readOnlyCopy(data)
      if (disk === undefined) return context.skip("this process may not mount a file system")
      seal(disk)
      const [to, back] = [join(dirname(data), "backup"), join(dirname(data), "back")]
      const { accepted } = yield* backupDirectory(disk, to)
      assert.strictEqual(accepted, 1)
      yield* restoreDirectory(to, back)
      const { ledger } = yield* openSqliteStore(back)
      assert.strictEqual((yield* ledger.totals).accepted, 1)
    })
)

it.effect.skipIf(process.getuid?.() !== 0)(
  "B3 one with a log that can not be read there is refused, and the sentence says what to do; nothing of it is left out",
  (context) =>
    Effect.gen(function* () {
      const data = aDirectory()
      yield* begun(data)
      assert.isTrue(existsSync(join(data, "reverie.db-wal")))
      const disk = yield* readOnlyCopy(data)
      if (disk === undefined) return context.skip("this process may not mount a file system")
      rmSync(join(disk, "reverie.db-shm"), { force: true })
      seal(disk)
      const { _tag, message } = yield* Effect.flip(backupDirectory(disk, join(dirname(data), "backup")))
      assert.strictEqual(_tag, "BackupRefused")
      assert.match(message, /read-only.*copy the directory/)
      assert.isFalse(existsSync(join(dirname(data), "backup")))
    })
)
