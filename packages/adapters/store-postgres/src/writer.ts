// Writer: every write of mailbox and ledger goes through here.
// Owns the group commit and asking again. Leaves what is written to the operations, the transaction to `apply`.
// W1  While a batch is under way, all writes that are asked for wait and go together as the next one: one statement, one
//     transaction, one flush of the server's log. At most IN_FLIGHT batches are under way.
// W2  A write answers only after its transaction is durable.
// W3  A write that was asked for runs whole, even if no one waits for it any more.
// W4  A batch that fails by a defect is run again one by one: the others are written, and one alone fails.
// W5  A batch whose answer was lost with its connection is asked again once, and says so: what it wrote the first time is
//     recognised. Whatever can not be recognised does no harm twice: an epoch may be skipped, a lease begin anew.
// W6  Batches that wait for each other in a circle, or came too late, were undone by the server and run again.

import * as Effect from "effect/Effect"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import { closed, type Database, type PgFailure } from "./database.ts"
import { type Answered, pack, type Request } from "./operation.ts"

export interface WriterStats {
  readonly batches: number
  readonly operations: number
  /** Batches that were asked again after a lost connection. */
  readonly repeated: number
  /** Batches that the server undid for the sake of another one. */
  readonly undone: number
}

interface Queued extends Request {
  readonly resume: (outcome: Effect.Effect<Answered, PgFailure>) => void
}

interface AnswerRow extends Answered {
  readonly place: number
}

const IN_FLIGHT = 2
const MAX_OPERATIONS = 512
/** To pack more would hold up the process: what is longer by itself goes alone. */
const MAX_CHARS = 1024 * 1024
const MAX_UNDONE = 20

const APPLY = "SELECT place, answer, body FROM apply($1::jsonb, $2::text[])"

/** The time of the database at the end of a batch. */
const TIME_PLACE = -1

const charsOf = ({ bodies }: Request): number => bodies.reduce((sum, { length }) => sum + length, 0)

export class Writer {
  readonly #database: Database
  /** Told the database's time, and when by the monotonic clock the statement began and ended. */
  readonly #onTime: (millis: number, begun: number, ended: number) => void
  #queue: Array<Queued> = []
  #inFlight = 0
  #isClosed = false
  #onIdle: Array<() => void> = []
  readonly #stats = { batches: 0, operations: 0, repeated: 0, undone: 0 }

  constructor(database: Database, onTime: (millis: number, begun: number, ended: number) => void) {
    this.#database = database
    this.#onTime = onTime
  }

  get stats(): WriterStats {
    return { ...this.#stats }
  }

  write(request: Request): Effect.Effect<Answered, PgFailure> {
    return Effect.callback((resume) => {
      if (this.#isClosed) return resume(Effect.fail(closed))
      this.#queue.push({ ...request, resume })
      // Writes that are asked for in one turn of the event loop go together.
      if (this.#queue.length === 1 && this.#inFlight < IN_FLIGHT) setImmediate(() => this.#pump())
    })
  }

  /** Writes what was asked for; every later write is refused. */
  readonly close: Effect.Effect<void> = Effect.callback((resume) => {
    this.#isClosed = true
    if (this.#inFlight === 0 && this.#queue.length === 0) return resume(Effect.void)
    this.#onIdle.push(() => resume(Effect.void))
    this.#pump()
  })

  #pump(): void {
    while (this.#inFlight < IN_FLIGHT && this.#queue.length > 0) {
      this.#inFlight++
      Effect.runFork(this.#run(this.#takeBatch())).addObserver(() => {
        this.#inFlight--
        this.#pump()
        if (this.#inFlight === 0) for (const idle of this.#onIdle.splice(0)) idle()
      })
    }
  }

  #takeBatch(): ReadonlyArray<Queued> {
    let chars = 0
    let count = 0
    for (const queued of this.#queue) {
      chars += charsOf(queued)
      if (count > 0 && (chars > MAX_CHARS || count >= MAX_OPERATIONS)) break
      count++
    }
    return this.#queue.splice(0, count)
  }

  #run(batch: ReadonlyArray<Queued>): Effect.Effect<void> {
    return Effect.matchEffect(this.#applied(batch, false, MAX_UNDONE), {
      onSuccess: (answers) =>
        Effect.sync(() => {
          this.#stats.batches++
          this.#stats.operations += batch.length
          for (const [place, { resume }] of batch.entries()) {
            const answered = answers.get(place)
            resume(
              answered === undefined ? Effect.die(new Error("an operation has no answer")) : Effect.succeed(answered)
            )
          }
        }),
      onFailure: (failure) => {
        const isAlone = batch.length === 1
        if (isAlone || failure.kind === "passing" || failure.kind === "closed") {
          return Effect.sync(() => {
            for (const { resume } of batch) resume(Effect.fail(failure))
          })
        }
        return Effect.forEach(batch, (queued) => this.#run([queued]), { discard: true })
      }
    })
  }

  #applied(
    batch: ReadonlyArray<Queued>,
    again: boolean,
    undoings: number
  ): Effect.Effect<ReadonlyMap<number, Answered>, PgFailure> {
    const { operations, bodies } = pack(batch, again)
    const texts = Effect.fromResult(PgTypes.array(bodies, PgTypes.OID.text))
    const begun = performance.now()
    const asked = Effect.flatMap(Effect.orDie(texts), (packed) =>
      this.#database.query<AnswerRow>(APPLY, [operations, packed])
    )
    return asked.pipe(
      Effect.map((rows) => {
        const answers = new Map(rows.map(({ place, ...answered }) => [place, answered]))
        const time: unknown = answers.get(TIME_PLACE)?.answer
        if (typeof time === "number") this.#onTime(time, begun, performance.now())
        return answers
      }),
      Effect.catch((failure) => {
        if (failure.kind === "retry" && undoings > 0) {
          this.#stats.undone++
          return this.#applied(batch, again, undoings - 1)
        }
        if (failure.kind !== "passing" || again) return Effect.fail(failure)
        this.#stats.repeated++
        return this.#applied(batch, true, undoings)
      })
    )
  }
}
