// Docs: a page for people about the contract.
// Owns taking it out of the library, once, and the hashes of its scripts. Leaves the contract to api/.
// D1  It needs nothing from outside this server, and runs no script but the two that stand in it.

import { createHash } from "node:crypto"
import * as Effect from "effect/Effect"
import * as HttpApiScalar from "effect/http-api/HttpApiScalar"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import { Api } from "./api/index.ts"

export interface Docs {
  readonly html: string
  /** Of the scripts that stand in it. */
  readonly scripts: ReadonlyArray<string>
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64")

const made = Effect.gen(function* () {
  const routes = HttpApiScalar.layer(Api, { path: "/docs", scalar: { withDefaultFonts: false } })
  const app = yield* HttpRouter.toHttpEffect(routes)
  const asked = HttpServerRequest.fromWeb(new Request("http://localhost/docs"))
  const { body } = yield* Effect.provideService(app, HttpServerRequest.HttpServerRequest, asked)
  const html = body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""
  const scripts = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script = ""]) => hashOf(script))
  return { html, scripts }
})

let docs: Promise<Docs> | undefined

/** Three megabytes: made when someone asks. */
export const docsPage = (): Promise<Docs> => (docs ??= Effect.runPromise(Effect.scoped(made)))
