// Queues: the group about what carries work, and what was buried.

import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Api, Unavailable } from "../api/index.ts"
import { asking } from "../desk.ts"

const notYet = () => Effect.fail(new Unavailable({ message: "this is not served yet" }))

export const queuesLive = HttpApiBuilder.group(Api, "queues", (handlers) =>
  handlers.handleAll({
    queues: notYet,
    dead: ({ query: { limit } }) =>
      asking(async (fleet) => ({
        items: (await fleet.deadLetters(limit)).map(({ address, at, envelope, reason }) => ({
          assistant: address.assistant,
          envelope,
          reason,
          at
        }))
      })),
    redeliver: notYet
  })
)
