// RecallSqlite: the port Recall over one file.
// Owns the verbs. Leaves the file to connection.ts, the rows to the modules beside it.

import type { DatabaseSync } from "node:sqlite"
import { Worker } from "node:worker_threads"
import {
  contextOf,
  INDEX_START,
  type IndexChange,
  type IndexPosition,
  type IndexStanding,
  type IndexStatus,
  inRounds,
  type Joined,
  meaningOf,
  type Readers,
  Recall,
  type RecallQuery,
  RecallUnavailable,
  samePosition,
  Searcher,
  VectorsUnfit
} from "@reverie/memory"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Sealing } from "@reverie/ledger"
import type { Address } from "@reverie/protocol"
import { compacted, Connection, emptyLog, IN_MEMORY } from "./connection.ts"
import { standingsIn, statusIn } from "./status.ts"
import { sealedIn, Unopened } from "./sealed-index.ts"
import { Matrices } from "./search/matrices.ts"
import { vectorQueries, type Vectors } from "./entries/vectors.ts"
import { search, type Sources } from "./search/searching.ts"
import { type Sizes, type Words, wordsOf } from "./words/words.ts"
import { type Entries, entryQueries, entryRowsOf, groupQueries, type Groups, modelQueries } from "./entries/entries.ts"
import { type EntryRow, type Kept, type Owner, readEntry, readRow } from "./entries/row.ts"

// Erasing: an assistant leaves the index, with all that is its own.
// Owns the order of it, a piece at a time. Leaves that nothing can be read afterwards to SecureDelete.
// E1  From the first piece on nothing of it is found and its position is the start; what is reported from then on is a life of
//     its own. What was broken off is gone on with the next time that anybody is erased.
// E2  Its words leave the groups it shared them with, too.
// E3  A piece is small: others have their turn in between.

const ENTRIES_A_PIECE = 128
const WORK_A_PIECE = 32_768

interface Erasable {
  readonly entries: Entries
  readonly groups: Groups
  readonly words: Words
}

/** The groups with which an owner has shared something. */
type Shared = Set<number>

const share = ({ groups }: Erasable, owner: Owner, readers: Readers, shared: Shared): void => {
  for (const group of groups.readers(owner.address, readers)) shared.add(group)
}

/** A piece of the erasing of an owner; false when nothing of it is left but its row. */
const pieceOf = (from: Erasable, owner: Owner, shared: Shared): boolean => {
  const { entries, words } = from
  const rows = entries.someOf(owner, ENTRIES_A_PIECE)
  for (const row of rows) {
    share(from, owner, readEntry(row).readers, shared)
    entries.remove(owner, row)
  }
  return rows.length > 0 || words.housekeeping.dropSome(owner.key)
}

/** From now on nothing of an assistant is found. */
const beginErasing = ({ groups }: Erasable, address: Address): void => {
  const own = groups.own(address)
  if (own !== undefined) groups.retire(own.key)
}

/** Does a piece of what is to be erased; false when there is no more. `shared` is carried from one piece to the next. */
const eraseSome = (from: Erasable, shared: Shared): boolean => {
  const isMore = eraseNext(from, shared)
  from.words.save()
  return isMore
}

const eraseNext = (from: Erasable, shared: Shared): boolean => {
  const { groups, words } = from
  const [owner] = groups.gone()
  if (owner !== undefined) {
    if (!pieceOf(from, owner, shared)) groups.remove(owner.key)
    return true
  }
  const [group] = shared
  if (group === undefined) return false
  if (!words.housekeeping.purgeSome(group, WORK_A_PIECE)) shared.delete(group)
  return true
}

// Parts: what is prepared of an open file.

interface Parts extends Sources {
  readonly vectors: Vectors
  /** False where another reader is in the way. */
  readonly emptyLog: () => boolean
  readonly standings: () => ReadonlyArray<IndexStanding>
  readonly status: () => IndexStatus
  readonly compact: (isTrial: boolean) => ReturnType<typeof compacted>
  /** A transaction came to nothing: what stands in memory is as it was before. */
  readonly undo: () => void
}

export const partsOf = (database: DatabaseSync, sizes?: Sizes): Parts => {
  const groups = groupQueries(database)
  const matrices = new Matrices(database)
  const words = wordsOf(database, sizes)
  const models = modelQueries(database)
  return {
    groups,
    entries: entryQueries(database, entryRowsOf(database, groups, matrices, words)),
    matrices,
    models,
    words,
    emptyLog: () => emptyLog(database),
    compact: (isTrial) => compacted(database, isTrial),
    vectors: vectorQueries(database, groups, matrices),
    standings: () => standingsIn(database),
    status: () => statusIn(database, models),
    undo: () => {
      words.forget()
      sealedIn(database)?.forget()
    }
  }
}

export const standing = (groups: Groups, address: Address): IndexPosition => {
  const own = groups.own(address)
  return own === undefined ? INDEX_START : { no: own.position, digest: own.digest }
}

// Draft: what becomes of an assistant's entries by the changes of one apply.
// D1  Changes take effect in their order; an entry that is as it was in the end is not written.

interface Touched {
  readonly row: EntryRow | undefined
  kept: Kept | undefined
  isVectorKept: boolean
}

class Draft {
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
        return this.#put(change)
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

  /** Writes what was touched; says by how many there are more entries now. Numbers go by the order of the changes. */
  write(): number {
    const numbered = [...this.#touched.values()].flatMap(({ isVectorKept, kept, row }) =>
      kept === undefined ? [] : [{ isVectorKept, row, to: { kept, doc: this.#entries.nextDoc() } }]
    )
    const fresh = numbered.filter(({ row }) => row === undefined)
    const removed = [...this.#touched.values()].flatMap(({ kept, row }) => (kept === undefined ? (row ?? []) : []))
    for (const row of removed) this.#entries.remove(this.#owner, row)
    const inserted = fresh.map(({ to }) => to)
    const keys = this.#entries.insert(this.#owner, inserted).values()
    for (const { isVectorKept, row, to } of numbered) {
      if (row === undefined) this.#entries.give(keys.next().value ?? 0, to.doc, this.#owner, to.kept)
      else this.#entries.update(this.#owner, row, to, isVectorKept, (bare) => this.#whole(bare))
    }
    return fresh.length - removed.length
  }

  #put({ around = [], entry }: Extract<IndexChange, { readonly type: "put" }>): void {
    const touched = this.#touch(entry.id)
    const before = touched.kept
    if (before === undefined || meaningOf(before.entry) !== meaningOf(entry)) touched.isVectorKept = false
    touched.kept = { entry, facts: before?.facts ?? [], around }
  }

  /** With what was said around it: a row only names it. */
  #whole(kept: Kept): Kept {
    const { around, entry } = kept
    if (entry.context !== undefined || around.length === 0) return kept
    return { ...kept, entry: { ...entry, context: contextOf(around.map((id) => this.#textOf(id))) } }
  }

  #textOf(id: string): string {
    const touched = this.#touched.get(id)
    if (touched !== undefined) return touched.kept?.entry.text ?? ""
    const row = this.#entries.find(this.#owner, id)
    return row === undefined ? "" : readEntry(row).text
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

export interface RecallSqliteOptions {
  /** Opens for inspection beside a running fleet: every write is refused. */
  readonly readOnly?: boolean
  /** Of a sealed store: what is in the index is sealed too, and then searched in this thread. */
  readonly sealing?: Sealing
}

/** Entries that a viewer may read from which on a search takes longer than others should wait for. */
const LARGE = 2_048

/** What the thread of a searcher is given. */
export interface Opening {
  readonly directory: string
  readonly sizes: Sizes | undefined
}

export const searcherOf = (workerData: Opening): Searcher =>
  new Searcher(() => new Worker(new URL("./search/search-thread.ts", import.meta.url), { workerData }))

/** What tests make small. */
export interface Tuning {
  readonly sizes?: Sizes
  readonly large?: number
}

const LOG_TRIES = 40
const LOG_PAUSE_MILLIS = 250

const readerInTheWay = new RecallUnavailable({
  operation: "erase",
  message: "another program reads the index, so what was erased is not gone from its log yet; end that and erase again"
})

// Erasing.
// S1  After `erase` nothing of the assistant can be read in the file or its log.
// S2  What a process did not finish before it died, the next opening does.

const finishErasing = (parts: Parts): void => {
  const shared = new Set<number>()
  while (eraseSome(parts, shared)) continue
}

const keeping = (file: Connection<Parts>): Omit<Recall["Service"], keyof ReturnType<typeof modelling> | "search"> => ({
  apply: (address, changes, { from, to }) =>
    file.write("apply", ({ entries, groups, words }) => {
      const present = standing(groups, address)
      if (!samePosition(present, from)) return present
      const owner = groups.ownMade(address)
      const draft = new Draft(entries, { address, key: owner.key })
      for (const change of changes) draft.change(change)
      groups.move(owner.key, to, draft.write())
      words.settle()
      return to
    }),
  position: (address) => file.read("position", ({ groups }) => standing(groups, address)),
  standings: file.read("standings", (parts) => parts.standings()),
  status: file.read("status", (parts) => parts.status()),
  compact: (isTrial = false) => file.read("compact", (parts) => parts.compact(isTrial)),
  count: (address) => file.read("count", ({ groups }) => groups.own(address)?.entries ?? 0),
  erase: (address) =>
    Effect.gen(function* () {
      yield* file.write("erase", (parts) => beginErasing(parts, address))
      const shared = new Set<number>()
      while (yield* file.write("erase", (parts) => eraseSome(parts, shared))) yield* Effect.yieldNow
      for (let tries = 0; !(yield* file.read("erase", (parts) => parts.emptyLog())); tries++) {
        if (tries === LOG_TRIES) return yield* Effect.fail(readerInTheWay)
        yield* Effect.sleep(LOG_PAUSE_MILLIS)
      }
    }).pipe(
      // One that does not open was removed: in the new one there is nothing to erase.
      Effect.retry({ times: 1, while: ({ cause }) => cause instanceof Unopened })
    )
})

const unfit = (model: string, message: string) => Effect.fail(new VectorsUnfit({ model, message }))

const modelling = (
  file: Connection<Parts>
): Pick<Recall["Service"], "missingVectors" | "prepareVectors" | "promoteVectors" | "putVectors" | "vectorModels"> => ({
  vectorModels: file.read("vectorModels", ({ models }) => models.both()),
  prepareVectors: (model) => file.write("prepareVectors", ({ models }) => models.prepare(model)),
  missingVectors: (model, limit) => file.read("missingVectors", ({ models }) => models.missing(model, limit)),
  putVectors: (id, vectors) =>
    file.run("putVectors", ({ models }): Effect.Effect<void, RecallUnavailable | VectorsUnfit> => {
      const model = models.named(id)
      if (model === undefined) return unfit(id, "no such vectors were prepared for")
      const isFit = vectors.every(({ vector }) => vector.length === model.dimensions && vector.every(Number.isFinite))
      if (!isFit) return unfit(id, `its vectors have ${model.dimensions} numbers each`)
      return file.write("putVectors", (parts) => parts.vectors.put(model.key, vectors))
    }),
  promoteVectors: (id) =>
    file.run("promoteVectors", ({ models }): Effect.Effect<void, RecallUnavailable | VectorsUnfit> => {
      const model = models.named(id)
      if (model === undefined) return unfit(id, "it was not prepared")
      if (model.state === "current") return Effect.void
      return file.write("promoteVectors", (parts) => {
        parts.models.promote(model)
        parts.matrices.forgetAll()
      })
    })
})

/** The index in a directory, or in memory (`IN_MEMORY`). Opening never fails; a verb that can not be done does. */
export const recallSqliteLayer = (directory: string, options: RecallSqliteOptions = {}): Layer.Layer<Recall> =>
  recallTuned(directory, options)

const searching =
  (file: Connection<Parts>, searcher: Searcher | undefined, large: number) =>
  (viewer: Address, query: RecallQuery, isInRounds: boolean): Effect.Effect<Joined, RecallUnavailable> => {
    const once = (each: RecallQuery) => file.look("search", (parts) => search(parts, viewer, each))
    const here = isInRounds ? inRounds(query, once) : Effect.map(once(query), (hits) => ({ hits }))
    if (searcher === undefined) return here
    const looked = file.read("search", ({ groups }) => ({
      entries: groups.readableBy(viewer, query.scope).reduce((sum, group) => sum + group.entries, 0),
      at: standing(groups, viewer)
    }))
    return Effect.flatMap(looked, ({ at, entries }) =>
      entries < large
        ? here
        : Effect.flatMap(searcher.ask({ viewer, query, isInRounds, at }), (found) =>
            found === undefined ? here : Effect.succeed(found)
          )
    )
  }

/** The same with other bounds than usual. */
export const recallTuned = (
  directory: string,
  { readOnly: isReader = false, sealing }: RecallSqliteOptions,
  { large = LARGE, sizes }: Tuning = {}
): Layer.Layer<Recall> => {
  const open = Effect.sync(() => {
    // A reader looks at a file and goes; what is in memory has no second reader; keys stay in their thread.
    const isAlone = isReader || directory === IN_MEMORY || sealing !== undefined
    const searcher = isAlone ? undefined : searcherOf({ directory, sizes })
    const over = (database: DatabaseSync): Parts => {
      void searcher?.end()
      const parts = partsOf(database, sizes)
      if (!isReader && parts.groups.gone().length > 0) {
        database.exec("BEGIN IMMEDIATE")
        finishErasing(parts)
        database.exec("COMMIT")
        parts.emptyLog()
      }
      return parts
    }
    return { searcher, file: new Connection(directory, isReader, over, sealing) }
  })
  return Layer.effect(
    Recall,
    Effect.map(
      Effect.acquireRelease(open, ({ file, searcher }) =>
        // Who closes last tidies the log up.
        Effect.andThen(
          Effect.promise(() => searcher?.end() ?? Promise.resolve()),
          Effect.sync(() => file.close())
        )
      ),
      ({ file, searcher }): Recall["Service"] => {
        const found = searching(file, searcher, large)
        return {
          ...keeping(file),
          ...modelling(file),
          search: (viewer, query) => Effect.map(found(viewer, query, false), ({ hits }) => hits),
          searchInRounds: (viewer, query) => found(viewer, query, true)
        }
      }
    )
  )
}
