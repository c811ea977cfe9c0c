// Writer: every change of the database goes through here.
// Owns transactions and the group commit. Leaves what is written to mailbox.ts and ledger.ts.
// W1  All short writes that were asked for in one turn of the event loop share one transaction, and so one fsync. While more are
//     asked for in each of the next turns, a few of those are waited for; a write that is alone waits for none.
// W2  A write answers only after its transaction is durable; when that fails, all of them fail and none was kept.
// W3  A write that was asked for runs whole, in the order of asking, even if no one waits for it any more.
// W4  A write that fails alone is undone alone.
// W5  Long writes are shared out over turns of the event loop: a transaction ends with the write in which it comes to
//     BATCH_CHARS characters. Moving the log into the database has a turn of its own.
// W6  A purge rewrites the database and empties the log: afterwards neither holds a byte that no row holds.
// W7  A write that wants something first is undone, with nothing else when it is one of several, and written when that is here.
// W8  What the safeguard no longer vouches for is not written, and not acknowledged when it was.

import type { DatabaseSync } from "node:sqlite"
import { longWork } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Safeguard } from "./files/safeguard.ts"
import {
  afterFetching,
  type SqliteFailure,
  sqliteFailure,
  Wanted,
  knowsNoop,
  type Frames,
  roomOfLog,
  FRAME_HEADER_BYTES,
  endReads,
  sealedIn
} from "./sql.ts"

export interface WriterStats {
  readonly transactions: number
  readonly operations: number
  /** Frames written to the write-ahead log, a page each. */
  readonly walFrames: number
  readonly walBytes: number
  readonly checkpoints: number
  readonly failedCheckpoints: number
}

/** Registers what takes back a change in memory when the write does not come to be. */
export type OnUndo = (undo: () => void) => void

interface Queued {
  /** What it writes, in characters. */
  readonly length: number
  /** Runs inside the transaction; the answer tells the waiter, once it is durable. */
  readonly run: (onUndo: OnUndo) => () => void
  readonly fail: (failure: SqliteFailure) => void
  readonly die: (defect: unknown) => void
}

/** A write that is done for its part. */
interface Ran {
  readonly tell: () => void
  readonly undos: ReadonlyArray<() => void>
}

/** Of one transaction; what is longer by itself goes alone. */
const BATCH_CHARS = 400_000

/** Turns of the event loop after the first, at most: a fraction of what one fsync takes. */
const MAX_TURNS_MORE = 3

const closed: SqliteFailure = { kind: "closed", message: "the store is closed", cause: undefined }

const PURGE_TRIES = 40
const PURGE_PAUSE_MILLIS = 250

const readerInTheWay: SqliteFailure = {
  kind: "busy",
  message:
    "another program reads the database, so what was forgotten is not gone from its log yet; end that and start again",
  cause: undefined
}

/** Writes the whole database anew and empties the log; false where a reader keeps the log. */
export const purgeDatabase = (database: DatabaseSync): boolean => {
  database.exec("VACUUM")
  const row = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()
  return Number(row?.["busy"] ?? 0) === 0
}

const failWith = ({ fail, die }: Queued, error: unknown): void => {
  const failure = sqliteFailure(error)
  if (failure === undefined) die(error)
  else fail(failure)
}

const takeBack = (undos: ReadonlyArray<() => void>): void => {
  for (const undo of undos.toReversed()) undo()
}

export class Writer {
  readonly #database: DatabaseSync
  readonly #statements: Readonly<
    Record<"begin" | "commit" | "savepoint" | "release" | "frames" | "checkpoint", () => unknown>
  >
  readonly #pageBytes: number
  readonly #checkpointBytes: number
  readonly #safeguard: Safeguard | undefined
  #queue: Array<Queued> = []
  #isClosed = false
  #isCheckpointing = false
  #loggedFrames = 0
  #bytesSinceCheckpoint = 0
  readonly #stats = { transactions: 0, operations: 0, walFrames: 0, checkpoints: 0, failedCheckpoints: 0 }

  /** `safeguard`: of a database in files. */
  constructor(database: DatabaseSync, checkpointBytes: number, safeguard?: Safeguard) {
    const prepared = (sql: string) => {
      const statement = database.prepare(sql)
      return () => statement.get()
    }
    const alone = (run: () => unknown) => () => {
      endReads(database)
      return run()
    }
    this.#database = database
    this.#checkpointBytes = checkpointBytes
    this.#safeguard = safeguard
    this.#pageBytes = Number(Object.values(database.prepare("PRAGMA page_size").get() ?? {})[0])
    this.#statements = {
      begin: alone(prepared("BEGIN IMMEDIATE")),
      commit: prepared("COMMIT"),
      savepoint: prepared("SAVEPOINT operation"),
      release: prepared("RELEASE operation"),
      frames: alone(knowsNoop() ? prepared("PRAGMA wal_checkpoint(NOOP)") : roomOfLog(database, this.#pageBytes)),
      checkpoint: alone(prepared("PRAGMA wal_checkpoint(PASSIVE)"))
    }
  }

  get stats(): WriterStats {
    const walBytes = this.#stats.walFrames * (this.#pageBytes + FRAME_HEADER_BYTES)
    return { ...this.#stats, walBytes }
  }

  /** Queues one write. A refusal must come before anything was written. */
  write<A, E, U>(
    unavailable: (failure: SqliteFailure) => U,
    operation: (onUndo: OnUndo) => Result.Result<A, E>,
    length = 0
  ): Effect.Effect<A, E | U> {
    const again = Effect.suspend(() => once(Effect.fail))
    const once = (wants: (wanted: Wanted) => Effect.Effect<A, E | U | Wanted>): Effect.Effect<A, E | U | Wanted> =>
      this.#writeOnce(unavailable, operation, length, wants)
    return once((wanted) => afterFetching(unavailable, wanted, again)) as Effect.Effect<A, E | U>
  }

  #writeOnce<A, E, U>(
    unavailable: (failure: SqliteFailure) => U,
    operation: (onUndo: OnUndo) => Result.Result<A, E>,
    length: number,
    wants: (wanted: Wanted) => Effect.Effect<A, E | U | Wanted>
  ): Effect.Effect<A, E | U | Wanted> {
    return Effect.callback<A, E | U | Wanted>((resume) => {
      this.#enqueue({
        length,
        run: (onUndo) => {
          const result = operation(onUndo)
          return () => resume(Effect.fromResult(result))
        },
        fail: (failure) => resume(Effect.fail(unavailable(failure))),
        die: (defect) => resume(defect instanceof Wanted ? wants(defect) : Effect.die(defect))
      })
    })
  }

  /** Fails where another reader holds the log; a later purge does it then. It blocks for as long as the whole file takes. */
  purge<U>(unavailable: (failure: SqliteFailure) => U): Effect.Effect<void, U> {
    return Effect.callback<void, U>((resume) => {
      const tryIt = (left: number): void => {
        try {
          const failure = this.#isClosed ? closed : this.#purge()
          if (failure === undefined) resume(Effect.void)
          else if (left > 0 && failure === readerInTheWay) setTimeout(() => tryIt(left - 1), PURGE_PAUSE_MILLIS)
          else resume(Effect.fail(unavailable(failure)))
        } catch (error) {
          const failure = sqliteFailure(error)
          resume(failure === undefined ? Effect.die(error) : Effect.fail(unavailable(failure)))
        }
      }
      setImmediate(() => tryIt(PURGE_TRIES))
    })
  }

  #purge(): SqliteFailure | undefined {
    let isEmptied = false
    const move = () => {
      endReads(this.#database)
      isEmptied = purgeDatabase(this.#database)
    }
    if (this.#safeguard === undefined) move()
    else this.#safeguard.checkpoint(move)
    this.#bytesSinceCheckpoint = 0
    return isEmptied ? undefined : (this.#safeguard?.failure() ?? readerInTheWay)
  }

  /** Writes what is queued; every later write is refused. */
  close(): void {
    this.#isClosed = true
    while (this.#queue.length > 0) this.#flush()
  }

  #enqueue(queued: Queued): void {
    if (this.#isClosed) return queued.fail(closed)
    if (this.#queue.push(queued) === 1) this.#gather(1, MAX_TURNS_MORE)
  }

  /** Writes what is queued as soon as a turn has brought no more than there was. */
  #gather(known: number, turnsMore: number): void {
    setImmediate(() => {
      const { length } = this.#queue
      if (length > known && turnsMore > 0) this.#gather(length, turnsMore - 1)
      else if (!this.#isCheckpointing) this.#flush()
    })
  }

  #flush(): void {
    const batch = this.#takeBatch()
    if (batch.length === 0) return
    longWork.note(batch.reduce((sum, { length }) => sum + length, 0))
    const isMore = this.#queue.length > 0
    const done = this.#transact(batch)
    if (Result.isSuccess(done)) this.#count(batch.length)
    for (const tell of Result.merge(done)) tell()
    // What was asked for meanwhile has found a queue that was not empty.
    if (this.#bytesSinceCheckpoint >= this.#checkpointBytes) this.#checkpointNext()
    else if (isMore && !this.#isClosed) setImmediate(() => this.#flush())
  }

  /** The log is moved before anything more is written: it would only grow. */
  #checkpointNext(): void {
    if (this.#isClosed) return this.#checkpoint()
    this.#isCheckpointing = true
    setImmediate(() => {
      this.#isCheckpointing = false
      if (this.#isClosed) return
      longWork.note(this.#bytesSinceCheckpoint)
      this.#checkpoint()
      setImmediate(() => this.#flush())
    })
  }

  #takeBatch(): ReadonlyArray<Queued> {
    let characters = 0
    const end = this.#queue.findIndex(({ length }) => {
      characters += length
      return characters >= BATCH_CHARS
    })
    return this.#queue.splice(0, end === -1 ? this.#queue.length : end + 1)
  }

  /** Runs a batch in one transaction; either way the answer is how its waiters are to be told. */
  #transact(batch: ReadonlyArray<Queued>): Result.Result<ReadonlyArray<() => void>, ReadonlyArray<() => void>> {
    const ran: Array<Ran> = []
    const refuse = (failure: SqliteFailure) =>
      Result.fail(
        batch.map(
          ({ fail }) =>
            () =>
              fail(failure)
        )
      )
    const lost = this.#safeguard?.failure()
    if (lost !== undefined) return refuse(lost)
    try {
      this.#statements.begin()
      for (const queued of batch) ran.push(this.#run(queued, batch.length > 1))
      this.#statements.commit()
      const late = this.#safeguard?.committed()
      return late === undefined ? Result.succeed(ran.map(({ tell }) => tell)) : refuse(late)
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK")
      sealedIn(this.#database)?.rolledBack()
      this.#safeguard?.rolledBack()
      takeBack(ran.flatMap(({ undos }) => undos))
      return Result.fail(batch.map((queued) => () => failWith(queued, error)))
    }
  }

  /** Runs one write; one of many that fails is undone by itself. Throws when the transaction can not go on. */
  #run(queued: Queued, isOneOfMany: boolean): Ran {
    const undos: Array<() => void> = []
    try {
      if (isOneOfMany) this.#statements.savepoint()
      const tell = queued.run((undo) => undos.push(undo))
      if (isOneOfMany) this.#statements.release()
      return { tell, undos }
    } catch (error) {
      takeBack(undos)
      // SQLite ends the transaction by itself when going on is impossible, on a full disk for one.
      if (!isOneOfMany || !this.#database.isTransaction) throw error
      this.#database.exec("ROLLBACK TO operation; RELEASE operation")
      sealedIn(this.#database)?.rolledBack()
      return { tell: () => failWith(queued, error), undos: [] }
    }
  }

  #count(operations: number): void {
    this.#stats.transactions++
    this.#stats.operations += operations
    const { isRoom = false, log } = this.#statements.frames() as Frames
    if (log < 0) return // a database in memory has no log
    // After a checkpoint the log begins again at its first frame.
    const frames = log < this.#loggedFrames ? log : log - this.#loggedFrames
    this.#loggedFrames = log
    this.#stats.walFrames += frames
    // What is written over frames of before a checkpoint takes no more room, and each write is at least one frame.
    const written = isRoom ? Math.max(frames, operations) : frames
    this.#bytesSinceCheckpoint += written * (this.#pageBytes + FRAME_HEADER_BYTES)
  }

  /** Moves the log into the database. Nothing depends on when it happens, so a failure waits for the next time. */
  #checkpoint(): void {
    this.#bytesSinceCheckpoint = 0
    try {
      if (this.#safeguard === undefined) this.#statements.checkpoint()
      else this.#safeguard.checkpoint(this.#statements.checkpoint)
      this.#stats.checkpoints++
    } catch (error) {
      if (sqliteFailure(error) === undefined) throw error
      this.#stats.failedCheckpoints++
    }
  }
}
