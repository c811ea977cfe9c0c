// RemoteFleet: the fleet of a running server, asked over its HTTP API.
// Owns the client of the contract and what a failure on the way is. Leaves the interface to mcp-fleet.ts.
// E1  The token stands in the header of requests to this server and nowhere else: no redirect is followed.
// E2  A failure of the server is reported in its own words; one of the way to it, in ours.

import { defined } from "@reverie/protocol"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Access, Api, type AssistantRow, Forbidden, isApiFailure, Unauthorized, Unavailable } from "../api/index.ts"
import { clip, TEXT_CHARS } from "../views/message-view.ts"
import { answerIn } from "./answer-in.ts"
import type { Answer, McpFleet, Page, Patience } from "./mcp-fleet.ts"
import { blockLine, factLine, hitLine, journalLine, outageLine, profileLine } from "./lines.ts"

export interface RemoteFleetOptions {
  readonly url: string
  readonly token?: string
}

const clientOf = (url: string) =>
  HttpApiClient.make(Api, { transformClient: HttpClient.mapRequest(HttpClientRequest.prependUrl(url)) })
type Client = Effect.Success<ReturnType<typeof clientOf>>

/** The events that end a run. */
const ends: ReadonlySet<string> = new Set(["RUN_ERROR", "RUN_FINISHED"])

const toldOf = (error: unknown, url: string): unknown => {
  if (isApiFailure(error)) return error
  if (error instanceof Unauthorized) return new Forbidden({ message: `${url}: ${error.message}` })
  return new Unavailable({ message: `${url} does not answer, or answers what is not known here` })
}

const lineOf = ({ approvals, definition, id, state, waiting }: AssistantRow) => ({
  agent: id,
  definition,
  state,
  waiting,
  approvals
})

const readPage = (client: Client, { agent, kind, ...query }: Parameters<McpFleet["read"]>[0]) => {
  const params = { id: agent }
  const { memory } = client
  const pageOf = <A>(
    page: { readonly items: ReadonlyArray<A>; readonly next: string | null },
    line: (item: A) => Page["memories"][number]
  ): Page => ({ memories: page.items.map(line), next: page.next })
  switch (kind) {
    case "facts":
      return Effect.map(memory.facts({ params, query }), (page) => pageOf(page, factLine))
    case "journal":
      return Effect.map(memory.journal({ params, query }), (page) => pageOf(page, journalLine))
    case "profiles":
      return Effect.map(memory.profiles({ params, query }), (page) => pageOf(page, profileLine))
    case "blocks":
      return Effect.map(memory.overview({ params }), ({ blocks }) => ({
        memories: blocks.slice(0, query.limit).map(blockLine),
        next: null
      }))
  }
}

export const remoteFleet = async ({ token, url }: RemoteFleetOptions): Promise<McpFleet> => {
  const access = HttpApiMiddleware.layerClient(Access, ({ next, request }) =>
    next(token === undefined ? request : HttpClientRequest.bearerToken(request, token))
  )
  const staying = Layer.succeed(FetchHttpClient.RequestInit, { redirect: "error" })
  const runtime = ManagedRuntime.make(Layer.mergeAll(FetchHttpClient.layer, staying, access))
  const client = await runtime.runPromise(clientOf(url))
  const ask = async <A, E>(request: (client: Client) => Effect.Effect<A, E>, signal?: AbortSignal): Promise<A> => {
    const exit = await runtime.runPromiseExit(request(client), signal === undefined ? {} : { signal })
    if (Exit.isSuccess(exit)) return exit.value
    throw toldOf(Cause.squash(exit.cause), url)
  }
  /** What was said is durable before anybody waits: anyone who stops waiting loses nothing. */
  const answered = async (agent: string, envelope: string, { signal, waitMs }: Patience): Promise<Answer> => {
    const leaving = AbortSignal.any([signal, AbortSignal.timeout(waitMs)])
    const end = Effect.flatMap(client.messages.answers({ params: { id: agent, envelope }, query: {} }), (events) =>
      Stream.runHead(Stream.filter(events, ({ type }) => ends.has(type)))
    )
    const exit = await runtime.runPromiseExit(end, { signal: leaving })
    if (Exit.isSuccess(exit)) return answerIn(agent, envelope, Option.toArray(exit.value))
    if (leaving.aborted) return answerIn(agent, envelope, [])
    throw toldOf(Cause.squash(exit.cause), url)
  }
  return {
    list: async (query) => {
      const { items, next } = await ask(({ assistants }) => assistants.list({ query }))
      return { agents: items.map(lineOf), next }
    },
    status: async (agent) => {
      const detail = await ask(({ assistants }) => assistants.inspect({ params: { id: agent } }))
      const { approvalsAsked: asked, commits, haltReason, jobs, outage, ticks } = detail
      const halted = haltReason === undefined ? {} : { haltReason: clip(haltReason, TEXT_CHARS) }
      const waits = outage === undefined ? {} : { outage: outageLine(outage) }
      return { ...lineOf(detail), ticks, commits, jobs, asked, ...halted, ...waits }
    },
    send: async ({ agent, id, text }, patience) => {
      await ask(({ messages }) => messages.send({ params: { id: agent }, headers: {}, payload: { text, id } }))
      return answered(agent, id, patience)
    },
    answer: ({ agent, envelope }, patience) => answered(agent, envelope, patience),
    search: async ({ agent, limit, query: q }) => {
      const { certainty, degraded, items } = await ask(({ memory }) =>
        memory.recall({ params: { id: agent }, query: { q, limit } })
      )
      return { memories: items.map(hitLine), ...defined({ certainty, degraded }) }
    },
    read: (asked) => ask((each): Effect.Effect<Page, unknown> => readPage(each, asked)),
    close: () => runtime.dispose()
  }
}
