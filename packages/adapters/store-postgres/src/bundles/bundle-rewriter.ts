// BundleRewriter: one bundle in the place of another, in rows of PostgreSQL.
// Owns which rows go, which stay and where those stand that are written again. `bundles.ts` holds the place meanwhile.

import {
  type Bundle,
  type BundlePart,
  type BundlePlace,
  droppedDigests,
  type LeftOfLost,
  leftOfLost,
  lostRowOf,
  mailOf,
  type Moving,
  type PlacedSegment,
  placeOfText,
  tenantOf,
  limitChangesOf
} from "@reverie/ledger"
import { entryText, type AssistantState, type Entry, keyText, LANES, stateText, type TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { receivesColumn } from "../ports/assistants.ts"
import { leaveBlobs } from "../ports/blobs.ts"
import { mailNumber, putSegment, type SegmentOf, takeDamaged } from "../ports/segment-writer.ts"
import type { Segments } from "../ports/segments.ts"
import { changeLimits, NO_TIME } from "../ports/allowance.ts"
import type { Query } from "../database.ts"
import { AT_REST } from "../first/apply.ts"
import {
  askedBy,
  insert,
  mailRows,
  ofKind,
  putEntryRows,
  putKept,
  settledBy,
  WAKE,
  type Writing
} from "./bundle-rows.ts"

const TENANT_BLOCKS = "SELECT 1 AS one FROM blocks WHERE tenant = $1 FOR UPDATE"
const LIVING_ROW = `
  SELECT key::text AS key, position::text AS position, settled::float8 AS settled
  FROM assistants WHERE tenant = $1 AND id = $2 FOR UPDATE`

interface LivingRow {
  readonly key: string
  readonly position: string
  readonly settled: number
}

/** Until the transaction ends no one commits, accepts or changes a block there. */
export const holdPlace = (query: Query, { assistant, tenant }: BundlePlace): Writing =>
  Effect.gen(function* () {
    if (assistant !== undefined) yield* query(LIVING_ROW, [tenant, assistant])
    yield* query(TENANT_BLOCKS, [tenant])
  })

const TAKE_UP = {
  ofBlock: ["block_versions", "block_snapshots", "block_readers"].map(
    (table) => `DELETE FROM ${table} WHERE block = (SELECT key FROM blocks WHERE tenant = $1 AND id = $2)`
  ),
  block: "DELETE FROM blocks WHERE tenant = $1 AND id = $2",
  answer: "DELETE FROM block_answers WHERE tenant = $1 AND key = $2",
  prompt: "DELETE FROM prompts WHERE tenant = $1 AND kind = $2 AND key = $3 AND version = $4"
} as const

/** Blocks, answers, prompts and limits of a bundle leave the store. */
const takeUp = (query: Query, { head, parts }: Bundle): Writing =>
  Effect.gen(function* () {
    const tenant = tenantOf(head)
    for (const { id } of ofKind(parts, "block")) {
      for (const sql of [...TAKE_UP.ofBlock, TAKE_UP.block]) yield* query(sql, [tenant, keyText(id)])
    }
    for (const { key } of ofKind(parts, "block-answer")) yield* query(TAKE_UP.answer, [tenant, keyText(key)])
    for (const { key, of, version } of ofKind(parts, "prompt")) {
      yield* query(TAKE_UP.prompt, [tenant, of, key, version])
    }
    yield* changeLimits(query, tenant, limitChangesOf(parts, true), NO_TIME)
  })

const SENDS_OF_TENANT = "SELECT seq::text AS seq, body FROM sends WHERE tenant = $1"
const REMOVE_SEND = "DELETE FROM sends WHERE seq = $1::bigint"

const takeBackSends = (query: Query, tenant: TenantId, parts: ReadonlyArray<BundlePart>): Writing =>
  Effect.gen(function* () {
    const open = new Set(ofKind(parts, "send").map(({ envelope }) => JSON.stringify(envelope)))
    if (open.size === 0) return
    const rows = yield* query<{ readonly seq: string; readonly body: string }>(SENDS_OF_TENANT, [tenant])
    for (const { body, seq } of rows) if (open.has(body)) yield* query(REMOVE_SEND, [seq])
  })

const PLACES = "SELECT no::float8 AS no, position::text AS position FROM ledger WHERE assistant = $1::bigint"
const REMOVE_ENTRIES = "DELETE FROM ledger WHERE assistant = $1::bigint"

/** Entries in their old places of the outbox. */
const rewriteEntries = (
  query: Query,
  key: string,
  tenant: TenantId,
  entries: ReadonlyArray<{ readonly no: number; readonly body: string }>
): Writing =>
  Effect.gen(function* () {
    const rows = yield* query<{ readonly no: number; readonly position: string }>(PLACES, [key])
    const places = new Map(rows.map(({ no, position }) => [no, position]))
    yield* query(REMOVE_ENTRIES, [key])
    const placed = entries.map(({ body, no }) => ({ position: places.get(no), no, body }))
    yield* insert(query, "ledger", key, tenant, placed)
  })

// The segments of before, whose rows are written again; those stay that are lost, with the rows that refer to them.
const TAKE_SEGMENTS = `
  WITH taken AS (
    DELETE FROM segments WHERE assistant = $1::bigint AND key <> ALL ($2::bigint[]) RETURNING up_to, deleted_at
  )
  SELECT up_to::float8 AS "upTo", deleted_at::float8 AS "deletedAt" FROM taken ORDER BY up_to`

/** Rows of a life, of which those that were in segments are in new ones that reach as far. */
const segmentedAgain = <Mail extends MailRow>(
  query: Query,
  segments: Segments,
  of: Pick<SegmentOf, "assistant" | "tenant">,
  life: ReadonlyArray<Entry>,
  mail: ReadonlyArray<Mail>,
  lost: ReadonlySet<number>
) =>
  Effect.gen(function* () {
    const bodies = new Map(mail.map(({ body, id }) => [id, body]))
    const byId = new Map(mail.flatMap((row) => (placeOfText(row.body) === undefined ? [[row.id, row]] : [])))
    const entries = life.map((entry) => ({ no: entry.no, body: lostRowOf(entry)?.reference ?? entryText(entry) }))
    const taken = yield* query<Pick<SegmentOf, "upTo" | "deletedAt">>(TAKE_SEGMENTS, [
      of.assistant,
      `{${[...lost].join()}}`
    ])
    let next = 0
    for (const { deletedAt, upTo } of taken) {
      const begin = next
      while ((life[next]?.no ?? Infinity) <= upTo) next++
      const here = [...life.keys()]
        .slice(begin, next)
        .filter((each) => placeOfText(entries[each]?.body ?? "") === undefined)
      const letters = here.flatMap((each) => byId.get(keyText(mailIn(life[each]) ?? "")) ?? [])
      const rows: ReadonlyArray<Moving> = [
        ...here.map((each) => ({
          table: "ledger" as const,
          seq: life[each]?.no ?? 0,
          text: entries[each]?.body ?? ""
        })),
        ...letters.map((row) => ({ table: "envelopes" as const, seq: mailNumber(row), text: row.body }))
      ]
      const put = yield* putSegment(query, segments, { ...of, upTo: life[here.at(-1) ?? -1]?.no ?? 0, deletedAt }, rows)
      for (const [index, each] of here.entries()) entries[each] = { no: life[each]?.no ?? 0, body: put[index] ?? "" }
      for (const [index, { id }] of letters.entries()) bodies.set(id, put[here.length + index] ?? "")
    }
    return { entries, mail: mail.map((row) => ({ ...row, body: bodies.get(row.id) ?? row.body })) }
  })

const mailIn = (entry: Entry | undefined) => (entry === undefined ? undefined : mailOf(entry))

const REFER = "UPDATE segments SET digests = $2 WHERE key = $1::bigint AND assistant = $3::bigint"

/** What is to go of lost segments that stay. Answers those that lie apart and are to go there. */
const leaveLost = (
  query: Query,
  key: string,
  { digests, segments, taken }: LeftOfLost
): Writing<ReadonlyArray<PlacedSegment>> =>
  Effect.gen(function* () {
    for (const segment of segments) yield* query(REFER, [segment, [...(digests.get(segment) ?? [])].join(" "), key])
    return yield* takeDamaged(query, key, [...taken])
  })

interface MailRow {
  readonly lane: number
  readonly seq: number
  readonly id: string
  readonly body: string
}

const LETTERS = "SELECT seq::text AS seq FROM dead_letters WHERE assistant = $1::bigint ORDER BY seq"
const PUT_LETTER = "UPDATE dead_letters SET body = $2 WHERE seq = $1::bigint"
const REMOVE_LETTER = "DELETE FROM dead_letters WHERE seq = $1::bigint"

const rewriteLetters = (query: Query, key: string, parts: ReadonlyArray<BundlePart>): Writing =>
  Effect.gen(function* () {
    const letters = ofKind(parts, "dead-letter")
    const rows = yield* query<{ readonly seq: string }>(LETTERS, [key])
    for (const [index, { seq }] of rows.entries()) {
      const letter = letters[index]
      if (letter === undefined) yield* query(REMOVE_LETTER, [seq])
      else {
        const { at, envelope, reason } = letter
        yield* query(PUT_LETTER, [seq, JSON.stringify({ envelope, reason, at })])
      }
    }
  })

const REMOVE_MAIL = "DELETE FROM envelopes WHERE assistant = $1::bigint"
const REMOVE_RECORDS = "DELETE FROM records WHERE assistant = $1::bigint"
const REMOVE_WAKE = "DELETE FROM wakes WHERE assistant = $1::bigint"
const PUT_STATE = "UPDATE states SET body = $2 WHERE assistant = $1::bigint"
const STAND = `
  UPDATE assistants SET epoch = epoch + 1, lease_until = 0, worker = '', attempts = 0, note = NULL, wake = ${AT_REST},
    version = $2, settled = $3, control = $4, reply = $5, mail = $6, last_control = $7, last_reply = $8, last_mail = $9,
    receives = $10, retired = $11
  WHERE key = $1::bigint`

const settledIn = ({ parts }: Bundle): number =>
  ofKind(parts, "entry").reduce((sum, { entry }) => sum + settledBy(entry as unknown as Entry), 0)

/**
 * Puts one bundle in the place of the one that stands there, which is held (`holdPlace`). Answers damaged segments that are to go out
 * of their place.
 */
export const putInPlace = (
  query: Query,
  segments: Segments,
  there: Bundle,
  made: Bundle,
  now: number | undefined
): Writing<ReadonlyArray<PlacedSegment>> =>
  Effect.gen(function* () {
    const { head, parts } = made
    yield* takeUp(query, there)
    if (head.kind === "tenant") {
      yield* putEntryRows(query, head.tenant, parts)
      return []
    }
    const { assistant, tenant } = head.address
    const [row] = yield* query<LivingRow>(LIVING_ROW, [tenant, assistant])
    if (row === undefined) return []
    const { key, position } = row
    const state = head.state as unknown as AssistantState
    const entries = ofKind(parts, "entry").map(({ entry }) => entry as unknown as Entry)
    const lost = leftOfLost(made)
    const { last, rows } = mailRows(parts)
    for (const sql of [REMOVE_MAIL, REMOVE_RECORDS, REMOVE_WAKE]) yield* query(sql, [key])
    yield* takeBackSends(query, tenant, there.parts)
    const again = yield* segmentedAgain(query, segments, { assistant: key, tenant }, entries, rows, lost.segments)
    const damaged = yield* leaveLost(query, key, lost)
    yield* insert(query, "envelopes", key, tenant, again.mail)
    yield* putKept(query, key, tenant, parts)
    yield* rewriteLetters(query, key, parts)
    yield* rewriteEntries(query, key, tenant, again.entries)
    yield* putEntryRows(query, tenant, parts)
    yield* query(PUT_STATE, [key, stateText(state)])
    yield* query(STAND, [
      key,
      head.version,
      settledIn(made) + (lost.segments.size === 0 ? 0 : row.settled - settledIn(there)),
      ...LANES.map((lane) => head.handled[lane]),
      ...LANES.map((lane) => last[lane]),
      receivesColumn(state.receives),
      state.status === "retired"
    ])
    yield* query(WAKE, [key, askedBy(state), now ?? null, position])
    yield* leaveBlobs(query, tenant, droppedDigests(there, made))
    return damaged
  })
