// RecallPostgres: the port Recall on a schema of PostgreSQL.
// Owns the verbs that write. Leaves the statements to tables.ts, and searching to searching.ts.
// R1  An apply reads what it changes and writes it in one statement, which refuses what was read before someone else wrote.
// R2  Building it asks nothing of the server. Without one every verb says so, and the next one tries again.
// R3  A process that has searched often goes on searching on a thread, with connections of its own: reading rows and
//     putting them in order holds up no one else.

import {
  type AttachedFact,
  type IndexChange,
  type IndexPosition,
  inRounds,
  type Joined,
  meaningOf,
  type MemoryEntry,
  memoryKinds,
  Recall,
  type RecallQuery,
  RecallUnavailable,
  samePosition,
  Searcher,
  type VectorModel,
  VectorsUnfit
} from "@reverie/memory"
import { type Address, AssistantId, TenantId } from "@reverie/protocol"
import { Worker } from "node:worker_threads"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { openIndex, type OpenIndex, type RecallPostgresOptions } from "./database.ts"
import { Matrices, packed } from "./matrices.ts"
import { factsIn, numbersOf, searching } from "./searching.ts"
import { bytes, flags, number, numbers, type Query, text, texts } from "./statements.ts"
import { telling } from "./status.ts"

const idText = (id: string): string => JSON.stringify(id)

// Draft: what becomes of an assistant's entries by the changes of one apply.
// D1  Changes take effect in their order; an entry that is as it was in the end is not written.

interface Kept {
  readonly entry: MemoryEntry
  readonly facts: ReadonlyArray<AttachedFact>
}

interface StoredRow {
  readonly no: number
  readonly digest: string
  readonly version: number
  readonly id: string | null
  readonly entry: string | null
  readonly context: string | null
  readonly facts: string | null
}

interface Touched {
  readonly before: Kept | undefined
  kept: Kept | undefined
  /** What it means has changed: its vectors are of no use. */
  isMoved: boolean
}

const keptIn = ({ context, entry, facts }: StoredRow): Kept | undefined => {
  if (entry === null) return undefined
  const bare = JSON.parse(entry) as MemoryEntry
  return {
    entry: context === null ? bare : { ...bare, context: JSON.parse(context) as string },
    facts: factsIn(facts)
  }
}

const idOf = (change: IndexChange): string => {
  if (change.type === "put") return change.entry.id
  return change.type === "remove" ? change.id : change.of
}

const changed = (touched: Touched, change: IndexChange): void => {
  const { kept } = touched
  if (change.type === "put") {
    if (kept === undefined || meaningOf(kept.entry) !== meaningOf(change.entry)) touched.isMoved = true
    touched.kept = { entry: change.entry, facts: kept?.facts ?? [] }
  } else if (change.type === "remove") {
    touched.kept = undefined
    touched.isMoved = true
  } else if (kept !== undefined) {
    const { fact: id, text: said } = change
    const others = kept.facts.filter((fact) => fact.id !== id)
    touched.kept = { ...kept, facts: said === null ? others : [...others, { id, text: said }] }
  }
}

/** The entries that changes touch, as they are before and after. */
const drafted = (rows: ReadonlyArray<StoredRow>, changes: ReadonlyArray<IndexChange>): ReadonlyMap<string, Touched> => {
  const stored = new Map(rows.map((row) => [row.id, row]))
  const draft = new Map<string, Touched>()
  for (const change of changes) {
    const id = idOf(change)
    const row = stored.get(idText(id))
    const before = row === undefined ? undefined : keptIn(row)
    const touched = draft.get(id) ?? { before, kept: before, isMoved: false }
    changed(touched, change)
    draft.set(id, touched)
  }
  return draft
}

const isSame = ({ before, isMoved, kept }: Touched): boolean =>
  before === kept || (!isMoved && JSON.stringify(before) === JSON.stringify(kept))

/** Where each of some lists ends when they stand in a row. */
const endsOf = (lists: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<number> => {
  let end = 0
  return lists.map(({ length }) => (end += length))
}

// Applying: a draft, brought to the database.

const READ = `
  SELECT coalesce(o.no, 0)::float8 AS no, coalesce(o.digest, '') AS digest, coalesce(o.version, 0)::float8 AS version,
    e.id, e.entry, e.context, e.facts
  FROM (SELECT 1) AS one LEFT JOIN owners o ON o.tenant = $1 AND o.assistant = $2 AND NOT o.gone
    LEFT JOIN entries e ON e.owner = o.key AND e.id = ANY ($3)`

const WRITE = `
  SELECT no, digest, version, written FROM apply($1, $2, $3::float8::bigint, $4, $5::float8::bigint, $6::float8::bigint, $7,
    $8, $9, $10, $11, $12, $13::float8[]::smallint[], $14, $15, $16, $17::float8[]::bigint[], $18::float8[]::integer[],
    $19::float8[]::bigint[], $20::float8[]::integer[], $21::float8[]::smallint[], $22::float8[]::bigint[],
    $23::float8[]::integer[])`

interface Written extends IndexPosition {
  readonly version: number
  readonly written: boolean
}

/** The changed entries of a draft as the values of `apply`. */
const valuesOf = (address: Address, draft: ReadonlyMap<string, Touched>) => {
  const touched = [...draft].filter(([, each]) => !isSame(each))
  const removed = touched.flatMap(([id, { before, kept }]) =>
    kept === undefined && before !== undefined ? [idText(id)] : []
  )
  const put = touched.flatMap(([id, { isMoved, kept }]) =>
    kept === undefined ? [] : [{ id: idText(id), isMoved, kept }]
  )
  const entries = put.map(({ kept }) => kept.entry)
  const counted = put.map(({ kept }) => numbersOf(address, kept.entry, kept.facts))
  const columns = (of: (each: (typeof counted)[number]) => ReadonlyArray<number>) => counted.map(of)
  const [groups, keys, conditions] = [
    columns((each) => each.groups),
    columns((each) => each.keys),
    columns((each) => each.conditions)
  ]
  return [
    texts(removed),
    texts(put.map(({ id }) => id)),
    texts(entries.map(({ context: _, ...entry }) => JSON.stringify(entry))),
    texts(entries.map(({ context }) => (context === undefined ? null : JSON.stringify(context)))),
    texts(put.map(({ kept }) => (kept.facts.length === 0 ? null : JSON.stringify(kept.facts)))),
    numbers(entries.map(({ kind }) => memoryKinds.indexOf(kind))),
    numbers(entries.map(({ at }) => at)),
    numbers(entries.map(({ trust }) => trust)),
    flags(put.map(({ isMoved }) => isMoved)),
    numbers(groups.flat()),
    numbers(endsOf(groups)),
    numbers(keys.flat()),
    numbers(endsOf(keys)),
    numbers(columns((each) => each.weights).flat()),
    numbers(conditions.flat()),
    numbers(endsOf(conditions))
  ]
}

/** Someone else has written in between so often. */
const MOST_TRIES = 8

const applying =
  (query: Query): Recall["Service"]["apply"] =>
  (address, changes, { from, to }) =>
    Effect.gen(function* () {
      const [tenant, assistant] = [text(address.tenant), text(address.assistant)]
      const ids = texts([...new Set(changes.map(idOf))].map(idText))
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        const rows = yield* query<StoredRow>("apply", READ, [tenant, assistant, ids])
        const [{ digest, no, version } = { digest: "", no: 0, version: 0 }] = rows
        if (!samePosition({ digest, no }, from)) return { no, digest }
        const values = valuesOf(address, drafted(rows, changes))
        const [written] = yield* query<Written>("apply", WRITE, [
          tenant,
          assistant,
          number(from.no),
          text(from.digest),
          number(version),
          number(to.no),
          text(to.digest),
          ...values
        ])
        if (written === undefined) break
        const position = { no: written.no, digest: written.digest }
        if (written.written || !samePosition(position, from)) return position
      }
      return yield* new RecallUnavailable({
        operation: "apply",
        message: "others write the same assistant all the time"
      })
    })

const STANDING = `
  SELECT no::float8 AS no, digest, entries::float8 AS entries FROM owners WHERE tenant = $1 AND assistant = $2 AND NOT gone`

interface OwnerRow extends IndexPosition {
  readonly entries: number
}

const ENTRIES_A_PIECE = 256

const keeping = (query: Query): Pick<Recall["Service"], "apply" | "count" | "erase" | "position"> => {
  const owner = (operation: string, { assistant, tenant }: Address) =>
    Effect.map(query<OwnerRow>(operation, STANDING, [text(tenant), text(assistant)]), ([row]) => row)
  const erased = query<{ readonly more: boolean }>("erase", `SELECT erase_some(${ENTRIES_A_PIECE}) AS more`)
  return {
    apply: applying(query),
    position: (address) =>
      Effect.map(owner("position", address), (row) => ({ no: row?.no ?? 0, digest: row?.digest ?? "" })),
    count: (address) => Effect.map(owner("count", address), (row) => row?.entries ?? 0),
    erase: (address) =>
      Effect.gen(function* () {
        yield* query("erase", "SELECT erase($1, $2)", [text(address.tenant), text(address.assistant)])
        while ((yield* erased)[0]?.more === true) yield* Effect.yieldNow
      })
  }
}

// Modelling: the vector models, and the vectors of entries.

interface ModelRow extends VectorModel {
  readonly state: "current" | "next"
}

interface WantingRow {
  readonly tenant: string
  readonly assistant: string
  readonly entry: string
}

const MODELS = "SELECT id, dimensions::float8 AS dimensions, state FROM models"

const MISSING = `
  SELECT o.tenant, o.assistant, e.entry FROM models m JOIN wanting w ON w.model = m.key JOIN entries e ON e.key = w.entry
    JOIN owners o ON o.key = e.owner AND NOT o.gone
  WHERE m.id = $1 LIMIT $2::float8::bigint`

const PUT = "SELECT put_vectors($1, $2::float8::integer, $3, $4, $5, $6)::float8 AS size"

const unfit = (model: string, message: string) => Effect.fail(new VectorsUnfit({ model, message }))

const modelling = (
  query: Query
): Pick<Recall["Service"], "missingVectors" | "prepareVectors" | "promoteVectors" | "putVectors" | "vectorModels"> => ({
  vectorModels: Effect.map(query<ModelRow>("vectorModels", MODELS), (rows) =>
    Object.fromEntries(rows.map(({ dimensions, id, state }) => [state, { id: JSON.parse(id) as string, dimensions }]))
  ),
  prepareVectors: ({ dimensions, id }) =>
    query("prepareVectors", "SELECT prepare_model($1, $2::float8::integer)", [text(idText(id)), number(dimensions)]),
  missingVectors: (model, limit) =>
    Effect.map(
      query<WantingRow>("missingVectors", MISSING, [text(idText(model)), number(Math.max(0, Math.trunc(limit)))]),
      (rows) =>
        rows.map(({ assistant, entry, tenant }) => {
          const kept = JSON.parse(entry) as MemoryEntry
          const address = { tenant: TenantId.make(tenant), assistant: AssistantId.make(assistant) }
          return { address, id: kept.id, text: meaningOf(kept) }
        })
    ),
  putVectors: (id, vectors) =>
    Effect.gen(function* () {
      const [first] = vectors
      if (first === undefined) return
      const size = first.vector.length
      const isFit = vectors.every(({ vector }) => vector.length === size && vector.every(Number.isFinite))
      const [row] = yield* query<{ readonly size: number }>("putVectors", PUT, [
        text(idText(id)),
        number(isFit ? size : -1),
        texts(vectors.map(({ address }) => address.tenant)),
        texts(vectors.map(({ address }) => address.assistant)),
        texts(vectors.map((each) => idText(each.id))),
        bytes(vectors.map(({ vector }) => packed(vector)))
      ])
      const wanted = row?.size ?? 0
      if (wanted === 0) return yield* unfit(id, "no such vectors were prepared for")
      if (!isFit || wanted !== size) return yield* unfit(id, `its vectors have ${wanted} numbers each`)
    }),
  promoteVectors: (id) =>
    Effect.flatMap(
      query<{ readonly done: boolean }>("promoteVectors", "SELECT promote_model($1) AS done", [text(idText(id))]),
      ([row]) => (row?.done === true ? Effect.void : unfit(id, "it was not prepared"))
    )
})

/** Searches after which a process has them done on a thread: to start one costs as much as some hundred of them. */
const MANY = 64
/** Connections of the thread: searches of one process mostly come one after the other. */
const THREAD_CONNECTIONS = 2

/** What the thread of a searcher is given. */
export interface Opening extends Omit<RecallPostgresOptions, "url"> {
  readonly url: string
}

const searcherOf = ({ url, ...options }: RecallPostgresOptions): Searcher => {
  const workerData: Opening = { ...options, url: Redacted.value(url), connections: THREAD_CONNECTIONS }
  return new Searcher(() => new Worker(new URL("./search-thread.ts", import.meta.url), { workerData }))
}

const searchingOnThread = (index: OpenIndex, searcher: Searcher, many: number) => {
  const matrices = new Matrices(index.query)
  const once = searching(index, matrices)
  let count = 0
  return (viewer: Address, asked: RecallQuery, isInRounds: boolean): Effect.Effect<Joined, RecallUnavailable> => {
    const here = isInRounds
      ? inRounds(asked, (each) => once(viewer, each))
      : Effect.map(once(viewer, asked), (hits) => ({ hits }))
    return Effect.suspend(() => {
      if (count < many) {
        count++
        return here
      }
      matrices.forget()
      return Effect.flatMap(searcher.ask({ viewer, query: asked, isInRounds }), (found) =>
        found === undefined ? here : Effect.succeed(found)
      )
    })
  }
}

/** The index in a schema of PostgreSQL. Opening never fails; a verb that can not be done does. */
export const recallPostgresLayer = (options: RecallPostgresOptions): Layer.Layer<Recall> => recallTuned(options, {})

/** The same with another bound than usual, which tests make small. */
export const recallTuned = (
  options: RecallPostgresOptions,
  { many = MANY }: { readonly many?: number }
): Layer.Layer<Recall> =>
  Layer.effect(
    Recall,
    Effect.gen(function* () {
      const index = yield* openIndex(options)
      const { query } = index
      const searcher = yield* Effect.acquireRelease(
        Effect.sync(() => searcherOf(options)),
        (started) => Effect.promise(() => started.end())
      )
      const found = searchingOnThread(index, searcher, many)
      const models = modelling(query)
      return {
        ...keeping(query),
        ...models,
        ...telling(index, models.vectorModels),
        search: (viewer, asked) => Effect.map(found(viewer, asked, false), ({ hits }) => hits),
        searchInRounds: (viewer, asked) => found(viewer, asked, true)
      }
    })
  )
