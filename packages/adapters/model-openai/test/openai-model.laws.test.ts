import { type Deed, modelLaws, OtherEnd } from "@reverie/testkit"
import type { Behaviour, HostileModeName } from "@reverie/testkit/model-server"
import { prove } from "@reverie/testkit/prove"
import { Model } from "@reverie/model"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { makeOpenAiModel } from "../src/index.ts"
import { KEY, started } from "./harbor-model.ts"

const modes: Readonly<Record<Extract<Deed, string>, HostileModeName>> = {
  empty: "empty-stop",
  cut: "body-cut",
  hangs: "headers-hang",
  key: "unauthorized",
  prompt: "bad-request",
  long: "context-too-long",
  down: "status-500",
  busy: "rate-limited-1h"
}

const overTheWire = () =>
  Layer.unwrap(
    Effect.gen(function* () {
      let hanging = 0
      let left = 0
      const behaviourOf = (deed: Deed): Behaviour => {
        if (deed === "hangs") {
          return {
            serve: (_, response) => {
              hanging++
              response.on("close", () => left++)
            }
          }
        }
        if (typeof deed === "string") return { mode: modes[deed] }
        return { script: () => ("says" in deed ? { text: deed.says } : deed) }
      }
      const server = yield* started({ mode: "status-500" })
      const options = { baseURL: server.url, apiKey: Redacted.make(KEY), model: "harbor-1", retries: 0 }
      return Layer.merge(
        Layer.effect(Model, makeOpenAiModel(options)),
        Layer.succeed(OtherEnd, {
          become: (...deeds) => Effect.sync(() => server.become({ sequence: deeds.map(behaviourOf) })),
          asked: Effect.sync(() => server.requests.length),
          hanging: Effect.sync(() => hanging),
          left: Effect.sync(() => left)
        })
      )
    })
  )

prove("openai model on a loopback server: model laws", modelLaws, overTheWire)
