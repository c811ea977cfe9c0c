// Embedder laws: as many vectors as texts, in their order, and a failure that says what it is (model E1-E5).

import * as assert from "node:assert/strict"
import {
  CallWithheld,
  Embedder,
  embeddingModelOf,
  EmbeddingUnfit,
  ModelDenied,
  ModelParked,
  ModelRefused,
  ModelUnavailable,
  type Vector
} from "@reverie/model"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Outage } from "../hashed-embedder.ts"
import type { Law } from "../law.ts"
import { aMegabyte, hostileTexts } from "./steps.ts"

const berths = "Berth seven is free from noon."
const weather = "A storm is coming up over the northern islands."
const people = "Olga sold her boat to the lighthouse keeper."

const embed = (...texts: ReadonlyArray<string>) => Embedder.use((embedder) => embedder.embed(texts))

/** The only vector of a list. */
const alone = (text: string) =>
  Effect.map(embed(text), (vectors) => {
    assert.equal(vectors.length, 1)
    return vectors[0] ?? []
  })

const cosine = (a: Vector, b: Vector): number => {
  let dot = 0
  let lengthA = 0
  let lengthB = 0
  for (const [at, x] of a.entries()) {
    const y = b[at] ?? 0
    dot += x * y
    lengthA += x * x
    lengthB += y * y
  }
  return dot / Math.sqrt(lengthA * lengthB)
}

/** Servers compute in parallel, and sums of floats depend on their order. */
const ALMOST = 0.999

const sameAs = (a: Vector, b: Vector, message: string) => assert.ok(cosine(a, b) >= ALMOST, message)

/** More texts than one request of any server takes. */
const MANY = 300
const many = Array.from({ length: MANY }, (_, at) => `Ship ${at * 7_919} of ${at}`)

const likeness: ReadonlyArray<Law<Embedder>> = [
  {
    id: "E1.again",
    says: "a text that is embedded again has the same vector",
    check: Effect.gen(function* () {
      const first = yield* alone(berths)
      yield* embed(weather)
      sameAs(first, yield* alone(berths), "the second vector of a text is another one")
    })
  },
  {
    id: "E1.company",
    says: "what a text is embedded with, and how often it stands there, does not change its vector",
    check: Effect.gen(function* () {
      const first = yield* alone(berths)
      const vectors = yield* embed(weather, berths, people, berths)
      assert.equal(vectors.length, 4)
      for (const at of [1, 3]) sameAs(first, vectors[at] ?? [], "a text has another vector among others")
    })
  },
  {
    id: "E1.apart",
    says: "texts about different things have different vectors",
    check: Effect.gen(function* () {
      const [a = [], b = [], c = []] = yield* embed(berths, weather, people)
      for (const [x, y] of [
        [a, b],
        [a, c],
        [b, c]
      ] as const) {
        assert.ok(cosine(x, y) < ALMOST, "two texts have one vector")
      }
    })
  },
  {
    id: "E2.order",
    says: "vectors stand in the order of their texts",
    check: Effect.gen(function* () {
      const texts = [weather, berths, people]
      const vectors = yield* embed(...texts)
      assert.equal(vectors.length, texts.length)
      for (const [at, text] of texts.entries())
        sameAs(vectors[at] ?? [], yield* alone(text), "a vector is out of place")
    })
  },
  {
    id: "E2.many",
    says: `${MANY} texts have ${MANY} vectors, each in its place`,
    check: Effect.gen(function* () {
      const vectors = yield* embed(...many)
      assert.equal(vectors.length, MANY)
      for (const at of [0, 1, 94, 95, 96, 97, 191, 192, 255, 256, MANY - 1]) {
        sameAs(vectors[at] ?? [], yield* alone(many[at] ?? ""), `the vector at ${at} is out of place`)
      }
    })
  }
]

const finite = (vector: Vector, dimensions: number): void => {
  assert.equal(vector.length, dimensions)
  assert.ok(
    vector.every((each) => typeof each === "number" && Number.isFinite(each)),
    "a vector holds something that is no number"
  )
}

const shape: ReadonlyArray<Law<Embedder>> = [
  {
    id: "E3.length",
    says: "each vector has the agreed number of finite numbers, and is not nothing",
    check: Effect.gen(function* () {
      const { dimensions, id } = yield* Embedder.use(embeddingModelOf)
      assert.ok(Number.isInteger(dimensions) && dimensions > 0 && id !== "")
      for (const vector of yield* embed(berths, weather, people)) {
        finite(vector, dimensions)
        assert.ok(
          vector.some((each) => each !== 0),
          "a vector points nowhere"
        )
      }
    })
  },
  {
    id: "E3.hostile",
    says: "no text makes others unreadable: empty, blank, a megabyte, half a pair",
    check: Effect.gen(function* () {
      const { dimensions } = yield* Embedder.use(embeddingModelOf)
      const texts = [...hostileTexts, " \n\t", aMegabyte, berths]
      const vectors = yield* embed(...texts)
      assert.equal(vectors.length, texts.length)
      for (const vector of vectors) finite(vector, dimensions)
      sameAs(vectors.at(-1) ?? [], yield* alone(berths), "a text has another vector beside hostile ones")
    })
  },
  {
    id: "E4.nothing",
    says: "no texts have no vectors",
    check: Effect.gen(function* () {
      assert.deepEqual(yield* embed(), [])
    })
  }
]

const kinds = [ModelUnavailable, ModelParked, CallWithheld, ModelDenied, ModelRefused, EmbeddingUnfit]

/** Asserts that texts are not embedded, and that the reason is one of the closed list. */
const fails = (...texts: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const exit = yield* Effect.exit(embed(...texts))
    assert.ok(Exit.isFailure(exit), "texts were embedded by no one")
    const [reason, ...others] = exit.cause.reasons
    assert.ok(reason !== undefined && others.length === 0)
    assert.ok(Cause.isFailReason(reason), `it did not fail, it broke: ${Cause.pretty(exit.cause)}`)
    assert.ok(
      kinds.some((kind) => reason.error instanceof kind),
      `not an error of the port: ${String(reason.error)}`
    )
  })

const failing: ReadonlyArray<Law<Embedder | Outage>> = [
  {
    id: "E4.outage",
    says: "no texts need no one: they have no vectors in an outage either",
    check: Effect.gen(function* () {
      yield* (yield* Outage).strike
      assert.deepEqual(yield* embed(), [])
    })
  },
  {
    id: "E5.typed",
    says: "in an outage the call fails with an error of the closed list, one text or many",
    check: Effect.gen(function* () {
      yield* (yield* Outage).strike
      yield* fails(berths)
      yield* fails(...many)
    })
  },
  {
    id: "E5.known",
    says: "a text that was embedded before the outage makes no list succeed that holds another one",
    check: Effect.gen(function* () {
      yield* embed(berths)
      yield* (yield* Outage).strike
      yield* fails(berths, weather)
    })
  },
  {
    id: "E5.after",
    says: "after an outage texts are embedded as before it",
    check: Effect.gen(function* () {
      const { mend, strike } = yield* Outage
      const before = yield* alone(berths)
      yield* strike
      yield* fails(weather)
      yield* mend
      sameAs(before, yield* alone(berths), "the outage has changed the vectors")
      yield* embed(weather)
    })
  }
]

export const embedderLaws: ReadonlyArray<Law<Embedder | Outage>> = [...likeness, ...shape, ...failing]
