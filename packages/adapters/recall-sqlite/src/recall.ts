// RecallSqlite: the port Recall over one file.
// Owns the verbs. Leaves the file to connection.ts, the rows to the modules beside it.

import type { DatabaseSync } from "node:sqlite"
import {
  INDEX_START,
  type IndexPosition,
  Recall,
  type RecallUnavailable,
  samePosition,
  VectorsUnfit
} from "@reverie/memory"
import type { Address } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Connection } from "./connection.ts"
import { Draft } from "./draft.ts"
import { belongingsOf } from "./belongings.ts"
import { entryQueries } from "./entries.ts"
import { beginErasing, eraseSome } from "./erasing.ts"
import { groupQueries, type Groups } from "./groups.ts"
import { Matrices } from "./matrices.ts"
import { modelQueries } from "./models.ts"
import { search, type Sources } from "./searching.ts"
import { type Shredder, shredderOf } from "./shredder.ts"
import { vectorQueries, type Vectors } from "./vectors.ts"
import { type Sizes, wordsOf } from "./words.ts"

export interface RecallSqliteOptions {
  /** Opens for inspection beside a running fleet: every write is refused. */
  readonly readOnly?: boolean
}

interface Parts extends Sources {
  readonly shredder: Shredder
  readonly vectors: Vectors
  /** A transaction came to nothing: what stands in memory is as it was before. */
  readonly undo: () => void
}

const partsOf = (database: DatabaseSync, sizes?: Sizes): Parts => {
  const groups = groupQueries(database)
  const matrices = new Matrices(database)
  const words = wordsOf(database, sizes)
  return {
    groups,
    entries: entryQueries(database, belongingsOf(database, groups, matrices, words)),
    matrices,
    models: modelQueries(database),
    words,
    shredder: shredderOf(database),
    vectors: vectorQueries(database, groups, matrices),
    undo: words.forget
  }
}

const standing = (groups: Groups, address: Address): IndexPosition => {
  const own = groups.own(address)
  return own === undefined ? INDEX_START : { no: own.position, digest: own.digest }
}

const keeping = (file: Connection<Parts>): Pick<Recall["Service"], "apply" | "count" | "erase" | "position"> => ({
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
  count: (address) => file.read("count", ({ groups }) => groups.own(address)?.entries ?? 0),
  erase: (address) =>
    Effect.gen(function* () {
      const isThere = ({ groups }: Parts) => groups.own(address) !== undefined || groups.gone().length > 0
      if (!(yield* file.read("erase", isThere))) return
      yield* file.read("erase", ({ shredder }) => shredder.begin())
      yield* file.write("erase", (parts) => beginErasing(parts, address))
      const shared = new Set<number>()
      while (yield* file.write("erase", (parts) => eraseSome(parts, shared))) yield* Effect.yieldNow
      yield* file.read("erase", ({ shredder }) => shredder.end())
    })
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
  recallWithSizes(directory, options)

/** The same with words in segments of other sizes than usual. */
export const recallWithSizes = (directory: string, options: RecallSqliteOptions, sizes?: Sizes): Layer.Layer<Recall> =>
  Layer.effect(
    Recall,
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => new Connection(directory, options.readOnly === true, (database) => partsOf(database, sizes))),
        (file) => Effect.sync(() => file.close())
      ),
      (file) => ({
        ...keeping(file),
        ...modelling(file),
        search: (viewer, query) => file.look("search", (parts) => search(parts, viewer, query))
      })
    )
  )
