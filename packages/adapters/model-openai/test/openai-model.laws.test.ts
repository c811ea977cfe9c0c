import { Model } from "@reverie/model"
import { modelLaws, OtherEnd } from "@reverie/testkit"
import { servedOtherEnd } from "@reverie/testkit/model-server"
import { prove } from "@reverie/testkit/prove"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { makeOpenAiModel } from "../src/index.ts"
import { KEY, started } from "./harbor-model.ts"

const overTheWire = (wire: "chat" | "responses") => () =>
  Layer.unwrap(
    Effect.map(started({ mode: "status-500" }), (server) => {
      const options = { baseURL: server.url, apiKey: Redacted.make(KEY), model: "harbor-1", retries: 0, wire }
      return Layer.merge(Layer.effect(Model, makeOpenAiModel(options)), Layer.succeed(OtherEnd, servedOtherEnd(server)))
    })
  )

prove("openai model on a loopback server: model laws", modelLaws, overTheWire("chat"))
prove("openai model over the Responses API: model laws", modelLaws, overTheWire("responses"))
