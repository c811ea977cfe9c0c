// Blocks on PostgreSQL: the rows of memory blocks.
// Owns reading what a judge asks for and writing what he judged. Leaves every rule about blocks to the keeper in `memory`.
// I1  A block, its version, its readers and the answer to its request are written by one statement, or none is.
// I2  Nothing is locked while a judge judges: what he saw is compared when it is written, by one writer of the tenant at a
//     time; when it has changed he judges anew, on what stands then.
// I3  A change whose answer was lost is asked again: the answer under its key is found, if it was kept.
// I4  What a judge made of a document is forgotten with his judgement: until it is written another one may write the same
//     version, and anyone who then took the document for that version would build on what was never kept.
// I5  A write that was given up is not carried out later: it would bring back what was forgotten in the meantime.

import * as PgTypes from "@effect/sql-pg/PgTypes"
import { type BlockRows, type BlockStore, BlockStoreUnavailable, keepBlocks } from "@reverie/memory"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Database, PgFailure, type Query } from "../database.ts"
import { type BlockWriting, Missing, ReadCache, rowsOn } from "../read-cache.ts"

const unavailable =
  (operation: string) =>
  ({ cause, message }: PgFailure): BlockStoreUnavailable =>
    new BlockStoreUnavailable({ operation, message, cause })

/** Divides by zero, which undoes it, when it is carried out too late: who asked has repeated it by then, and gone on. */
const WRITE = `
  WITH done AS MATERIALIZED (SELECT write_blocks($1, $2::jsonb, $3::jsonb, $4::bytea[]) AS written)
  SELECT written, 1 / (CASE WHEN extract(epoch FROM clock_timestamp()) * 1000 > $5::float8 THEN 0 ELSE 1 END) AS "inTime" FROM done`

/** Until when, by the clock of the database, a write that is sent now may be carried out. */
export type Until = () => number

/** How often a change is judged anew because another one came before it. Each time someone got through. */
const MOST_ANEW = 100

interface Judged<A, E> {
  readonly result: Result.Result<A, E>
  readonly readCache: ReadCache
  readonly writing: BlockWriting
}

type Judge<A, E> = (rows: BlockRows, onUndo: (undo: () => void) => void) => Result.Result<A, E>

/** Judges until everything that is looked at is on the shelf; undefined when more than `most` looks would be needed. */
const judgedWith = <A, E>(
  query: Query,
  readCache: ReadCache,
  run: Judge<A, E>,
  most: number
): Effect.Effect<Judged<A, E> | undefined, PgFailure> =>
  Effect.suspend((): Effect.Effect<Judged<A, E> | undefined, PgFailure> => {
    const undos: Array<() => void> = []
    const undo = (): void => {
      for (const each of undos.toReversed()) each()
    }
    const writing: BlockWriting = { tenant: undefined, writes: [], bytes: [] }
    try {
      const result = run(rowsOn(readCache, writing), (each) => undos.push(each))
      undo()
      return Effect.succeed({ result, readCache, writing })
    } catch (error) {
      undo()
      if (!(error instanceof Missing)) throw error
      if (most === 0) return Effect.succeed(undefined)
      const { key, look } = error
      return Effect.flatMap(query<unknown>(look.sql, look.values), (rows) => {
        readCache.put(key, look, rows)
        return judgedWith(query, readCache, run, most - 1)
      })
    }
  })

/** What one look can not answer is looked at in one moment: a block and its versions must fit together. */
const judged = <A, E>({ moment, query }: Database, run: Judge<A, E>): Effect.Effect<Judged<A, E>, PgFailure> =>
  Effect.gen(function* () {
    const once = yield* judgedWith(query, new ReadCache(), run, 1)
    if (once !== undefined) return once
    const whole = yield* moment((inside) => judgedWith(inside, new ReadCache(), run, Infinity))
    return whole ?? (yield* Effect.die(new Error("a judge asks without end")))
  })

const written = (database: Database, until: Until, readCache: ReadCache, { bytes, tenant, writes }: BlockWriting) =>
  Effect.gen(function* () {
    if (tenant === undefined) return true
    const packed = yield* Effect.orDie(Effect.fromResult(PgTypes.array(bytes, PgTypes.OID.bytea)))
    const values = [tenant, JSON.stringify(readCache.told), JSON.stringify(writes), packed, until()]
    const [row] = yield* database.query<{ readonly written: boolean }>(WRITE, values)
    return row?.written === true
  })

const changing = <A, E>(
  database: Database,
  until: Until,
  run: Judge<A, E>,
  anew: number,
  isRepeated = false
): Effect.Effect<A, E | PgFailure> =>
  Effect.gen(function* () {
    const { result, readCache, writing } = yield* judged(database, run)
    if (Result.isFailure(result)) return yield* Effect.fail(result.failure)
    const outcome = yield* Effect.result(written(database, until, readCache, writing))
    if (Result.isSuccess(outcome) && outcome.success) return result.success
    if (Result.isSuccess(outcome) && anew > 0) return yield* changing(database, until, run, anew - 1, isRepeated)
    if (Result.isFailure(outcome) && outcome.failure.kind === "passing" && !isRepeated) {
      return yield* changing(database, until, run, anew, true)
    }
    if (Result.isFailure(outcome)) return yield* Effect.fail(outcome.failure)
    const message = "others change the same blocks all the time; try again"
    return yield* Effect.fail(new PgFailure("retry", message))
  })

const told =
  (operation: string) =>
  <A, E>(effect: Effect.Effect<A, E | PgFailure>): Effect.Effect<A, E | BlockStoreUnavailable> =>
    Effect.mapError(effect, (error) => (error instanceof PgFailure ? unavailable(operation)(error) : error))

export const postgresBlocks = (database: Database, until: Until): BlockStore["Service"] =>
  keepBlocks({
    look: (operation, run) =>
      told(operation)(
        Effect.flatMap(
          judged(database, (rows) => run(rows)),
          ({ result }) => Effect.fromResult(result)
        )
      ),
    write: (operation, run) => told(operation)(changing(database, until, run, MOST_ANEW))
  })
