// AgUi: the chat stream of an assistant in the events of AG-UI 1.0.
// Owns what is refused before a run begins. Leaves reading it to run.ts, its events to teller.ts.
// A1  What nobody knows, or can not be said, is refused as any request is; whatever happens after that is told in the run.
// A2  A run is named by its envelope: said again under the same id it is told again, from its beginning.

import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { Fleet } from "reverie"
import { type ApiFailure, Malformed, type Principal } from "../api/index.ts"
import { asking, changing, Desk } from "../desk.ts"
import { apiFailureOf } from "../failure.ts"
import { living } from "../living.ts"
import { beginningOf, type RunWish } from "./run.ts"
import { RunStream } from "./run-stream.ts"
import { unknownEnvelope } from "./told-run.ts"

/** The body is a stream of events. */
export type ChatStream = Effect.Effect<HttpServerResponse.HttpServerResponse, ApiFailure, Desk | Principal>

export interface AgUiWish {
  readonly threadId: string
  readonly runId: string
  readonly messages: ReadonlyArray<{ readonly [key: string]: unknown }>
}

type Explain = (error: unknown) => string

/** Opens the run of an envelope; `prepare` comes after listening has begun and before anything is told. */
const openRun = async (fleet: Fleet, wish: RunWish, explain: Explain, prepare: () => Promise<unknown>) => {
  const { version: heardSince } = await living(fleet, wish.assistant)
  const stream = new RunStream(fleet, wish)
  try {
    await prepare()
    const beginning = await beginningOf(fleet, wish)
    if (beginning === undefined) throw unknownEnvelope(wish)
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

/** Whoever asked and left before the answer was begun hears nothing of it. */
const streaming = (open: Effect.Effect<RunStream, ApiFailure, Desk | Principal>): ChatStream =>
  Effect.uninterruptible(Effect.map(open, responseOf))

const explaining = Effect.map(
  Desk,
  ({ onTrouble }): Explain =>
    (error) =>
      apiFailureOf(error, onTrouble).message
)

/** What came, and comes, back for a message. */
export const answersOf = (assistant: string, envelope: string): ChatStream =>
  streaming(
    Effect.flatMap(explaining, (explain) => {
      const wish = { assistant, envelope, threadId: assistant, runId: envelope }
      return asking((fleet) => openRun(fleet, wish, explain, () => Promise.resolve()))
    })
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
const saidIn = ({ messages }: AgUiWish): string => {
  const said = textOf(messages.findLast(({ role }) => role === "user")?.["content"])
  if (said === undefined) throw new Malformed({ message: "messages holds no text of a user" })
  return said
}

/** Says the last user message, and tells what follows. */
export const runOf = (assistant: string, wish: AgUiWish): ChatStream =>
  streaming(
    Effect.flatMap(explaining, (explain) =>
      changing("messages.run", assistant, (fleet) => {
        const { runId, threadId } = wish
        const said = saidIn(wish)
        return openRun(fleet, { assistant, envelope: runId, threadId, runId }, explain, () =>
          fleet.send(assistant, said, { id: runId })
        )
      })
    )
  )
