// System: the group about the deployment itself: what it is, who changed what, and the event stream.
// Owns what is told of the process. Leaves telling events to ../feed/.
// Y1  No secret, no path and no other tenant is told of.

import { defined } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { Api } from "../api/index.ts"
import { asking, Gateway } from "../gateway.ts"
import { openStream, STREAM_TYPE, streamHeaders } from "../event-door.ts"
import { Live } from "../live.ts"
import { systemOf } from "../system-view.ts"

export const systemLive = HttpApiBuilder.group(
  Api,
  "system",
  Effect.fnUntraced(function* (handlers) {
    const gateway = yield* Gateway
    const { boards, config, feed, ownTenant } = yield* Live
    return handlers.handleAll({
      system: () =>
        asking(async (fleet, principal) => {
          const board = await boards.of(fleet.tenant)
          const used = async () => board.definitions()
          const outages = await board.outages(Date.now())
          return systemOf({ fleet, principal, gateway, config, ownTenant, outages, used })
        }),
      audit: ({ query: { limit } }) => asking(({ tenant }) => ({ items: gateway.audited(tenant, limit) })),
      // Whoever leaves before the answer has begun leaves no stream behind: the answer destroys what nobody reads.
      events: ({ headers, query }) =>
        Effect.uninterruptible(
          asking(async (_, principal) => {
            const { "last-event-id": lastEventId } = headers
            const wanted = { ...query, ...defined({ lastEventId }) }
            const stream = await openStream(feed, principal, wanted)
            return HttpServerResponse.raw(stream, { contentType: STREAM_TYPE, headers: streamHeaders })
          })
        )
    })
  })
)
