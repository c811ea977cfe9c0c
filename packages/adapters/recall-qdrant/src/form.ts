// Form: what a collection of Reverie looks like, and what is written down about it.
// Owns its layout and indexes, the number of its format, its metadata and how collections are named. Leaves making and
// changing one to `collection.ts` and `reforming.ts`.
// U1  Everything that is filtered by has an index before the first point; in strict mode the server refuses the rest.

import { RecallUnavailable, type VectorModel } from "@reverie/memory"
import { defined } from "@reverie/protocol"
import type { Schemas } from "@qdrant/js-client-rest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { CollectionAnswer, isTaken, type Qdrant } from "./client.ts"
import { MAX_CONDITION_VALUES, WORDS } from "./point.ts"

/** Counts up when payload or vectors change so that an older Reverie would misread them. */
export const FORMAT = 2

export const MAX_QUERY_LIMIT = 10_000
export const MAX_BATCH_POINTS = 100

const Model = Schema.Struct({ id: Schema.String, dimensions: Schema.Int, vector: Schema.String })
/** A vector model and the name of the vector that is its own. */
export type StoredModel = typeof Model.Type

const Metadata = Schema.Struct({
  schema: Schema.Int,
  current: Schema.optionalKey(Schema.NullOr(Model)),
  next: Schema.optionalKey(Schema.NullOr(Model)),
  /** When the process that fills it last said so, in milliseconds since the epoch. */
  filling: Schema.optionalKey(Schema.NullOr(Schema.Finite)),
  /** The collection in whose place it is put, until that is dropped. */
  replaces: Schema.optionalKey(Schema.NullOr(Schema.String))
})
const decodeMetadata = Schema.decodeUnknownOption(Metadata)

export interface Models {
  readonly current?: StoredModel
  readonly next?: StoredModel
}

/** What is known of a collection. */
export interface Form {
  readonly schema: number
  readonly models: Models
  readonly filling?: number
  readonly replaces?: string
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
  }
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
export const vectorLayout: Schemas["VectorParamsDiff"] = {
  memory: "cold",
  quantization_config: { scalar: { type: "int8", quantile: 0.99, memory: "pinned" } }
}

export const refusedBecause = (message: string) => new RecallUnavailable({ operation: "open", message })

/** What metadata says; a refusal where it is of someone else, or of a newer Reverie. */
export const formIn = (name: string, metadata: unknown): Effect.Effect<Form, RecallUnavailable> => {
  const decoded = decodeMetadata(metadata)
  if (Option.isNone(decoded)) {
    return Effect.fail(refusedBecause(`the collection ${name} is not one of Reverie; name another one`))
  }
  const { current, filling, next, replaces, schema } = decoded.value
  if (schema > FORMAT) {
    const found = `the collection ${name} has format ${schema}, this Reverie reads up to format ${FORMAT}`
    return Effect.fail(refusedBecause(`${found}; upgrade Reverie, or name another collection`))
  }
  return Effect.succeed({
    schema,
    models: defined({ current: current ?? undefined, next: next ?? undefined }),
    ...defined({ filling: filling ?? undefined, replaces: replaces ?? undefined })
  })
}

export const readForm = ({ read }: Qdrant, name: string): Effect.Effect<Form, RecallUnavailable> =>
  Effect.flatMap(
    read("open", CollectionAnswer, (client) => client.getCollection(name)),
    ({ config }) => formIn(name, config.metadata)
  )

export const collectionOf = (name: string, format: number): string => `${name}-${format}`

/** Makes an empty collection of the present format; false where there is one of its name. */
export const createCollection = ({ write }: Qdrant, own: string, filling?: number) => {
  const metadata = { schema: FORMAT, ...defined({ filling }) }
  return write("open", (client) => client.createCollection(own, { ...layout, metadata })).pipe(
    Effect.as(true),
    Effect.catchIf(isTaken, () => Effect.succeed(false))
  )
}

/** Makes the indexes that are not there yet. */
export const createIndexes = ({ write }: Qdrant, own: string) =>
  Effect.forEach(
    Object.entries(indexes),
    ([field_name, field_schema]) =>
      write("open", (client) => client.createPayloadIndex(own, { field_name, field_schema, wait: true })),
    { discard: true }
  )

/** Gives an alias to a collection, in one step with taking it away from another one. */
export const giveAlias = ({ write }: Qdrant, name: string, own: string, isTakenFrom: boolean) => {
  const alias = { create_alias: { collection_name: own, alias_name: name } }
  const without = isTakenFrom ? [{ delete_alias: { alias_name: name } }] : []
  return write("open", (client) => client.updateCollectionAliases({ actions: [...without, alias] }))
}

export const asModel = ({ dimensions, id }: StoredModel): VectorModel => ({ id, dimensions })
