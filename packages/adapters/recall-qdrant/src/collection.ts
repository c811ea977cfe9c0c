// Collection: the one collection of a fleet, behind its alias.
// Owns its layout, making it, and what is written down about it: its format and its vector models. Leaves points
// and filters to `point.ts`.
// L1  The alias is given last, when everything is there: half a collection is never used, and making it goes on where
//     it stopped.
// L2  Everything that is filtered by has an index before the first point; in strict mode the server refuses the rest.
// L3  A collection of a newer format, or of someone else, is not touched. One of an older format stays in use until a
//     new one is complete: the alias goes over to that in one step, and the old one is dropped.
// L4  A collection that is gone is made anew, empty; the runtime fills it from the ledger.

import { RecallUnavailable, type VectorModel } from "@reverie/memory"
import type { Schemas } from "@qdrant/js-client-rest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import { CollectionAnswer, isMissing, isTaken, type Qdrant } from "./client.ts"
import { MAX_CONDITION_VALUES, WORDS } from "./point.ts"

/** Counts up when payload or vectors change so that an older Reverie would misread them. */
const FORMAT = 2

/** What another process changed meanwhile, a search finds out by itself. */
const RECENT_MILLIS = 5_000

export const MAX_QUERY_LIMIT = 10_000
export const MAX_BATCH_POINTS = 100

const Model = Schema.Struct({ id: Schema.String, dimensions: Schema.Int, vector: Schema.String })
/** A vector model and the name of the vector that is its own. */
export type StoredModel = typeof Model.Type

const Metadata = Schema.Struct({
  schema: Schema.Int,
  current: Schema.optionalKey(Schema.NullOr(Model)),
  next: Schema.optionalKey(Schema.NullOr(Model))
})
const decodeMetadata = Schema.decodeUnknownOption(Metadata)

export interface Models {
  readonly current?: StoredModel
  readonly next?: StoredModel
}

/** No graph over everything, one for each assistant and each tenant: that is how it is searched. */
const layout: Schemas["CreateCollection"] = {
  vectors: {},
  sparse_vectors: { [WORDS]: { modifier: "idf" } },
  hnsw_config: { m: 0, payload_m: 16 },
  payload: { memory: "cold" },
  strict_mode_config: {
    enabled: true,
    unindexed_filtering_retrieve: false,
    unindexed_filtering_update: false,
    max_query_limit: MAX_QUERY_LIMIT,
    upsert_max_batchsize: MAX_BATCH_POINTS,
    condition_max_size: MAX_CONDITION_VALUES
  },
  metadata: { schema: FORMAT }
}

const keyword = { type: "keyword", enable_hnsw: false } as const
const float = { type: "float", enable_hnsw: false } as const
const indexes: Readonly<Record<string, Schemas["PayloadSchemaParams"]>> = {
  agent: { type: "keyword", is_tenant: true },
  tenant: { type: "keyword" },
  kind: keyword,
  digest: keyword,
  readers: keyword,
  entity_keys: keyword,
  tag_keys: keyword,
  thread: keyword,
  at: float,
  trust: float
}

/** What a vector of meaning is kept as, beyond its size. */
const vectorLayout: Schemas["VectorParamsDiff"] = {
  memory: "cold",
  quantization_config: { scalar: { type: "int8", quantile: 0.99, memory: "pinned" } }
}

export interface Collection {
  /** The alias, by which everything is addressed. */
  readonly name: string
  /** Makes sure of the collection and says its models. Asks the server only when they are not known. */
  readonly models: Effect.Effect<Models, RecallUnavailable>
  /** The models as the server had them a moment ago at the latest: a question asks for them each time. */
  readonly recentModels: Effect.Effect<Models, RecallUnavailable>
  /** The models as the server has them now. */
  readonly freshModels: Effect.Effect<Models, RecallUnavailable>
  /** Writes the models down, and the layout of a new vector with them. */
  readonly setModels: (models: Models, added?: StoredModel) => Effect.Effect<void, RecallUnavailable>
  /** Runs something that needs the collection; when it is gone, it is made anew before the next time. */
  readonly use: <A, E>(
    run: (models: Models) => Effect.Effect<A, E | RecallUnavailable>
  ) => Effect.Effect<A, E | RecallUnavailable>
}

const refusedBecause = (message: string) => new RecallUnavailable({ operation: "open", message })

const modelsIn = (name: string, metadata: unknown): Effect.Effect<Models, RecallUnavailable> => {
  const decoded = decodeMetadata(metadata)
  if (Option.isNone(decoded)) {
    return Effect.fail(refusedBecause(`the collection ${name} is not one of Reverie; name another one`))
  }
  const { current, next, schema } = decoded.value
  if (schema > FORMAT) {
    const found = `the collection ${name} has format ${schema}, this Reverie reads up to format ${FORMAT}`
    return Effect.fail(refusedBecause(`${found}; upgrade Reverie, or name another collection`))
  }
  return Effect.succeed({ ...(current && { current }), ...(next && { next }) })
}

const collectionOf = (name: string, format: number): string => `${name}-${format}`

/** Makes a collection of the present format, and gives it the alias that an older one may have. */
const make = ({ write }: Qdrant, name: string, older?: number) =>
  Effect.gen(function* () {
    const own = collectionOf(name, FORMAT)
    yield* write("open", (client) => client.createCollection(own, layout)).pipe(
      Effect.catchIf(isTaken, () => Effect.void)
    )
    for (const [field_name, field_schema] of Object.entries(indexes)) {
      yield* write("open", (client) => client.createPayloadIndex(own, { field_name, field_schema, wait: true }))
    }
    const alias = { create_alias: { collection_name: own, alias_name: name } }
    const without = older === undefined ? [] : [{ delete_alias: { alias_name: name } }]
    yield* write("open", (client) => client.updateCollectionAliases({ actions: [...without, alias] }))
    if (older !== undefined) yield* write("open", (client) => client.deleteCollection(collectionOf(name, older)))
  })

/** The format of an older Reverie; undefined for the present one, and for what is none of ours. */
const olderIn = (metadata: unknown): number | undefined => {
  const decoded = decodeMetadata(metadata)
  return Option.isSome(decoded) && decoded.value.schema < FORMAT ? decoded.value.schema : undefined
}

export const openCollection = (qdrant: Qdrant, name: string): Effect.Effect<Collection> =>
  Effect.gen(function* () {
    const known = yield* Ref.make(Option.none<Models>())
    let readAt = Number.NEGATIVE_INFINITY
    const one = yield* Semaphore.make(1)
    const look = qdrant
      .read("open", CollectionAnswer, (client) => client.getCollection(name))
      .pipe(
        Effect.map(({ config }) => config.metadata),
        Effect.catchIf(isMissing, () => Effect.as(make(qdrant, name), layout.metadata)),
        Effect.flatMap((metadata) => {
          const older = olderIn(metadata)
          return older === undefined ? Effect.succeed(metadata) : Effect.as(make(qdrant, name, older), layout.metadata)
        }),
        Effect.flatMap((metadata) => modelsIn(name, metadata)),
        Effect.tap((models) => Ref.set(known, Option.some(models))),
        Effect.tap(() => Effect.map(Clock.currentTimeMillis, (now) => (readAt = now)))
      )
    const models = Effect.flatMap(Ref.get(known), (there) =>
      Option.isSome(there)
        ? Effect.succeed(there.value)
        : one.withPermit(
            Effect.flatMap(Ref.get(known), (now) => (Option.isSome(now) ? Effect.succeed(now.value) : look))
          )
    )
    const recent = Effect.flatMap(Clock.currentTimeMillis, (now) =>
      now < readAt + RECENT_MILLIS && now >= readAt ? models : one.withPermit(look)
    )
    return {
      name,
      models,
      recentModels: recent,
      freshModels: one.withPermit(look),
      setModels: (next, added) =>
        Effect.andThen(
          qdrant.write("vectors", (client) =>
            client.updateCollection(name, {
              metadata: { schema: FORMAT, current: next.current ?? null, next: next.next ?? null },
              ...(added && { vectors: { [added.vector]: vectorLayout } })
            })
          ),
          Ref.set(known, Option.some(next))
        ),
      use: (run) =>
        Effect.flatMap(models, run).pipe(
          Effect.tapError((error) =>
            error instanceof RecallUnavailable && isMissing(error) ? Ref.set(known, Option.none()) : Effect.void
          )
        )
    }
  })

export const asModel = ({ dimensions, id }: StoredModel): VectorModel => ({ id, dimensions })
