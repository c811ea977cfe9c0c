// BundleWriter: bundles, written as rows of SQLite.
// Owns the writing. `bundles.ts` judges first whether there is room.
// P1  Rows only grow: a bundle gets the next numbers, and the cursors of its lanes are those of its last handled ones.

import type { DatabaseSync } from "node:sqlite"
import { type AssistantHead, type BundlePart, bytesOf, textOf } from "@reverie/ledger"
import { entryText, type AssistantState, type Entry, keyText, type Lane, LANES, type TenantId } from "@reverie/protocol"
import { assistantQueries, entryQueries, envelopeQueries, padded, receivesColumn } from "../ledger/assistants.ts"
import { usageAdding } from "../ledger/allowance.ts"
import { keepBlob } from "../ledger/blobs.ts"
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
  const keep = change(database, "INSERT INTO records (assistant, kind, key, body) VALUES (?, ?, ?, ?)")
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
    const body = padded(JSON.stringify(state), 0)
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
        use(key, entry)
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
  return (tenant: TenantId, parts: Iterable<BundlePart>): void => {
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
    "SELECT answer FROM block_answers WHERE tenant = ? AND key = ?"
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

export interface BundleWriter {
  /** Answers the key of the new row. */
  readonly life: (head: AssistantHead, parts: Iterable<BundlePart>, now: number) => number
  readonly entryRows: (tenant: TenantId, parts: Iterable<BundlePart>) => void
  readonly obstacle: (tenant: TenantId, parts: Iterable<BundlePart>) => string | undefined
  readonly keyOf: (head: AssistantHead["address"]) => number | undefined
}

export const bundleWriter = (database: DatabaseSync): BundleWriter => {
  const assistants = assistantQueries(database)
  return {
    life: livesTo(database),
    entryRows: entryRowsTo(database),
    obstacle: obstaclesTo(database),
    keyOf: (address) => assistants.find(address)?.key
  }
}
