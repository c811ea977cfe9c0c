// VectorModels: vectors of meaning, of the model that searches use and of the one that is being filled in.
// Owns a named vector for each model on the one live collection. Leaves making vectors to the embedder.
// M1  The name of a vector follows from its model, so that what was begun before a crash is found again.
// M2  Searches use the current model until one write of the metadata makes the next one current.

import { type Address, defined } from "@reverie/protocol"
import { createHash } from "node:crypto"
import { meaningOf, type Recall, type RecallUnavailable, type VectorModel, VectorsUnfit } from "@reverie/memory"
import * as Effect from "effect/Effect"
import { PointsAnswer, type Qdrant, ScrollAnswer } from "./client.ts"
import type { Collection } from "./collection.ts"
import { asModel, MAX_BATCH_POINTS, MAX_QUERY_LIMIT, type Models, type StoredModel } from "./form.ts"
import { memoryIn, pointId, without } from "./point.ts"

type VectorWork = Pick<
  Recall["Service"],
  "vectorModels" | "prepareVectors" | "missingVectors" | "putVectors" | "promoteVectors"
>

const vectorName = ({ dimensions, id }: VectorModel): string =>
  `dense_${createHash("sha256").update(`${dimensions}/${id}`).digest("hex").slice(0, 12)}`

const named = ({ current, next }: Models, id: string): StoredModel | undefined =>
  [current, next].find((model) => model?.id === id)

const unprepared = (model: string) =>
  new VectorsUnfit({ model, message: `no room was made for vectors of ${model}; prepare it first` })

const unfitVector = ({ dimensions, id }: StoredModel, vector: ReadonlyArray<number>): VectorsUnfit | undefined => {
  if (vector.length === dimensions && vector.every(Number.isFinite)) return undefined
  const found = vector.length === dimensions ? "something that is no number" : `${vector.length} numbers`
  return new VectorsUnfit({ model: id, message: `a vector of ${id} has ${dimensions} numbers, this one has ${found}` })
}

/** What the embedder is given of a memory; nothing of what is none. */
const embeddable = (payload: unknown) => {
  const memory = memoryIn(payload)
  return memory === undefined ? [] : [{ address: memory.address, id: memory.entry.id, text: meaningOf(memory.entry) }]
}

interface Placed {
  readonly address: Address
  readonly id: string
  readonly vector: ReadonlyArray<number>
}

/** Writes vectors of points that are there; the others have been taken away since they were asked for. */
const fill = ({ read, write }: Qdrant, collection: string, { vector: name }: StoredModel, all: ReadonlyArray<Placed>) =>
  Effect.gen(function* () {
    const byPoint = new Map(all.map(({ address, id, vector }) => [pointId(address, id), vector]))
    const ids = [...byPoint.keys()]
    for (let from = 0; from < ids.length; from += MAX_BATCH_POINTS) {
      const some = ids.slice(from, from + MAX_BATCH_POINTS)
      const there = yield* read("putVectors", PointsAnswer, (client) =>
        client.retrieve(collection, { ids: some, with_payload: false, consistency: "majority" })
      )
      const points = there.map(({ id }) => ({ id, vector: { [name]: [...(byPoint.get(String(id)) ?? [])] } }))
      if (points.length === 0) continue
      yield* write("putVectors", (client) =>
        client.updateVectors(collection, { points, wait: true, ordering: "strong" })
      )
    }
  })

const filling = (qdrant: Qdrant, { name, use }: Collection): Pick<VectorWork, "missingVectors" | "putVectors"> => ({
  missingVectors: (id, limit) =>
    use((models) => {
      const model = named(models, id)
      if (model === undefined) return Effect.succeed([])
      const asked = {
        filter: without(model.vector),
        limit: Math.min(Math.max(1, limit), MAX_QUERY_LIMIT),
        with_payload: true
      }
      return Effect.map(
        qdrant.read("missingVectors", ScrollAnswer, (client) => client.scroll(name, asked)),
        ({ points }) => points.flatMap(({ payload }) => embeddable(payload))
      )
    }),
  putVectors: (id, vectors) =>
    use((models) => {
      const model = named(models, id)
      if (model === undefined) return Effect.fail(unprepared(id))
      const unfit = vectors.map(({ vector }) => unfitVector(model, vector)).find((each) => each !== undefined)
      return unfit === undefined ? fill(qdrant, name, model, vectors) : Effect.fail(unfit)
    })
})

const changing = (
  { write }: Qdrant,
  { freshModels, name, setModels }: Collection
): Pick<VectorWork, "prepareVectors" | "promoteVectors"> => {
  const drop = (model: StoredModel | undefined): Effect.Effect<unknown, RecallUnavailable> =>
    model === undefined
      ? Effect.void
      : write("vectors", (client) => client.deleteVectorName(name, model.vector, { wait: true }))
  return {
    prepareVectors: (model) =>
      Effect.gen(function* () {
        const models = yield* freshModels
        if (named(models, model.id) !== undefined) return
        const { current, next } = models
        const { dimensions, id } = model
        const added = { id, dimensions, vector: vectorName(model) }
        const dense = { size: dimensions, distance: "Cosine" as const }
        yield* write("prepareVectors", (client) =>
          client.createVectorName(name, added.vector, { dense }, { wait: true })
        )
        yield* setModels(current === undefined ? { current: added } : { current, next: added }, added)
        yield* drop(next)
      }),
    promoteVectors: (id) =>
      Effect.gen(function* () {
        const { current, next } = yield* freshModels
        if (current?.id === id) return
        if (next?.id !== id) return yield* Effect.fail(unprepared(id))
        yield* setModels({ current: next })
        yield* drop(current)
      })
  }
}

export const vectorWork = (qdrant: Qdrant, collection: Collection): VectorWork => ({
  vectorModels: Effect.map(collection.recentModels, ({ current, next }) => ({
    ...defined({
      current: current === undefined ? undefined : asModel(current),
      next: next === undefined ? undefined : asModel(next)
    })
  })),
  ...filling(qdrant, collection),
  ...changing(qdrant, collection)
})
