// Client: the typed client of the HTTP contract, in promises.
// Owns making it, the bearer token, and what a failure on the wire is. Leaves what is asked to server-reach.ts.
// C1  The token stands in the header of requests to this server and nowhere else.

import { Access, Api } from "@reverie/server/api"
import * as Cause from "effect/Cause"
import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import { CommandFailed } from "../failure.ts"

const made = (url: string) =>
  HttpApiClient.make(Api, { transformClient: HttpClient.mapRequest(HttpClientRequest.prependUrl(url)) })

export type ApiClient = Effect.Success<ReturnType<typeof made>>

export interface Client {
  readonly ask: <A, E>(request: (client: ApiClient) => Effect.Effect<A, E>) => Promise<A>
  readonly close: () => Promise<void>
}

const tagOf = (error: unknown): string =>
  typeof error === "object" && error !== null ? String(Reflect.get(error, "_tag") ?? "") : ""

/** What went wrong, as the table of failures knows it. */
const told = (error: unknown, url: string): unknown => {
  const tag = tagOf(error)
  if (tag === "HttpClientError") {
    const reason: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "reason") : undefined
    const response: unknown =
      typeof reason === "object" && reason !== null ? Reflect.get(reason, "response") : undefined
    const status: unknown = typeof response === "object" && response !== null ? Reflect.get(response, "status") : 0
    if (status === 401) return new CommandFailed("token-needed", `${url} asks for a token`)
    if (status === 403) return new CommandFailed("forbidden", `${url} refuses this`)
    return tagOf(reason) === "TransportError" || response === undefined
      ? new CommandFailed("server-unreachable", `${url} can not be reached`)
      : new CommandFailed("server-unreadable", `${url} answered ${String(status)} and nothing that we know`)
  }
  if (tag === "SchemaError") return new CommandFailed("server-unreadable", `${url} answered what we do not know`)
  return error
}

export const openClient = async (url: string, token: string | undefined): Promise<Client> => {
  const access = HttpApiMiddleware.layerClient(Access, ({ next, request }) =>
    next(token === undefined ? request : HttpClientRequest.bearerToken(request, token))
  )
  // The token goes where it was meant to go: no redirect is followed.
  const staying = Layer.succeed(FetchHttpClient.RequestInit, { redirect: "error" })
  const runtime = ManagedRuntime.make(Layer.mergeAll(FetchHttpClient.layer, staying, access))
  const client = await runtime.runPromise(made(url))
  return {
    ask: async (request) => {
      const exit = await runtime.runPromiseExit(request(client))
      if (Exit.isSuccess(exit)) return exit.value
      throw told(Cause.squash(exit.cause), url)
    },
    close: () => runtime.dispose()
  }
}
