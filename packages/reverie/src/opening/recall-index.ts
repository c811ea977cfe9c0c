// RecallIndex: where a fleet's memories are found again.
// Owns the choice, by options first and by the environment (through Config) second; nothing set means beside the store.
// R1  The key of an index is only ever sent to the server it was configured with, and never printed.
// R2  Opening never waits for an index: one that does not answer is asked again when it is needed.
// R3  An index belongs to one store: data directories that share a server have a collection each (`QDRANT_COLLECTION`),
//     and a store that keeps nothing has an index that keeps nothing, unless it is told otherwise.

import { defined } from "@reverie/protocol"
import { Recall } from "@reverie/memory"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"

const KEEPS_NOTHING = ":memory:"

/** A Qdrant server. */
export interface ServerIndex {
  readonly url: string
  readonly apiKey?: string
  /** The alias under which the collection of this store is found; "reverie" when not said. */
  readonly collection?: string
}

/** `embedded`: a file beside the store. `none`: only the newest memories are found. A service: one of your own. */
export type RecallChoice = "embedded" | "none" | ServerIndex | Recall["Service"]

/** The server that the environment names; undefined when it names none. */
const indexFromConfig = Effect.gen(function* () {
  const url = yield* Config.option(Config.URL("QDRANT_URL"))
  const apiKey = yield* Config.option(Config.Redacted("QDRANT_API_KEY"))
  const collection = yield* Config.option(Config.String("QDRANT_COLLECTION"))
  if (Option.isNone(url)) return undefined
  // As it was written: the parsed form has lost a port that is the default of its scheme.
  const written = yield* Config.String("QDRANT_URL")
  return {
    url: written,
    ...defined({
      apiKey: Option.isNone(apiKey) ? undefined : Redacted.value(apiKey.value),
      collection: Option.isNone(collection) ? undefined : collection.value
    })
  }
})

// Loaded when chosen: whoever asks no server does not wait for its client.
const server = (options: ServerIndex): Layer.Layer<Recall> =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("@reverie/recall-qdrant")),
      ({ recallQdrantLayer }) => recallQdrantLayer(options)
    )
  )

const beside = (data: string): Layer.Layer<Recall> =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("@reverie/recall-sqlite")),
      ({ recallSqliteLayer }) => recallSqliteLayer(data)
    )
  )

const isService = (choice: RecallChoice): choice is Recall["Service"] =>
  typeof choice === "object" && "search" in choice

/** The index of a choice; without one, of what the environment names, and beside the store when it names nothing. */
export const recallLayer = (data: string, choice?: RecallChoice): Layer.Layer<never, Config.ConfigError> => {
  if (choice === "none") return Layer.empty
  if (choice === "embedded" || (choice === undefined && data === KEEPS_NOTHING)) return beside(data)
  if (choice !== undefined) return isService(choice) ? Layer.succeed(Recall, choice) : server(choice)
  return Layer.unwrap(Effect.map(indexFromConfig, (found) => (found === undefined ? beside(data) : server(found))))
}

/** The index of a deployment: what is chosen, else what the environment names, else none. */
export const remoteRecallLayer = (choice?: RecallChoice): Layer.Layer<never, Config.ConfigError> =>
  choice === undefined || choice === "embedded"
    ? Layer.unwrap(Effect.map(indexFromConfig, (found) => (found === undefined ? Layer.empty : server(found))))
    : recallLayer(KEEPS_NOTHING, choice)
