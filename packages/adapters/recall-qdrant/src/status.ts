// Status: what the collection tells of itself.
// Owns asking for it. Leaves what it means to who asks.
// T1  Counts are those of the server, which are near enough; what it does not say is left out.

import { defined } from "@reverie/protocol"
import type { IndexStatus, RecallUnavailable } from "@reverie/memory"
import * as Effect from "effect/Effect"
import { CountAnswer, type Qdrant, StatusAnswer } from "./client.ts"
import type { Collection } from "./collection.ts"
import { asModel, FORMAT, formIn } from "./form.ts"
import { anyMemory, withVector } from "./point.ts"

const failing = (status: (typeof StatusAnswer.Type)["optimizer_status"]): ReadonlyArray<string> =>
  typeof status === "string" ? [] : [status.error]

export const statusOf = (qdrant: Qdrant, { name, use }: Collection): Effect.Effect<IndexStatus, RecallUnavailable> => {
  const counted = (filter: ReturnType<typeof anyMemory>) =>
    Effect.map(
      qdrant.read("status", CountAnswer, (client) => client.count(name, { filter, exact: false })),
      ({ count }) => count
    )
  return use(() =>
    Effect.gen(function* () {
      const told = yield* qdrant.read("status", StatusAnswer, (client) => client.getCollection(name))
      const { models, schema } = yield* formIn(name, told.config.metadata)
      const { current, next } = models
      const memories = yield* counted(anyMemory())
      const vectors = current === undefined ? undefined : yield* counted(withVector(current.vector))
      return {
        kind: "qdrant" as const,
        state: told.status,
        warnings: [...failing(told.optimizer_status), ...(told.warnings ?? []).map(({ message }) => message)],
        format: schema,
        newestFormat: FORMAT,
        memories,
        ...defined({
          points: told.points_count ?? undefined,
          vectors,
          embedder: current === undefined ? undefined : asModel(current),
          nextEmbedder: next === undefined ? undefined : asModel(next)
        })
      }
    })
  )
}
