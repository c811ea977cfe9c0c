// BundleWriter: bundles, written as rows of SQLite.
// Owns the writing. `bundles.ts` judges first whether there is room.
// P1  A bundle gets the next numbers, and the cursors of its lanes are those of its last handled ones.
// P2  A rewritten life keeps its rows. The newest row of a table that counts is emptied, and not deleted: its number is the count.

import type { DatabaseSync } from "node:sqlite"
import {
  type AssistantHead,
  type Bundle,
  type BundlePart,
  bytesOf,
  droppedDigests,
  leftOfLost,
  limitChangesOf,
  lostRowOf,
  type PlacedSegment,
  textOf
} from "@reverie/ledger"
import {
  entryText,
  type AssistantState,
  type Entry,
  keyText,
  type Lane,
  LANES,
  stateText,
  type TenantId
} from "@reverie/protocol"
import { limitsIn } from "../ledger/allowance.ts"
import { assistantQueries, envelopeQueries, padded, receivesColumn } from "../ledger/assistants.ts"
import { entryQueries } from "../ledger/entries.ts"
import { usageAdding } from "../ledger/usage.ts"
import { keepBlob, leaveBlobs } from "../ledger/blobs.ts"
import { segmentWriter } from "../ledger/segment-writer.ts"
import { segmentsOf } from "../ledger/segments.ts"
import { recordRows } from "../ledger/record-rows.ts"
import { wakeOnCommit } from "../mailbox/mailbox.ts"
import { viewersWithoutBlocks } from "../blocks.ts"
import { AT_REST } from "../formats.ts"
import { discardedCounting } from "../ledger/ledger.ts"
import { change, query } from "../sql.ts"

const EVERYBODY = "*"

const cursorAt = (numbers: ReadonlyArray<number>, handled: number): number =>
  handled === 0 ? 0 : (numbers[handled - 1] ?? 0)

const settledBy = ({ settled = [] }: Entry): number => settled.filter(({ outcome }) => outcome !== "dead").length

const livesTo = (database: DatabaseSync) => {
  const entries = entryQueries(database)
  const envelopes = envelopeQueries(database)
  const insert = change(
    database,
    `INSERT INTO assistants
       (wake, epoch, attempts, version, control, reply, mail, last, receives, retired, tenant, id, state)
     VALUES (?, ?, 0, ?, 0, 0, 0, 0, ?, ?, ?, ?, ?)`
  )
  const accept = change(
    database,
    "INSERT INTO envelopes (assistant, lane, id, accepted_at, body) VALUES (?, ?, ?, ?, ?)"
  )
  const { keep } = recordRows(database)
  const send = change(database, "INSERT INTO sends (body) VALUES (?)")
  const deadLetter = change(database, "INSERT INTO dead_letters (assistant, body, discarded) VALUES (?, ?, ?)")
  const countDiscarded = discardedCounting(database)
  const use = usageAdding(database)
  const settle = change(
    database,
    "UPDATE assistants SET control = ?, reply = ?, mail = ?, last = ?, wake = ? WHERE key = ?"
  )

  return (
    { address, epoch, handled, state: found, version }: AssistantHead,
    parts: Iterable<BundlePart>,
    now: number
  ) => {
    const state = found as unknown as AssistantState
    const flags = [receivesColumn(state.receives), state.status === "retired" ? 1 : 0]
    const body = padded(stateText(state), 0)
    // Higher than any that was granted: no claim of the old data store can write here.
    const { lastSeq: key } = insert(AT_REST, epoch + 1, version, ...flags, address.tenant, address.assistant, body)
    const mail: Readonly<Record<Lane, Array<number>>> = { control: [], reply: [], mail: [] }
    let last = 0
    for (const part of parts) {
      if (part.kind === "envelope") {
        const { acceptedAt, id, lane } = part
        mail[lane].push(accept(key, LANES.indexOf(lane), keyText(id), acceptedAt, textOf(part.body)).lastSeq)
      } else if (part.kind === "entry") {
        const entry = part.entry as unknown as Entry
        const settled = settledBy(entry)
        use(key, address.tenant, entry)
        last = entries.append({ assistant: key, no: entry.no, previous: last, settled, body: entryText(entry) })
      } else if (part.kind === "record") keep(key, part.of, part.key, JSON.stringify(part.value))
      else if (part.kind === "send") send(JSON.stringify(part.envelope))
      else if (part.kind === "dead-letter") {
        const { discarded = false, at, envelope, reason } = part
        deadLetter(key, JSON.stringify({ envelope, reason, at }), discarded ? countDiscarded() + 1 : null)
      }
    }
    const cursors = {
      control: cursorAt(mail.control, handled.control),
      reply: cursorAt(mail.reply, handled.reply),
      mail: cursorAt(mail.mail, handled.mail)
    }
    const wake = wakeOnCommit(AT_REST, state, now, (lane) => envelopes.firstAcceptedAt(key, lane, cursors[lane]))
    settle(cursors.control, cursors.reply, cursors.mail, last, wake, key)
    return key
  }
}

const entryRowsTo = (database: DatabaseSync) => {
  const block = change(database, "INSERT INTO blocks (tenant, id, owner, label, body) VALUES (?, ?, ?, ?, ?)")
  const give = change(database, "INSERT INTO block_readers (tenant, reader, block) VALUES (?, ?, ?)")
  const version = change(database, "INSERT INTO block_versions (block, version, body, patch) VALUES (?, ?, ?, ?)")
  const snapshot = change(database, "INSERT INTO block_snapshots (block, bytes) VALUES (?, ?)")
  const answer = change(database, "INSERT OR IGNORE INTO block_answers (tenant, key, answer) VALUES (?, ?, ?)")
  const prompt = change(
    database,
    "INSERT INTO prompts (tenant, kind, key, version, at, restores, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
  )
  const blob = keepBlob(database)
  const without = viewersWithoutBlocks(database)
  const limits = limitsIn(database)
  return (tenant: TenantId, parts: Iterable<BundlePart>): void => {
    limits.change(tenant, limitChangesOf(parts))
    let key = 0
    for (const part of parts) {
      if (part.kind === "block") {
        const { body, id, label, owner, readers } = part
        without.clear()
        key = block(tenant, keyText(id), keyText(owner), keyText(label), JSON.stringify(body)).lastSeq
        for (const reader of readers) give(tenant, reader === EVERYBODY ? EVERYBODY : keyText(reader), key)
      } else if (part.kind === "block-version") {
        version(key, part.version, JSON.stringify(part.body), bytesOf(part.patch))
      } else if (part.kind === "block-snapshot") snapshot(key, bytesOf(part.bytes))
      else if (part.kind === "blob") blob(tenant, part.digest, bytesOf(part.bytes))
      else if (part.kind === "block-answer") answer(tenant, keyText(part.key), JSON.stringify(part.answer))
      else if (part.kind === "prompt") {
        const { at, body, key: name, of, restores = null, version: no } = part
        prompt(tenant, of, name, no, at, restores, body === null ? null : JSON.stringify(body))
      }
    }
  }
}

/** What is in the way of blocks and answers, no matter whom it belongs to. */
const obstaclesTo = (database: DatabaseSync) => {
  const byId = query<{ readonly key: number }>(database, "SELECT key FROM blocks WHERE tenant = ? AND id = ?")
  const byLabel = query<{ readonly key: number }>(
    database,
    "SELECT key FROM blocks WHERE tenant = ? AND owner = ? AND label = ?"
  )
  const answer = query<{ readonly answer: string }>(
    database,
    "SELECT tenant, key, answer FROM block_answers WHERE tenant = ? AND key = ?"
  )
  return (tenant: TenantId, parts: Iterable<BundlePart>): string | undefined => {
    for (const part of parts) {
      if (part.kind === "block") {
        if (byId.one(tenant, keyText(part.id)) !== undefined) return `block ${part.id}`
        const { label, owner } = part
        if (byLabel.one(tenant, keyText(owner), keyText(label)) !== undefined) return `a block ${label} of ${owner}`
      } else if (part.kind === "block-answer") {
        const before = answer.one(tenant, keyText(part.key))
        if (before !== undefined && before.answer !== JSON.stringify(part.answer)) return `an answer under ${part.key}`
      }
    }
    return undefined
  }
}

const UNOWNED = 0

/** The rows of a table whose newest number is a count: what goes leaves no row, the newest one an empty row of no assistant. */
const leavingFrom = (database: DatabaseSync, table: "envelopes" | "ledger", empty: string) => {
  const newest = query<{ readonly seq: number | null }>(database, `SELECT max(seq) AS seq FROM ${table}`)
  const clear = change(database, `UPDATE ${table} SET assistant = ${UNOWNED}, body = '', ${empty} WHERE seq = ?`)
  const remove = change(database, `DELETE FROM ${table} WHERE seq = ?`)
  return (seq: number): void => {
    if (seq === newest.one()?.seq) clear(seq)
    else remove(seq)
  }
}

const mailIn = (database: DatabaseSync) => {
  const rows = query<{ readonly seq: number; readonly body: string }>(
    database,
    "SELECT seq, assistant, id, body FROM envelopes WHERE assistant = ? AND lane = ? ORDER BY seq"
  )
  const segments = segmentsOf(database)
  const leave = leavingFrom(database, "envelopes", "lane = 0, id = CAST(seq AS TEXT)")
  const rename = change(database, "UPDATE envelopes SET id = CAST(seq AS TEXT) WHERE seq = ?")
  const put = change(database, "UPDATE envelopes SET id = ?, accepted_at = ?, body = ? WHERE seq = ? AND assistant = ?")
  const putAround = change(database, "UPDATE envelopes SET id = ?, accepted_at = ? WHERE seq = ?")
  /** Answers the numbers of what is left of each lane, and how many that waited are gone. */
  return (key: number, cursors: Readonly<Record<Lane, number>>, parts: ReadonlyArray<BundlePart>) => {
    let gone = 0
    const bodies = new Map<number, string>()
    const left = (lane: Lane): ReadonlyArray<number> => {
      const made = parts.filter((part) => part.kind === "envelope" && part.lane === lane)
      const seqs = rows.all(key, LANES.indexOf(lane)).map(({ body, seq }) => {
        bodies.set(seq, body)
        return seq
      })
      for (const seq of seqs.slice(made.length)) {
        leave(seq)
        if (seq > cursors[lane]) gone++
      }
      return seqs.slice(0, made.length)
    }
    const numbers = { control: left("control"), reply: left("reply"), mail: left("mail") }
    // No id stands in the way of another row's.
    for (const lane of LANES) for (const seq of numbers[lane]) rename(seq)
    const at = { control: 0, reply: 0, mail: 0 }
    for (const part of parts) {
      if (part.kind !== "envelope") continue
      const seq = numbers[part.lane][at[part.lane]++] ?? 0
      const text = textOf(part.body)
      // What is as it was stays where it is, and so does what is lost.
      const isAsBefore = lostRowOf(part.body) !== undefined || segments.whole(bodies.get(seq) ?? "") === text
      if (isAsBefore) putAround(keyText(part.id), part.acceptedAt, seq)
      else put(keyText(part.id), part.acceptedAt, text, seq, key)
    }
    return { gone, numbers }
  }
}

const entriesIn = (database: DatabaseSync) => {
  const entries = entryQueries(database)
  const segments = segmentsOf(database)
  const leave = leavingFrom(database, "ledger", "no = 1, previous = 0")
  const put = change(database, "UPDATE ledger SET body = ? WHERE seq = ? AND assistant = ? AND no = ?")
  /** Answers where the last of them stands. */
  return (key: number, last: number, version: number, parts: ReadonlyArray<BundlePart>): number => {
    const made = new Map(
      parts.flatMap((part) => (part.kind === "entry" ? [[part.entry.no, part.entry as unknown as Entry] as const] : []))
    )
    let newest = 0
    for (const row of entries.between(key, last, 1, version)) {
      const { no, seq } = row
      const body = segments.whole(row.body)
      const entry = made.get(no)
      if (entry === undefined) leave(seq)
      else {
        newest = Math.max(newest, seq)
        const text = entryText(entry)
        if (lostRowOf(entry) === undefined && text !== body) put(text, seq, key, no)
      }
    }
    return newest
  }
}

const lettersIn = (database: DatabaseSync) => {
  const rows = query<{ readonly seq: number; readonly discarded: number | null }>(
    database,
    "SELECT seq, discarded FROM dead_letters WHERE assistant = ? ORDER BY seq"
  )
  const put = change(database, "UPDATE dead_letters SET body = ? WHERE seq = ? AND assistant = ?")
  const clear = change(
    database,
    `UPDATE dead_letters SET assistant = ${UNOWNED}, body = '{}', discarded = ? WHERE seq = ?`
  )
  const add = change(database, `INSERT INTO dead_letters (assistant, body, discarded) VALUES (${UNOWNED}, '{}', ?)`)
  const countDiscarded = discardedCounting(database)
  /** `gone`: what waited and waits no more. It counts as dead-lettered and seen to. */
  return (key: number, parts: ReadonlyArray<BundlePart>, gone: number): void => {
    const made = parts.filter((part) => part.kind === "dead-letter")
    for (const [index, { discarded, seq }] of rows.all(key).entries()) {
      const letter = made[index]
      if (letter === undefined) clear(discarded ?? countDiscarded() + 1, seq)
      else {
        const { at, envelope, reason } = letter
        put(JSON.stringify({ envelope, reason, at }), seq, key)
      }
    }
    for (let count = 0; count < gone; count++) add(countDiscarded() + 1)
  }
}

/** Sends, records, blocks, answers, limits and bytes of a life leave the store. */
const emptying = (database: DatabaseSync) => {
  const records = recordRows(database)
  const sends = query<{ readonly seq: number; readonly body: string }>(database, "SELECT seq, body FROM sends")
  const settle = change(database, "DELETE FROM sends WHERE seq = ?")
  const blockKey = query<{ readonly key: number }>(database, "SELECT key FROM blocks WHERE tenant = ? AND id = ?")
  const ofBlock = ["block_versions", "block_snapshots", "block_readers"].map((table) =>
    change(database, `DELETE FROM ${table} WHERE block = ?`)
  )
  const block = change(database, "DELETE FROM blocks WHERE key = ?")
  const answer = change(database, "DELETE FROM block_answers WHERE tenant = ? AND key = ?")
  const prompt = change(database, "DELETE FROM prompts WHERE tenant = ? AND kind = ? AND key = ? AND version = ?")
  const limits = limitsIn(database)
  return (key: number, { head, parts }: Bundle): void => {
    const tenant = head.kind === "tenant" ? head.tenant : head.address.tenant
    limits.change(tenant, limitChangesOf(parts, true))
    const open = new Set(parts.flatMap((part) => (part.kind === "send" ? [JSON.stringify(part.envelope)] : [])))
    records.dropAll(key)
    if (open.size > 0) for (const { body, seq } of sends.all()) if (open.has(body)) settle(seq)
    for (const part of parts) {
      if (part.kind === "block") {
        const found = blockKey.one(tenant, keyText(part.id))?.key ?? UNOWNED
        for (const from of [...ofBlock, block]) from(found)
      } else if (part.kind === "block-answer") answer(tenant, keyText(part.key))
      else if (part.kind === "prompt") prompt(tenant, part.of, part.key, part.version)
    }
  }
}

const rewritingIn = (database: DatabaseSync) => {
  const assistants = assistantQueries(database)
  const envelopes = envelopeQueries(database)
  const mail = mailIn(database)
  const entries = entriesIn(database)
  const letters = lettersIn(database)
  const empty = emptying(database)
  const leaveBytes = leaveBlobs(database)
  const segments = segmentWriter(database)
  const { keep } = recordRows(database)
  const send = change(database, "INSERT INTO sends (body) VALUES (?)")
  const rows = entryRowsTo(database)
  const stand = change(
    database,
    `UPDATE assistants SET epoch = epoch + 1, attempts = 0, note = NULL, version = ?, control = ?, reply = ?, mail = ?,
       last = ?, receives = ?, retired = ?, state = ?, wake = ? WHERE key = ?`
  )
  return (life: Bundle, made: Bundle, now: number): RewrittenRows => {
    const { head, parts } = made
    if (head.kind === "tenant") {
      empty(UNOWNED, life)
      rows(head.tenant, parts)
      return { damaged: [] }
    }
    const row = assistants.find(head.address)
    if (row === undefined) return { damaged: [] }
    const { key } = row
    const { tenant } = head.address
    const state = head.state as unknown as AssistantState
    const { gone, numbers } = mail(key, row, parts)
    const last = entries(key, row.last, row.version, parts)
    segments.renewAll(key)
    const damaged = segments.leaveLost(leftOfLost(life), leftOfLost(made))
    letters(key, parts, gone)
    empty(key, life)
    for (const part of parts) {
      if (part.kind === "record") keep(key, part.of, part.key, JSON.stringify(part.value))
      else if (part.kind === "send") send(JSON.stringify(part.envelope))
    }
    rows(tenant, parts)
    const at = (lane: Lane): number => cursorAt(numbers[lane], head.handled[lane])
    const cursors = { control: at("control"), reply: at("reply"), mail: at("mail") }
    const wake = wakeOnCommit(AT_REST, state, now, (lane) => envelopes.firstAcceptedAt(key, lane, cursors[lane]))
    const flags = [receivesColumn(state.receives), state.status === "retired" ? 1 : 0]
    const { control, reply, mail: read } = cursors
    stand(head.version, control, reply, read, last, ...flags, padded(stateText(state), 0), wake, key)
    leaveBytes(tenant, droppedDigests(life, made))
    return { key, damaged }
  }
}

interface RewrittenRows {
  /** Of an assistant. */
  readonly key?: number
  /** Segments that lie apart, and are to go there. */
  readonly damaged: ReadonlyArray<PlacedSegment>
}

export interface BundleWriter {
  /** Puts one bundle in the place of the one that stands there. */
  readonly rewrite: (life: Bundle, made: Bundle, now: number) => RewrittenRows
  /** Answers the key of the new row. */
  readonly life: (head: AssistantHead, parts: Iterable<BundlePart>, now: number) => number
  readonly entryRows: (tenant: TenantId, parts: Iterable<BundlePart>) => void
  readonly obstacle: (tenant: TenantId, parts: Iterable<BundlePart>) => string | undefined
  readonly keyOf: (head: AssistantHead["address"]) => number | undefined
  /** Throws what of a life lies apart and is not at hand: for one who is to read all of it within a transaction. */
  readonly fetchAll: (head: AssistantHead["address"]) => void
}

export const bundleWriter = (database: DatabaseSync): BundleWriter => {
  const assistants = assistantQueries(database)
  const segments = segmentWriter(database)
  const keyOf = (address: AssistantHead["address"]) => assistants.find(address)?.key
  return {
    rewrite: rewritingIn(database),
    life: livesTo(database),
    entryRows: entryRowsTo(database),
    obstacle: obstaclesTo(database),
    keyOf,
    fetchAll: (address) => {
      const key = keyOf(address)
      if (key !== undefined) segments.fetchAll(key)
    }
  }
}
