// Vectors: meaning beside words, where there is an embedder.
// Owns which vector model an index is given, and when it is filled in. Leaves embedding and keeping to the two ports.
// V1  Vectors of two models are never mixed: a question is embedded only by the model that the index uses.
// V2  A new model is filled in beside the present one, and used when nothing is missing.
// V3  An embedder that does not answer costs meaning, never the answer: it is noted, and asked again later.

import { effectiveMode } from "@reverie/context"
import { cleanText, Recall, type RecallOptions, type SearchKind } from "@reverie/memory"
import { Embedder, type Vector } from "@reverie/model"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import { recallFailures } from "./index-state.ts"

/** Texts embedded with one call, and calls made each time that vectors are filled in. */
const BATCH = 64
const MAX_BATCHES = 4

/** Longest text that is embedded, in UTF-16 units: what is longer is known by its beginning. */
const MAX_TEXT_CHARS = 4_000

type Service = Recall["Service"]

const readied = Effect.fnUntraced(function* (recall: Service, embedder: Embedder["Service"]) {
  const { current, next } = yield* recall.vectorModels
  const { id } = embedder.model
  if (current?.id !== id && next?.id !== id) yield* recall.prepareVectors(embedder.model)
  return { isNext: current !== undefined && current.id !== id }
})

/** One batch of vectors; false when nothing is missing. */
const filledBatch = Effect.fnUntraced(function* (recall: Service, embedder: Embedder["Service"]) {
  const { id } = embedder.model
  const missing = yield* recall.missingVectors(id, BATCH)
  if (missing.length === 0) return false
  const vectors = yield* embedder.embed(missing.map(({ text }) => cleanText(text.slice(0, MAX_TEXT_CHARS))))
  yield* recall.putVectors(
    id,
    missing.flatMap(({ address, id: entry }, index) => {
      const vector = vectors[index]
      return vector === undefined ? [] : [{ address, id: entry, vector }]
    })
  )
  return true
})

/** Fills in some of the vectors that the index misses. */
export const fillVectors = Effect.gen(function* () {
  const found = yield* Effect.serviceOption(Embedder)
  if (Option.isNone(found)) return
  const recall = yield* Recall
  const { isNext } = yield* readied(recall, found.value)
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    if (yield* filledBatch(recall, found.value)) continue
    if (isNext) yield* recall.promoteVectors(found.value.model.id)
    return
  }
}).pipe(
  Effect.catchTag(
    [
      "ModelUnavailable",
      "ModelParked",
      "CallWithheld",
      "ModelDenied",
      "ModelRefused",
      "EmbeddingUnfit",
      "VectorsUnfit"
    ],
    (failure) =>
      Effect.andThen(
        Metric.update(recallFailures, 1),
        Effect.logDebug(`vectors could not be filled in: ${failure._tag}: ${failure.message}`)
      )
  )
)

/** The last question of an embedder: what comes to mind asks twice. */
const lastAsked = new WeakMap<Embedder["Service"], { readonly question: string; readonly vector: Vector }>()

const embedded = Effect.fnUntraced(function* (embedder: Embedder["Service"], question: string) {
  const last = lastAsked.get(embedder)
  if (last?.question === question) return last.vector
  const [vector] = yield* embedder.embed([question])
  if (vector !== undefined) lastAsked.set(embedder, { question, vector })
  return vector
})

interface Embedded {
  readonly vector?: ReadonlyArray<number>
  /** Why there is none, where there might be one. */
  readonly why?: string
}

/** A question as a vector of the index's own model, when the mode has a use for it. */
export const vectorOf = Effect.fnUntraced(function* (
  recall: Service,
  mode: SearchKind | NonNullable<RecallOptions["mode"]>,
  question: string
) {
  const none: Embedded = {}
  if (effectiveMode(mode, true) === "fts" || question.trim() === "") return none
  const found = yield* Effect.serviceOption(Embedder)
  if (Option.isNone(found)) return none
  const { current } = yield* recall.vectorModels
  if (current?.id !== found.value.model.id) return none
  return yield* embedded(found.value, cleanText(question)).pipe(
    Effect.map((vector): Embedded => (vector === undefined ? none : { vector })),
    Effect.catch((failure) => {
      const embedded: Embedded = { why: `the embedder does not answer (${failure._tag}): only words were searched for` }
      return Effect.as(Metric.update(recallFailures, 1), embedded)
    })
  )
})
