// What anyone who only reads, or makes a backup, learns of a store that ends before what it had acknowledged.

import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { backupDirectory, openSqliteStore, restoreDirectory } from "@reverie/store-sqlite"
import { anAddress, anEntry, anEnvelope, aState } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { spawnChild } from "./children/spawn.ts"
import { aDirectory } from "./directories.ts"

const address = anAddress("early")

const accept = (directory: string, count: number) =>
  Effect.gen(function* () {
    const { ledger, mailbox } = yield* openSqliteStore(directory)
    const { accepted } = yield* ledger.totals
    if (accepted === 0) yield* ledger.create({ address, state: aState(), entry: anEntry() })
    for (let at = 0; at < count; at++) {
      yield* mailbox.accept(anEnvelope({ id: `early-${accepted + at}`, to: address }))
    }
  }).pipe(Effect.scoped)

/** A store that was closed, and what its database was before the last of its mail. */
const closed = Effect.gen(function* () {
  const directory = aDirectory()
  yield* accept(directory, 10)
  const older = readFileSync(join(directory, "reverie.db"))
  yield* accept(directory, 100)
  return { directory, older }
})

/** The same, killed while it was worked on again. */
const killed = Effect.gen(function* () {
  const begun = yield* closed
  const child = yield* spawnChild("busy.ts", begun.directory)
  let said = 0
  yield* Effect.promise(async () => {
    for await (const line of child.lines) if (line.startsWith("committed") && ++said === 10) break
  })
  yield* child.kill
  return begun
}).pipe(Effect.scoped)

/** What an opening for reading says, by its refusal or by itself. */
const saidOf = (directory: string) =>
  openSqliteStore(directory, { readOnly: true }).pipe(
    Effect.flatMap(({ loss }) => loss),
    Effect.map((loss) => loss?.message),
    Effect.catch(({ message }) => Effect.succeed<string | undefined>(message)),
    Effect.scoped
  )

const refusalOf = (directory: string) => Effect.flip(Effect.scoped(openSqliteStore(directory)))

interface Harm {
  readonly begun: typeof closed
  readonly harm: (directory: string, older: Uint8Array) => void
}

const replace = (directory: string, older: Uint8Array): void => writeFileSync(join(directory, "reverie.db"), older)

const harms: Readonly<Record<string, Harm>> = {
  "without its log": {
    begun: killed,
    harm: (directory) => {
      for (const name of ["reverie.db-wal", "reverie.db-wal-kept"]) rmSync(join(directory, name))
    }
  },
  "with half of its log": {
    begun: killed,
    harm: (directory) => {
      const log = join(directory, "reverie.db-wal")
      const bytes = readFileSync(log)
      writeFileSync(log, bytes.subarray(0, bytes.length / 2))
    }
  },
  "with an older database beside its log": { begun: killed, harm: replace },
  "with an older database": { begun: closed, harm: replace },
  "with an empty database": { begun: closed, harm: (directory) => replace(directory, new Uint8Array()) },
  "without its database": { begun: closed, harm: (directory) => rmSync(join(directory, "reverie.db")) }
}

describe("a store that has lost something", () => {
  for (const [what, { begun, harm }] of Object.entries(harms)) {
    it.live(`V4 B3 ${what} is reported as a start reports it, and no backup of it takes the place of a good one`, () =>
      Effect.gen(function* () {
        const { directory, older } = yield* begun
        const to = join(dirname(directory), "backup")
        const { accepted } = yield* backupDirectory(directory, to)
        harm(directory, older)
        const said = yield* saidOf(directory)
        const refused = yield* Effect.flip(backupDirectory(directory, to, { force: true }))
        assert.strictEqual(refused._tag, "BackupRefused")
        assert.match(refused.message, /: it has lost something: .*; put an earlier backup back \(reverie restore\), or/)
        const { _tag, message } = yield* refusalOf(directory)
        assert.strictEqual(_tag, "StoreShortened")
        assert.strictEqual(said, message)
        yield* restoreDirectory(to, directory, { force: true })
        assert.isUndefined(yield* saidOf(directory))
        const { ledger } = yield* openSqliteStore(directory)
        assert.strictEqual((yield* ledger.totals).accepted, accepted)
      })
    )
  }

  it.live("V4 B3 a log that was removed and is kept is named, and a backup waits until a start has taken it back", () =>
    Effect.gen(function* () {
      const { directory } = yield* killed
      rmSync(join(directory, "reverie.db-wal"))
      const to = join(dirname(directory), "backup")
      for (const _ of ["seen first", "seen again"]) {
        assert.match((yield* saidOf(directory)) ?? "", /kept as reverie\.db-wal-kept, from which the next start of its/)
      }
      const { message } = yield* Effect.flip(backupDirectory(directory, to))
      assert.match(message, /start its fleet once, which takes the rest back from reverie\.db-wal-kept$/)
      const accepted = yield* Effect.scoped(
        Effect.gen(function* () {
          const { ledger } = yield* openSqliteStore(directory)
          return (yield* ledger.totals).accepted
        })
      )
      assert.isUndefined(yield* saidOf(directory))
      assert.strictEqual((yield* backupDirectory(directory, to)).accepted, accepted)
    })
  )

  it.live("V4 nothing is said to be lost of a store that is worked on, or was closed, killed or never begun", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      assert.match((yield* saidOf(directory)) ?? "", /there is no Reverie data in it/)
      const child = yield* spawnChild("busy.ts", directory)
      let said = 0
      yield* Effect.promise(async () => {
        for await (const line of child.lines) {
          if (!line.startsWith("committed")) continue
          const loss = await Effect.runPromise(saidOf(directory))
          assert.isUndefined(loss)
          if (++said === 40) break
        }
      })
      yield* backupDirectory(directory, join(dirname(directory), "beside"))
      yield* child.kill
      assert.isUndefined(yield* saidOf(directory))
      yield* Effect.scoped(openSqliteStore(directory))
      assert.isUndefined(yield* saidOf(directory))
    })
  )
})
