// Vectors: meaning beside words, where there is an embedder.
// Owns filling them in, the vector of a question, and what is said of an embedder that does not answer. Leaves the index itself to
// index-state.ts.
// V1  Vectors of two models are never mixed: a question is embedded only by the model that the index uses.
// V2  A new model is filled in beside the present one, and used when nothing is missing.
// V3  An embedder that does not answer costs meaning, never the answer: it is asked again later. Once it is warned of, until it
//     answers again, and each answer of memory says why it was found by words alone.
// V5  A text that an embedder refuses keeps no other from being embedded: the batch is halved until it is alone. Then it is found by
//     words, and answers say so.
// V6  An embedder without vectors yet, and one of another model than that of the index, cost meaning too: answers say so.
// V4  A question is embedded as what it means (`meantBy`), which is found out only where there is a model to embed it.

import { cleanText, effectiveMode, meantBy, Recall, type RecallQuery, type SearchMode } from "@reverie/memory"
import { Embedder, embeddingModelOf, type Vector } from "@reverie/model"
import { type Address, addressKey, defined } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import { recallFailures } from "./index-state.ts"

/** Texts embedded with one call, and calls made each time that vectors are filled in. */
const BATCH = 64
const MAX_BATCHES = 4

/** Longest text that is embedded, in UTF-16 units: what is longer is known by its beginning. */
const MAX_EMBEDDED_CHARS = 4_000

type Service = Recall["Service"]
type EmbedFailure = Effect.Error<ReturnType<Embedder["Service"]["embed"]>>

/** What is embedded: memories, or a question. */
type Embedding = "memories" | "question"

/** Why embedders did not answer the last time. */
const failing: Readonly<Record<Embedding, WeakMap<Embedder["Service"], string>>> = {
  memories: new WeakMap(),
  question: new WeakMap()
}

/** Memories that an embedder refused for themselves, in this process. */
const refusedBy = new WeakMap<Embedder["Service"], Set<string>>()

const whyOf = (embedder: Embedder["Service"]): string | undefined => {
  const refused = refusedBy.get(embedder)?.size ?? 0
  const ofSome =
    refused === 0 ? undefined : `the embedder refuses ${refused} of the memories: they are found by words alone`
  return failing.question.get(embedder) ?? failing.memories.get(embedder) ?? ofSome
}

const noteFailure = Effect.fnUntraced(function* (
  embedder: Embedder["Service"],
  of: Embedding,
  { _tag, message }: { readonly _tag: string; readonly message: string }
) {
  const isKnown = failing.question.has(embedder) || failing.memories.has(embedder)
  const why = `the embedder does not answer (${_tag}: ${message}): only words were searched for`
  failing[of].set(embedder, why)
  yield* Metric.update(recallFailures, 1)
  if (!isKnown)
    yield* Effect.logWarning(`memories can not be embedded and are found by words alone: ${_tag}: ${message}`)
  return why
})

const noteAnswer = (embedder: Embedder["Service"], of: Embedding): Effect.Effect<void> =>
  Effect.suspend(() => {
    const isAgain = failing[of].delete(embedder)
    return isAgain && whyOf(embedder) === undefined ? Effect.logInfo("memories are embedded again") : Effect.void
  })

const readied = Effect.fnUntraced(function* (recall: Service, embedder: Embedder["Service"]) {
  const { current, next } = yield* recall.vectorModels
  const model = yield* embeddingModelOf(embedder)
  const { id } = model
  if (current?.id !== id && next?.id !== id) yield* recall.prepareVectors(model)
  return { id, isNext: current !== undefined && current.id !== id }
})

type Missing = Effect.Success<ReturnType<Service["missingVectors"]>>

const keyOf = ({ address, id }: Missing[number]): string => `${addressKey(address)}/${id}`

/** Vectors of these, without those that are refused. */
const embeddedOf = (
  embedder: Embedder["Service"],
  missing: Missing
): Effect.Effect<ReadonlyArray<{ readonly of: Missing[number]; readonly vector: Vector }>, EmbedFailure> =>
  embedder.embed(missing.map(({ text }) => cleanText(text.slice(0, MAX_EMBEDDED_CHARS)))).pipe(
    Effect.map((vectors) =>
      missing.flatMap((of, index) => {
        const vector = vectors[index]
        return vector === undefined ? [] : [{ of, vector }]
      })
    ),
    Effect.catchTag("ModelRefused", ({ message }) => {
      const half = Math.ceil(missing.length / 2)
      if (missing.length > 1) {
        const halves = [missing.slice(0, half), missing.slice(half)]
        return Effect.map(
          Effect.forEach(halves, (each) => embeddedOf(embedder, each)),
          (each) => each.flat()
        )
      }
      const refused = refusedBy.get(embedder) ?? new Set()
      const warning = `a memory can not be embedded and is found by words alone: ${message}`
      const warned = refused.size === 0 ? Effect.logWarning(warning) : Effect.void
      for (const each of missing) refused.add(keyOf(each))
      refusedBy.set(embedder, refused)
      return Effect.as(warned, [])
    })
  )

/** One batch of vectors; false when nothing is missing that could be had. */
const filledBatch = Effect.fnUntraced(function* (recall: Service, embedder: Embedder["Service"], id: string) {
  const refused = refusedBy.get(embedder) ?? new Set()
  const all = yield* recall.missingVectors(id, BATCH + refused.size)
  const missing = all.filter((each) => !refused.has(keyOf(each))).slice(0, BATCH)
  if (missing.length === 0) return false
  const found = yield* embeddedOf(embedder, missing)
  yield* recall.putVectors(
    id,
    found.map(({ of: { address, id: entry }, vector }) => ({ address, id: entry, vector }))
  )
  return true
})

/** Fills in some of the vectors that the index misses. */
export const fillVectors = Effect.gen(function* () {
  const found = yield* Effect.serviceOption(Embedder)
  if (Option.isSome(found)) yield* filledBy(found.value)
})

const filledBy = (embedder: Embedder["Service"]) =>
  Effect.gen(function* () {
    const recall = yield* Recall
    const { id, isNext } = yield* readied(recall, embedder)
    for (let batch = 0; batch < MAX_BATCHES; batch++) {
      if (yield* filledBatch(recall, embedder, id)) continue
      if (isNext) yield* recall.promoteVectors(id)
      break
    }
    yield* noteAnswer(embedder, "memories")
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
      (failure) => noteFailure(embedder, "memories", failure)
    ),
    Effect.asVoid
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

const NONE_YET = "no memory is embedded yet: only words were searched for"
const OTHERS = "the memories are embedded by another model, and not by this one yet: only words were searched for"

/** The hits by words among which the names of those who speak are looked for. */
const NAMING_HITS = 10

/** A question as a vector of the index's own model, when the mode has a use for it. */
export const vectorOf = Effect.fnUntraced(function* (
  recall: Service,
  mode: SearchMode,
  viewer: Address,
  query: RecallQuery
) {
  const none: Embedded = {}
  if (effectiveMode(mode, true) === "fts" || query.text.trim() === "") return none
  const found = yield* Effect.serviceOption(Embedder)
  if (Option.isNone(found)) return none
  const { current } = yield* recall.vectorModels
  if (current === undefined) return { why: whyOf(found.value) ?? NONE_YET } satisfies Embedded
  const byWords = yield* recall.search(viewer, { ...query, search: "fts", limit: NAMING_HITS })
  const question = meantBy(query.text, byWords)
  const embedding = Effect.flatMap(embeddingModelOf(found.value), ({ id }) =>
    current.id === id ? embedded(found.value, cleanText(question)) : Effect.undefined
  )
  return yield* embedding.pipe(
    Effect.tap(() => noteAnswer(found.value, "question")),
    Effect.map((vector): Embedded =>
      vector === undefined ? { why: whyOf(found.value) ?? OTHERS } : { vector, ...defined({ why: whyOf(found.value) }) }
    ),
    Effect.catch((failure) => Effect.map(noteFailure(found.value, "question", failure), (why): Embedded => ({ why })))
  )
})
