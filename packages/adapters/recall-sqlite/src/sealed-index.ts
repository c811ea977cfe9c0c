// SealedIndex: which columns of the index are sealed, and whose rows they are.
// Owns the list, and finding the subject of a row. Leaves sealing and keys to who opens the store.
// N1  Sealed is every text, every vector, and which words an entry has: postings are sealed as whole lists, so that not even how
//     often a word comes can be seen. In the clear stay who may read how many entries, their kinds, times and trust, and
//     which messages have an entry, by their numbers.
// N2  Words that an assistant shares are sealed for those who read them: what no subject of a group has the key of, it can not read.

import type { DatabaseSync } from "node:sqlite"
import { type SealedRows, type SealedTables, type Sealing, type Subject, type SubjectOf } from "@reverie/ledger"

const sealedTables: SealedTables = {
  entries: { columns: ["body"], subject: [["owner"]], place: ["id"] },
  sheets: { columns: ["body"], subject: [["owner"]], place: ["key"] },
  tail: { columns: ["body"], subject: [["grp"]], place: ["first"], bytes: ["body"] },
  segments: { columns: ["head"], subject: [["grp"]], place: ["key"], bytes: ["head"] },
  leaves: { columns: ["body"], subject: [["grp"]], place: ["key"], bytes: ["body"] },
  vectors: { columns: ["vector"], subject: [["owner"]], place: ["model", "entry"], bytes: ["vector"] }
}

/** A value of the index that does not open: the index is damaged, and made anew from the ledger. */
export class Unopened extends Error {}

const MOST_KNOWN = 16_384

/** A message by its place in its assistant's life, which tells no more than that the ledger has an entry there. */
const MESSAGE = /^m\/\d+\/\d+$/

export class SealedIndex implements SealedRows {
  readonly tables = sealedTables
  readonly sealing: Sealing
  readonly #known = new Map<number, Subject>()
  readonly #find: (group: number) => Subject | undefined

  constructor(database: DatabaseSync, sealing: Sealing) {
    this.sealing = sealing
    const byKey = database.prepare("SELECT tenant, kind, assistant FROM groups WHERE key = ?")
    this.#find = (group) => {
      const row = byKey.get(group)
      if (row === undefined) return undefined
      // The name of one that is being erased ends before the blank.
      const name = String(row["assistant"])
      return { tenant: String(row["tenant"]), assistant: row["kind"] === "gone" ? (name.split(" ")[0] ?? "") : name }
    }
  }

  readonly subjectIn = (): SubjectOf => (group) => this.subject(Number(group))

  readonly unopened = (table: string): never => {
    throw new Unopened(`a row of its ${table} does not open: it was changed, or its key is gone`)
  }

  /** Of the key of a group. */
  subject(group: number): Subject | undefined {
    const known = this.#known.get(group)
    if (known !== undefined) return known
    const found = this.#find(group)
    if (found === undefined) return undefined
    if (this.#known.size >= MOST_KNOWN) this.#known.clear()
    this.#known.set(group, found)
    return found
  }

  /** What stands for the id of an entry, which may be a name; of a message, which has most entries, the id itself. */
  nameOf(group: number, id: string): string {
    if (MESSAGE.test(id)) return id
    const subject = this.subject(group)
    return subject === undefined ? id : this.sealing.blind(subject, id)
  }

  /** A transaction came to nothing. */
  forget(): void {
    this.#known.clear()
  }
}

const sealedIndexes = new WeakMap<DatabaseSync, SealedIndex>()

/** Said before the first statement is prepared. */
export const sealIndex = (database: DatabaseSync, sealing: Sealing): void =>
  void sealedIndexes.set(database, new SealedIndex(database, sealing))

export const sealedIn = (database: DatabaseSync): SealedIndex | undefined => sealedIndexes.get(database)
