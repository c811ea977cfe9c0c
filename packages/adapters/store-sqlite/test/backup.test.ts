import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { backupDirectory, openSqliteStore, restoreDirectory } from "@reverie/store-sqlite"
import { anAddress, anEntry, anEnvelope, aState } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { aDirectory } from "./directories.ts"

const address = anAddress()

/** A directory with an assistant and some of its mail, which no one works on. */
const lived = (directory: string, mail: ReadonlyArray<string> = ["first"]) =>
  Effect.gen(function* () {
    const { ledger, mailbox } = yield* openSqliteStore(directory)
    yield* ledger.create({ address, state: aState(), entry: anEntry() })
    for (const id of mail) yield* mailbox.accept(anEnvelope({ id, to: address }))
  }).pipe(Effect.scoped)

const acceptedIn = (directory: string) =>
  Effect.gen(function* () {
    const { ledger } = yield* openSqliteStore(directory)
    return (yield* ledger.totals).accepted
  }).pipe(Effect.scoped)

/** A directory that was lived in, and two backups of it. */
const twiceKept = Effect.gen(function* () {
  const data = aDirectory()
  yield* lived(data)
  const [first, second] = [join(dirname(data), "first"), join(dirname(data), "second")]
  for (const to of [first, second]) yield* backupDirectory(data, to)
  return { data, first, second }
})

/** Everything below a directory, with its bytes. */
const wholeOf = (directory: string): ReadonlyArray<readonly [string, string]> =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
    .map((file) => [file, readFileSync(file, "latin1")] as const)

/** Refused, whatever was asked for, with everything around as it was. */
const assertRefused = (data: string, target: string, words: RegExp) =>
  Effect.gen(function* () {
    const around = dirname(data)
    const before = wholeOf(around)
    for (const force of [false, true]) {
      const { _tag, message } = yield* Effect.flip(backupDirectory(data, target, { force }))
      assert.strictEqual(_tag, "BackupRefused")
      assert.match(message, words)
      assert.notInclude(message, "\n")
    }
    assert.deepStrictEqual(wholeOf(around), before)
  })

describe("what a backup may replace", () => {
  it.live("T1 a directory of other things stays, also with a list that reads as none", () =>
    Effect.gen(function* () {
      const data = aDirectory()
      yield* lived(data)
      const other = join(dirname(data), "other")
      mkdirSync(other)
      writeFileSync(join(other, "thesis.txt"), "years")
      yield* assertRefused(data, other, /other: it holds other things \(thesis\.txt\) and no readable backup\.json/)
      writeFileSync(join(other, "backup.json"), '{"format":1}')
      yield* assertRefused(data, other, /other: it holds other things .* so it is no backup; name another directory/)
      yield* assertRefused(data, join(other, "thesis.txt"), /thesis\.txt: it is no directory/)
    })
  )

  it.live("T1 a backup in which something else lies stays, and so does one that a fleet has worked on", () =>
    Effect.gen(function* () {
      const { data, first, second } = yield* twiceKept
      writeFileSync(join(first, "thesis.txt"), "years")
      yield* assertRefused(data, first, /first: it holds more than a backup: thesis\.txt; move that away/)
      yield* acceptedIn(second)
      yield* assertRefused(data, second, /second: it holds more than a backup: (owner\.lock|reverie\.mark)/)
    })
  )

  it.live("T2 the data directory, what it lies in and what lies in it stay, by whatever path they are reached", () =>
    Effect.gen(function* () {
      const around = aDirectory()
      const data = join(around, "deep", "data")
      mkdirSync(join(around, "deep"), { recursive: true, mode: 0o700 })
      yield* lived(data)
      writeFileSync(join(around, "thesis.txt"), "years")
      const link = join(around, "link")
      symlinkSync(data, link)
      const itself = /it is the data directory itself; name another directory/
      for (const path of [data, `${data}/`, link, join(data, "..", "data")]) yield* assertRefused(data, path, itself)
      yield* assertRefused(link, data, itself)
      yield* assertRefused(data, around, /the data directory .*data lies in it; name another directory/)
      yield* assertRefused(
        data,
        join(link, "backup"),
        /it lies in the data directory .*; name a directory outside of it/
      )
      // Not even where it is a backup by its list, as a backup is that was copied to be worked on.
      const copy = join(around, "copy")
      yield* backupDirectory(data, copy)
      yield* assertRefused(copy, copy, itself)
      yield* assertRefused(data, "", /data: no directory is named for its backup/)
    })
  )

  it.live("T1 T3 with force a backup is replaced, one that is reached through a link where it lies", () =>
    Effect.gen(function* () {
      const data = aDirectory()
      yield* lived(data)
      const [disk, link] = [join(dirname(data), "disk"), join(dirname(data), "nightly")]
      mkdirSync(disk)
      symlinkSync(disk, link)
      yield* backupDirectory(data, link)
      const { message } = yield* Effect.flip(backupDirectory(data, link))
      assert.match(message, /there is a backup already; name another directory, or say --force to replace it/)
      yield* lived(join(dirname(data), "later"), ["one", "two", "three"])
      yield* backupDirectory(join(dirname(data), "later"), link, { force: true })
      assert.strictEqual(realpathSync(link), realpathSync(disk))
      assert.deepStrictEqual(readdirSync(dirname(data)).toSorted(), ["data", "disk", "later", "nightly"])
      const back = join(dirname(data), "back")
      yield* restoreDirectory(link, back)
      assert.strictEqual(yield* acceptedIn(back), 3)
    })
  )

  it.live(
    "T3 one that broke off while it was given its name leaves the backup of before, and hinders no later one",
    () =>
      Effect.gen(function* () {
        const data = aDirectory()
        yield* lived(data)
        const to = join(dirname(data), "to")
        const former = join(dirname(data), ".to.partial.former")
        yield* backupDirectory(data, to)
        renameSync(to, former)
        const { message } = yield* Effect.flip(backupDirectory(data, to))
        assert.match(message, /there is a backup already/)
        assert.isTrue(existsSync(join(to, "backup.json")))
        // Ended before the one of before was taken away.
        yield* backupDirectory(data, former)
        yield* backupDirectory(data, to, { force: true })
        assert.deepStrictEqual(readdirSync(dirname(data)).toSorted(), ["data", "to"])
      })
  )
})

describe("where a backup is put back", () => {
  it.live("T1 not into itself, nor into another backup", () =>
    Effect.gen(function* () {
      const { data, first, second } = yield* twiceKept
      const before = wholeOf(dirname(data))
      const refused = (into: string) => Effect.flip(restoreDirectory(first, into, { force: true }))
      assert.match((yield* refused(first)).message, /it is the backup itself; name another data directory/)
      assert.match((yield* refused(second)).message, /it is a backup, which would be none any more/)
      assert.deepStrictEqual(wholeOf(dirname(data)), before)
      yield* restoreDirectory(first, data, { force: true })
      assert.strictEqual(yield* acceptedIn(data), 1)
    })
  )
})
