import { execFileSync } from "node:child_process"
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync
} from "node:fs"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { fileURLToPath } from "node:url"
import { openSqliteStore } from "@reverie/store-sqlite"
import { anAddress, anEntry, anEnvelope, aState } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { linesUntilKilled } from "./children/spawn.ts"
import { aDirectory } from "./directories.ts"
import { type StoreOptions } from "../src/store.ts"

const MEBIBYTE = 1024 * 1024
const address = anAddress()
const message = (id: string, chars: number) =>
  anEnvelope({ id, to: address, event: { type: "message", text: "x".repeat(chars) } })

/** Fills a store until it refuses; answers the ids that it had accepted, and the refusal. */
const filled = (directory: string, options?: StoreOptions) =>
  Effect.gen(function* () {
    const store = yield* openSqliteStore(directory, options)
    yield* store.ledger.create({ address, state: aState(), entry: anEntry() })
    const accepted: Array<string> = []
    for (;;) {
      const id = `m-${accepted.length}`
      const outcome = yield* Effect.result(store.mailbox.accept(message(id, 20_000)))
      if (Result.isFailure(outcome)) return { store, accepted, error: outcome.failure }
      accepted.push(id)
    }
  })

const pendingIds = ({ mailbox }: Effect.Success<ReturnType<typeof filled>>["store"]) =>
  Effect.map(mailbox.pending(address, ["mail"], 64), (rows) => rows.map(({ id }) => String(id)))

it.effect(
  "W2 a write for which there is no room is refused in a sentence, and nothing of it or before it is lost",
  () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      const accepted = yield* Effect.scoped(
        Effect.gen(function* () {
          const { store, accepted, error } = yield* filled(directory, { maxBytes: MEBIBYTE })
          assert.strictEqual(error._tag, "MailboxUnavailable")
          assert.include(error.message, "no space is left")
          assert.isAbove(accepted.length, 10)
          assert.deepStrictEqual(yield* pendingIds(store), accepted)
          const small = yield* store.mailbox.claim({ address, worker: "worker-1", leaseMillis: 1_000 })
          assert.strictEqual(small.version, 1)
          return accepted
        })
      )
      const { ledger, mailbox } = yield* openSqliteStore(directory)
      assert.strictEqual((yield* ledger.totals).accepted, accepted.length)
      assert.strictEqual((yield* mailbox.accept(message("late", 20_000))).outcome, "accepted")
    })
)

/** Writes a file until no space is left. */
const fillUp = (file: string): void => {
  const fd = openSync(file, "w")
  try {
    for (;;) writeSync(fd, Buffer.alloc(4_096))
  } catch (error) {
    assert.include(String(error), "ENOSPC")
  } finally {
    closeSync(fd)
  }
}

/** A file system of two megabytes at the path, while the scope lasts; undefined where this process may not mount. */
const aSmallDisk = Effect.acquireRelease(
  Effect.sync(() => {
    const path = aDirectory()
    mkdirSync(path)
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", path], { stdio: "ignore" })
      return path
    } catch {
      return undefined
    }
  }),
  (path) => Effect.sync(() => path === undefined || execFileSync("umount", [path]))
)

it.effect.skipIf(process.getuid?.() !== 0)(
  "W2 on a full disk writes fail and reads work; with space again both do",
  (context) =>
    Effect.gen(function* () {
      const disk = yield* aSmallDisk
      if (disk === undefined) return context.skip("this process may not mount a file system")
      const ballast = join(disk, "ballast")
      writeFileSync(ballast, Buffer.alloc(MEBIBYTE))
      const directory = join(disk, "data")
      const accepted = yield* Effect.scoped(
        Effect.gen(function* () {
          const { store, accepted, error } = yield* filled(directory)
          assert.include(error.message, "no space is left")
          const commitLess = yield* Effect.flip(
            store.ledger.create({
              address: anAddress("bob"),
              state: aState({ snapshot: "x".repeat(50_000) }),
              entry: anEntry()
            })
          )
          assert.strictEqual(commitLess._tag, "LedgerUnavailable")
          assert.deepStrictEqual(yield* pendingIds(store), accepted)
          rmSync(ballast)
          yield* store.mailbox.accept(message("late", 20_000))
          return [...accepted, "late"]
        })
      )
      const { ledger } = yield* openSqliteStore(directory)
      assert.strictEqual((yield* ledger.totals).accepted, accepted.length)
      assert.strictEqual(yield* ledger.inspect(anAddress("bob")), undefined)
    })
)

it.effect.skipIf(process.getuid?.() !== 0)(
  "S1 a disk that is full or read-only at the opening is refused in a sentence",
  (context) =>
    Effect.gen(function* () {
      const disk = yield* aSmallDisk
      if (disk === undefined) return context.skip("this process may not mount a file system")
      const refusal = Effect.flip(Effect.scoped(openSqliteStore(disk)))
      const ballast = join(disk, "ballast")
      fillUp(ballast)
      assert.include((yield* refusal).message, "no space is left")
      rmSync(ballast)
      execFileSync("mount", ["-o", "remount,ro", disk])
      assert.include((yield* refusal).message, "check the permissions")
    })
)

const opener = fileURLToPath(new URL("children/refused.ts", import.meta.url))

const saidOf = (directory: string): string =>
  execFileSync(process.execPath, [opener, directory], { encoding: "utf8" }).trim()

/** What an opening says in a process whose files may not grow beyond 16 KiB, so that the index of the log has no room. */
const saidWithoutRoom = (directory: string, way: "work" | "read"): string => {
  const limited = `ulimit -f 16 && exec "$0" "$@"`
  return execFileSync("sh", ["-c", limited, process.execPath, opener, directory, way], { encoding: "utf8" }).trim()
}

it.live("V5 where the index of the log has no room, no space is left, and nothing is said to be lost", () =>
  Effect.gen(function* () {
    const directory = aDirectory()
    yield* linesUntilKilled("busy.ts", directory, 100)
    rmSync(join(directory, "reverie.db-shm"))
    const kept = ["reverie.db", "reverie.db-wal", "reverie.db-wal-kept", "reverie.mark"]
    assert.match(saidWithoutRoom(directory, "work"), /^StoreUnopenable .*: no space is left; free some and try again/)
    assert.notInclude(saidWithoutRoom(directory, "read"), "StoreShortened")
    assert.includeMembers(readdirSync(directory), kept)
    const { ledger } = yield* openSqliteStore(directory)
    assert.isAtLeast((yield* ledger.totals).accepted, 40)
  })
)

it.effect.skipIf(process.getuid?.() !== 0)(
  "V5 a store that was killed on a full disk is refused for the disk at any size of it, and opens with space again",
  (context) =>
    Effect.gen(function* () {
      const disk = yield* aSmallDisk
      if (disk === undefined) return context.skip("this process may not mount a file system")
      const directory = join(disk, "data")
      yield* linesUntilKilled("busy.ts", directory, 100)
      for (const free of [0, 24]) {
        const ballast = join(disk, "ballast")
        fillUp(ballast)
        truncateSync(ballast, statSync(ballast).size - free * 1_024)
        assert.match(saidOf(directory), /^(whole|StoreUnopenable .*no space is left)/, `${free} KiB`)
        rmSync(ballast)
      }
      rmSync(join(directory, "reverie.db-shm"), { force: true })
      for (const free of [0, 3]) {
        const { ffree, files } = statfsSync(disk)
        execFileSync("mount", ["-o", `remount,nr_inodes=${files - ffree + free}`, disk])
        assert.match(saidOf(directory), /^StoreUnopenable .*no space is left/, `${free} files`)
      }
      execFileSync("mount", ["-o", "remount,nr_inodes=1000", disk])
      assert.strictEqual(saidOf(directory), "whole")
    })
)
