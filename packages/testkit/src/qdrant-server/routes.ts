// Routes: what the double answers to each request it knows.
// Owns collections, aliases and the form of answers. Leaves points to `collection.ts` and searching to `search.ts`.
// R1  An alias stands for its collection in every route; only making and dropping one need its own name.
// R2  A route that the double does not know is refused with 501, never answered with something empty.

import { Collection } from "./collection.ts"
import { filterRefusal, limitRefusal } from "./strict-mode.ts"
import { search } from "./search.ts"
import {
  type Fields,
  fieldsOf,
  isFields,
  isRefusal,
  listOf,
  numberOr,
  type Point,
  type QdrantRequest,
  refusal,
  type Refusal
} from "./wire.ts"
import { SnapshotStore } from "./snapshots.ts"
import { isLetThrough } from "./filter.ts"

/** What the server keeps. */
export class PointStore {
  readonly collections = new Map<string, Collection>()
  readonly aliases = new Map<string, string>()
  readonly snapshots = new SnapshotStore()
  /** What is reported of every collection besides, or instead. */
  condition: Fields = {}

  named(name: string): Collection | Refusal {
    const found = this.collections.get(this.aliases.get(name) ?? name)
    return found ?? refusal(404, `Not found: Collection \`${name}\` doesn't exist!`)
  }
}

type Handler = (points: PointStore, names: ReadonlyArray<string>, body: Fields, request: QdrantRequest) => unknown

/** A handler for a collection that must exist. */
const within =
  (handle: (collection: Collection, body: Fields, names: ReadonlyArray<string>) => unknown): Handler =>
  (points, names, body) => {
    const collection = points.named(names[0] ?? "")
    return isRefusal(collection) ? collection : handle(collection, body, names.slice(1))
  }

const selected = (payload: Fields, choice: unknown): Fields | undefined => {
  if (choice === false || choice === undefined) return undefined
  const left = fieldsOf(choice)["exclude"]
  if (left !== undefined) {
    return Object.fromEntries(Object.entries(payload).filter(([key]) => !listOf(left).includes(key)))
  }
  const keys = Array.isArray(choice) ? choice : listOf(fieldsOf(choice)["include"])
  return choice === true ? payload : Object.fromEntries(Object.entries(payload).filter(([key]) => keys.includes(key)))
}

const shown = ({ id, payload, vectors }: Point, { with_payload, with_vector }: Fields, otherwise: boolean): Fields => {
  const some = selected(payload, with_payload ?? otherwise)
  const asked = Array.isArray(with_vector) ? with_vector : [...vectors.keys()]
  const named = Object.fromEntries([...vectors].filter(([name]) => asked.includes(name)))
  return { id, ...(some && { payload: some }), ...(listOf(with_vector).some(Boolean) && { vector: named }) }
}

const updated = (collection: Collection): Fields => ({ operation_id: collection.version, status: "completed" })

const changing = (operation: string): Handler =>
  within((collection, body) => collection.update(operation, body) ?? updated(collection))

const batch = within((collection, { operations }) => {
  for (const each of listOf(operations).map(fieldsOf)) {
    const [[name, body] = ["nothing", {}]] = Object.entries(each)
    const refused = collection.update(name, fieldsOf(body))
    if (refused !== undefined) return refused
  }
  return listOf(operations).map(() => updated(collection))
})

const reading = (collection: Collection, body: Fields, most: number | undefined): Refusal | undefined =>
  limitRefusal(collection, {
    max_query_limit: most,
    upsert_max_batchsize: undefined,
    search_max_batchsize: undefined
  }) ?? filterRefusal(collection, body["filter"], "retrieve")

const scroll = within((collection, body) => {
  const limit = numberOr(body["limit"], 10)
  const refused = reading(collection, body, limit)
  if (refused !== undefined) return refused
  if (body["order_by"] !== undefined) return refusal(501, "the double does not order a scroll")
  const from = body["offset"]
  const matching = collection.all().filter((point) => isLetThrough(body["filter"], point))
  const rest = from === undefined || from === null ? matching : matching.filter(({ id }) => id >= (from as string))
  return {
    points: rest.slice(0, limit).map((point) => shown(point, body, true)),
    next_page_offset: rest[limit]?.id ?? null
  }
})

const count = within(
  (collection, body) =>
    reading(collection, body, undefined) ?? {
      count: collection.all().filter((point) => isLetThrough(body["filter"], point)).length
    }
)

const retrieve = within((collection, body) =>
  listOf(body["ids"]).flatMap((id) => {
    const point = collection.at(id)
    return point === undefined ? [] : [shown(point, body, true)]
  })
)

const queried = (collection: Collection, body: Fields): { readonly points: ReadonlyArray<Fields> } | Refusal => {
  const found = search(collection, body)
  if (isRefusal(found)) return found
  return { points: found.map(({ point, score }) => ({ ...shown(point, body, false), version: point.version, score })) }
}

const queries = within((collection, body) => {
  const searches = listOf(body["searches"]).map(fieldsOf)
  const limits = { max_query_limit: undefined, upsert_max_batchsize: undefined, search_max_batchsize: searches.length }
  const over = limitRefusal(collection, limits)
  if (over !== undefined) return over
  const answers = searches.map((each) => queried(collection, each))
  return answers.find(isRefusal) ?? answers
})

const create: Handler = (points, [name = ""], body) => {
  if (points.collections.has(name)) return refusal(409, `Wrong input: Collection \`${name}\` already exists!`)
  if (points.aliases.has(name)) {
    return refusal(
      400,
      `Wrong input: Can't create collection with name ${name}. Alias with the same name already exists`
    )
  }
  points.collections.set(name, new Collection(body))
  return true
}

const drop: Handler = (points, [name = ""]) => {
  for (const [alias, of] of points.aliases) if (of === name) points.aliases.delete(alias)
  return points.collections.delete(name)
}

const info: Handler = (points, [name = ""]) => {
  const collection = points.named(name)
  return isRefusal(collection) ? collection : { ...described(collection), ...points.condition }
}

const described = (collection: Collection): Fields => ({
  status: "green",
  optimizer_status: "ok",
  points_count: collection.all().length,
  segments_count: 1,
  config: {
    params: {
      vectors: fieldsOf(collection.config["vectors"]),
      sparse_vectors: fieldsOf(collection.config["sparse_vectors"])
    },
    hnsw_config: {
      m: 16,
      ef_construct: 100,
      full_scan_threshold: 10_000,
      ...fieldsOf(collection.config["hnsw_config"])
    },
    optimizer_config: { default_segment_number: 0, flush_interval_sec: 5 },
    strict_mode_config: collection.strict,
    metadata: fieldsOf(collection.config["metadata"])
  },
  payload_schema: Object.fromEntries(
    [...collection.indexes].map(([field, params]) => [field, { data_type: params["type"], params, points: 0 }])
  )
})

const reconfigure = within((collection, body) => {
  collection.reconfigure(body)
  return true
})

const index = within((collection, { field_name: field, field_schema: schema }) => {
  collection.indexes.set(String(field), isFields(schema) ? schema : { type: schema })
  return updated(collection)
})

const addVector = within((collection, body, [name = ""]) => {
  const dense = fieldsOf(body["dense"])
  const old = collection.spaces.dense[name]
  if (old !== undefined && old !== dense["size"]) {
    return refusal(400, `Wrong input: Vector \`${name}\` already exists with a different configuration`)
  }
  if (old === undefined) collection.setVector(name, dense)
  return updated(collection)
})

const dropVector = within((collection, _body, [name = ""]) => {
  collection.setVector(name, undefined)
  return updated(collection)
})

const aliasFault = (points: PointStore, action: Fields): Refusal | undefined => {
  const { alias_name: alias, collection_name: name } = fieldsOf(action["create_alias"])
  if (!("create_alias" in action)) return undefined
  if (points.collections.has(String(alias)))
    return refusal(400, `Wrong input: Collection \`${String(alias)}\` already exists!`)
  const of = points.named(String(name))
  return isRefusal(of) ? of : undefined
}

const changeAliases: Handler = (points, _names, body) => {
  const actions = listOf(body["actions"]).map(fieldsOf)
  for (const action of actions) {
    const fault = aliasFault(points, action)
    if (fault !== undefined) return fault
  }
  for (const action of actions) {
    const { alias_name: alias, collection_name: name } = fieldsOf(action["create_alias"])
    if ("create_alias" in action) points.aliases.set(String(alias), String(name))
    if ("delete_alias" in action) points.aliases.delete(String(fieldsOf(action["delete_alias"])["alias_name"]))
  }
  return true
}

const aliases: Handler = (points) => ({
  aliases: [...points.aliases].map(([alias, name]) => ({ alias_name: alias, collection_name: name }))
})

const collections: Handler = (points) => ({ collections: [...points.collections.keys()].map((name) => ({ name })) })

const recover: Handler = (points, [name = ""], body) => {
  const present = points.collections.get(name)
  const recovered = points.snapshots.recovered(body, present)
  if (isRefusal(recovered)) return recovered
  if (points.aliases.has(name)) return refusal(400, `Wrong input: ${name} is an alias`)
  points.collections.set(name, recovered)
  return true
}

/** A handler about the snapshots of a collection that must exist. */
const ofSnapshots =
  (handle: (points: PointStore, name: string, names: ReadonlyArray<string>) => unknown): Handler =>
  (points, [name = "", ...names]) => {
    const own = points.aliases.get(name) ?? name
    const collection = points.named(own)
    return isRefusal(collection) ? collection : handle(points, own, names)
  }

const C = "/collections/{}"
const handlers: Readonly<Record<string, Handler>> = {
  "GET /aliases": aliases,
  "GET /collections": collections,
  "POST /collections/aliases": changeAliases,
  [`PUT ${C}`]: create,
  [`GET ${C}`]: info,
  [`PATCH ${C}`]: reconfigure,
  [`DELETE ${C}`]: drop,
  [`GET ${C}/snapshots`]: ofSnapshots(({ snapshots }, name) => snapshots.list(name)),
  [`POST ${C}/snapshots`]: ofSnapshots(({ collections: all, snapshots }, name) => {
    const collection = all.get(name)
    return collection === undefined ? refusal(404, "Not found") : snapshots.make(name, collection)
  }),
  [`DELETE ${C}/snapshots/{}`]: ofSnapshots(({ snapshots }, name, [snapshot = ""]) => snapshots.remove(name, snapshot)),
  [`PUT ${C}/snapshots/recover`]: recover,
  [`PUT ${C}/index`]: index,
  [`PUT ${C}/vectors/{}`]: addVector,
  [`DELETE ${C}/vectors/{}`]: dropVector,
  [`PUT ${C}/points`]: changing("upsert"),
  [`POST ${C}/points`]: retrieve,
  [`POST ${C}/points/delete`]: changing("delete"),
  [`POST ${C}/points/payload`]: changing("set_payload"),
  [`PUT ${C}/points/payload`]: changing("overwrite_payload"),
  [`POST ${C}/points/payload/delete`]: changing("delete_payload"),
  [`POST ${C}/points/payload/clear`]: changing("clear_payload"),
  [`PUT ${C}/points/vectors`]: changing("update_vectors"),
  [`POST ${C}/points/vectors/delete`]: changing("delete_vectors"),
  [`POST ${C}/points/batch`]: batch,
  [`POST ${C}/points/scroll`]: scroll,
  [`POST ${C}/points/count`]: count,
  [`POST ${C}/points/query`]: within(queried),
  [`POST ${C}/points/query/batch`]: queries
}

/** The names in a path that fits a pattern with `{}` for each; undefined when it does not fit. */
export const namesIn = (pattern: string, path: string): ReadonlyArray<string> | undefined => {
  const [wanted, given] = [pattern.split("/"), path.split("/")]
  if (wanted.length !== given.length) return undefined
  const names: Array<string> = []
  for (const [at, part] of wanted.entries()) {
    if (part === "{}") names.push(decodeURIComponent(given[at] ?? ""))
    else if (part !== given[at]) return undefined
  }
  return names
}

/** The result of a request, or why it is refused. */
export const answerTo = (points: PointStore, request: QdrantRequest): unknown => {
  for (const [key, handle] of Object.entries(handlers)) {
    const [method, pattern = ""] = key.split(" ")
    const names = method === request.method ? namesIn(pattern, request.path) : undefined
    if (names !== undefined) return handle(points, names, fieldsOf(request.body), request)
  }
  return refusal(501, `the double does not know ${request.method} ${request.path}`)
}
