// ApiHandler: the contract's handlers as one listener of node's HTTP server.
// Owns the router's settings, and what becomes of what no handler foresaw. Leaves handlers to the groups.
// H1  A bug, or a store that dies in the middle, is answered as `Unexpected`; its text goes to the process alone.
// H2  A client that leaves interrupts what was done for them, unless it must be done to its end.

import { isJsonObject, parseJson } from "@reverie/protocol"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import { accessLive, fittingLive, withJudgedBody } from "./http/admitted.ts"
import { failureBody, statusOf } from "./http/answer.ts"
import { mayPack, packedResponse } from "./http/packing.ts"
import { Api, NotFound, Unexpected } from "./api/index.ts"
import { Gateway } from "./gateway.ts"
import type { NodeHandler } from "./http/front.ts"
import { approvalsLive } from "./groups/approvals.ts"
import { assistantsLive } from "./groups/assistants.ts"
import { contextLive } from "./groups/assistant/context.ts"
import { subAgentsLive } from "./groups/assistant/subagents.ts"
import { machineLive, promptsLive } from "./groups/prompts.ts"
import { memoryLive } from "./groups/assistant/memory.ts"
import { messagesLive } from "./groups/assistant/messages.ts"
import { nightLive } from "./groups/assistant/night.ts"
import { queuesLive } from "./groups/queues.ts"
import { replayLive } from "./groups/assistant/replay.ts"
import { systemLive } from "./groups/system.ts"
import { timelineLive } from "./groups/assistant/timeline.ts"
import { Live } from "./live.ts"

/** The handlers of the whole contract. */
const groupsLive = Layer.mergeAll(
  assistantsLive,
  messagesLive,
  contextLive,
  timelineLive,
  memoryLive,
  nightLive,
  approvalsLive,
  subAgentsLive,
  queuesLive,
  replayLive,
  machineLive,
  promptsLive,
  systemLive
)

/** A key of 256 characters, each of them encoded, is found. */
const routing = { maxParamLength: 4_000, ignoreTrailingSlash: false, ignoreDuplicateSlashes: false } as const

/** The contract as an effect of one request, whatever brought the request here. */
type Contract = Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest | Scope.Scope>

export interface OpenApi {
  readonly handle: NodeHandler
  readonly contract: Contract
  readonly close: () => Promise<void>
}

const answered = (failure: Unexpected | NotFound) =>
  HttpServerResponse.jsonUnsafe(failureBody(failure), { status: statusOf(failure) })

const lastWord = (cause: Cause.Cause<unknown>, onTrouble: (line: string) => void) => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
  const failure = Cause.squash(cause)
  if (String(failure).includes("RouteNotFound")) {
    return Effect.succeed(answered(new NotFound({ message: "there is nothing here" })))
  }
  onTrouble(failure instanceof Error ? (failure.stack ?? failure.message) : String(failure))
  return Effect.succeed(answered(new Unexpected({ message: "it went wrong here; the log of the server says more" })))
}

/** The header that goes with `LimitReached`, whose body says for how long. */
const withRetryAfter = (response: HttpServerResponse.HttpServerResponse) => {
  if (response.status !== 429 || response.body._tag !== "Uint8Array") return response
  const said = parseJson(new TextDecoder().decode(response.body.body))
  const seconds = Result.isSuccess(said) && isJsonObject(said.success) ? said.success["retryAfterSeconds"] : undefined
  return typeof seconds === "number" ? HttpServerResponse.setHeader(response, "retry-after", String(seconds)) : response
}

/** As the client of the request reads it. */
const packedFor = (response: HttpServerResponse.HttpServerResponse) =>
  mayPack(response)
    ? Effect.flatMap(HttpServerRequest, ({ headers }) =>
        Effect.promise(() => packedResponse(response, headers["accept-encoding"]))
      )
    : Effect.succeed(response)

export const openApi = async (gateway: Gateway["Service"], live: Live["Service"]): Promise<OpenApi> => {
  const scope = Effect.runSync(Scope.make())
  const routes = HttpApiBuilder.layer(Api).pipe(
    Layer.provide(groupsLive.pipe(Layer.provide([accessLive, fittingLive]))),
    Layer.provide([
      Layer.succeed(Gateway, gateway),
      Layer.succeed(Live, live),
      // No route reads a file or the terminal.
      HttpServer.layerServices
    ])
  )
  const { contract, handle } = await Effect.runPromise(
    Effect.gen(function* () {
      const app = yield* HttpRouter.toHttpEffect(routes)
      const judged = app.pipe(
        Effect.updateService(HttpServerRequest, withJudgedBody),
        Effect.provideService(Gateway, gateway),
        Effect.map(withRetryAfter)
      )
      const whole = Effect.catchCause(judged, (cause) => lastWord(cause, gateway.onTrouble)).pipe(
        Effect.flatMap(packedFor)
      )
      return { contract: whole as Contract, handle: yield* NodeHttpServer.makeHandler(whole, { scope }) }
    }).pipe(
      Effect.provideService(HttpRouter.RouterConfig, routing),
      Effect.provideService(References.LogToStderr, true),
      Scope.provide(scope)
    )
  )
  return { contract, handle, close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}
