// Formats: how a run is reported besides the events of AG-UI: as parts, and as a UI message stream of the AI SDK.
// Owns the frames of each. Leaves what is reported of an entry to the parts of `reverie`, reading entries to run.ts.
// K1  Each part that is durable has an event id; parts are reported behind the one that a client has read, none of them twice.
// K2  A UI message ends where only a person can go on, and says behind which part; the message that goes on begins there.

import {
  PartWriter,
  type Placed,
  UI_STREAM_END,
  UI_STREAM_HEADERS,
  UIChunks,
  uiFrame,
  type UIMessageChunk
} from "reverie"
import { frameOf } from "./events.ts"
import { agUiTelling, eventsOf, isTeamIn, type Listening, type Telling } from "./run.ts"
import { isAsking } from "./teller.ts"

export type FormatName = "ag-ui" | "parts" | "ui"

/** A run as the frames of a stream of events. */
export type RunFormat = (listening: Listening) => AsyncGenerator<string>

export const agUiFormat: RunFormat = async function* (listening) {
  const { fleet, request } = listening
  for await (const event of eventsOf(listening, agUiTelling(fleet, request))) yield frameOf(event)
}

// Parts: what `ask` of the SDK gives.

const HALTED = "it is halted; it goes on when it is asked to resume"

const partTelling = ({ fleet, request }: Listening, after: string): Telling<Placed> => {
  const about = { envelope: request.envelope, isTeam: isTeamIn(fleet, request) }
  const writer = new PartWriter(about, { after, isNew: true })
  return {
    get isOver() {
      return writer.isOver
    },
    // What a client that comes back has shown behind its place was a preview.
    begin: () => [{ part: { type: "discarded" } }],
    piece: (notice) => writer.heard(notice),
    entry: (row) => writer.read(row),
    caughtUp: (status) => {
      const error = { code: "Halted", message: HALTED, recovery: "stop" } as const
      return status === "halted" ? [writer.end({ type: "halted", error })] : []
    },
    failed: (message, code) => [writer.end({ type: "failed", error: { code, message, recovery: "retry" } })]
  }
}

export const partFormat = (after: string): RunFormat =>
  async function* (listening) {
    for await (const { part, place } of eventsOf(listening, partTelling(listening, after))) {
      yield `${place === undefined ? "" : `id: ${place}\n`}data: ${JSON.stringify(part)}\n\n`
    }
  }

// UI: what `useChat` reads.

interface GoingOn {
  /** The place behind which it is reported. */
  readonly after: string
  /** Calls that its message holds already. */
  readonly known: ReadonlyArray<string>
}

const ANSWER = "answer-"

/** The message that a UI message answers; undefined where it answers none of ours. */
export const answered = (id: string): string | undefined =>
  id.startsWith(ANSWER) ? id.slice(ANSWER.length) : undefined

export const UI_HEADERS = { "x-vercel-ai-ui-message-stream": UI_STREAM_HEADERS["x-vercel-ai-ui-message-stream"] }

const uiTelling = (listening: Listening, { after, known }: GoingOn): Telling<UIMessageChunk> => {
  const parts = partTelling(listening, after)
  const chunks = new UIChunks(known)
  let place = after
  let isOver = false
  const told = (all: ReadonlyArray<Placed>) =>
    all.flatMap((each) => {
      place = each.place ?? place
      return chunks.of(each.part)
    })
  return {
    get isOver() {
      return isOver || parts.isOver
    },
    begin: () => chunks.begin(`${ANSWER}${listening.request.envelope}`),
    piece: (notice) => told(parts.piece(notice)),
    entry: (row) => told(parts.entry(row)),
    caughtUp: (status, approvals) => {
      if (!isAsking(status)) return told(parts.caughtUp(status, approvals))
      isOver = true
      return chunks.interrupted(place)
    },
    failed: (message, code) => told(parts.failed(message, code))
  }
}

export const uiFormat = (goingOn: GoingOn = { after: "", known: [] }): RunFormat =>
  async function* (listening) {
    for await (const chunk of eventsOf(listening, uiTelling(listening, goingOn))) yield uiFrame(chunk)
    if (!listening.signal.aborted) yield UI_STREAM_END
  }
