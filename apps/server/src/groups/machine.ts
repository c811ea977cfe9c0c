// Machine: the group about the statechart that every assistant lives by.
// Owns answering it with its layout, or that it is known already. Leaves the layout to layout/.
// H1  Whoever names the present hash is told nothing but that it is the present one.

import { chart } from "reverie"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { Api } from "../api/index.ts"
import { asking } from "../gateway.ts"
import { pictureFor } from "../layout/layout.ts"

/** Asked each time whether it is the present one: a newer version of the server may live by another chart. */
const CACHING = "private, no-cache"

const names = (header: string | undefined, etag: string): boolean =>
  (header ?? "").split(",").some((each) => each.trim().replace(/^W\//, "") === etag || each.trim() === "*")

export const machineLive = HttpApiBuilder.group(
  Api,
  "machine",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handleRaw("machine", () =>
      Effect.gen(function* () {
        const { headers } = yield* HttpServerRequest
        const etag = `"${chart().hash}"`
        const told = { etag, "cache-control": CACHING }
        if (names(headers["if-none-match"], etag)) return HttpServerResponse.empty({ status: 304, headers: told })
        const picture = yield* asking(() => pictureFor(chart()))
        return HttpServerResponse.jsonUnsafe(picture, { headers: told })
      })
    )
  })
)
