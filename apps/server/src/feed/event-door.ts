// EventDoor: opening an event stream without the router, which costs several times what opening it does.
// Owns the way of a request that fits. Leaves everything else to the router: what does not fit, and HEAD.
// D1  Both ways answer the same to the same request.
// D2  A stream ends with its connection; a client that left before it began opens none.

import { defined } from "@reverie/protocol"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { refuse } from "../http/answer.ts"
import { eventsHeaders, eventsQuery, Malformed, type Principal } from "../api/index.ts"
import { stream } from "../http/connection.ts"
import { apiFailureOf } from "../failure.ts"
import type { Feed } from "./feed.ts"
import { type Place, placeIn } from "./frame.ts"
import type { Subscriber } from "./subscriber.ts"

/** Where a stream begins, and which assistant it is about. */
export interface Wanted {
  readonly lastEventId?: string
  readonly after?: number
  readonly assistant?: string
}

export const streamHeaders = { "cache-control": "no-store", "x-accel-buffering": "no" } as const
export const STREAM_TYPE = "text/event-stream"

/** The header is of a reconnect, and newer than the address that was asked first. */
const placeOf = ({ after, lastEventId }: Wanted): Place | undefined => {
  if (lastEventId === undefined || lastEventId === "") return after === undefined ? undefined : { seq: after, told: 0 }
  const place = placeIn(lastEventId)
  if (place === undefined) throw new Malformed({ message: "this is no place in the event stream" })
  return place
}

export const openStream = async (
  feed: Feed,
  { name, tenant }: Principal["Service"],
  wanted: Wanted
): Promise<Subscriber> => {
  const { assistant } = wanted
  const from = placeOf(wanted)
  return feed.open({
    tenant,
    principal: `${tenant}/${name}`,
    ...defined({ assistant, from })
  })
}

const decodeQuery = Schema.decodeUnknownOption(Schema.Struct(eventsQuery))
const decodeHeaders = Schema.decodeUnknownOption(Schema.Struct(eventsHeaders))

/** Undefined for what the router has to judge. */
const wantedIn = ({ headers, method, url = "" }: IncomingMessage): Wanted | undefined => {
  if (method !== "GET" || url.includes("#")) return undefined
  const at = url.indexOf("?")
  const asked = [...new URLSearchParams(at < 0 ? "" : url.slice(at + 1))]
  if (new Set(asked.map(([name]) => name)).size < asked.length) return undefined
  const query = decodeQuery(Object.fromEntries(asked))
  const head = decodeHeaders(headers)
  if (Option.isNone(query) || Option.isNone(head)) return undefined
  const { "last-event-id": lastEventId } = head.value
  return { ...query.value, ...defined({ lastEventId }) }
}

export type Door = (request: IncomingMessage, response: ServerResponse, principal: Principal["Service"]) => boolean

/** Returns whether it has taken the request. */
export const eventDoor = (feed: Feed, onTrouble: (line: string) => void): Door => {
  const open = async (
    request: IncomingMessage,
    response: ServerResponse,
    principal: Principal["Service"],
    wanted: Wanted
  ) => {
    try {
      const subscriber = await openStream(feed, principal, wanted)
      if (response.destroyed) return void subscriber.destroy()
      response.writeHead(200, { "content-type": STREAM_TYPE, ...streamHeaders })
      response.flushHeaders()
      stream(subscriber, response)
    } catch (error) {
      if (!response.destroyed) refuse(request, response, apiFailureOf(error, onTrouble))
    }
  }
  return (request, response, principal) => {
    const wanted = wantedIn(request)
    if (wanted === undefined) return false
    void open(request, response, principal, wanted)
    return true
  }
}
