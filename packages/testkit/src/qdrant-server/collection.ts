// Collection: points, their payload and their vectors, as one collection of the double keeps them.
// Owns the operations that change points. Leaves searching to `search.ts`, names and routes to `routes.ts`.
// C1  An operation is checked whole before it changes anything.
// C2  An upsert replaces a point, an update of vectors keeps the others; a point that is not there is an error for
//     every update but an upsert.

import { isLetThrough } from "./filter.ts"
import { filterRefusal, limitRefusal } from "./strict-mode.ts"
import { fitted, spacesOf, type VectorSpaces } from "./vectors.ts"
import {
  type Fields,
  fieldsOf,
  isFields,
  isRefusal,
  listOf,
  type Point,
  type PointId,
  refusal,
  type Refusal,
  type VectorValue
} from "./wire.ts"

const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i

const isPointId = (id: unknown): id is PointId =>
  typeof id === "string" ? uuid.test(id) : Number.isInteger(id) && Number(id) >= 0

const byId = (a: Point, b: Point): number => (a.id < b.id ? -1 : 1)

const without = (payload: Fields, keys: ReadonlyArray<unknown>): Fields =>
  Object.fromEntries(Object.entries(payload).filter(([key]) => !keys.includes(key)))

/** Null takes a key of a configuration away, as it does in metadata. */
const merged = (old: unknown, diff: unknown): Fields =>
  Object.fromEntries(Object.entries({ ...fieldsOf(old), ...fieldsOf(diff) }).filter(([, value]) => value !== null))

const notFound = (id: unknown): Refusal => refusal(404, `Not found: No point with id ${String(id)} found`)

const operations = [
  "upsert",
  "delete",
  "set_payload",
  "overwrite_payload",
  "delete_payload",
  "clear_payload",
  "update_vectors",
  "delete_vectors"
] as const
export type Operation = (typeof operations)[number]

export class Collection {
  config: Fields
  readonly indexes = new Map<string, Fields>()
  /** How many operations it has seen. */
  version = 0
  #points = new Map<PointId, Point>()

  constructor(config: Fields) {
    this.config = config
  }

  /** The same, apart from it. */
  copy(): Collection {
    const copied = new Collection(this.config)
    for (const [field, schema] of this.indexes) copied.indexes.set(field, schema)
    for (const point of this.all()) copied.#points.set(point.id, point)
    copied.version = this.version
    return copied
  }

  get strict(): Fields {
    return fieldsOf(this.config["strict_mode_config"])
  }

  get spaces(): VectorSpaces {
    return spacesOf(this.config["vectors"], this.config["sparse_vectors"])
  }

  /** In the order of their ids. */
  all(): ReadonlyArray<Point> {
    return [...this.#points.values()].toSorted(byId)
  }

  at(id: unknown): Point | undefined {
    return this.#points.get(id as PointId)
  }

  /** As `PATCH` changes it. */
  reconfigure(diff: Fields): void {
    const old = this.config
    this.config = {
      ...old,
      metadata: merged(old["metadata"], diff["metadata"]),
      strict_mode_config: merged(old["strict_mode_config"], diff["strict_mode_config"]),
      vectors: Object.fromEntries(
        Object.entries(fieldsOf(old["vectors"])).map(([name, config]) => [
          name,
          merged(config, fieldsOf(diff["vectors"])[name])
        ])
      )
    }
  }

  /** Adds a dense vector, or takes one away with undefined. */
  setVector(name: string, config: Fields | undefined): void {
    const vectors = without(fieldsOf(this.config["vectors"]), [name])
    this.config = { ...this.config, vectors: config === undefined ? vectors : { ...vectors, [name]: config } }
    if (config === undefined) for (const point of this.all()) this.#dropVectors(point, [name])
  }

  /** Carries out one operation, named as in a batch; the refusal when there is one. */
  update(name: string, body: Fields): Refusal | undefined {
    if (!operations.includes(name as Operation)) return refusal(400, `Format error in JSON body: unknown ${name}`)
    const refused = filterRefusal(this, body["filter"], "update")
    if (refused !== undefined) return refused
    this.version++
    if (name === "upsert") return this.#upsert(body)
    if (name === "update_vectors") return this.#updateVectors(listOf(body["points"]).map(fieldsOf))
    const { missing, points } = this.#selected(body)
    if (missing !== undefined && name !== "delete") return notFound(missing)
    for (const point of points) this.#change(name as Operation, point, body)
    return undefined
  }

  #change(name: Operation, point: Point, body: Fields): void {
    if (name === "delete") this.#points.delete(point.id)
    else if (name === "delete_vectors") this.#dropVectors(point, listOf(body["vector"]))
    else if (name === "set_payload")
      this.#put({ ...point, payload: { ...point.payload, ...fieldsOf(body["payload"]) } })
    else if (name === "overwrite_payload") this.#put({ ...point, payload: fieldsOf(body["payload"]) })
    else if (name === "delete_payload") this.#put({ ...point, payload: without(point.payload, listOf(body["keys"])) })
    else this.#put({ ...point, payload: {} })
  }

  #put(point: Point): void {
    this.#points.set(point.id, { ...point, version: this.version })
  }

  #dropVectors(point: Point, names: ReadonlyArray<unknown>): void {
    this.#put({ ...point, vectors: new Map([...point.vectors].filter(([name]) => !names.includes(name))) })
  }

  /** The points that a body names or filters, and the first named one that is not there. */
  #selected(body: Fields): { readonly points: ReadonlyArray<Point>; readonly missing?: unknown } {
    if (isFields(body["filter"])) return { points: this.all().filter((point) => isLetThrough(body["filter"], point)) }
    const ids = listOf(body["points"])
    return {
      points: ids.map((id) => this.at(id)).filter((point) => point !== undefined),
      missing: ids.find((id) => this.at(id) === undefined)
    }
  }

  #vectors(named: Fields): ReadonlyMap<string, VectorValue> | Refusal {
    const kept = new Map<string, VectorValue>()
    for (const [name, value] of Object.entries(named)) {
      const vector = fitted(this.spaces, name, value)
      if (isRefusal(vector)) return vector
      kept.set(name, vector)
    }
    return kept
  }

  #upsert(body: Fields): Refusal | undefined {
    const points = listOf(body["points"]).map(fieldsOf)
    const limits = { max_query_limit: undefined, search_max_batchsize: undefined, upsert_max_batchsize: points.length }
    const over = limitRefusal(this, limits)
    if (over !== undefined) return over
    const made: Array<Point> = []
    for (const { id, payload, vector } of points) {
      if (!isPointId(id))
        return refusal(400, `Format error in JSON body: ${JSON.stringify(id)} is not a valid point ID`)
      if (!isFields(vector)) return refusal(400, "Wrong input: Not existing vector name error: ")
      const vectors = this.#vectors(vector)
      if (isRefusal(vectors)) return vectors
      made.push({ id, payload: fieldsOf(payload), vectors, version: this.version })
    }
    for (const point of made) if (this.#mayUpsert(point.id, body)) this.#put(point)
    return undefined
  }

  #mayUpsert(id: PointId, body: Fields): boolean {
    const old = this.at(id)
    if (old === undefined) return body["update_mode"] !== "update_only"
    return body["update_mode"] !== "insert_only" && isLetThrough(body["update_filter"], old)
  }

  #updateVectors(points: ReadonlyArray<Fields>): Refusal | undefined {
    const limits = { max_query_limit: undefined, search_max_batchsize: undefined, upsert_max_batchsize: points.length }
    const over = limitRefusal(this, limits)
    if (over !== undefined) return over
    const made: Array<Point> = []
    for (const { id, vector } of points) {
      const old = this.at(id)
      if (old === undefined) return notFound(id)
      const vectors = this.#vectors(fieldsOf(vector))
      if (isRefusal(vectors)) return vectors
      made.push({ ...old, vectors: new Map([...old.vectors, ...vectors]) })
    }
    for (const point of made) this.#put(point)
    return undefined
  }
}
