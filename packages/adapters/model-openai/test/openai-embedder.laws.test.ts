import { embedderLaws, Outage } from "@reverie/testkit"
import { prove } from "@reverie/testkit/prove"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { openAiEmbedderLayer } from "../src/index.ts"
import type { OpenAiEmbedderOptions } from "../src/options.ts"
import { optionsFor, well } from "./harbor-embedder.ts"
import { started } from "./harbor-model.ts"

const overTheWire = (change: (options: OpenAiEmbedderOptions) => OpenAiEmbedderOptions) => () =>
  Layer.unwrap(
    Effect.map(started(well), (server) =>
      Layer.mergeAll(
        openAiEmbedderLayer(change(optionsFor(server, { retries: 0 }))),
        Layer.succeed(Outage, {
          strike: Effect.sync(() => server.become({ mode: "status-500" })),
          mend: Effect.sync(() => server.become(well))
        })
      )
    )
  )

prove(
  "openai embedder on a loopback server: embedder laws",
  embedderLaws,
  overTheWire((options) => options)
)

prove(
  "openai embedder that learns its length: embedder laws",
  embedderLaws,
  overTheWire(({ dimensions: _, ...unsaid }) => unsaid)
)
