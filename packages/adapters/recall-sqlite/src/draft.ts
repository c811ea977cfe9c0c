// Draft: what becomes of an assistant's entries by the changes of one apply.
// Owns the meaning of a change. Leaves writing to entries.ts, where each entry that was touched is written once.
// D1  Changes take effect in their order; an entry that is as it was in the end is not written.

import { type IndexChange, meaningOf, type MemoryEntry } from "@reverie/memory"
import { type Entries, type EntryRow, type Kept, type Owner, readRow } from "./entries.ts"

interface Touched {
  readonly row: EntryRow | undefined
  kept: Kept | undefined
  isVectorKept: boolean
}

export class Draft {
  readonly #entries: Entries
  readonly #owner: Owner
  readonly #touched = new Map<string, Touched>()

  constructor(entries: Entries, owner: Owner) {
    this.#entries = entries
    this.#owner = owner
  }

  change(change: IndexChange): void {
    switch (change.type) {
      case "put":
        return this.#put(change.entry)
      case "remove": {
        const touched = this.#touch(change.id)
        touched.kept = undefined
        touched.isVectorKept = false
        return
      }
      case "fact": {
        const touched = this.#touch(change.of)
        if (touched.kept === undefined) return
        const { fact: id, text } = change
        const others = touched.kept.facts.filter((fact) => fact.id !== id)
        touched.kept = { ...touched.kept, facts: text === null ? others : [...others, { id, text }] }
        return
      }
    }
  }

  /** Writes what was touched; says by how many there are more entries now. */
  write(): number {
    let more = 0
    for (const { isVectorKept, kept, row } of this.#touched.values()) {
      if (kept === undefined) {
        if (row === undefined) continue
        this.#entries.remove(this.#owner, row)
        more--
      } else if (row === undefined) {
        this.#entries.insert(this.#owner, kept)
        more++
      } else this.#entries.update(this.#owner, row, kept, isVectorKept)
    }
    return more
  }

  #put(entry: MemoryEntry): void {
    const touched = this.#touch(entry.id)
    const before = touched.kept
    if (before === undefined || meaningOf(before.entry) !== meaningOf(entry)) touched.isVectorKept = false
    touched.kept = { entry, facts: before?.facts ?? [] }
  }

  #touch(id: string): Touched {
    const known = this.#touched.get(id)
    if (known !== undefined) return known
    const row = this.#entries.find(this.#owner, id)
    const touched: Touched = { row, kept: row === undefined ? undefined : readRow(row), isVectorKept: true }
    this.#touched.set(id, touched)
    return touched
  }
}
