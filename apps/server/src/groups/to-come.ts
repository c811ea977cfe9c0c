// ToCome: groups whose handlers are not written yet.

import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Api, Unavailable } from "../api/index.ts"

const notYet = () => Effect.fail(new Unavailable({ message: "this is not served yet" }))

export const timelineLive = HttpApiBuilder.group(Api, "timeline", (handlers) =>
  handlers.handleAll({ ticks: notYet, tick: notYet, entries: notYet })
)
export const replayLive = HttpApiBuilder.group(Api, "replay", (handlers) =>
  handlers.handleAll({ frames: notYet, verify: notYet, fork: notYet })
)
export const machineLive = HttpApiBuilder.group(Api, "machine", (handlers) => handlers.handleAll({ machine: notYet }))
