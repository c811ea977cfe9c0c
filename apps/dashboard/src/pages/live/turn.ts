// Turn: what is happening to the assistant, as its notices tell it.
// Owns the reply that is being written, the last transition and the log. Leaves what is durable to the answers of the API.
// J1  A piece of a reply is shown until the whole reply is read from the history: nothing flickers, nothing stands twice.

import { wordsOf } from "../../parts/chip.tsx"
import { serversIn } from "../../parts/format.ts"
import type { Notice } from "@reverie/protocol"
import { senderName, withoutJson } from "@reverie/protocol/spoken"
import { useReducer } from "react"
import { useNotices } from "../../live/live.ts"
import { outcomeText } from "../timeline/search.ts"
import type { Step } from "./chart.tsx"

const LOG_LINES = 60

export interface Writing {
  readonly tick: number
  readonly text: string
  /** What the model thinks before it speaks; nothing once it has ended. */
  readonly thought: string
  /** Tools whose calls it has begun, by the ids of these. */
  readonly calls: Readonly<Record<string, string>>
  /** The model has ended; the history will have it. */
  readonly isWhole: boolean
}

export interface LogLine {
  readonly key: number
  readonly at: number
  readonly type: Notice["type"]
  readonly text: string
  readonly isBad: boolean
}

export interface Turn {
  readonly state: string | undefined
  /** When it came into the state that a notice told; 0 before the first. */
  readonly stateAt: number
  readonly last: Step | undefined
  readonly writing: Writing | undefined
  readonly log: ReadonlyArray<LogLine>
  readonly seen: number
}

const nothing: Turn = { state: undefined, stateAt: 0, last: undefined, writing: undefined, log: [], seen: 0 }

/** A field of an event that the statechart emitted. */
const textIn = (value: unknown): string => (typeof value === "string" ? value : "")

const said = (notice: Notice): readonly [text: string, isBad: boolean] | undefined => {
  switch (notice.type) {
    case "created":
      return ["was created", false]
    case "tick-started":
      return [
        `took up ${notice.from === undefined ? "an event" : `what ${senderName(notice.from)} said`}: ${notice.text ?? ""}`,
        false
      ]
    case "model-replied":
      return [
        notice.calls.length > 0
          ? `the model calls ${notice.calls.map(({ tool }) => tool).join(", ")}`
          : "the model replied",
        false
      ]
    case "model-failed":
      return [`the model failed: ${notice.reason}`, true]
    case "tool-finished":
      return [
        `${notice.tool} ${notice.ok ? "gave" : "failed"}: ${withoutJson(notice.content).slice(0, 200)}`,
        !notice.ok
      ]
    case "tool-refused":
      return [`${notice.tool} was refused: ${notice.reason}`, true]
    case "approval-decided":
      return [`a person has ${notice.decision} a call`, false]
    case "sub-agent-started":
      return [`hands a task to ${notice.id}: ${notice.task}`, false]
    case "sub-agent-ended":
      return [`heard of a sub-agent: ${notice.end}`, notice.end === "failed"]
    case "step-skipped":
      return [`${notice.step} was skipped: ${notice.reason}`, false]
    case "step-finished":
      return [`${notice.step} ${notice.ok ? "is done" : "failed"}`, !notice.ok]
    case "approval-asked":
      return [`asks a person to approve ${notice.tool}`, false]
    case "tick-ended":
      if (notice.outcome === "refused")
        return [`ended the run: a hook refused its answer: ${notice.refusal ?? ""}`, true]
      return notice.outcome === "misshapen"
        ? [`ended the run: its answer has another form than it must have: ${notice.misfit ?? ""}`, true]
        : [`ended the run: ${outcomeText(notice.outcome)}`, notice.outcome === "failed"]
    case "state-changed":
      return [`is ${wordsOf(notice.status).join(" ").trim()}`, notice.status === "halted"]
    case "envelope-settled":
      return notice.outcome === "dead" ? [`dead-lettered a message: ${notice.reason ?? "no reason"}`, true] : undefined
    case "emitted": {
      const { others, reason, server, type } = notice.event
      if (type !== "model-away") return [`tells: ${type}`, false]
      const more = Array.isArray(others) ? others.map(textIn) : []
      return [`waits for the model at ${serversIn({ server: textIn(server), others: more })}: ${textIn(reason)}`, true]
    }
    case "part":
      return undefined
  }
}

const unwritten = (tick: number): Writing => ({ tick, text: "", thought: "", calls: {}, isWhole: false })

/** The reply that is being written, with one piece more; nothing of it once it was dropped. */
const written = (
  writing: Writing | undefined,
  { piece, tick }: Extract<Notice, { type: "part" }>
): Writing | undefined => {
  const before = writing?.tick === tick && !writing.isWhole ? writing : unwritten(tick)
  switch (piece.kind) {
    case "text":
      return { ...before, text: before.text + piece.text }
    case "reasoning":
      return { ...before, thought: before.thought + piece.text }
    case "call":
      return { ...before, calls: { ...before.calls, [piece.call]: piece.tool } }
    case "arguments":
      return before
    case "dropped":
      return undefined
  }
}

const heard = (turn: Turn, notice: Notice): Turn => {
  const line = said(notice)
  const seen = turn.seen + 1
  const isSame = notice.type === "state-changed" && notice.status === turn.state
  const log =
    line === undefined || isSame
      ? turn.log
      : [{ key: seen, at: notice.at, type: notice.type, text: line[0], isBad: line[1] }, ...turn.log].slice(
          0,
          LOG_LINES
        )
  const next = { ...turn, log, seen }
  switch (notice.type) {
    case "part":
      return { ...next, writing: written(turn.writing, notice) }
    case "model-replied":
      return {
        ...next,
        writing: notice.text === "" ? undefined : { ...unwritten(notice.tick), text: notice.text, isWhole: true }
      }
    case "model-failed":
      return { ...next, writing: undefined }
    case "state-changed": {
      if (isSame) return { ...next, stateAt: notice.at }
      const last = turn.state === undefined ? turn.last : { from: turn.state, to: notice.status, run: seen }
      return { ...next, state: notice.status, stateAt: notice.at, last }
    }
    default:
      return next
  }
}

interface Known {
  readonly state: string
  readonly since: number
}

/** The state is the newer one of what was read and what was heard. `since` is 0 where it is not known. */
const known = (turn: Turn, { since, state }: Known): Turn => {
  if (turn.state === state || (since > 0 && since < turn.stateAt)) return turn
  const last = turn.state === undefined ? turn.last : { from: turn.state, to: state, run: turn.seen + 1 }
  return { ...turn, state, last, seen: turn.seen + 1 }
}

type Action = { readonly notices: ReadonlyArray<Notice> } | Known

const reduce = (turn: Turn, action: Action): Turn =>
  "state" in action ? known(turn, action) : action.notices.reduce(heard, turn)

export const useTurn = (id: string): readonly [Turn, (known: Known) => void] => {
  const [turn, tell] = useReducer(reduce, nothing)
  useNotices((notices) => {
    const own = notices.filter(({ address }) => address.assistant === id)
    if (own.length > 0) tell({ notices: own })
  })
  return [turn, tell]
}
