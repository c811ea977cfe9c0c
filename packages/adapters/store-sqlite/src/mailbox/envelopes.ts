// Envelopes: the rows of everything that was ever accepted.
// Owns the look-ups along lanes. A handled envelope is known by the cursor of its lane; its row is never touched again.

import type { DatabaseSync } from "node:sqlite"
import { type Cursors, type Envelope, type EnvelopeId, keyText, type Lane, laneOf, LANES } from "@reverie/protocol"
import { change, query } from "../sql.ts"

export interface EnvelopeRow {
  readonly seq: number
  readonly id: string
  readonly acceptedAt: number
  readonly body: string
}

const columnOf = (lane: Lane): number => LANES.indexOf(lane)

export const envelopeQueries = (database: DatabaseSync) => {
  const insert = change(
    database,
    "INSERT OR IGNORE INTO envelopes (assistant, lane, id, accepted_at, body) VALUES (?, ?, ?, ?, ?)"
  )
  const beyond = "FROM envelopes WHERE assistant = ? AND lane = ? AND seq > ?"
  const first = query<{ readonly acceptedAt: number }>(
    database,
    `SELECT accepted_at AS acceptedAt ${beyond} ORDER BY seq LIMIT 1`
  )
  // One statement for all lanes: most looks find one row or none, and cost the call.
  const ofLane = (lane: Lane): string =>
    `SELECT * FROM (SELECT ${columnOf(lane)} AS lane, seq ${beyond} ORDER BY seq LIMIT ?)`
  const places = query<{ readonly lane: number; readonly seq: number }>(database, LANES.map(ofLane).join(" UNION ALL "))
  const bySeq = query<EnvelopeRow>(
    database,
    "SELECT seq, id, accepted_at AS acceptedAt, body FROM envelopes WHERE seq = ?"
  )
  const named = query<EnvelopeRow & { readonly lane: number }>(
    database,
    "SELECT seq, id, lane, accepted_at AS acceptedAt, body FROM envelopes WHERE assistant = ? AND id = ?"
  )
  const count = query<{ readonly waiting: number }>(database, `SELECT count(*) AS waiting ${beyond}`)
  const newest = query<{ readonly seq: number }>(database, "SELECT max(seq) AS seq FROM envelopes")
  return {
    /** False when the envelope was there before. */
    insert: (assistant: number, envelope: Envelope, body: string, now: number): boolean =>
      insert(assistant, columnOf(laneOf(envelope.event)), keyText(envelope.id), now, body).rows === 1,
    firstAcceptedAt: (assistant: number, lane: Lane, cursor: number): number | undefined =>
      first.one(assistant, columnOf(lane), cursor)?.acceptedAt,
    /** Where at most `limit` envelopes of each of these lanes wait, lane by lane, the oldest first. */
    waiting: (assistant: number, cursors: Cursors, lanes: ReadonlyArray<Lane>, limit: number) =>
      places.all(
        ...LANES.flatMap((lane) => [assistant, columnOf(lane), cursors[lane], lanes.includes(lane) ? limit : 0])
      ),
    rowAt: (seq: number): EnvelopeRow | undefined => bySeq.one(seq),
    /** The row of an id, with its lane. */
    rowOf: (assistant: number, id: EnvelopeId): { readonly row: EnvelopeRow; readonly lane: Lane } | undefined => {
      const found = named.one(assistant, keyText(id))
      const lane = found === undefined ? undefined : LANES[found.lane]
      return found === undefined || lane === undefined ? undefined : { row: found, lane }
    },
    waitingCount: (assistant: number, cursors: Cursors): number =>
      LANES.reduce((sum, lane) => sum + (count.one(assistant, columnOf(lane), cursors[lane])?.waiting ?? 0), 0),
    /** No row is ever deleted, so the last number is their count. */
    accepted: (): number => newest.one()?.seq ?? 0
  }
}
