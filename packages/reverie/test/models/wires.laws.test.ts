import { firstOf, ModelDenied } from "@reverie/model"
import { modelLaws } from "@reverie/testkit"
import { prove } from "@reverie/testkit/prove"
import * as Effect from "effect/Effect"
import { aiSdkModel } from "../../src/models/ai-sdk-model.ts"
import { ownModel, type PromiseModel } from "../../src/models/promise-model.ts"
import { orderedAiSdk, ordering, orderedPromise } from "./other-ends.ts"

/** Laws have a clock that stands still. */
const once = { retries: 0 }

prove(
  "a model with an async infer: model laws",
  modelLaws,
  ordering((ordered) => ownModel(orderedPromise(ordered), once))
)

/** Nothing shows that it answers a promise until it is asked. */
const plain = (model: PromiseModel): PromiseModel => ({ infer: (prompt, options) => model.infer(prompt, options) })

prove(
  "a model whose infer is no async function: model laws",
  modelLaws,
  ordering((ordered) => ownModel(plain(orderedPromise(ordered)), once))
)

for (const version of ["v2", "v3", "v4"]) {
  prove(
    `a model of the AI SDK, ${version}: model laws`,
    modelLaws,
    ordering((ordered) => aiSdkModel(orderedAiSdk(ordered, version), once))
  )
}

prove(
  "a model of the AI SDK behind one whose key is refused: model laws",
  modelLaws,
  ordering((ordered) =>
    firstOf([
      { infer: () => Effect.fail(new ModelDenied({ provider: "first", status: 401, message: "no such key" })) },
      aiSdkModel(orderedAiSdk(ordered), once)
    ])
  )
)
