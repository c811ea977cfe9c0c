// ServedOtherEnd: the other end of a model, as the laws of a model order it about, over a server.
// Owns which mode stands for which deed. Leaves the laws to laws/model-laws.ts.

import type { Deed, OtherEnd } from "../laws/model-laws.ts"
import * as Effect from "effect/Effect"
import type { HostileModeName } from "./hostile-modes.ts"
import type { Behaviour, ModelServer } from "./server.ts"

const modes: Readonly<Record<Exclude<Extract<Deed, string>, "hangs">, HostileModeName>> = {
  empty: "empty-stop",
  cut: "body-cut",
  key: "unauthorized",
  prompt: "bad-request",
  long: "context-too-long",
  down: "status-500",
  busy: "rate-limited-1h"
}

export const servedOtherEnd = (server: ModelServer): OtherEnd["Service"] => {
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
  return {
    become: (...deeds) => Effect.sync(() => server.become({ sequence: deeds.map(behaviourOf) })),
    asked: Effect.sync(() => server.requests.length),
    hanging: Effect.sync(() => hanging),
    left: Effect.sync(() => left)
  }
}
