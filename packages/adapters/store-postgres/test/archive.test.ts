import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import { assert, it } from "@effect/vitest"
import { bundleOfParts, MAX_PAGE_CHARS } from "@reverie/ledger"
import { aMessage, anAddress, anEntry, anEnvelope, aState, plainLife } from "@reverie/testkit"
import { postgresSays } from "@reverie/testkit/servers"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { aSchema, openAt, tablesAt } from "./stores.ts"

const postgres = sharePostgres({ fsync: false })
const url = (): string => postgres.server().url

const ada = anAddress("ada")
const WORD = "kestrel-9713"

type Store = Effect.Success<ReturnType<typeof openAt>>

/** A life of so many messages, with a record that changes. */
const lived = (store: Store, messages: number, from = 1, { tail = "", word = WORD } = {}) =>
  plainLife(store, messages, {
    from,
    tail,
    word,
    recordsOf: (text) => [{ kind: "fact", key: "newest", value: { text } }]
  })

const readingsOf = Effect.fnUntraced(function* ({ bundles, ledger, mailbox }: Store) {
  return {
    entries: yield* ledger.entries(ada, 1, 1_000),
    outbox: yield* ledger.outbox(0, 1_000),
    recent: yield* ledger.recent(ada, 1_000_000),
    mail: yield* mailbox.accepted(ada, [anEnvelope({ id: "m9" }).id]),
    bundle: bundleOfParts(yield* Stream.runCollect(bundles.pack(ada)))
  }
})

/** What stands in the rows themselves, and what all segments say, uncompressed. */
const under = (schema: string) =>
  Effect.gen(function* () {
    const { query } = yield* tablesAt(url(), schema)
    const rows = yield* query<{ readonly body: string }>(
      "SELECT body FROM ledger UNION ALL SELECT body FROM envelopes UNION ALL SELECT body FROM records"
    )
    const segments = yield* query<{ readonly bytes: Uint8Array; readonly upTo: number; readonly isDeleted: boolean }>(
      `SELECT body AS bytes, up_to::float8 AS "upTo", deleted_at IS NOT NULL AS "isDeleted" FROM segments ORDER BY up_to`
    )
    return {
      rows: rows.map(({ body }) => body),
      segments: segments.map(({ isDeleted, upTo }) => [upTo, isDeleted]),
      said: segments.map(({ bytes }) => zstdDecompressSync(bytes).toString()).join("\n")
    }
  })

const referring = (rows: ReadonlyArray<string>): number => rows.filter((body) => /^@\d+:\d+:\d+$/.test(body)).length

/** Files of a cluster that have a text, but for those of its log. */
const filesWith = (data: string, text: string): ReadonlyArray<string> =>
  readdirSync(data, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && !file.parentPath.endsWith("pg_wal"))
    .map((file) => join(file.parentPath, file.name))
    .filter((path) => readFileSync(path).includes(text))

postgres.describe("PostgreSQL", () => {
  it.effect("S1 A1 what is archived lies in a segment, and what is newer in its rows", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      const store = yield* openAt(url(), { schema })
      yield* lived(store, 150)
      const before = yield* readingsOf(store)
      assert.deepStrictEqual(yield* store.archive.archive(ada, 60), { entries: 0, envelopes: 0 })
      assert.deepStrictEqual(yield* store.archive.archive(ada, 100), { entries: 100, envelopes: 99 })
      assert.deepStrictEqual(yield* readingsOf(store), before)
      const { rows, said, segments } = yield* under(schema)
      assert.deepStrictEqual(segments, [[100, false]])
      assert.strictEqual(referring(rows), 199)
      assert.include(said, "message 100")
      assert.notInclude(said, "message 101")
    }).pipe(Effect.scoped)
  )

  it.effect("S5 a page of what is archived brings no more than one of what is not", () =>
    Effect.gen(function* () {
      const store = yield* openAt(url(), { schema: aSchema() })
      yield* lived(store, 20, 1, { tail: "x".repeat(60_000) })
      const lengths = (rows: Effect.Success<ReturnType<Store["ledger"]["outbox"]>>) =>
        rows.reduce((sum, { entry }) => sum + JSON.stringify(entry).length, 0)
      const before = yield* store.ledger.outbox(0, 100)
      assert.isAtMost(lengths(before), MAX_PAGE_CHARS + 130_000)
      yield* store.archive.archive(ada, 21, 1)
      assert.deepStrictEqual(yield* store.ledger.outbox(0, 100), before)
    }).pipe(Effect.scoped)
  )

  it.effect("R9 forgetting reaches segments, and how far retention came is as it was", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      const store = yield* openAt(url(), { schema })
      yield* lived(store, 40)
      yield* store.archive.archive(ada, 30, 1)
      yield* store.archive.remove(ada, 5)
      const [before, reached] = [yield* readingsOf(store), yield* store.archive.reached(ada)]
      const hide = <A>(value: A): A => JSON.parse(JSON.stringify(value).replaceAll(WORD, "(gone)")) as A
      yield* store.bundles.rewrite([ada], hide)
      const after = yield* readingsOf(store)
      assert.deepStrictEqual(after.entries, hide(before.entries))
      assert.deepStrictEqual(after.outbox, hide(before.outbox))
      assert.deepStrictEqual(yield* store.archive.reached(ada), reached)
      const { rows, said, segments } = yield* under(schema)
      assert.deepStrictEqual(segments, [
        [5, true],
        [30, false]
      ])
      assert.strictEqual(referring(rows), 30 + 29)
      assert.notInclude(said + rows.join("\n"), WORD)
      assert.include(said, "(gone)")
      assert.deepStrictEqual(yield* store.archive.remove(ada, 5), { entries: 0, envelopes: 0 })
    }).pipe(Effect.scoped)
  )

  it.effect("Z2 bytes that only deleted messages refer to go with them; others stay, in a segment or in a row", () =>
    Effect.gen(function* () {
      const { archive, ledger, mailbox } = yield* openAt(url(), { schema: aSchema() })
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
    }).pipe(Effect.scoped)
  )

  it.live("S2 A2 who reads, writes and forgets while others archive and delete finds every entry whole", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      const store = yield* openAt(url(), { schema, connections: 8 })
      const other = yield* openAt(url(), { schema, connections: 4 })
      yield* lived(store, 120)
      let isOver = false
      const reading = Effect.gen(function* () {
        let count = 0
        while (!isOver) {
          const { bundle, entries, mail, outbox } = yield* readingsOf(store)
          assert.deepStrictEqual(
            entries.map(({ entry }) => entry.no),
            outbox.map(({ entry }) => entry.no).slice(0, entries.length)
          )
          for (const { entry } of entries.slice(1)) {
            assert.match(entry.messages[0]?.content ?? "", /^message |^\[deleted|^it was/)
          }
          assert.isAbove(bundle.parts.length, 200)
          assert.lengthOf(mail, 1)
          count++
        }
        return count
      })
      const archiving = (by: Store) =>
        Effect.gen(function* () {
          for (let upTo = 4; upTo <= 120; upTo += 4) {
            yield* by.archive.archive(ada, upTo, 1)
            if (upTo > 20) yield* by.archive.remove(ada, upTo - 20)
          }
        })
      const forgetting = Effect.gen(function* () {
        for (let each = 0; each < 8; each++) yield* other.bundles.rewrite([ada], (there) => there)
      })
      const writers = Effect.all([archiving(store), archiving(other), forgetting], { concurrency: "unbounded" })
      const ended = Effect.ensuring(
        writers,
        Effect.sync(() => (isOver = true))
      )
      const [, reads] = yield* Effect.all([ended, reading], { concurrency: "unbounded" })
      assert.isAbove(reads, 1)
      assert.deepStrictEqual(yield* store.archive.reached(ada), { archived: 120, removed: 100, left: [] })
      const { rows, segments } = yield* under(schema)
      assert.strictEqual(new Set(segments.map(([upTo]) => upTo)).size, segments.length, "a part was moved twice")
      assert.strictEqual(referring(rows), 120 + 119)
      yield* lived(store, 10, 121)
      assert.lengthOf(yield* store.ledger.entries(ada, 1, 1_000), 131)
    }).pipe(Effect.scoped)
  )

  it.live("Z4 whose connections are cut while it archives and deletes has done of each part all or nothing", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      const store = yield* openAt(url(), { schema })
      yield* lived(store, 60)
      const before = yield* store.ledger.entries(ada, 1, 1_000)
      let isOver = false
      const cutting = Effect.gen(function* () {
        while (!isOver) {
          yield* Effect.sleep(25)
          yield* Effect.promise(() =>
            postgresSays(
              url(),
              "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'reverie' AND xact_start IS NOT NULL"
            )
          )
        }
      })
      const untilAnswered = Effect.retry({ times: 100 })
      const isWhole = Effect.gen(function* () {
        const { removed } = yield* untilAnswered(store.archive.reached(ada))
        const now = yield* untilAnswered(store.ledger.entries(ada, 1, 1_000))
        assert.lengthOf(now, 61)
        assert.deepStrictEqual(now.slice(removed), before.slice(removed))
        assert.isTrue(now.slice(0, removed).every(({ entry }) => entry.deleted !== undefined))
      })
      const working = Effect.gen(function* () {
        let failures = 0
        for (let upTo = 12; upTo <= 60;) {
          const done = Effect.andThen(store.archive.archive(ada, upTo, 1), store.archive.remove(ada, upTo - 10))
          const isDone = yield* Effect.match(done, { onSuccess: () => true, onFailure: () => false })
          yield* isWhole
          if (isDone) upTo += 4
          else failures++
        }
        return failures
      })
      const ended = Effect.ensuring(
        working,
        Effect.sync(() => (isOver = true))
      )
      const [failures] = yield* Effect.all([ended, cutting], { concurrency: "unbounded" })
      assert.isAbove(failures, 0, "nothing was cut")
    }).pipe(Effect.scoped)
  )

  it.effect("A3 deleted words are in the files until the tables are written anew, and then in the log alone", () =>
    Effect.gen(function* () {
      const { isOwn } = postgres.server()
      if (!isOwn) return
      const schema = aSchema()
      const store = yield* openAt(url(), { schema })
      // No other schema of this server has it.
      const word = "cormorant-2281"
      yield* lived(store, 40, 1, { word })
      yield* store.archive.archive(ada, 30, 1)
      const says = (...sql: ReadonlyArray<string>) => Effect.promise(() => postgresSays(url(), ...sql))
      const [[data] = []] = yield* says("SHOW data_directory")
      const isInFiles = Effect.andThen(
        says("CHECKPOINT"),
        Effect.sync(() => filesWith(data ?? "", word).length > 0)
      )
      assert.isTrue(yield* isInFiles)
      yield* store.archive.remove(ada, 30)
      yield* store.archive.compact()
      const { rows, said } = yield* under(schema)
      assert.notInclude(said + rows.join("\n"), word)
      yield* says(`VACUUM FULL ${schema}.ledger, ${schema}.envelopes, ${schema}.segments, ${schema}.records`)
      assert.isFalse(yield* isInFiles)
    }).pipe(Effect.scoped)
  )
})
