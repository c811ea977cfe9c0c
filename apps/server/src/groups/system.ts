// System: the group about the deployment itself: what it is, who changed what, and the event stream.
// Owns what is told of the process. Leaves telling events to ../feed/.
// Y1  No secret, no path and no other tenant is told of.

import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { Api, Malformed } from "../api/index.ts"
import { asking, Desk } from "../desk.ts"
import { type Place, placeIn } from "../feed/place.ts"
import { Live } from "../live.ts"
import { systemOf } from "../system-view.ts"

/** The header is of a reconnect, and newer than the address that was asked first. */
const placeOf = (header: string | undefined, after: number | undefined): Place | undefined => {
  if (header === undefined || header === "") return after === undefined ? undefined : { seq: after, told: 0 }
  const place = placeIn(header)
  if (place === undefined) throw new Malformed({ message: "this is no place in the event stream" })
  return place
}

export const systemLive = HttpApiBuilder.group(
  Api,
  "system",
  Effect.fnUntraced(function* (handlers) {
    const desk = yield* Desk
    const { boards, config, feed } = yield* Live
    return handlers.handleAll({
      system: () =>
        asking(async (fleet, principal) => {
          const outages = await (await boards.of(fleet.tenant)).outages(Date.now())
          return systemOf({ fleet, principal, desk, config, outages })
        }),
      audit: ({ query: { limit } }) => asking(({ tenant }) => ({ items: desk.audited(tenant, limit) })),
      events: ({ headers, query: { after, assistant } }) =>
        asking(async (_, { name, tenant }) => {
          const from = placeOf(headers["last-event-id"], after)
          const stream = await feed.open({
            tenant,
            principal: `${tenant}/${name}`,
            ...(assistant === undefined ? {} : { assistant }),
            ...(from === undefined ? {} : { from })
          })
          return HttpServerResponse.raw(stream, {
            contentType: "text/event-stream",
            headers: { "cache-control": "no-store", "x-accel-buffering": "no" }
          })
        })
    })
  })
)
