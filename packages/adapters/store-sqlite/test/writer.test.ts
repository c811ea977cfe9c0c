import { mkdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, it } from "@effect/vitest"
import { Ledger } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import { IN_MEMORY, openSqliteStore, SqliteStore, storeSqliteLayer } from "@reverie/store-sqlite"
import { anAddress, anEntry, anEnvelope, aState } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import { describe } from "vitest"
import { change, knowsNoop, roomOfLog } from "../src/sql.ts"
import { Writer } from "../src/writer.ts"
import { aDirectory } from "./directories.ts"

const COUNT = 24
const everyone = Array.from({ length: COUNT }, (_, index) => anAddress(`a-${index}`))

const creations = Effect.gen(function* () {
  const ledger = yield* Ledger
  for (const address of everyone) yield* ledger.create({ address, state: aState(), entry: anEntry() })
})

/** A table with one row that must stay unique, and a writer on it. */
const aTable = () => {
  const database = new DatabaseSync(IN_MEMORY)
  database.exec("CREATE TABLE numbers (number INTEGER PRIMARY KEY)")
  const insert = change(database, "INSERT INTO numbers (number) VALUES (?)")
  const rows = () =>
    database
      .prepare("SELECT number FROM numbers ORDER BY number")
      .all()
      .map(({ number }) => number)
  return { database, insert, rows, writer: new Writer(database, 1_000_000) }
}

const put = ({ writer, insert }: ReturnType<typeof aTable>, ...numbers: ReadonlyArray<number>) =>
  writer.write(
    ({ kind }) => kind,
    () => {
      for (const number of numbers) insert(number)
      return Result.succeed(numbers.length)
    }
  )

const outcomes = <A, E>(effects: ReadonlyArray<Effect.Effect<A, E>>) =>
  Effect.forEach(effects, (effect) => Effect.exit(effect), { concurrency: "unbounded" })

describe("group commit", () => {
  it.effect("W1 commits of many assistants that arrive together share one transaction", () =>
    Effect.gen(function* () {
      yield* creations
      const mailbox = yield* Mailbox
      const ledger = yield* Ledger
      const { stats } = yield* SqliteStore
      const holds = yield* Effect.forEach(everyone, (address) =>
        mailbox.claim({ address, worker: "worker-1", leaseMillis: 1_000 })
      )
      const before = yield* stats
      const seqs = yield* Effect.forEach(
        holds,
        ({ claim }) => ledger.commit(claim, { entry: anEntry({ no: 2, epoch: claim.epoch }), state: aState() }),
        { concurrency: "unbounded" }
      )
      const after = yield* stats
      assert.strictEqual(new Set(seqs).size, COUNT)
      assert.strictEqual(after.transactions - before.transactions, 1)
      assert.strictEqual(after.operations - before.operations, COUNT)
      assert.isAbove(after.walBytes, before.walBytes)
    }).pipe(Effect.provide(storeSqliteLayer(aDirectory())))
  )

  it.effect("W1 what arrives one after the other takes a transaction each", () =>
    Effect.gen(function* () {
      yield* creations
      const { transactions, operations } = yield* (yield* SqliteStore).stats
      assert.deepStrictEqual([transactions, operations], [COUNT, COUNT])
    }).pipe(Effect.provide(storeSqliteLayer(IN_MEMORY)))
  )

  it.effect("W1 what comes in each of the next turns is waited for, a few turns long; what is alone is not", () =>
    Effect.gen(function* () {
      const table = aTable()
      const turn = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))
      const fibers: Array<Fiber.Fiber<number, string>> = []
      const begin = Effect.fnUntraced(function* (number: number) {
        fibers.push(yield* Effect.forkChild(put(table, number), { startImmediately: true }))
      })
      yield* begin(0)
      yield* turn
      assert.deepStrictEqual(table.rows(), [0])
      for (let number = 1; number <= 40; number += 2) {
        yield* begin(number)
        yield* begin(number + 1)
        yield* turn
      }
      yield* Effect.forEach(fibers, Fiber.join)
      assert.lengthOf(table.rows(), 41)
      const { operations, transactions } = table.writer.stats
      assert.strictEqual(operations, 41)
      // Twenty turns in groups of at most four, and the one that was alone.
      assert.isAtLeast(transactions, 6)
      assert.isAtMost(transactions, 11)
    })
  )

  it.effect("renewing a lease writes nothing, nor does releasing it after a commit", () =>
    Effect.gen(function* () {
      yield* creations
      const mailbox = yield* Mailbox
      const ledger = yield* Ledger
      const { stats } = yield* SqliteStore
      const { claim } = yield* mailbox.claim({ address: anAddress("a-0"), worker: "worker-1", leaseMillis: 1_000 })
      yield* ledger.commit(claim, { entry: anEntry({ no: 2, epoch: claim.epoch }), state: aState() })
      const before = yield* stats
      yield* mailbox.release(yield* mailbox.renew(claim, 1_000))
      assert.deepStrictEqual(yield* stats, before)
    }).pipe(Effect.provide(storeSqliteLayer(aDirectory())))
  )

  it.effect("a tick of one acceptance, one claim and four commits writes less than 24 KB to the log", () =>
    Effect.gen(function* () {
      yield* creations
      const mailbox = yield* Mailbox
      const ledger = yield* Ledger
      const { stats } = yield* SqliteStore
      const ticks = 20
      const before = yield* stats
      for (let tick = 0; tick < ticks; tick++) {
        const address = anAddress(`a-${tick % 4}`)
        const event = { type: "message", text: "t".repeat(250) } as const
        yield* mailbox.accept(anEnvelope({ id: `envelope-${tick}`, to: address, event }))
        const { claim, version } = yield* mailbox.claim({ address, worker: "worker-1", leaseMillis: 1_000 })
        for (let no = version + 1; no <= version + 4; no++) {
          const snapshot = { control: "s".repeat(no === version + 4 ? 800 : 1_000) }
          const entry = anEntry({ no, epoch: claim.epoch, event: { padding: "e".repeat(450) } })
          yield* ledger.commit(claim, { entry, state: aState({ snapshot }) })
        }
      }
      const bytesPerTick = ((yield* stats).walBytes - before.walBytes) / ticks
      assert.isBelow(bytesPerTick, 24_000)
      assert.isAbove(bytesPerTick, 4 * 1_500)
    }).pipe(Effect.provide(storeSqliteLayer(aDirectory())))
  )

  it.effect("W5 long writes that arrive together are shared out, each acknowledged, in the order of asking", () =>
    Effect.gen(function* () {
      yield* creations
      const mailbox = yield* Mailbox
      const { stats } = yield* SqliteStore
      const to = anAddress("a-0")
      const long = (index: number) =>
        mailbox.accept(anEnvelope({ id: `m-${index}`, to, event: { type: "message", text: "x".repeat(500_000) } }))
      const before = yield* stats
      const receipts = yield* Effect.forEach([0, 1, 2, 3, 4], long, { concurrency: "unbounded" })
      const after = yield* stats
      assert.strictEqual(receipts.length, 5)
      assert.strictEqual(after.transactions - before.transactions, 5)
      const pending = yield* mailbox.pending(to, ["mail"], 10)
      assert.deepStrictEqual(
        pending.map(({ id }) => String(id)),
        ["m-0", "m-1", "m-2", "m-3", "m-4"]
      )
    }).pipe(Effect.provide(storeSqliteLayer(aDirectory())))
  )

  it.effect("W5 S2 closing in the midst of long writes writes all of them", () =>
    Effect.gen(function* () {
      const { insert, rows, writer } = aTable()
      const fibers = yield* Effect.forEach([1, 2, 3], (number) =>
        Effect.forkChild(
          writer.write(
            ({ kind }) => kind,
            () => {
              insert(number)
              return Result.succeed(number)
            },
            1_000_000
          ),
          { startImmediately: true }
        )
      )
      writer.close()
      assert.deepStrictEqual(yield* Effect.forEach(fibers, Fiber.join), [1, 2, 3])
      assert.deepStrictEqual(rows(), [1, 2, 3])
    })
  )

  it.effect("the log is moved into the database when it has grown enough, and nothing is lost by it", () =>
    Effect.gen(function* () {
      yield* creations
      const mailbox = yield* Mailbox
      for (let index = 0; index < 40; index++) {
        const event = { type: "message", text: String(index).repeat(2_000) } as const
        yield* mailbox.accept(anEnvelope({ id: `m-${index}`, to: anAddress("a-0"), event }))
      }
      const { checkpoints, failedCheckpoints } = yield* (yield* SqliteStore).stats
      assert.isAbove(checkpoints, 2)
      assert.strictEqual(failedCheckpoints, 0)
      assert.strictEqual((yield* mailbox.pending(anAddress("a-0"), ["mail"], 64)).length, 40)
    }).pipe(Effect.provide(storeSqliteLayer(aDirectory(), { checkpointBytes: 50_000 })))
  )
})

it.effect("the log is moved when the writer says so, not by SQLite in the middle of an answer", () =>
  Effect.gen(function* () {
    const directory = aDirectory()
    const { ledger, mailbox, stats } = yield* openSqliteStore(directory, { checkpointBytes: 100_000_000 })
    yield* ledger.create({ address: anAddress(), state: aState(), entry: anEntry() })
    const before = statSync(join(directory, "reverie.db")).size
    const event = { type: "message", text: "x".repeat(900_000) } as const
    yield* mailbox.accept(anEnvelope({ to: anAddress(), event }))
    assert.isAbove((yield* stats).walFrames, 1_000)
    assert.strictEqual(statSync(join(directory, "reverie.db")).size, before)
  })
)

describe("waiters", () => {
  it.effect("W3 a write whose waiter was interrupted is written whole, in its turn", () =>
    Effect.gen(function* () {
      yield* creations
      const mailbox = yield* Mailbox
      const to = anAddress("a-0")
      const waiter = yield* Effect.forkChild(mailbox.accept(anEnvelope({ id: "first", to })), {
        startImmediately: true
      })
      yield* Fiber.interrupt(waiter)
      yield* mailbox.accept(anEnvelope({ id: "second", to }))
      const pending = yield* mailbox.pending(to, ["mail"], 10)
      assert.deepStrictEqual(
        pending.map(({ id }) => String(id)),
        ["first", "second"]
      )
    }).pipe(Effect.provide(storeSqliteLayer(IN_MEMORY)))
  )

  it.effect("S2 closing writes what was asked for before it, and refuses what comes after", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      const scope = yield* Scope.make()
      const { mailbox, ledger } = yield* Scope.provide(openSqliteStore(directory), scope)
      const address = anAddress()
      yield* ledger.create({ address, state: aState(), entry: anEntry() })
      const waiter = yield* Effect.forkChild(mailbox.accept(anEnvelope({ to: address })), { startImmediately: true })
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* Fiber.join(waiter)).outcome, "accepted")
      const write = yield* Effect.flip(mailbox.accept(anEnvelope({ id: "late", to: address })))
      const read = yield* Effect.flip(ledger.totals)
      assert.deepStrictEqual([write._tag, read._tag], ["MailboxUnavailable", "LedgerUnavailable"])
      assert.include(read.message, "the store is closed")
      const again = yield* openSqliteStore(directory)
      assert.strictEqual((yield* again.ledger.totals).accepted, 1)
    })
  )
})

describe("failures", () => {
  it.effect("W4 one of many writes that fails is undone alone", () =>
    Effect.gen(function* () {
      const table = aTable()
      yield* put(table, 1)
      const exits = yield* outcomes([put(table, 2), put(table, 3, 1), put(table, 4)])
      assert.deepStrictEqual(exits, [Exit.succeed(1), Exit.fail("other" as const), Exit.succeed(1)])
      assert.deepStrictEqual(table.rows(), [1, 2, 4])
    })
  )

  it.effect("W4 a single write that fails leaves nothing behind, and the next one succeeds", () =>
    Effect.gen(function* () {
      const table = aTable()
      yield* put(table, 1)
      assert.deepStrictEqual(yield* Effect.exit(put(table, 2, 1)), Exit.fail("other" as const))
      yield* put(table, 5)
      assert.deepStrictEqual(table.rows(), [1, 5])
    })
  )

  it.effect("W4 what a failed write changed in memory is taken back, newest first, and nothing of its neighbours", () =>
    Effect.gen(function* () {
      const table = aTable()
      yield* put(table, 1)
      const undone: Array<string> = []
      const tracked = (number: number) =>
        table.writer.write(
          ({ kind }) => kind,
          (onUndo) => {
            onUndo(() => undone.push(`first of ${number}`))
            onUndo(() => undone.push(`second of ${number}`))
            table.insert(number)
            return Result.void
          }
        )
      yield* outcomes([tracked(2), tracked(1), tracked(3)])
      assert.deepStrictEqual(undone, ["second of 1", "first of 1"])
      yield* outcomes([tracked(2)])
      assert.deepStrictEqual(undone.slice(2), ["second of 2", "first of 2"])
    })
  )

  it.effect("W4 a bug in one write is a defect of that write alone", () =>
    Effect.gen(function* () {
      const table = aTable()
      const bug = new TypeError("a bug")
      const buggy = table.writer.write(
        () => "unavailable",
        () => {
          table.insert(7)
          throw bug
        }
      )
      const exits = yield* outcomes([put(table, 1), buggy, put(table, 2)])
      assert.deepStrictEqual(exits, [Exit.succeed(1), Exit.die(bug), Exit.succeed(1)])
      assert.deepStrictEqual(table.rows(), [1, 2])
    })
  )

  it.effect("W2 when the transaction fails all its writes fail, and what they changed in memory is taken back", () =>
    Effect.gen(function* () {
      const table = aTable()
      const undone: Array<string> = []
      const tracked = (name: string, number: number) =>
        table.writer.write(
          ({ kind }) => kind,
          (onUndo) => {
            onUndo(() => undone.push(name))
            table.insert(number)
            return Result.void
          }
        )
      // Ends the transaction under the writer, as SQLite does on a full disk.
      const ruin = table.writer.write(
        ({ kind }) => kind,
        () => {
          table.database.exec("ROLLBACK")
          table.database.exec("SELECT * FROM nowhere")
          return Result.void
        }
      )
      const exits = yield* outcomes([tracked("first", 1), tracked("second", 2), ruin, tracked("third", 3)])
      assert.deepStrictEqual(
        exits,
        Array.from({ length: 4 }, () => Exit.fail("other"))
      )
      assert.deepStrictEqual(undone, ["second", "first"])
      assert.deepStrictEqual(table.rows(), [])
      yield* put(table, 9)
      assert.deepStrictEqual(table.rows(), [9])
    })
  )
})

describe("frames of the log", () => {
  it("NOOP is asked of SQLite 3.51 and later alone", () => {
    const known = ["3.51.0", "3.51", "3.60.2", "3.100.0", "4.0.0"]
    const unknown = ["3.50.4", "3.50.99", "3.7.17", "3.5.100", "2.99.9", "", "unknown"]
    assert.deepStrictEqual(
      known.filter((version) => !knowsNoop(version)),
      []
    )
    assert.deepStrictEqual(
      unknown.filter((version) => knowsNoop(version)),
      []
    )
    assert.strictEqual(knowsNoop(), knowsNoop(process.versions["sqlite"]))
  })

  it("the room of a fresh log is what NOOP counts, and asking moves nothing", () => {
    const directory = aDirectory()
    mkdirSync(directory)
    const file = join(directory, "reverie.db")
    const database = new DatabaseSync(file)
    database.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
    const pageBytes = Number(database.prepare("PRAGMA page_size").get()?.["page_size"])
    const room = roomOfLog(database, pageBytes)
    const noop = database.prepare("PRAGMA wal_checkpoint(NOOP)")
    assert.deepStrictEqual(room(), { log: 0, isRoom: true })
    database.exec("CREATE TABLE numbers (number INTEGER PRIMARY KEY, said TEXT)")
    for (let number = 0; number < 50; number++) {
      database.prepare("INSERT INTO numbers VALUES (?, ?)").run(number, "x".repeat(number * 200))
      const before = [readFileSync(file), readFileSync(`${file}-wal`)]
      const { log } = room()
      assert.deepStrictEqual([readFileSync(file), readFileSync(`${file}-wal`)], before)
      const counted = noop.get() as { readonly log: number; readonly checkpointed: number }
      assert.deepInclude(counted, { log, checkpointed: 0 })
      assert.isAbove(log, 0)
    }
    database.close()
    assert.deepStrictEqual(roomOfLog(new DatabaseSync(IN_MEMORY), pageBytes)(), { log: -1 })
  })
})
