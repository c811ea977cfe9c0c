import { execFileSync } from "node:child_process"
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { openSqliteStore } from "@reverie/store-sqlite"
import { anAddress, anEntry, anEnvelope, aState } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { firstLine, spawnChild } from "./children/spawn.ts"
import { aDirectory } from "./directories.ts"
import { type StoreOptions } from "../src/store.ts"

const address = anAddress()
const files = (directory: string): ReadonlyArray<string> => readdirSync(directory).map((name) => join(directory, name))

/** An open store with one assistant, in a fresh directory. */
const opened = (options?: StoreOptions) =>
  Effect.gen(function* () {
    const directory = aDirectory()
    const store = yield* openSqliteStore(directory, options)
    yield* store.ledger.create({ address, state: aState(), entry: anEntry() })
    yield* store.mailbox.accept(anEnvelope({ id: "before", to: address }))
    return { directory, ...store }
  })

/** What another program does to a database when it looks into it. */
const lookFromOutside = (directory: string, sql = "SELECT count(*) FROM ledger"): void => {
  const code = `const d = new (require("node:sqlite").DatabaseSync)(${JSON.stringify(join(directory, "reverie.db"))}); d.prepare(${JSON.stringify(sql)}).all(); d.close()`
  execFileSync(process.execPath, ["--disable-warning=ExperimentalWarning", "-e", code])
}

const acceptIn = (directory: string) =>
  Effect.gen(function* () {
    const { ledger } = yield* openSqliteStore(directory)
    return (yield* ledger.totals).accepted
  }).pipe(Effect.scoped)

describe("files that are no longer the store's own", () => {
  const ways: ReadonlyArray<readonly [string, string, (directory: string) => void]> = [
    ["removed", "was removed, moved or replaced", (directory) => rmSync(directory, { recursive: true })],
    ["moved", "was removed, moved or replaced", (directory) => renameSync(directory, `${directory}-elsewhere`)],
    [
      "without its log",
      "reverie.db-wal was removed or replaced",
      (directory) => rmSync(join(directory, "reverie.db-wal"))
    ],
    [
      "without its database",
      "reverie.db was removed or replaced",
      (directory) => rmSync(join(directory, "reverie.db"))
    ],
    [
      "written over in place",
      "another program wrote",
      (directory) => writeFileSync(join(directory, "reverie.db"), readFileSync(join(directory, "reverie.db")))
    ],
    [
      "written by another program",
      "another program wrote",
      (directory) => lookFromOutside(directory, "UPDATE assistants SET epoch = epoch + 1")
    ]
  ]
  for (const [what, sentence, attack] of ways) {
    it.live(`G1 S1 ${what}: nothing more is acknowledged, and the end is reported without being asked`, () =>
      Effect.gen(function* () {
        const { directory, lost, mailbox } = yield* opened()
        const ending = yield* Effect.forkChild(Effect.flip(lost), { startImmediately: true })
        attack(directory)
        const refused = yield* Effect.flip(mailbox.accept(anEnvelope({ id: "after", to: address })))
        assert.strictEqual(refused._tag, "MailboxUnavailable")
        assert.include(refused.message, sentence)
        const { _tag, message } = yield* Fiber.join(ending)
        assert.deepStrictEqual([_tag, message], ["StoreLost", refused.message])
        const again = yield* Effect.flip(mailbox.accept(anEnvelope({ id: "again", to: address })))
        assert.strictEqual(again._tag === "MailboxUnavailable" && again.recovery, "stop")
      })
    )
  }

  it.live("G1 at rest it is noticed too", () =>
    Effect.gen(function* () {
      const { directory, lost } = yield* opened()
      rmSync(directory, { recursive: true })
      assert.include((yield* Effect.flip(lost)).message, "was removed")
    })
  )

  it.live("S1 a database that was written over is left as it was put there", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      const copy = `${directory}-copy`
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { ledger, mailbox } = yield* openSqliteStore(directory)
          yield* ledger.create({ address, state: aState(), entry: anEntry() })
          yield* mailbox.accept(anEnvelope({ id: "copied", to: address }))
        })
      )
      cpSync(directory, copy, { recursive: true })
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { mailbox } = yield* openSqliteStore(directory)
          yield* mailbox.accept(anEnvelope({ id: "later", to: address }))
          for (const name of readdirSync(copy)) cpSync(join(copy, name), join(directory, name))
          yield* Effect.flip(mailbox.accept(anEnvelope({ id: "after", to: address })))
        })
      )
      assert.deepStrictEqual(readFileSync(join(directory, "reverie.db")), readFileSync(join(copy, "reverie.db")))
    })
  )
})

describe("readers", () => {
  it.live(
    "G2 anyone who reads, hashes or copies the files inside the process, and looks from outside, loses nothing",
    () =>
      Effect.gen(function* () {
        const directory = aDirectory()
        const child = yield* spawnChild("reading.ts", directory)
        const said: Array<string> = []
        yield* Effect.promise(async () => {
          for await (const line of child.lines) {
            if (line === "read everything") lookFromOutside(directory)
            said.push(line)
            if (said.length === 60 || line.startsWith("refused")) break
          }
        })
        yield* child.kill
        const accepted = said.filter((line) => line.startsWith("accepted")).length
        assert.isAbove(accepted, 0)
        assert.isAtLeast(yield* acceptIn(directory), accepted)
      })
  )

  it.live("O4 a process that lost its locks by reading keeps its directory", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      const child = yield* spawnChild("reading.ts", directory)
      yield* firstLine(child)
      yield* Effect.promise(async () => {
        for await (const line of child.lines) if (line === "read everything") break
      })
      const error = yield* Effect.flip(Effect.scoped(openSqliteStore(directory)))
      assert.deepInclude(error, { _tag: "StoreBusy", pid: child.pid })
      // Linux has the name; elsewhere than in this test the number of the process would do.
      rmSync(join(directory, "owner.pid"))
      assert.strictEqual((yield* Effect.flip(Effect.scoped(openSqliteStore(directory))))._tag, "StoreBusy")
    })
  )

  it.live("O1 of two starts at once one owns", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      const open = Effect.result(Effect.as(openSqliteStore(directory), "owns"))
      const results = yield* Effect.scoped(Effect.all([open, open, open], { concurrency: "unbounded" }))
      assert.strictEqual(results.filter(({ _tag }) => _tag === "Success").length, 1)
    })
  )
})

describe("rights", () => {
  it.effect("R1 everything is for its owner alone, whatever the umask and no matter who made the directory", () =>
    Effect.gen(function* () {
      const before = process.umask(0)
      try {
        const directory = aDirectory()
        execFileSync("mkdir", ["-m", "755", directory])
        yield* Effect.scoped(openSqliteStore(directory))
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* openSqliteStore(directory)
            const modes = files(directory).map((file) => [file, statSync(file).mode & 0o777])
            assert.isAtLeast(modes.length, 5)
            for (const [file, mode] of modes) assert.strictEqual(mode, 0o600, String(file))
            assert.strictEqual(statSync(directory).mode & 0o777, 0o700)
          })
        )
      } finally {
        process.umask(before)
      }
    })
  )

  it.effect("R1 what was open to others is closed", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      yield* Effect.scoped(openSqliteStore(directory))
      execFileSync("chmod", ["-R", "a+rwX", directory])
      yield* Effect.scoped(openSqliteStore(directory))
      assert.deepStrictEqual(
        [...new Set([directory, ...files(directory)].map((path) => statSync(path).mode & 0o077))],
        [0]
      )
    })
  )

  it.effect("R2 a directory with other things in it that others may enter is refused, and nothing is written", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      execFileSync("mkdir", ["-m", "755", directory])
      writeFileSync(join(directory, "letter.txt"), "of someone else")
      const error = yield* Effect.flip(Effect.scoped(openSqliteStore(directory)))
      assert.strictEqual(error._tag, "StoreExposed")
      assert.include(error.message, "it holds other files too: letter.txt (mode 755); name a directory of its own")
      assert.deepStrictEqual(readdirSync(directory), ["letter.txt"])
      assert.strictEqual(statSync(directory).mode & 0o777, 0o755)
      execFileSync("chmod", ["700", directory])
      yield* Effect.scoped(openSqliteStore(directory))
    })
  )

  it.effect.skipIf(process.getuid?.() !== 0)("R2 a directory of another user is refused", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      execFileSync("mkdir", ["-m", "755", directory])
      execFileSync("chown", ["12345", directory])
      const error = yield* Effect.flip(Effect.scoped(openSqliteStore(directory)))
      assert.include(error.message, "it belongs to another user")
    })
  )
})

describe("the log", () => {
  it.live("S2 V3 a log that another program removed is found again under its second name", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      const child = yield* spawnChild("busy.ts", directory)
      let said = 0
      yield* Effect.promise(async () => {
        for await (const line of child.lines) {
          if (line.startsWith("accepted")) said++
          if (said === 40) break
        }
      })
      yield* child.kill
      assert.isTrue(existsSync(join(directory, "reverie.db-wal-kept")))
      rmSync(join(directory, "reverie.db-wal"))
      rmSync(join(directory, "reverie.db-shm"))
      assert.isAtLeast(yield* acceptIn(directory), 40)
      assert.isFalse(existsSync(join(directory, "reverie.db-wal-kept")), "closed, it is one file")
    })
  )

  it.live("V3 a log that says no more than the database is not put back over what someone corrected by hand", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      const child = yield* spawnChild("busy.ts", directory)
      yield* firstLine(child)
      yield* child.kill
      // The shell moves the log into the database and removes it; the second name stays.
      lookFromOutside(directory, "UPDATE assistants SET epoch = 4711")
      assert.isFalse(existsSync(join(directory, "reverie.db-wal")))
      const { ledger } = yield* openSqliteStore(directory)
      assert.strictEqual((yield* ledger.list(undefined, 1))[0]?.epoch, 4711)
    })
  )
})

describe("a store that ends before what it acknowledged", () => {
  /** A closed store with so many accepted envelopes. */
  const holding = (count: number, directory: string = aDirectory()) =>
    Effect.gen(function* () {
      const { ledger, mailbox } = yield* openSqliteStore(directory)
      yield* ledger.create({ address, state: aState(), entry: anEntry() })
      for (let at = 0; at < count; at++) yield* mailbox.accept(anEnvelope({ id: `m-${count}-${at}`, to: address }))
      return directory
    }).pipe(Effect.scoped)

  const refusalOf = (directory: string) => Effect.flip(Effect.scoped(openSqliteStore(directory)))

  for (const [what, harm] of [
    ["emptied", (file: string) => writeFileSync(file, "")],
    ["removed", (file: string) => rmSync(file)]
  ] as const) {
    it.effect(`V1 a database that was ${what} is refused, and taken as it is only by force`, () =>
      Effect.gen(function* () {
        const directory = yield* holding(3)
        harm(join(directory, "reverie.db"))
        const error = yield* refusalOf(directory)
        assert.strictEqual(error._tag, "StoreShortened")
        assert.include(error.message, "reverie.db is missing or empty, though 3 messages and 1 commits had been kept")
        assert.include(error.message, "--force")
        yield* Effect.scoped(openSqliteStore(directory, { acceptLoss: true }))
        yield* Effect.scoped(openSqliteStore(directory))
      })
    )
  }

  it.effect("V1 V2 an older database in its place is refused with both numbers, and left as it is", () =>
    Effect.gen(function* () {
      const directory = yield* holding(2)
      const older = readFileSync(join(directory, "reverie.db"))
      yield* holding(5, directory)
      writeFileSync(join(directory, "reverie.db"), older)
      const error = yield* refusalOf(directory)
      assert.include(
        error.message,
        "it ends after 2 messages and 1 commits, though 7 messages and 1 commits had been kept"
      )
      assert.deepStrictEqual(readFileSync(join(directory, "reverie.db")), older)
      const { ledger } = yield* openSqliteStore(directory, { acceptLoss: true })
      assert.strictEqual((yield* ledger.totals).accepted, 2)
    })
  )

  it.live("V1 a log whose end was cut off or damaged after a kill is refused", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      const child = yield* spawnChild("busy.ts", directory)
      let said = 0
      yield* Effect.promise(async () => {
        for await (const line of child.lines) if (line.startsWith("committed") && ++said === 30) break
      })
      yield* child.kill
      const log = join(directory, "reverie.db-wal")
      const bytes = readFileSync(log)
      writeFileSync(log, bytes.subarray(0, bytes.length / 2))
      const error = yield* refusalOf(directory)
      assert.match(error.message, /it ends after \d+ messages and \d+ commits, though \d+ messages and \d+ commits had/)
      writeFileSync(log, bytes)
      yield* Effect.scoped(openSqliteStore(directory))
    })
  )

  it.live("V1 an older database beside a newer log is refused: together they are no store", () =>
    Effect.gen(function* () {
      const directory = yield* holding(40)
      const older = readFileSync(join(directory, "reverie.db"))
      yield* holding(400, directory)
      const child = yield* spawnChild("busy.ts", directory)
      let said = 0
      yield* Effect.promise(async () => {
        for await (const line of child.lines) if (line.startsWith("committed") && ++said === 30) break
      })
      yield* child.kill
      writeFileSync(join(directory, "reverie.db"), older)
      const error = yield* refusalOf(directory)
      assert.strictEqual(error._tag, "StoreShortened")
      assert.include(error.message, "reverie.db was replaced")
    })
  )

  it.effect("M2 a copy of a directory is a store of its own, whatever its mark says", () =>
    Effect.gen(function* () {
      const directory = yield* holding(2)
      const older = readFileSync(join(directory, "reverie.db"))
      yield* holding(3, directory)
      const copy = `${directory}-copy`
      cpSync(directory, copy, { recursive: true })
      writeFileSync(join(copy, "reverie.db"), older)
      const { ledger } = yield* openSqliteStore(copy)
      assert.strictEqual((yield* ledger.totals).accepted, 2)
    })
  )

  it.effect("M3 a mark that cannot be read is none", () =>
    Effect.gen(function* () {
      const directory = yield* holding(2)
      writeFileSync(join(directory, "reverie.mark"), "no mark")
      const { ledger } = yield* openSqliteStore(directory)
      assert.strictEqual((yield* ledger.totals).accepted, 2)
      const database = new DatabaseSync(join(directory, "reverie.db"), { readOnly: true })
      database.close()
    })
  )
})
