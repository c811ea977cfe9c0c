// Wire: what requests and points are made of, as the Qdrant double reads them.
// Owns loose reading of JSON and the shape of a refusal. Leaves what a request means to those who carry it out.
// W1  A refusal is a value: what is refused has changed nothing.

import type { IncomingHttpHeaders } from "node:http"

export type Fields = { readonly [key: string]: unknown }

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The fields of a value; none when it is no object. */
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})

/** A list as it is, one thing as a list of one, nothing as an empty list. */
export const listOf = (value: unknown): ReadonlyArray<unknown> => {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

export const numberOr = (value: unknown, otherwise: number): number => (typeof value === "number" ? value : otherwise)

export interface Refusal {
  readonly status: number
  readonly error: string
}

export const refusal = (status: number, error: string): Refusal => ({ status, error })

export const isRefusal = (value: unknown): value is Refusal => isFields(value) && typeof value["error"] === "string"

export type PointId = number | string

export interface Sparse {
  readonly indices: ReadonlyArray<number>
  readonly values: ReadonlyArray<number>
}

export type VectorValue = ReadonlyArray<number> | Sparse

export interface Point {
  readonly id: PointId
  readonly version: number
  readonly payload: Fields
  readonly vectors: ReadonlyMap<string, VectorValue>
}

/** A request as it arrived. */
export interface QdrantRequest {
  readonly method: string
  /** Without the query, decoded piece by piece where it is matched. */
  readonly path: string
  readonly query: ReadonlyMap<string, string>
  readonly headers: IncomingHttpHeaders
  /** Undefined when there was none; what was sent, as text, when it is no JSON. */
  readonly body: unknown
}
