// Vectors: the named vectors of a collection, what fits them and how near two of them are.
// Owns dimensions, cosine, the product of sparse vectors and the rarity of their numbers. Leaves which points are
// compared to `search.ts`.
// V1  Numbers are kept as the server keeps them, in 32 bits.
// V2  Rarity is ln((N - n + 0.5) / (n + 0.5) + 1) over the points of the corpus that have the vector.

import { fieldsOf, isFields, type Point, refusal, type Refusal, type Sparse, type VectorValue } from "./wire.ts"

export interface VectorSpaces {
  /** Dense vectors by name: their size. */
  readonly dense: Readonly<Record<string, number>>
  /** Sparse vectors by name: whether the rarity of a number counts. */
  readonly sparse: Readonly<Record<string, { readonly idf: boolean }>>
}

export const spacesOf = (vectors: unknown, sparse: unknown): VectorSpaces => ({
  dense: Object.fromEntries(
    Object.entries(fieldsOf(vectors)).map(([name, config]) => [name, Number(fieldsOf(config)["size"])])
  ),
  sparse: Object.fromEntries(
    Object.entries(fieldsOf(sparse)).map(([name, config]) => [name, { idf: fieldsOf(config)["modifier"] === "idf" }])
  )
})

const isNumbers = (value: unknown): value is ReadonlyArray<number> =>
  Array.isArray(value) && value.every((each) => typeof each === "number")

export const isSparse = (value: unknown): value is Sparse =>
  isFields(value) && isNumbers(value["indices"]) && isNumbers(value["values"])

const rounded = (values: ReadonlyArray<number>): ReadonlyArray<number> => values.map(Math.fround)

const normalised = (values: ReadonlyArray<number>): ReadonlyArray<number> => {
  const length = Math.hypot(...values)
  return length === 0 ? values : values.map((value) => Math.fround(value / length))
}

const bad = (error: string): Refusal => refusal(400, `Wrong input: ${error}`)

/** The vector as it is kept under that name, or why it is refused. */
export const fitted = (spaces: VectorSpaces, name: string, value: unknown): VectorValue | Refusal => {
  const size = spaces.dense[name]
  if (size !== undefined) {
    if (!isNumbers(value)) return bad(`Conversion between sparse and regular vectors failed: ${name}`)
    if (value.length === size) return normalised(rounded(value))
    return bad(`Vector dimension error: expected dim: ${size}, got ${value.length}`)
  }
  if (spaces.sparse[name] === undefined) return bad(`Not existing vector name error: ${name}`)
  if (!isSparse(value)) return bad(`Conversion between sparse and regular vectors failed: ${name}`)
  const { indices, values } = value
  if (indices.length !== values.length) return refusal(422, "Validation error: must be the same length as indices")
  if (new Set(indices).size < indices.length) return refusal(422, "Validation error: must be unique")
  if (indices.some((index) => !Number.isInteger(index) || index < 0 || index > 0xffff_ffff)) {
    return refusal(400, "Format error in JSON body: invalid value: expected u32")
  }
  return { indices, values: rounded(values) }
}

const cosine = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number =>
  Math.fround(a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0))

const rarities = (
  name: string,
  numbers: ReadonlyArray<number>,
  corpus: ReadonlyArray<Point>
): ReadonlyArray<number> => {
  const documents = corpus.map(({ vectors }) => vectors.get(name)).filter(isSparse)
  const having = new Map(numbers.map((number) => [number, 0]))
  for (const { indices } of documents) {
    for (const index of indices) having.set(index, (having.get(index) ?? 0) + 1)
  }
  return numbers.map((number) => {
    const count = having.get(number) ?? 0
    return Math.log((documents.length - count + 0.5) / (count + 0.5) + 1)
  })
}

/** Scores a vector of that name; undefined when it shares nothing with the query. */
export type Score = (vector: VectorValue | undefined) => number | undefined

/** How points are compared with a fitted query. The corpus counts for sparse vectors whose rarity counts. */
export const scorer = (
  spaces: VectorSpaces,
  name: string,
  query: VectorValue,
  corpus: () => ReadonlyArray<Point>
): Score => {
  if (!isSparse(query)) {
    return (vector) => (vector === undefined || isSparse(vector) ? undefined : cosine(query, vector))
  }
  const rarity = spaces.sparse[name]?.idf === true ? rarities(name, query.indices, corpus()) : undefined
  const weights = new Map(query.indices.map((index, at) => [index, (query.values[at] ?? 0) * (rarity?.[at] ?? 1)]))
  return (vector) => {
    if (vector === undefined || !isSparse(vector)) return undefined
    let score: number | undefined
    for (const [at, index] of vector.indices.entries()) {
      const weight = weights.get(index)
      if (weight !== undefined) score = (score ?? 0) + weight * (vector.values[at] ?? 0)
    }
    return score === undefined ? undefined : Math.fround(score)
  }
}
