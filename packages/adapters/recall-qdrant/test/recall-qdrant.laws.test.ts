import { recallLaws } from "@reverie/testkit"
import { prove } from "@reverie/testkit/prove"
import { qdrantPlace, qdrantPlaceName } from "@reverie/testkit/qdrant-server"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { recallQdrantLayer } from "../src/index.ts"

prove(`recall-qdrant on ${qdrantPlaceName()} keeps the laws of recall (F107)`, recallLaws, () =>
  Layer.unwrap(Effect.map(qdrantPlace, recallQdrantLayer))
)
