import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { brotliCompressSync, zstdDecompressSync } from "node:zlib"
import { assert, it } from "@effect/vitest"
import { bundleOfParts, type LedgerUnavailable } from "@reverie/ledger"
import { IN_MEMORY, openSqliteStore, type SqliteStore } from "@reverie/store-sqlite"
import { aMessage, anAddress, anEntry, anEnvelope, aState, plainLife } from "@reverie/testkit"
import { atLength } from "@reverie/testkit/length"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { describe } from "vitest"
import { linesUntilKilled } from "./children/spawn.ts"
import { aDirectory } from "./directories.ts"

const ada = anAddress("ada")
const WORD = "kestrel-9713"

/** A life of so many messages, with records that change. */
const lived = (store: SqliteStore["Service"], messages: number, from = 1) =>
  plainLife(store, messages, {
    from,
    recordsOf: (text, no) => [
      { kind: "fact", key: "newest", value: { text } },
      { kind: "fact", key: "parity", value: { even: no % 2 === 0 } }
    ]
  })

const readingsOf = Effect.fnUntraced(function* ({ bundles, ledger }: SqliteStore["Service"]) {
  return {
    entries: yield* ledger.entries(ada, 1, 1_000),
    outbox: yield* ledger.outbox(0, 1_000),
    recent: yield* ledger.recent(ada, 1_000_000),
    bundle: bundleOfParts(yield* Stream.runCollect(bundles.pack(ada))),
    totals: yield* ledger.totals
  }
})

const filesOf = (directory: string): Buffer =>
  Buffer.concat(
    readdirSync(directory)
      .filter((name) => name.startsWith("reverie."))
      .map((name) => readFileSync(join(directory, name)))
  )

/** What all segments say, uncompressed. */
const segmentsIn = (directory: string): string => {
  const database = new DatabaseSync(join(directory, "reverie.db"), { readOnly: true })
  try {
    return database
      .prepare("SELECT body FROM segments")
      .all()
      .map(({ body }) => zstdDecompressSync(body as Uint8Array).toString())
      .join("\n")
  } finally {
    database.close()
  }
}

describe("archiving", () => {
  it.effect("Z1 Z3 what is archived reads as before, once and in part, and what is newer stays where it was", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      const store = yield* openSqliteStore(directory)
      yield* lived(store, 200)
      const before = yield* readingsOf(store)
      assert.deepStrictEqual(yield* store.archive.archive(ada, 60), { entries: 0, envelopes: 0 })
      assert.deepStrictEqual(yield* store.archive.archive(ada, 120), { entries: 120, envelopes: 119 })
      assert.deepStrictEqual(yield* store.archive.archive(ada, 120), { entries: 0, envelopes: 0 })
      assert.deepStrictEqual(yield* readingsOf(store), before)
      assert.include(segmentsIn(directory), "message 120")
      assert.notInclude(segmentsIn(directory), "message 121")
      yield* lived(store, 20, 201)
      assert.strictEqual((yield* store.mailbox.accept(anEnvelope({ id: "m9", to: ada }))).outcome, "duplicate")
      const after = yield* readingsOf(store)
      assert.deepStrictEqual(after.entries.slice(0, 201), before.entries)
    })
  )

  it.effect("Z5 compacting gives back most of the room, and changes nothing that is read", () =>
    Effect.gen(function* () {
      const store = yield* openSqliteStore(aDirectory())
      yield* lived(store, 400)
      const before = yield* readingsOf(store)
      yield* store.archive.archive(ada, 400)
      const { bytesAfter, bytesBefore } = yield* store.archive.compact()
      assert.isBelow(bytesAfter, bytesBefore / 3)
      assert.deepStrictEqual(yield* readingsOf(store), before)
    })
  )

  it.effect("C1 a segment that a Node without zstd wrote is read by one that has it", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      const before = yield* Effect.scoped(
        Effect.gen(function* () {
          const store = yield* openSqliteStore(directory)
          yield* lived(store, 80)
          yield* store.archive.archive(ada, 70)
          return yield* readingsOf(store)
        })
      )
      const database = new DatabaseSync(join(directory, "reverie.db"))
      const body = database.prepare("SELECT body FROM segments").get()?.["body"] as Uint8Array
      const brotli = brotliCompressSync(zstdDecompressSync(body))
      database.prepare("UPDATE segments SET codec = 'brotli', body = ?").run(brotli)
      database.close()
      assert.deepStrictEqual(yield* readingsOf(yield* openSqliteStore(directory)), before)
    })
  )

  it.effect(
    "S3 A3 a segment that this program can not read is said by each of its entries, hides no other, and is not deleted",
    () =>
      Effect.gen(function* () {
        const directory = aDirectory()
        yield* Effect.scoped(
          Effect.gen(function* () {
            const store = yield* openSqliteStore(directory)
            yield* lived(store, 80)
            yield* store.archive.archive(ada, 70)
          })
        )
        const database = new DatabaseSync(join(directory, "reverie.db"))
        database.prepare("UPDATE segments SET codec = 'brotli', body = ?").run(brotliCompressSync("[1,2]\n{}"))
        database.close()
        const store = yield* openSqliteStore(directory)
        const outcome = yield* Effect.result(store.ledger.entries(ada, 3, 1))
        assert.ok(Result.isFailure(outcome) && outcome.failure._tag === "UnreadableRecord")
        assert.deepStrictEqual(
          (yield* store.ledger.entries(ada, 71, 1)).map(({ entry }) => entry.no),
          [71]
        )
        for (const change of [store.archive.remove(ada, 75), Stream.runCollect(store.bundles.pack(ada))]) {
          const refused = yield* Effect.result(change as Effect.Effect<unknown, LedgerUnavailable>)
          assert.ok(Result.isFailure(refused) && refused.failure.recovery === "tell-owner")
          assert.match(refused.failure.message, /^segment \d+ (cannot be read|does not have it)/)
        }
        assert.deepStrictEqual(yield* store.archive.reached(ada), { archived: 70, removed: 0, left: [] })
      })
  )
})

describe("deleting by a policy", () => {
  it.effect(
    "Z2 numbers, places, sums and duplicates stay; the words are in no byte, and the reason stands in their place",
    () =>
      Effect.gen(function* () {
        const directory = aDirectory()
        yield* Effect.scoped(
          Effect.gen(function* () {
            const store = yield* openSqliteStore(directory)
            yield* lived(store, 150)
            yield* store.archive.archive(ada, 100)
            const before = yield* readingsOf(store)
            assert.deepStrictEqual(yield* store.archive.remove(ada, 40), { entries: 40, envelopes: 39 })
            assert.deepStrictEqual(yield* store.archive.remove(ada, 40), { entries: 0, envelopes: 0 })
            assert.deepStrictEqual(yield* store.archive.reached(ada), { archived: 100, removed: 40, left: [] })
            const after = yield* readingsOf(store)
            assert.deepStrictEqual(after.entries.slice(40), before.entries.slice(40))
            assert.deepStrictEqual(after.totals, before.totals)
            assert.deepStrictEqual(
              after.outbox.map(({ entry, seq }) => [seq, entry.no, entry.settled]),
              before.outbox.map(({ entry, seq }) => [seq, entry.no, entry.settled])
            )
            const gone = after.entries.slice(1, 40).map(({ entry }) => entry)
            assert.isTrue(gone.every(({ deleted }) => deleted !== undefined))
            // A record that stands as the entry left it is memory, and stays.
            assert.deepStrictEqual(
              gone.flatMap(({ no, records = [] }) => records.map(({ key }) => `${no % 2} ${key}`)),
              gone.flatMap(({ no }) => (no % 2 === 1 ? ["1 parity"] : []))
            )
            assert.isTrue(
              gone.every(({ messages }) =>
                messages.every(({ content }) => content.startsWith("[deleted by retention on "))
              )
            )
            assert.strictEqual((yield* store.mailbox.accept(anEnvelope({ id: "m9", to: ada }))).outcome, "duplicate")
            assert.notInclude(segmentsIn(directory), WORD)
          })
        )
        assert.isFalse(filesOf(directory).includes(WORD))
      })
  )

  it.effect(
    "Z2 bytes that only deleted messages refer to go with them, and others stay, referred to in a segment or in a row",
    () =>
      Effect.gen(function* () {
        const { archive, ledger, mailbox } = yield* openSqliteStore(aDirectory())
        yield* ledger.create({ address: ada, state: aState(), entry: anEntry() })
        const { claim } = yield* mailbox.claim({ address: ada, worker: "w", leaseMillis: 60_000 })
        const bytes = ["old", "shared", "new"].map((text) => new TextEncoder().encode(text))
        const digests = yield* ledger.blobs.keep(ada.tenant, bytes)
        const part = (digest = "") => ({ type: "image", mediaType: "image/png", digest, bytes: 3 }) as never
        const shown = [
          [0, 1],
          [1, 2]
        ]
        for (const [index, of] of shown.entries()) {
          const messages = [{ ...aMessage(`pictures ${index}`), parts: of.map((each) => part(digests[each])) }]
          yield* ledger.commit(claim, {
            entry: anEntry({ no: index + 2, epoch: claim.epoch, messages }),
            state: aState()
          })
        }
        yield* archive.archive(ada, 3, 1)
        yield* archive.remove(ada, 2)
        const left = yield* Effect.forEach(digests, (digest) => ledger.blobs.read(ada.tenant, digest))
        assert.deepStrictEqual(
          left.map((each) => each === undefined),
          [true, false, false]
        )
      })
  )

  it.effect("R9 forgetting reaches segments: no byte is left of what was taken out, and the rest reads as before", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      const store = yield* openSqliteStore(directory)
      yield* lived(store, 150)
      yield* store.archive.archive(ada, 140)
      const before = yield* readingsOf(store)
      const hide = <A>(value: A): A => JSON.parse(JSON.stringify(value).replaceAll(WORD, "(gone)")) as A
      yield* store.bundles.rewrite([ada], hide)
      assert.deepStrictEqual(yield* store.ledger.entries(ada, 1, 1_000), hide(before.entries))
      assert.notInclude(segmentsIn(directory), WORD)
      assert.include(segmentsIn(directory), "(gone)")
      assert.isFalse(filesOf(directory).includes(WORD))
    })
  )
})

/** Lines that each life of the child may say before it is killed. */
const LIVES = [5, 60, ...atLength([], [350, 700])]

it.live(
  "Z4 a SIGKILL while it archives and deletes leaves every entry whole: as it was, or deleted as a whole",
  () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      const said: Array<string> = []
      for (const lineCount of LIVES) said.push(...(yield* linesUntilKilled("archiving.ts", directory, lineCount)))
      const { archive, integrity, ledger } = yield* openSqliteStore(directory)
      assert.deepStrictEqual(yield* integrity, [])
      for (const { address, version } of yield* ledger.list(undefined, 100)) {
        const { removed } = yield* archive.reached(address)
        const entries = (yield* ledger.entries(address, 1, version + 10)).map(({ entry }) => entry)
        assert.deepStrictEqual(
          entries.map(({ no }) => no),
          Array.from({ length: version }, (_, index) => index + 1)
        )
        for (const { deleted, messages, no } of entries.slice(1)) {
          assert.strictEqual(deleted !== undefined, no <= removed, `entry ${no}, removed up to ${removed}`)
          if (no > removed) assert.strictEqual(messages[0]?.content, `message ${no}`)
        }
        const of = (verb: string) =>
          said.flatMap((line) => {
            const [word, who, no] = line.split(" ")
            return word === verb && who === address.assistant ? [Number(no)] : []
          })
        assert.isAtLeast(version, Math.max(...of("committed")))
        assert.isAtLeast(removed, Math.max(0, ...of("removed")))
      }
      const totals = yield* ledger.totals
      const settled = said.filter((line) => line.startsWith("committed")).length
      assert.isAtLeast(totals.settled, settled)
    }),
  60_000
)

it.effect("a store in memory archives too", () =>
  Effect.gen(function* () {
    const store = yield* openSqliteStore(IN_MEMORY)
    yield* lived(store, 80)
    const before = yield* readingsOf(store)
    assert.strictEqual((yield* store.archive.archive(ada, 80, 1)).entries, 80)
    assert.deepStrictEqual(yield* readingsOf(store), before)
  })
)
