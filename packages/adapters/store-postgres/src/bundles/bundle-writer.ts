// BundleWriter: a bundle, written as rows of PostgreSQL where nothing of it stands yet.
// Owns the writing, and what is in its way. `bundles.ts` judges first whether there is room.
// P2  A life of more entries than a transaction has positions raises what is added to a transaction's id. While it does,
//     no other transaction has read the old number and not yet written: all wait for the lock on the table `store`.

import type { AssistantHead, BundlePart } from "@reverie/ledger"
import { entryText, type AssistantState, type Entry, keyText, LANES, stateText, type TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { usageRows } from "../ports/allowance.ts"
import { receivesColumn } from "../ports/assistants.ts"
import type { Query } from "../database.ts"
import { AT_REST } from "../first/apply.ts"
import { askedBy, insert, mailRows, ofKind, putKept, settledBy, WAKE, type Writing } from "./bundle-rows.ts"

export const MOVER = "bundle"
/** Long after every clock, and far from where numbers stop being exact. */
export const FOR_EVER = AT_REST - 1

const POSITIONS = 4_096

const PLACE = `
  SELECT ((pg_current_xact_id()::text::bigint + raised) * ${POSITIONS})::text AS first FROM store`
const LOCK = "LOCK TABLE store IN ACCESS EXCLUSIVE MODE"
const FAR_PLACE = `
  UPDATE store SET raised = raised + pg_snapshot_xmax(pg_current_snapshot())::text::bigint
    - pg_current_xact_id()::text::bigint + $1::bigint
  RETURNING ((pg_current_xact_id()::text::bigint + raised - $1::bigint) * ${POSITIONS})::text AS first`

/** The first of as many positions as there are entries. */
const positionsFor = (query: Query, entries: number): Writing<bigint> =>
  Effect.gen(function* () {
    if (entries > POSITIONS) yield* query(LOCK)
    const rows =
      entries > POSITIONS
        ? yield* query<{ readonly first: string }>(FAR_PLACE, [Math.ceil(entries / POSITIONS)])
        : yield* query<{ readonly first: string }>(PLACE)
    return BigInt(rows[0]?.first ?? "0")
  })

const INSERT_ASSISTANT = `
  INSERT INTO assistants (wake, lease_until, worker, epoch, version, settled, control, reply, mail,
    last_control, last_reply, last_mail, receives, retired, tenant, id)
  VALUES (${AT_REST}, ${FOR_EVER}, '${MOVER}', $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
  RETURNING key::text AS key`
const INSERT_STATE = "INSERT INTO states (assistant, tenant, body) VALUES ($1::bigint, $2, $3)"

/** Puts a life down. `now` is the caller's time, where that counts. */
export const putLife = (
  query: Query,
  head: AssistantHead,
  parts: ReadonlyArray<BundlePart>,
  now: number | undefined
): Writing =>
  Effect.gen(function* () {
    const { address, epoch, handled, version } = head
    const { assistant, tenant } = address
    const state = head.state as unknown as AssistantState
    const entries = ofKind(parts, "entry").map(({ entry }) => entry as unknown as Entry)
    const { last, rows: mail } = mailRows(parts)
    const settled = entries.reduce((sum, entry) => sum + settledBy(entry), 0)
    const [row] = yield* query<{ readonly key: string }>(INSERT_ASSISTANT, [
      // Higher than any that was granted: no claim of the old data store can write here.
      epoch + 1,
      version,
      settled,
      ...LANES.map((lane) => handled[lane]),
      ...LANES.map((lane) => last[lane]),
      receivesColumn(state.receives),
      state.status === "retired",
      tenant,
      assistant
    ])
    const key = row?.key ?? "0"
    yield* query(INSERT_STATE, [key, tenant, stateText(state)])
    yield* insert(query, "envelopes", key, tenant, mail)
    yield* putKept(query, key, tenant, parts)
    const letters = ofKind(parts, "dead-letter").map(({ discarded = false, at, envelope, reason }) => ({
      body: JSON.stringify({ envelope, reason, at }),
      discarded
    }))
    yield* insert(query, "letters", key, tenant, letters)
    yield* insert(query, "usage", key, tenant, entries.flatMap(usageRows))
    // Last, because others may wait for it.
    const first = yield* positionsFor(query, entries.length)
    const positioned = entries.map((entry, index) => ({
      position: String(first + BigInt(index)),
      no: entry.no,
      body: entryText(entry)
    }))
    yield* insert(query, "ledger", key, tenant, positioned)
    yield* query(WAKE, [key, askedBy(state), now ?? null, String(first + BigInt(entries.length - 1))])
  })

const TAKEN_BLOCK = "SELECT 1 AS one FROM blocks WHERE tenant = $1 AND id = $2"
const TAKEN_LABEL = "SELECT 1 AS one FROM blocks WHERE tenant = $1 AND owner = $2 AND label = $3"
const TAKEN_KEY = "SELECT answer FROM block_answers WHERE tenant = $1 AND key = $2"

/** What is in the way of blocks and answers, no matter whom it belongs to. */
export const obstacleIn = (
  query: Query,
  tenant: TenantId,
  parts: ReadonlyArray<BundlePart>
): Writing<string | undefined> =>
  Effect.gen(function* () {
    for (const { id, label, owner } of ofKind(parts, "block")) {
      if ((yield* query(TAKEN_BLOCK, [tenant, keyText(id)])).length > 0) return `block ${id}`
      const named = yield* query(TAKEN_LABEL, [tenant, keyText(owner), keyText(label)])
      if (named.length > 0) return `a block ${label} of ${owner}`
    }
    for (const { answer, key } of ofKind(parts, "block-answer")) {
      const [before] = yield* query<{ readonly answer: string }>(TAKEN_KEY, [tenant, keyText(key)])
      if (before !== undefined && before.answer !== JSON.stringify(answer)) return `an answer under ${key}`
    }
    return undefined
  })
