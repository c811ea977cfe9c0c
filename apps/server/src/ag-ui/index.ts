// AgUi: the chat stream of an assistant in the events of AG-UI 1.0.
// Owns what is refused before a run begins. Leaves reading it to run.ts, its events to teller.ts.
// A1  What no one knows, or can not be said, is refused as any request is; whatever happens after that is reported in the run.
// A2  A run is named by its envelope: said again under the same id it is reported again, from its beginning.

import type { Readable } from "node:stream"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { isJsonObject, type Json } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { type ApiFailure, Malformed, type Principal, Unavailable } from "../api/index.ts"
import { admittedOf } from "../http/admitted.ts"
import { endWith, endWithSignal } from "../http/connection.ts"
import { asking, changing, Gateway, type ReadFleet } from "../gateway.ts"
import { apiFailureOf } from "../failure.ts"
import { living } from "../views/facts.ts"
import { openRunsOf, RunStream } from "./open-runs.ts"
import { beginningOf, type RunRequest, unknownEnvelope } from "./run.ts"

/** What opening a run asks for. */
type Asked = Gateway | HttpServerRequest | Principal

/** The body is a stream of events. */
export type ChatStream = Effect.Effect<HttpServerResponse.HttpServerResponse, ApiFailure, Asked>

export interface AgUiRequest {
  readonly threadId: string
  readonly runId: string
  readonly messages: ReadonlyArray<{ readonly [key: string]: unknown }>
  readonly output?: Form
  readonly forwardedProps?: unknown
}

/** A JSON Schema. */
type Form = { readonly [key: string]: Json }

type EndWithClient = (stream: Readable) => void

interface Opening {
  readonly fleet: ReadFleet
  readonly request: RunRequest
  readonly principal: Principal["Service"]
  readonly gateway: Gateway["Service"]
  /** Ends the stream when the client leaves. */
  readonly endWithClient: EndWithClient
  /** Comes after listening has begun and before anything is reported. */
  readonly prepare: () => Promise<unknown>
}

const ended = new Unavailable({ message: "the run ended before its beginning was found; ask again" })

const openRun = async ({ endWithClient, gateway, fleet, prepare, principal, request }: Opening): Promise<RunStream> => {
  const token = `${principal.tenant}/${principal.name}`
  const runs = openRunsOf(gateway)
  runs.admit(token)
  const { version: heardSince } = await living(fleet, request.assistant)
  const stream = new RunStream(fleet, request)
  runs.add(token, stream)
  endWithClient(stream)
  try {
    await prepare()
    const key = JSON.stringify([fleet.tenant, request.assistant, request.envelope])
    const beginning = await runs.beginnings.ask(key, (signal) => beginningOf(fleet, request, signal), stream.leaving)
    if (beginning === undefined) throw stream.leaving.aborted ? ended : unknownEnvelope(request)
    const explain = (error: unknown) => apiFailureOf(error, gateway.onTrouble).message
    return stream.tell({ beginning, explain, heardSince })
  } catch (error) {
    stream.destroy()
    throw error
  }
}

const responseOf = (stream: RunStream): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.raw(stream, {
    contentType: "text/event-stream",
    headers: { "cache-control": "no-store", "x-accel-buffering": "no" }
  })

/** What was begun for a client that leaves is ended by its connection, and not in the middle of a commit. */
const streaming = (
  open: (gateway: Gateway["Service"], endWithClient: EndWithClient) => Effect.Effect<RunStream, ApiFailure, Asked>
) =>
  Effect.uninterruptible(
    Effect.gen(function* () {
      const request = yield* HttpServerRequest
      const leaving = admittedOf(request)?.leaving
      const endWithClient: EndWithClient = (stream) =>
        leaving === undefined
          ? endWith(NodeHttpServerRequest.toIncomingMessage(request).socket, stream)
          : endWithSignal(leaving, stream)
      return responseOf(yield* open(yield* Gateway, endWithClient))
    })
  )

/** What came, and comes, back for a message. */
export const answersOf = (assistant: string, envelope: string): ChatStream =>
  streaming((gateway, endWithClient) => {
    const request = { assistant, envelope, threadId: assistant, runId: envelope }
    const prepare = () => Promise.resolve()
    return asking((fleet, principal) => openRun({ gateway, fleet, principal, endWithClient, request, prepare }))
  })

const textOf = (content: unknown): string | undefined => {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return undefined
  const texts = content.flatMap((part: unknown): ReadonlyArray<string> => {
    if (typeof part !== "object" || part === null || Reflect.get(part, "type") !== "text") return []
    const text: unknown = Reflect.get(part, "text")
    return typeof text === "string" ? [text] : []
  })
  return texts.length === 0 ? undefined : texts.join("\n")
}

/** Its last message of a user; the history is the assistant's own. */
const saidIn = ({ messages }: AgUiRequest): string => {
  const said = textOf(messages.findLast(({ role }) => role === "user")?.["content"])
  if (said === undefined) throw new Malformed({ message: "messages holds no text of a user" })
  return said
}

/** The form that the answer must have: a client of AG-UI has no place for it but the properties that it forwards. */
const formIn = ({ forwardedProps, output }: AgUiRequest): Form | undefined => {
  if (output !== undefined || !isJsonObject(forwardedProps)) return output
  const { output: forwarded } = forwardedProps
  return isJsonObject(forwarded) ? forwarded : undefined
}

/** Says the last user message, and tells what follows. */
export const runOf = (assistant: string, asked: AgUiRequest): ChatStream =>
  streaming((gateway, endWithClient) =>
    changing("messages.run", assistant, (fleet, principal) => {
      const { runId, threadId } = asked
      const said = saidIn(asked)
      const request = { assistant, envelope: runId, threadId, runId }
      const prepare = () => fleet.send(assistant, said, { id: runId, output: formIn(asked) })
      return openRun({ gateway, fleet, principal, endWithClient, request, prepare })
    })
  )

/** Ends what a server tells: anyone who asks again receives it from its beginning. */
export const endRuns = (gateway: Gateway["Service"]): void => openRunsOf(gateway).end()
