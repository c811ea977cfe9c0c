// Lost segments that lie in the store itself, or sealed in a place: forgotten like those that lie in the clear apart.

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { type Bundle, bundleOfParts, lostSegments, withoutDamaged, withoutText } from "@reverie/ledger"
import { openSqliteStore } from "@reverie/store-sqlite"
import { MemorySegmentPlace, plainLife } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { aDirectory } from "./directories.ts"
import { anEncryption } from "./encryption.ts"
import { ada, failureOf, type Store, WORD } from "./placed-life.ts"

const without = (there: Bundle) => withoutDamaged(there, withoutText(WORD)(there))

const standing = ({ bundles }: Store) =>
  Effect.map(Stream.runCollect(bundles.pack(ada, { marksLost: true })), bundleOfParts)

const inDatabase = <A>(data: string, look: (database: DatabaseSync) => A): A => {
  const database = new DatabaseSync(join(data, "reverie.db"))
  try {
    return look(database)
  } finally {
    database.close()
  }
}

/** Only its creation is left of it. */
const emptied = ({ head, parts }: Bundle): Bundle =>
  head.kind === "tenant"
    ? { head, parts }
    : {
        head: { ...head, version: 1, handled: { control: 0, reply: 0, mail: 0 } },
        parts: parts.filter((part) => part.kind === "entry").slice(0, 1)
      }

describe("lost segments", () => {
  for (const encryption of [undefined, anEncryption()])
    it.effect(`L2 one that is damaged in its row is emptied, sealed: ${encryption !== undefined}`, () =>
      Effect.gen(function* () {
        const data = aDirectory()
        const options = encryption === undefined ? {} : { encryption }
        yield* Effect.scoped(
          Effect.gen(function* () {
            const store = yield* openSqliteStore(data, options)
            yield* plainLife(store, 80)
            yield* store.archive.archive(ada, 70)
          })
        )
        const rubbish = "rubbish-4711-of-kestrel-9713"
        inDatabase(data, (database) => database.prepare("UPDATE segments SET body = ?").run(Buffer.from(rubbish)))
        const store = yield* openSqliteStore(data, options)
        const there = yield* standing(store)
        const [made = there] = yield* store.bundles.rewrite([ada], without)
        assert.deepStrictEqual(lostSegments(there, made), [
          { segment: "1", from: 1, to: 70, state: "removed", comesBack: true }
        ])
        assert.isFalse(readFileSync(join(data, "reverie.db")).includes(rubbish))
        assert.match((yield* failureOf(store.ledger.entries(ada, 1, 10))).message, /segment 1 cannot be read/)
        assert.strictEqual((yield* store.ledger.entries(ada, 71, 100)).length, 11)
      })
    )

  it.effect("L1 a sealed life of which one is lost is forgotten whole, and its keys go", () =>
    Effect.gen(function* () {
      const [data, place, encryption] = [aDirectory(), new MemorySegmentPlace(), anEncryption()]
      const options = { segments: place.service, encryption }
      const bytes = yield* Effect.scoped(
        Effect.gen(function* () {
          const store = yield* openSqliteStore(data, options)
          yield* plainLife(store, 150)
          yield* store.archive.archive(ada, 70)
          yield* store.archive.archive(ada, 140)
          const [, second] = [...place.objects]
          place.objects.delete(second?.[0] ?? "")
          return second
        })
      )
      const store = yield* openSqliteStore(data, options)
      const there = yield* standing(store)
      assert.deepInclude(lostSegments(there, there)[0], { from: 71, to: 140, state: "missing" })
      yield* store.bundles.rewrite([ada], without)
      yield* store.bundles.rewrite([ada], emptied)
      yield* store.bundles.shred([ada])
      place.objects.set(bytes?.[0] ?? "", bytes?.[1] ?? new Uint8Array())
      assert.strictEqual((yield* store.ledger.entries(ada, 1, 200)).length, 1)
      assert.deepStrictEqual((yield* store.archive.apart(true))?.missing, [])
    })
  )
})
