// AgUi: the chat stream of an assistant in the events of AG-UI 1.0, as a UI message stream of the AI SDK, or as parts.
// Owns what is refused before a run begins. Leaves reading it to run.ts, what is reported to teller.ts and formats.ts.
// A1  What no one knows, or can not be said, is refused as any request is; whatever happens after that is reported in the run.
// A2  A run is named by its envelope: said again under the same id it is reported again, from its beginning.
// A3  Parts are reported behind the last event id that the client has read.

import type { Readable } from "node:stream"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { defined, isJsonObject, type Json } from "@reverie/protocol"
import { type Fleet, isPlace } from "reverie"
import * as Effect from "effect/Effect"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { type ApiFailure, Malformed, type Principal, Unavailable } from "../api/index.ts"
import { admittedOf } from "../http/admitted.ts"
import { endWith, endWithSignal } from "../http/connection.ts"
import { asking, changing, Gateway, type ReadFleet } from "../gateway.ts"
import { apiFailureOf } from "../failure.ts"
import { living } from "../views/facts.ts"
import { agUiFormat, answered, type FormatName, partFormat, type RunFormat, UI_HEADERS, uiFormat } from "./formats.ts"
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
  readonly format: RunFormat
}

const ended = new Unavailable({ message: "the run ended before its beginning was found; ask again" })

const openRun = async ({
  endWithClient,
  format,
  gateway,
  fleet,
  prepare,
  principal,
  request
}: Opening): Promise<RunStream> => {
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
    return stream.tell({ beginning, explain, heardSince }, format)
  } catch (error) {
    stream.destroy()
    throw error
  }
}

const responseOf = (stream: RunStream, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.raw(stream, {
    contentType: "text/event-stream",
    headers: { ...headers, "cache-control": "no-store", "x-accel-buffering": "no" }
  })

type Open = (
  gateway: Gateway["Service"],
  endWithClient: EndWithClient,
  lastEventId: string | undefined
) => Effect.Effect<RunStream, ApiFailure, Asked>

/** What was begun for a client that leaves is ended by its connection, and not in the middle of a commit. */
const streaming = (open: Open, headers?: Readonly<Record<string, string>>) =>
  Effect.uninterruptible(
    Effect.gen(function* () {
      const request = yield* HttpServerRequest
      const leaving = admittedOf(request)?.leaving
      const endWithClient: EndWithClient = (stream) =>
        leaving === undefined
          ? endWith(NodeHttpServerRequest.toIncomingMessage(request).socket, stream)
          : endWithSignal(leaving, stream)
      return responseOf(yield* open(yield* Gateway, endWithClient, request.headers["last-event-id"]), headers)
    })
  )

/** How an answer is reported, by the name that a client asks for. */
const formatOf = (name: FormatName, after: string): RunFormat => {
  if (name === "parts") {
    if (!isPlace(after)) throw new Malformed({ message: `${JSON.stringify(after)} is the id of no event of an answer` })
    return partFormat(after)
  }
  return name === "ui" ? uiFormat() : agUiFormat
}

/** What came, and comes, back for a message. `after`: behind which event id parts are reported. */
export const answersOf = (
  assistant: string,
  envelope: string,
  { after, format: name = "ag-ui" }: { readonly format?: FormatName; readonly after?: string }
): ChatStream =>
  streaming(
    (gateway, endWithClient, lastEventId = "") => {
      const request = { assistant, envelope, threadId: assistant, runId: envelope }
      const prepare = () => Promise.resolve()
      return asking((fleet, principal) => {
        const format = formatOf(name, after ?? lastEventId)
        return openRun({ gateway, fleet, principal, endWithClient, request, prepare, format })
      })
    },
    name === "ui" ? UI_HEADERS : undefined
  )

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
      return openRun({ gateway, fleet, principal, endWithClient, request, prepare, format: agUiFormat })
    })
  )

// UIChat: what `useChat` of the AI SDK asks.
// C1  The last message is what is asked for: of a user it is said, under its own id; of the assistant it holds what a person
//     decided of tool calls, and the answer goes on where it had stopped.

export interface UIChatRequest {
  readonly messages: ReadonlyArray<{ readonly [key: string]: unknown }>
  readonly trigger?: string
  readonly messageId?: string | null
}

type Fields = { readonly [key: string]: unknown }

const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {})
const wordIn = (value: unknown): string => (typeof value === "string" ? value : "")

/** What a message of the client asks to be done, and which answer it wants to read. */
interface UIAsked {
  readonly envelope: string
  readonly prepare: (fleet: Fleet, assistant: string) => Promise<unknown>
  readonly format: RunFormat
}

const saidBy = (message: Fields, { messageId, trigger }: UIChatRequest): UIAsked => {
  const said = textOf(message["parts"])
  if (said === undefined) throw new Malformed({ message: "the last message of the user holds no text" })
  const id = wordIn(message["id"])
  if (id === "") throw new Malformed({ message: "the last message of the user has no id" })
  // Asked for once more it is another question.
  const envelope = trigger === "regenerate-message" ? `${id}~${messageId ?? "again"}` : id
  return { envelope, prepare: (fleet, assistant) => fleet.send(assistant, said, { id: envelope }), format: uiFormat() }
}

const decidedIn = (message: Fields): UIAsked => {
  const parts = Array.isArray(message["parts"]) ? message["parts"].map(fieldsOf) : []
  const decided = parts.filter(({ state }) => state === "approval-responded").map(({ approval }) => fieldsOf(approval))
  const envelope = answered(wordIn(message["id"]))
  const place = wordIn(fieldsOf(message["metadata"])["place"])
  if (decided.length === 0 || envelope === undefined || !isPlace(place)) {
    throw new Malformed({ message: "the last message is of no user, and decides of no tool call" })
  }
  const known = parts.map(({ toolCallId }) => wordIn(toolCallId))
  const prepare = async (fleet: Fleet, assistant: string) => {
    for (const { approved, id, reason } of decided) {
      const options = defined({ note: wordIn(reason) || undefined })
      await (approved === true
        ? fleet.approve(assistant, wordIn(id), options)
        : fleet.deny(assistant, wordIn(id), options))
    }
  }
  return { envelope, prepare, format: uiFormat({ after: place, known }) }
}

/** Says what `useChat` was told, or decides what it asks, and tells what follows. */
export const uiChatOf = (assistant: string, asked: UIChatRequest): ChatStream =>
  streaming(
    (gateway, endWithClient) =>
      changing("messages.chat", assistant, (fleet, principal) => {
        const last = fieldsOf(asked.messages.at(-1))
        const { envelope, format, prepare } = last["role"] === "user" ? saidBy(last, asked) : decidedIn(last)
        const request = { assistant, envelope, threadId: assistant, runId: envelope }
        const begin = () => prepare(fleet, assistant)
        return openRun({ gateway, fleet, principal, endWithClient, request, prepare: begin, format })
      }),
    UI_HEADERS
  )

/** Ends what a server tells: anyone who asks again receives it from its beginning. */
export const endRuns = (gateway: Gateway["Service"]): void => openRunsOf(gateway).end()
