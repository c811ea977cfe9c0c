// Vectors: embeddings as a server says them, and the ways in which it can say them wrongly.
// Owns the form of the answer and the hostile modes of it. Leaves those of HTTP, which any answer can suffer, to
// `modes-http.ts`.
// V1  A mode is judged like those of completions: its verdict is data.

import { hashedVector } from "../hashed-embedder.ts"
import { answer, drop, JSON_TYPE, type Serve, type Verdict } from "./hostile-mode.ts"
import { isObject, type ModelRequest } from "./wire.ts"

/** The vector of a text, of so many numbers. */
export type VectorOf = (text: string, dimensions: number) => ReadonlyArray<unknown>

/** When the request names no length. */
export const SERVED_DIMENSIONS = 64

const lengthAsked = ({ body }: ModelRequest): number => {
  const asked = isObject(body) ? body["dimensions"] : undefined
  return typeof asked === "number" ? asked : SERVED_DIMENSIONS
}

type Row = { readonly [key: string]: unknown }

const rowsOf = (request: ModelRequest, vectorOf: VectorOf): ReadonlyArray<Row> =>
  request.input.map((text, index) => ({
    object: "embedding",
    index,
    embedding: vectorOf(text, lengthAsked(request))
  }))

const bodyOf = ({ model }: ModelRequest, data: unknown): string =>
  JSON.stringify({ object: "list", data, model, usage: { prompt_tokens: 3, total_tokens: 3 } })

export const serveVectors =
  (vectorOf: VectorOf = hashedVector): Serve =>
  (request, response) => {
    response.writeHead(200, JSON_TYPE).end(bodyOf(request, rowsOf(request, vectorOf)))
  }

/** A right answer with its rows changed. */
const changed =
  (change: (rows: ReadonlyArray<Row>) => unknown): Serve =>
  (request, response) => {
    response.writeHead(200, JSON_TYPE).end(bodyOf(request, change(rowsOf(request, hashedVector))))
  }

const ofNumbers = (change: (numbers: ReadonlyArray<number>) => unknown): Serve =>
  changed((rows) => rows.map((row) => ({ ...row, embedding: change(row["embedding"] as ReadonlyArray<number>) })))

export interface VectorMode {
  readonly says: string
  readonly serve: Serve
  /** `vectors`: they are right, in spite of it. */
  readonly leadsTo:
    | Extract<Verdict, { readonly error: string }>
    | { readonly error: "EmbeddingUnfit"; readonly expected: number; readonly received: number }
    | "vectors"
}

const malformed = { error: "ModelUnavailable", kind: "malformed" } as const
const unfit = (received: number) => ({ error: "EmbeddingUnfit", expected: SERVED_DIMENSIONS, received }) as const

/** For a client that asks for SERVED_DIMENSIONS numbers and for at least two texts. */
const modes = {
  shuffled: {
    says: "the vectors stand in another order, and say so",
    serve: changed((rows) => rows.toReversed()),
    leadsTo: "vectors"
  },
  "index-missing": {
    says: "the vectors do not say where they stand",
    serve: changed((rows) => rows.map(({ embedding }) => ({ embedding }))),
    leadsTo: "vectors"
  },
  "too-short": { says: "vectors are one number short", serve: ofNumbers((all) => all.slice(1)), leadsTo: unfit(63) },
  "too-long": { says: "vectors have one number more", serve: ofNumbers((all) => [...all, 0]), leadsTo: unfit(65) },
  "one-short": {
    says: "only the last vector is too short",
    serve: changed((rows) => [...rows.slice(0, -1), { ...rows.at(-1), embedding: [1] }]),
    leadsTo: unfit(1)
  },
  "vector-empty": { says: "vectors without a number", serve: ofNumbers(() => []), leadsTo: unfit(0) },
  "one-fewer": { says: "the last vector is missing", serve: changed((rows) => rows.slice(0, -1)), leadsTo: malformed },
  "one-more": { says: "a vector no one asked for", serve: changed((rows) => [...rows, rows[0]]), leadsTo: malformed },
  "same-place": {
    says: "all vectors stand at the same place",
    serve: changed((rows) => rows.map((row) => ({ ...row, index: 0 }))),
    leadsTo: malformed
  },
  "place-outside": {
    says: "the places are counted from 1",
    serve: changed((rows) => rows.map((row, at) => ({ ...row, index: at + 1 }))),
    leadsTo: malformed
  },
  "place-no-number": {
    says: "the places are texts",
    serve: changed((rows) => rows.map((row, at) => ({ ...row, index: String(at) }))),
    leadsTo: malformed
  },
  "numbers-as-text": { says: "numbers as texts", serve: ofNumbers((all) => all.map(String)), leadsTo: malformed },
  "numbers-null": { says: "null for NaN", serve: ofNumbers((all) => all.map(() => null)), leadsTo: malformed },
  "numbers-infinite": {
    says: "numbers beyond all bounds",
    serve: (request, response) => {
      const huge = bodyOf(
        request,
        rowsOf(request, () => [0.5])
      ).replaceAll("0.5", "1e999")
      response.writeHead(200, JSON_TYPE).end(huge)
    },
    leadsTo: malformed
  },
  "numbers-bare-nan": {
    says: "NaN, as Python writes it",
    serve: (request, response) => {
      const bare = bodyOf(
        request,
        rowsOf(request, () => [0.5])
      ).replaceAll("0.5", "NaN")
      response.writeHead(200, JSON_TYPE).end(bare)
    },
    leadsTo: { error: "ModelUnavailable", kind: "not-json" }
  },
  "vector-base64": {
    says: "base64 where floats were asked for",
    serve: ofNumbers(() => "AACAPw=="),
    leadsTo: malformed
  },
  "row-null": { says: "null for a vector", serve: changed((rows) => rows.map(() => null)), leadsTo: malformed },
  "data-missing": { says: "no list at all", serve: changed(() => undefined), leadsTo: malformed },
  "data-object": {
    says: "an object for the list",
    serve: changed((rows) => Object.fromEntries(rows.entries())),
    leadsTo: malformed
  },
  "vectors-cut": {
    says: "the body ends in the middle of a number, as if it were whole",
    serve: (request, response) => {
      const whole = bodyOf(request, rowsOf(request, hashedVector))
      response.writeHead(200, JSON_TYPE).end(whole.slice(0, whole.length >> 1))
    },
    leadsTo: { error: "ModelUnavailable", kind: "cut" }
  },
  "vectors-reset": {
    says: "the connection is dropped in the middle of a number",
    serve: (request, response) => {
      const whole = bodyOf(request, rowsOf(request, hashedVector))
      response.writeHead(200, { ...JSON_TYPE, "content-length": String(whole.length) })
      response.write(whole.slice(0, whole.length >> 1), () => drop(response))
    },
    leadsTo: { error: "ModelUnavailable", kind: "cut" }
  },
  "text-too-long": {
    says: "400 because a text is too long",
    serve: answer(
      400,
      JSON.stringify({
        error: { message: "This model's maximum context length is 8192 tokens", type: "invalid_request_error" }
      })
    ),
    leadsTo: { error: "ModelRefused", kind: "too-long" }
  }
} as const satisfies Record<string, VectorMode>

export type VectorModeName = keyof typeof modes

export const vectorModes: Readonly<Record<VectorModeName, VectorMode>> = modes

export const vectorModeNames = Object.keys(modes) as ReadonlyArray<VectorModeName>
