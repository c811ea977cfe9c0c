import { assert, it } from "@effect/vitest"
import type { Address } from "@reverie/protocol"
import { aJob, anAddress, anEntry, anEnvelope, aState } from "@reverie/testkit"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Database, PgFailure } from "../src/database.ts"
import { postgresLedger } from "../src/ports/ledger.ts"
import { postgresMailbox } from "../src/ports/mailbox.ts"
import { Time } from "../src/time.ts"
import { Writer } from "../src/writer.ts"
import { aSchema, openAt, tablesAt } from "./stores.ts"

const postgres = sharePostgres({ fsync: false })
const url = (): string => postgres.server().url

const ada = anAddress("ada")
const bob = anAddress("bob")

const claimOn = (address: Address, worker = "worker-1") => ({ address, worker, leaseMillis: 60_000 })

/** A store whose database may be made to fail. */
const over = (bend: (real: Database) => Database) =>
  Effect.gen(function* () {
    const schema = aSchema()
    yield* openAt(url(), { schema })
    const real = yield* tablesAt(url(), schema)
    const database = bend(real)
    const time = new Time("database")
    const writer = new Writer(database, time.learn)
    const ledger = postgresLedger(database, writer, time)
    const mailbox = postgresMailbox(database, writer, time)
    return { ledger, mailbox, writer, real }
  })

/** Loses the answers of batches that `isHit` picks, after they were committed. */
const losing =
  (isHit: (operations: string) => boolean) =>
  (real: Database): Database => ({
    ...real,
    query: <Row>(sql: string, values: ReadonlyArray<unknown> = []) =>
      Effect.flatMap(real.query<Row>(sql, values), (rows) =>
        sql.includes("apply(") && isHit(String(values[0]))
          ? Effect.fail(new PgFailure("passing", "the connection was lost"))
          : Effect.succeed(rows)
      )
  })

postgres.describe("writer", () => {
  it.effect("W1 what is asked for while a batch is under way goes together as the next", () =>
    Effect.gen(function* () {
      const { ledger, mailbox, stats } = yield* openAt(url(), { schema: aSchema() })
      const everyone = Array.from({ length: 100 }, (_, index) => anAddress(`a-${index}`))
      yield* Effect.forEach(everyone, (address) => ledger.create({ address, state: aState(), entry: anEntry() }), {
        concurrency: "unbounded"
      })
      yield* Effect.forEach(everyone, (to) => mailbox.accept(anEnvelope({ id: "m", to })), { concurrency: "unbounded" })
      const { batches, operations } = yield* stats
      assert.strictEqual(operations, 200)
      assert.isAtMost(batches, 8)
    }).pipe(Effect.scoped)
  )

  it.effect("W4 one that breaks the batch fails alone", () =>
    Effect.gen(function* () {
      const { ledger, mailbox, stats } = yield* openAt(url(), { schema: aSchema() })
      for (const address of [ada, bob]) yield* ledger.create({ address, state: aState(), entry: anEntry() })
      // No column takes a NUL, and a worker's name is written as it is.
      const outcomes = yield* Effect.forEach(
        [
          Effect.asVoid(mailbox.accept(anEnvelope({ id: "m-1", to: ada }))),
          Effect.asVoid(mailbox.claim(claimOn(ada, "a\u0000b"))),
          Effect.asVoid(mailbox.accept(anEnvelope({ id: "m-1", to: bob }))),
          Effect.asVoid(mailbox.claim(claimOn(bob)))
        ],
        (verb) => Effect.result(verb),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(outcomes.map(Result.isSuccess), [true, false, true, true])
      assert.strictEqual((yield* stats).operations, 5)
      assert.strictEqual((yield* ledger.inspect(ada))?.waiting, 1)
    }).pipe(Effect.scoped)
  )

  it.effect(
    "W5 a commit, a creation and an envelope whose answers were lost are answered as if they had not been",
    () =>
      Effect.gen(function* () {
        let isLosing = true
        const { ledger, mailbox, writer } = yield* over(
          losing((operations) => isLosing && operations.includes('"again":false'))
        )
        assert.strictEqual(yield* ledger.create({ address: ada, state: aState(), entry: anEntry() }), "created")
        assert.strictEqual(yield* ledger.create({ address: ada, state: aState(), entry: anEntry({ at: 5 }) }), "exists")
        const { outcome } = yield* mailbox.accept(anEnvelope({ id: "m-1", to: ada }))
        assert.strictEqual(outcome, "accepted")
        const { attempts, claim, version } = yield* mailbox.claim(claimOn(ada))
        assert.deepStrictEqual([attempts, version], [2, 1])
        const commit = {
          entry: anEntry({ no: 2, cause: { kind: "job", id: "1/x" }, sends: [anEnvelope({ id: "s", to: bob })] }),
          state: aState({ jobs: [aJob()] })
        }
        const seq = yield* ledger.commit(claim, commit)
        const rows = yield* ledger.outbox(0, 10)
        assert.deepStrictEqual(
          rows.map((row) => [row.entry.no, row.seq === seq]),
          [
            [1, false],
            [2, true]
          ]
        )
        assert.strictEqual((yield* ledger.openSends(10)).length, 1)
        assert.strictEqual((yield* ledger.inspect(ada))?.version, 2)
        assert.strictEqual((yield* mailbox.pending(ada, ["mail"], 5)).length, 1)
        isLosing = false
        // Asked by itself it is another commit on a version that is gone.
        assert.strictEqual((yield* Effect.flip(ledger.commit(claim, commit)))._tag, "CommitFenced")
        assert.strictEqual(writer.stats.repeated, 5)
      }).pipe(Effect.scoped)
  )

  it.effect("W5 another commit of the same number, made in between, is not taken for the lost one", () =>
    Effect.gen(function* () {
      let isLost = false
      const { ledger, mailbox } = yield* over(losing(() => isLost))
      yield* ledger.create({ address: ada, state: aState(), entry: anEntry() })
      const { claim } = yield* mailbox.claim(claimOn(ada))
      yield* ledger.commit(claim, { entry: anEntry({ no: 2, at: 1 }), state: aState() })
      isLost = true
      const error = yield* Effect.flip(ledger.commit(claim, { entry: anEntry({ no: 2, at: 2 }), state: aState() }))
      assert.deepStrictEqual(
        [error._tag, error.recovery],
        ["LedgerUnavailable", "retry"],
        "both answers were lost, and nothing was written"
      )
      isLost = false
      assert.strictEqual((yield* ledger.inspect(ada))?.version, 2)
    }).pipe(Effect.scoped)
  )

  it.effect("W2 a failed connection is an unavailable port that may be asked again; a defect is not", () =>
    Effect.gen(function* () {
      const failing = (kind: "passing" | "other") =>
        over((real) => ({ ...real, query: () => Effect.fail(new PgFailure(kind, "so it is")) }))
      for (const [kind, recovery] of [
        ["passing", "retry"],
        ["other", "stop"]
      ] as const) {
        const { ledger, mailbox } = yield* failing(kind)
        const errors = [
          yield* Effect.flip(mailbox.accept(anEnvelope({ to: ada }))),
          yield* Effect.flip(mailbox.due(1)),
          yield* Effect.flip(ledger.settleSends([1])),
          yield* Effect.flip(ledger.totals)
        ]
        for (const error of errors) assert.strictEqual(error.recovery, recovery, error._tag)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("W3 closing writes what was asked for, and refuses what comes after", () =>
    Effect.gen(function* () {
      const { ledger, mailbox, writer } = yield* over((real) => real)
      yield* ledger.create({ address: ada, state: aState(), entry: anEntry() })
      const accepting = yield* Effect.forkChild(mailbox.accept(anEnvelope({ id: "m-1", to: ada })), {
        startImmediately: true
      })
      yield* writer.close
      assert.isTrue(accepting.pollUnsafe() !== undefined)
      assert.strictEqual((yield* ledger.inspect(ada))?.waiting, 1)
      const error = yield* Effect.flip(mailbox.accept(anEnvelope({ id: "m-2", to: ada })))
      assert.include(error.message, "closed")
    }).pipe(Effect.scoped)
  )
})

postgres.describe("two processes on the same assistants", () => {
  it.effect("A3 of stale and live commits exactly the live ones are written, and entries have no gap", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      const stores = yield* Effect.forEach([1, 2, 3], () => openAt(url(), { schema }))
      const everyone = Array.from({ length: 8 }, (_, index) => anAddress(`a-${index}`))
      const [first] = stores
      if (first === undefined) return
      for (const address of everyone) yield* first.ledger.create({ address, state: aState(), entry: anEntry() })
      const ROUNDS = 25
      let written = 0
      let fenced = 0
      const work = stores.map((store) =>
        Effect.forEach(Array.from({ length: ROUNDS }), (_, round) =>
          Effect.forEach(
            everyone,
            (address, index) =>
              Effect.gen(function* () {
                yield* store.mailbox.accept(anEnvelope({ id: `m-${round}`, to: address }))
                // All work under one name, so that each claim takes the assistant from another.
                const { claim, version } = yield* store.mailbox.claim(claimOn(address))
                const entry = anEntry({ no: version + 1, epoch: claim.epoch, cause: { kind: "job", id: `${index}/x` } })
                const outcome = yield* Effect.result(store.ledger.commit(claim, { entry, state: aState() }))
                if (Result.isSuccess(outcome)) written++
                else {
                  assert.strictEqual(outcome.failure._tag, "CommitFenced")
                  fenced++
                }
                yield* store.mailbox.release(claim)
              }),
            { concurrency: "unbounded" }
          )
        )
      )
      yield* Effect.all(work, { concurrency: "unbounded" })
      assert.strictEqual(written + fenced, stores.length * ROUNDS * everyone.length)
      assert.isAbove(fenced, 0)
      assert.strictEqual((yield* first.ledger.totals).accepted, ROUNDS * everyone.length)
      let entries = 0
      for (const address of everyone) {
        const rows = yield* first.ledger.entries(address, 1, 1_000)
        assert.deepStrictEqual(
          rows.map(({ entry }) => entry.no),
          rows.map((_, index) => index + 1)
        )
        const seqs = rows.map(({ seq }) => seq)
        assert.deepStrictEqual(
          seqs,
          [...new Set(seqs)].toSorted((a, b) => a - b)
        )
        const epochs = rows.map(({ entry }) => entry.epoch)
        assert.deepStrictEqual(
          epochs,
          epochs.toSorted((a, b) => a - b)
        )
        const waiting = yield* first.mailbox.pending(address, ["mail"], 64)
        assert.deepStrictEqual(
          waiting.map(({ seq }) => seq),
          waiting.map((_, index) => index + 1)
        )
        entries += rows.length - 1
      }
      assert.strictEqual(entries, written)
    }).pipe(Effect.scoped)
  )

  it.effect(
    "A2 creations, mail and commits of the same assistants in every order never block each other for good",
    () =>
      Effect.gen(function* () {
        const schema = aSchema()
        const stores = yield* Effect.forEach([1, 2, 3], () => openAt(url(), { schema }))
        const everyone = Array.from({ length: 30 }, (_, index) => anAddress(`a-${index}`))
        const work = stores.map((store, turn) => {
          const order = turn % 2 === 0 ? everyone : everyone.toReversed()
          return Effect.forEach(
            order,
            (address) =>
              Effect.gen(function* () {
                yield* store.ledger.create({ address, state: aState(), entry: anEntry() })
                yield* store.mailbox.accept(anEnvelope({ id: `m-${turn}`, to: address }))
                yield* store.ledger.settleSends([1, 2, 3])
              }),
            { concurrency: "unbounded" }
          )
        })
        yield* Effect.all(work, { concurrency: "unbounded" })
        for (const { stats } of stores) assert.strictEqual((yield* stats).undone, 0)
        assert.deepStrictEqual(yield* stores[0]!.ledger.totals, { accepted: 90, settled: 0, dead: 0, discarded: 0 })
      }).pipe(Effect.scoped)
  )
})
