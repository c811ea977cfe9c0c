// Embedder mutants: embedders that are each wrong in one way, which the embedder laws must kill.

import { Embedder, type EmbedderError, ModelUnavailable, type Vector } from "@reverie/model"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { hashedEmbedder, hashedVector, Outage } from "../hashed-embedder.ts"
import type { FreshLayer } from "../law.ts"

type Embed = Embedder["Service"]["embed"]
type Vectors = ReadonlyArray<Vector>

const DIMENSIONS = 64

/** Puts other vectors in the place of the right ones. */
const showing =
  (change: (vectors: Vectors, texts: ReadonlyArray<string>) => Vectors) =>
  (right: Embed): Embed =>
  (texts) =>
    Effect.map(right(texts), (vectors) => change(vectors, texts))

/** Each vector through a lens. */
const each = (change: (vector: Vector) => Vector) => showing((vectors) => vectors.map(change))

const failure = new ModelUnavailable({ provider: "mutant", kind: "malformed", message: "refused" })

const mistakes: Readonly<Record<string, (right: Embed) => Embed>> = {
  changesWithEachCall: (right) => {
    let call = 0
    return (texts) => {
      call++
      return Effect.map(right(texts), (vectors) =>
        vectors.map((vector) => vector.map((x, at) => x + (at === call ? 1 : 0)))
      )
    }
  },
  dependsOnTheFirst: showing((vectors) => vectors.map((vector) => vector.map((x, at) => x + (vectors[0]?.[at] ?? 0)))),
  countsRepeats: showing((vectors, texts) =>
    vectors.map((vector, at) => (texts.indexOf(texts[at] ?? "") < at ? vector.toReversed() : vector))
  ),
  knowsOneVector: each((vector) => vector.map((_, at) => (at === 0 ? 1 : 0))),
  hasItBackwards: showing((vectors) => vectors.toReversed()),
  sortsTexts: (right) => (texts) => right(texts.toSorted()),
  answersEachTextOnce: (right) => (texts) => right([...new Set(texts)]),
  stopsAfterABatch: (right) => (texts) => right(texts.slice(0, 96)),
  turnsEachBatchRound: showing((vectors) => [...vectors.slice(96), ...vectors.slice(0, 96)]),
  isOneShort: each((vector) => vector.slice(1)),
  isOneLong: each((vector) => [...vector, 0]),
  holdsNoNumber: each((vector) => [NaN, ...vector.slice(1)]),
  pointsNowhere: each((vector) => vector.map(() => 0)),
  leavesOutEmptyTexts: (right) => (texts) => right(texts.filter((text) => text.trim() !== "")),
  refusesEmptyTexts: (right) => (texts) => (texts.includes("") ? Effect.fail(failure) : right(texts)),
  refusesLongTexts: (right) => (texts) =>
    texts.some((text) => text.length > 100_000) ? Effect.fail(failure) : right(texts),
  refusesNothing: (right) => (texts) => (texts.length === 0 ? Effect.fail(failure) : right(texts)),
  answersNothing: (right) => (texts) =>
    texts.length === 0 ? Effect.succeed([hashedVector("", DIMENSIONS)]) : right(texts),
  asksForNothing: (right) => (texts) => (texts.length === 0 ? Effect.map(right([""]), () => []) : right(texts)),
  hidesTheOutage: (right) => (texts) =>
    right(texts).pipe(Effect.catch(() => Effect.succeed(texts.map((text) => hashedVector(text, DIMENSIONS))))),
  answersShortInAnOutage: (right) => (texts) => right(texts).pipe(Effect.catch(() => Effect.succeed([]))),
  throwsItsFailure: (right) => (texts) => Effect.orDie(right(texts)),
  failsWithASentence: (right) => (texts) =>
    Effect.mapError(right(texts), ({ message }) => new Error(message) as unknown as EmbedderError),
  answersWhatItKnows: (right) => {
    const known = new Map<string, Vector>()
    return (texts) =>
      right(texts).pipe(
        Effect.tap((vectors) =>
          Effect.sync(() => {
            for (const [at, text] of texts.entries()) known.set(text, vectors[at] ?? [])
          })
        ),
        Effect.catch((error) => {
          const found = texts.flatMap((text) => known.get(text) ?? [])
          return found.length === 0 ? Effect.fail(error) : Effect.succeed(texts.map((text) => known.get(text) ?? found))
        })
      )
  },
  neverRecovers: (right) => {
    let last: EmbedderError | undefined
    return (texts) =>
      last === undefined
        ? Effect.tapError(right(texts), (error) =>
            Effect.sync(() => {
              last = error
            })
          )
        : Effect.fail(last)
  },
  isAnotherAfterwards: (right) => {
    let hasFailed = false
    return (texts) =>
      Effect.tapError(
        Effect.map(right(texts), (vectors) => (hasFailed ? vectors.map((vector) => vector.toReversed()) : vectors)),
        () =>
          Effect.sync(() => {
            hasFailed = true
          })
      )
  }
}

export const embedderMutants: Readonly<Record<string, FreshLayer<Embedder | Outage>>> = Object.fromEntries(
  Object.entries(mistakes).map(([name, mistake]) => [
    name,
    () => {
      const { embedder, outage } = hashedEmbedder(DIMENSIONS)
      return Layer.mergeAll(
        Layer.succeed(Embedder, { ...embedder, embed: mistake(embedder.embed) }),
        Layer.succeed(Outage, outage)
      )
    }
  ])
)
