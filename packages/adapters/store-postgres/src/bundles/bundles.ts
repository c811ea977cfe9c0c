// Bundles on PostgreSQL: one reader and one writer, and the mark on the data store.
// Owns that a bundle is judged inside the transaction that writes it. The rows are read by bundle-reader.ts, written by
// bundle-writer.ts, and rewritten by bundle-rewriter.ts.
// I1  Moves into one schema take turns, and each bundle is judged and written in one transaction.
// I2  An assistant on the move is held by a lease in its row, so that running workers find it neither due nor claimable.
// I3  The mark is a table of its own, made with the first mark; a store that was never moved has none.
// I4  A rewriting that waits in a circle with what is accepted, and was undone for it, is begun again.

import {
  type Bundle,
  type BundlePart,
  type BundlePlace,
  type BundleRefused,
  type Bundles,
  judgeBundle,
  type LedgerUnavailable,
  type MoveMark,
  nobodyAt,
  occupiedBy,
  type PlacedSegment,
  rewritten,
  tenantOf
} from "@reverie/ledger"
import { keyText, readKeyText } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { ledgerUnavailable } from "../ports/entry-history.ts"
import { leaveNoted, type Segments } from "../ports/segments.ts"
import { type Database, PgFailure, type Query } from "../database.ts"
import { holdPlace, putInPlace } from "./bundle-rewriter.ts"
import { putEntryRows } from "./bundle-rows.ts"
import { FOR_EVER, MOVER, obstacleIn, putLife } from "./bundle-writer.ts"
import { lifeIn, tenantIn, tenantsIn } from "./bundle-reader.ts"
import type { Time } from "../time.ts"

const isUndone = (error: unknown): boolean => error instanceof PgFailure && error.kind === "retry"

const MOST_UNDONE = 5

/** A long life is written in less. */
const MOVE_MILLIS = 1_800_000

const TIMEOUTS = `
  SELECT set_config('statement_timeout', '${MOVE_MILLIS}', true),
    set_config('idle_in_transaction_session_timeout', '${MOVE_MILLIS}', true)`
const ONE_MOMENT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"
const TURN = "SELECT pg_advisory_xact_lock(hashtextextended('reverie bundles ' || current_schema(), 0))"

type Failing<A, E = never> = Effect.Effect<A, PgFailure | E>

/** What is to be put down of a bundle; undefined when it is here already. */
const judged = (
  query: Query,
  segments: Segments,
  bundle: Bundle
): Failing<ReadonlyArray<BundlePart> | undefined, BundleRefused> =>
  Effect.gen(function* () {
    const { head } = bundle
    const here =
      head.kind === "tenant" ? yield* tenantIn(query, head.tenant) : yield* lifeIn(query, segments, head.address)
    const fresh = yield* Effect.fromResult(judgeBundle(bundle, here))
    const obstacle = fresh === undefined ? undefined : yield* obstacleIn(query, tenantOf(head), fresh)
    return obstacle === undefined ? fresh : yield* occupiedBy(head, obstacle)
  })

const ADMIT = `
  UPDATE assistants SET lease_until = 0, worker = ''
  WHERE tenant = $1 AND id = $2 AND worker = '${MOVER}' AND lease_until = ${FOR_EVER}`

const MARKS = `
  CREATE TABLE IF NOT EXISTS moves (
    one boolean PRIMARY KEY DEFAULT true CHECK (one), state text NOT NULL, place text NOT NULL, at bigint NOT NULL
  )`
const MARKED = "SELECT state, place, at::float8 AS at FROM moves"
const HAS_MARKS = "SELECT to_regclass('moves') IS NOT NULL AS there"

export const markIn = (query: Query): Failing<MoveMark | undefined> =>
  Effect.gen(function* () {
    const [found] = yield* query<{ readonly there: boolean }>(HAS_MARKS)
    if (found?.there !== true) return undefined
    const [row] = yield* query<{ readonly state: MoveMark["state"]; readonly place: string; readonly at: number }>(
      MARKED
    )
    return row === undefined ? undefined : { ...row, place: readKeyText(row.place) }
  })

const putMark = (query: Query, mark: MoveMark | null): Failing<void> =>
  Effect.gen(function* () {
    if (mark === null && (yield* markIn(query)) === undefined) return
    yield* query(MARKS)
    yield* query("DELETE FROM moves")
    if (mark === null) return
    yield* query("INSERT INTO moves (state, place, at) VALUES ($1, $2, $3)", [mark.state, keyText(mark.place), mark.at])
  })

const told =
  (operation: string) =>
  <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, Exclude<E, PgFailure> | LedgerUnavailable> =>
    Effect.mapError(effect, (error) =>
      error instanceof PgFailure ? ledgerUnavailable(operation)(error) : (error as Exclude<E, PgFailure>)
    )

const rewriteIn = (
  query: Query,
  segments: Segments,
  places: ReadonlyArray<BundlePlace>,
  change: (there: Bundle) => Bundle,
  now: number | undefined
) =>
  Effect.gen(function* () {
    const pairs: Array<{ readonly there: Bundle; readonly made: Bundle }> = []
    for (const place of places) {
      yield* holdPlace(query, place)
      const { assistant, tenant } = place
      if (assistant !== undefined) yield* leaveNoted(query, { assistant, tenant })
      const there = yield* assistant === undefined
        ? tenantIn(query, tenant)
        : lifeIn(query, segments, { tenant, assistant }, true)
      pairs.push(yield* Effect.fromResult(rewritten(place, there, change)))
    }
    const damaged: Array<PlacedSegment> = []
    for (const { made, there } of pairs) damaged.push(...(yield* putInPlace(query, segments, there, made, now)))
    return { made: pairs.map(({ made }) => made), damaged }
  })

/** Takes away apart from the database what nothing refers to any more, and what is damaged there and may hold what is to go. */
const leaving =
  (segments: Segments) => (rewriting: Failing<Effect.Success<ReturnType<typeof rewriteIn>>, BundleRefused>) =>
    Effect.gen(function* () {
      const { damaged, made } = yield* rewriting
      yield* segments.leave(damaged)
      yield* segments.sweep
      return made
    })

export const postgresBundles = (database: Database, time: Time, segments: Segments): Bundles["Service"] => {
  /** Looks that see one moment, for as long as a long life takes. */
  const moment = <A, E>(run: (query: Query) => Effect.Effect<A, E>) =>
    database.transaction(MOVE_MILLIS, (query) =>
      Effect.andThen(Effect.andThen(query(ONE_MOMENT), query(TIMEOUTS)), run(query))
    )
  const turn = <A, E>(run: (query: Query) => Effect.Effect<A, E>) =>
    database.transaction(MOVE_MILLIS, (query) =>
      Effect.andThen(Effect.andThen(query(TIMEOUTS), query(TURN)), run(query))
    )
  const streamOf = ({ head, parts }: Bundle): Stream.Stream<BundlePart> => Stream.fromIterable([head, ...parts])

  return {
    pack: (address, { marksLost = false } = {}) =>
      Stream.unwrap(
        Effect.flatMap(
          told("pack")(
            segments.atHand(database.query, address, (atHand) =>
              moment((query) => lifeIn(query, atHand, address, marksLost))
            )
          ),
          (bundle) => (bundle === undefined ? Effect.fail(nobodyAt(address)) : Effect.succeed(streamOf(bundle)))
        )
      ),
    packTenant: (tenant) =>
      Stream.unwrap(Effect.map(told("pack")(moment((query) => tenantIn(query, tenant))), streamOf)),
    tenants: told("tenants")(tenantsIn(database.query)),
    unpack: (bundle, { isTrial = false } = {}) =>
      told("unpack")(
        Effect.flatMap(time.stamp, ({ at }) =>
          turn((query) =>
            Effect.gen(function* () {
              const fresh = yield* judged(query, segments, bundle)
              if (fresh === undefined) return "present" as const
              if (isTrial) return "unpacked" as const
              const { head, parts } = bundle
              if (head.kind === "assistant") yield* putLife(query, head, parts, at)
              yield* putEntryRows(query, tenantOf(head), fresh)
              return "unpacked" as const
            })
          )
        )
      ),
    rewrite: (places, change) =>
      told("rewrite")(
        Effect.flatMap(time.stamp, ({ at }) =>
          segments
            .inTurn(turn((query) => rewriteIn(query, segments, places, change, at)))
            .pipe(Effect.retry({ while: isUndone, times: MOST_UNDONE }))
        ).pipe(leaving(segments))
      ),
    admit: (addresses) =>
      told("admit")(
        Effect.forEach(addresses, ({ assistant, tenant }) => database.query(ADMIT, [tenant, assistant]), {
          discard: true
        })
      ),
    mark: (mark) => told("mark")(turn((query) => putMark(query, mark))),
    // Nothing here is encrypted by us.
    shred: () => Effect.void,
    marked: told("marked")(markIn(database.query))
  }
}
