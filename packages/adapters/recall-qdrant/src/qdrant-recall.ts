// QdrantRecall: the port Recall on one Qdrant collection.
// Owns putting the parts together, and the order of writes. Leaves the parts to their modules.
// R1  Changes of one assistant are applied one after the other: attaching a fact reads a point and writes it back.
// R2  Building it asks nothing of the server. Without one every operation says so, and the next one tries again.

import { Recall } from "@reverie/memory"
import { type Address, addressKey } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import { CountAnswer } from "./answers.ts"
import { connect } from "./client.ts"
import { openCollection } from "./collection.ts"
import { DEFAULT_COLLECTION, type QdrantOptions } from "./options.ts"
import { searching } from "./searching.ts"
import { vectorWork } from "./vector-models.ts"
import { memoriesOf, ofAssistant } from "./visibility.ts"
import { writing } from "./writing.ts"

/** Assistants that share a lock wait for each other; they are many more than writes at a time. */
const LOCKS = 64

const makeLocks = Effect.map(
  Effect.forEach(Array.from({ length: LOCKS }), () => Semaphore.make(1)),
  (locks) => {
    const lockOf = (address: Address): Semaphore.Semaphore | undefined => {
      let sum = 0
      for (const character of addressKey(address)) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % LOCKS
      return locks[sum]
    }
    return <A, E>(address: Address, effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      lockOf(address)?.withPermit(effect) ?? effect
  }
)

const makeQdrantRecall = (options: QdrantOptions): Effect.Effect<Recall["Service"]> =>
  Effect.gen(function* () {
    const qdrant = connect(options)
    const collection = yield* openCollection(qdrant, options.collection ?? DEFAULT_COLLECTION)
    const alone = yield* makeLocks
    const { name } = collection
    const write = writing(qdrant, name)
    const search = searching(qdrant, name)
    return {
      apply: (address, changes, span) =>
        alone(
          address,
          collection.use(() => write.apply(address, changes, span))
        ),
      position: (address) => collection.use(() => write.position(address)),
      search: (viewer, query) => collection.use((models) => search(viewer, query, models)),
      count: (address) =>
        collection.use(() =>
          Effect.map(
            qdrant.read("count", CountAnswer, (client) =>
              client.count(name, { filter: memoriesOf(address), exact: true })
            ),
            ({ count }) => count
          )
        ),
      erase: (address) =>
        alone(
          address,
          collection.use(() =>
            qdrant.write("erase", (client) =>
              client.delete(name, { filter: ofAssistant(address), wait: true, ordering: "strong" })
            )
          )
        ),
      ...vectorWork(qdrant, collection)
    }
  })

export const recallQdrantLayer = (options: QdrantOptions): Layer.Layer<Recall> =>
  Layer.effect(Recall, makeQdrantRecall(options))
