// SealedStore: which columns of the store are sealed, and whose rows they are.
// Owns the list, and finding the subject of a row. Leaves sealing to the ledger's room, and the keys to keyring.ts.
// L1  Sealed is all that anyone said, was told, decided or keeps. In the clear stays what the store looks up, orders and counts by:
//     ids of tenants, assistants, envelopes, blocks and prompts, labels, kinds, numbers, times, models and sums of use, digests
//     of bytes.
// L2  A row is known by the address of its assistant, whatever number that has in the file.

import type { DatabaseSync } from "node:sqlite"
import {
  type SealedRows,
  type SealedTables,
  Sealing,
  type Subject,
  type SubjectKeys,
  type SubjectOf
} from "@reverie/ledger"
import { isJsonObject, parseJson, readKeyText } from "@reverie/protocol"
import { randomBytes } from "node:crypto"
import * as Result from "effect/Result"

export const sealedTables: SealedTables = {
  assistants: { columns: ["state", "note"], subject: [["tenant", "id"], ["key"]], place: [] },
  envelopes: { columns: ["body"], subject: [["assistant"]], place: ["id"], isForNow: true },
  ledger: { columns: ["body"], subject: [["assistant"]], place: ["no"], isForNow: true },
  segments: { columns: ["body"], subject: [["assistant"]], place: ["up_to"], bytes: ["body"] },
  records: { columns: ["body"], subject: [["assistant"]], place: ["kind", "key"] },
  dead_letters: { columns: ["body"], subject: [["assistant"]], place: [] },
  // An envelope on its way names to whom it goes, and belongs there.
  sends: { columns: ["body"], subject: [[]], place: [] },
  prompts: { columns: ["body"], subject: [["tenant"]], place: ["kind", "key", "version"] },
  blobs: { columns: ["bytes"], subject: [["tenant"]], place: ["digest"], bytes: ["bytes"] },
  blocks: { columns: ["body"], subject: [["tenant", "owner"]], place: ["id"] },
  block_versions: { columns: ["body", "patch"], subject: [["block"]], place: ["version"], bytes: ["patch"] },
  block_snapshots: { columns: ["bytes"], subject: [["block"]], place: [], bytes: ["bytes"] },
  block_answers: { columns: ["answer"], subject: [["tenant"]], place: ["key"] }
}

/** Subjects in memory; beyond it they are looked up again. */
const MOST_KNOWN = 16_384

const subject = (tenant: unknown, assistant: unknown = ""): Subject => ({
  tenant: String(tenant),
  assistant: String(assistant)
})

/** To whom an envelope on its way goes; what is none belongs to no one. */
const recipientOf = (body: unknown): Subject => {
  const envelope = Result.getOrElse(parseJson(String(body)), () => undefined)
  const to = isJsonObject(envelope) ? envelope["to"] : undefined
  return isJsonObject(to) ? subject(to["tenant"], to["assistant"]) : subject("")
}

export class SealedStore implements SealedRows {
  readonly tables = sealedTables
  readonly sealing: Sealing
  readonly #known = new Map<number, Subject>()
  readonly #assistant: (key: number) => Subject | undefined
  readonly #block: (key: number) => Subject | undefined

  constructor(database: DatabaseSync, keys: SubjectKeys) {
    this.sealing = new Sealing(keys, randomBytes(16))
    const assistant = database.prepare("SELECT tenant, id FROM assistants WHERE key = ?")
    const block = database.prepare("SELECT tenant, owner FROM blocks WHERE key = ?")
    this.#assistant = (key) => {
      const row = assistant.get(key)
      return row === undefined ? undefined : subject(row["tenant"], row["id"])
    }
    this.#block = (key) => {
      const row = block.get(key)
      return row === undefined ? undefined : subject(row["tenant"], readKeyText(String(row["owner"])))
    }
  }

  readonly subjectIn = (table: string, [first]: ReadonlyArray<string>): SubjectOf => {
    if (table === "sends") return (_first, _second, content) => recipientOf(content)
    if (table === "blocks") return (tenant, owner) => subject(tenant, readKeyText(String(owner)))
    if (first === "block") return (key) => this.#block(Number(key))
    if (first === "tenant") return (tenant, assistant) => subject(tenant, assistant)
    return (key) => this.assistant(Number(key))
  }

  /** Of the number of an assistant in the file. */
  assistant(key: number): Subject | undefined {
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const found = this.#assistant(key)
    if (found === undefined) return undefined
    if (this.#known.size >= MOST_KNOWN) this.#known.clear()
    this.#known.set(key, found)
    return found
  }

  /** A transaction came to nothing: the numbers that it gave are given again, to others. */
  rolledBack(): void {
    this.#known.clear()
  }
}
