// EmbeddingAnswer: the body of one successful response to a request for vectors.
// Owns reading it and the judgement whether it is whole. Leaves the length of the vectors to `openai-embedder.ts`.
// I1  It holds one list of finite numbers for each text, in the order of the texts, or it is a failure: a list that is
//     short, that names a place twice, or that holds anything else is of no use to anybody.

import { isJsonObject, type Json, parseJson } from "@reverie/protocol"
import * as Result from "effect/Result"
import { type Ending, endings } from "./answer.ts"
import type { Reading } from "./attempt.ts"
import type { Failure, Failures, HeaderReader } from "./failure.ts"

type Vectors = ReadonlyArray<ReadonlyArray<number>>

const isVector = (value: Json | undefined): value is ReadonlyArray<number> =>
  Array.isArray(value) && value.every((each) => typeof each === "number" && Number.isFinite(each))

/** The vectors by their places, or what is wrong with them. */
const vectorsIn = (rows: ReadonlyArray<Json>, count: number): Vectors | string => {
  if (rows.length !== count) return `${count} texts were answered with ${rows.length} vectors`
  const placed: Array<ReadonlyArray<number> | undefined> = Array.from({ length: count })
  for (const [at, row] of rows.entries()) {
    const { embedding, index = at } = isJsonObject(row) ? row : {}
    if (!isVector(embedding)) return `vector ${at} is not a list of numbers`
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= count) {
      return `vector ${at} says that it stands at no place of the list`
    }
    if (placed[index] !== undefined) return `two vectors say that they stand at ${index}`
    placed[index] = embedding
  }
  return placed.filter((vector) => vector !== undefined)
}

export class EmbeddingAnswer implements Reading<Vectors> {
  assembly: Vectors = []
  /** A list is whole when its last bracket is there, and only the end of the body tells. */
  readonly finished = false
  readonly #chunks: Array<Buffer> = []
  readonly #failures: Failures
  readonly #count: number

  constructor(failures: Failures, count: number) {
    this.#failures = failures
    this.#count = count
  }

  begin(): void {}

  take(chunk: Buffer): "open" {
    this.#chunks.push(chunk)
    return "open"
  }

  conclude(ending: Ending, header: HeaderReader, now: number): Failure | undefined {
    const { unavailable } = this.#failures
    if (ending === "cut" || ending === "idle" || ending === "timeout" || ending === "too-large") {
      return unavailable(ending, endings[ending])
    }
    const text = Buffer.concat(this.#chunks).toString("utf8").trim()
    const parsed = parseJson(text)
    if (Result.isFailure(parsed)) {
      const isCut = text.startsWith("{") && !text.endsWith("}")
      return unavailable(
        isCut ? "cut" : "not-json",
        text === "" ? "the body is empty" : `the body is not JSON: ${parsed.failure}`
      )
    }
    return this.#judge(parsed.success, header, now)
  }

  #judge(body: Json, header: HeaderReader, now: number): Failure | undefined {
    const { answered, unavailable } = this.#failures
    const { data, error } = isJsonObject(body) ? body : {}
    if (error) {
      const { code, message, type } = isJsonObject(error) ? error : { message: error }
      return answered({ code, message, type }, header, now)
    }
    if (!Array.isArray(data)) return unavailable("malformed", "the answer has no list of vectors")
    const vectors = vectorsIn(data, this.#count)
    if (typeof vectors === "string") return unavailable("malformed", vectors)
    this.assembly = vectors
    return undefined
  }
}
