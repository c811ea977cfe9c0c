// Probe: which model a choice leads to, and whether it answers.
// Owns the words for a choice and the one question of a probe. Leaves the choice to profile.ts.
// P1  Nothing of a key is in what it says.

import { Model } from "@reverie/model"
import * as Effect from "effect/Effect"
import { isService, type ModelChoice, modelLayer, serverFromConfig } from "../opening/model-choice.ts"

const OFFLINE = "the offline model"

/** A name for the model of a choice; without one, of what the environment names. */
export const describeModel = async (choice?: ModelChoice): Promise<string> => {
  if (choice === "offline") return OFFLINE
  if (choice !== undefined && isService(choice)) return "a model of its own"
  const server = choice ?? (await Effect.runPromise(serverFromConfig))
  return server === undefined ? OFFLINE : `${server.model} at ${withoutCredentials(server.baseURL)}`
}

/** A base URL may carry a user and a password. */
const withoutCredentials = (url: string): string => url.replace(/\/\/[^/@]*@/, "//")

/** Asks the model for one word; answers the name it gives itself. Rejects with the error of the model. */
export const probeModel = (choice?: ModelChoice): Promise<string> =>
  Effect.runPromise(
    Model.use((model) =>
      model.infer({
        messages: [{ role: "user", content: "Answer with the one word: ready" }],
        tools: [],
        callPrefix: "probe"
      })
    ).pipe(
      Effect.map((reply) => reply.model),
      Effect.provide(modelLayer(choice))
    )
  )
