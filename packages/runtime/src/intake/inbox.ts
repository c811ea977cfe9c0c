// Inbox: from an accepted envelope to a machine event and what is written with it.
// Owns that translation. Leaves the decision to `assistant`.
// I1  The machine event carries control data; the text goes into the history, once.

import { contextOf, type MachineEvent } from "@reverie/assistant"
import { getContextType } from "@reverie/context"
import {
  type AcceptedEnvelope,
  type Event,
  type Json,
  type RecordChange,
  type UnreadableEnvelope,
  defined
} from "@reverie/protocol"
import { REFLECTION_TIMER } from "../commit/side-effects.ts"
import { contextTypeOf, restrictionOf } from "../prompt/layers.ts"
import { reflectionQuestion } from "../prompt/reflection.ts"
import { type Session, signalsOf } from "../session/session.ts"
import { requestOf, writtenAssignment } from "../sub-agents/assignments.ts"
import { newsOf } from "../sub-agents/sub-agents.ts"
import { orderCall } from "../sub-agents/names.ts"
import type { TurnInput, UncountedMessage } from "../commit/commit-draft.ts"

interface Heard {
  readonly event: MachineEvent
  readonly turnInput: TurnInput
}

/** `settings` go along only when the definition has changed since the machine last heard of them. */
const settingsIfChanged = (session: Session) => {
  const { settings } = session.definition
  return JSON.stringify(settings) === JSON.stringify(contextOf(session.decoded).settings) ? {} : { settings }
}

/** Said only where they differ from those of an ordinary event. */
const layersOf = (session: Session, event: AcceptedEnvelope["event"]) => {
  const contextType = contextTypeOf(event)
  const restriction = restrictionOf(session, getContextType(contextType))
  return defined({
    contextType: contextType === "tick_event" ? undefined : contextType,
    restriction: Object.keys(restriction).length === 0 ? undefined : restriction
  })
}

/** What a timer says: a reflection without a note of its own asks its questions, any other one tells its name. */
const timerText = (session: Session, { name, note }: { readonly name: string; readonly note?: string }): string =>
  name === REFLECTION_TIMER && note === undefined
    ? reflectionQuestion(session)
    : `[timer ${name}] ${note ?? "It is time."}`

const referring = (blocks: ReadonlyArray<string> = []) => (blocks.length === 0 ? {} : { blocks })

const messagesOf = (session: Session, envelope: AcceptedEnvelope, now: number): ReadonlyArray<UncountedMessage> => {
  const { event, from } = envelope
  switch (event.type) {
    case "message":
      return [{ role: "user", content: event.text, name: from, at: event.at ?? now, ...referring(event.blocks) }]
    case "timer":
      return [{ role: "user", content: timerText(session, event), name: "clock", at: now }]
    default:
      return []
  }
}

const sleepMillis = ({ forMillis, until }: Extract<Event, { readonly type: "sleep" }>, now: number) => {
  const millis = until === undefined ? forMillis : Math.max(1, until - now)
  return millis === undefined ? {} : { forMillis: millis }
}

const machineEventOf = (session: Session, envelope: AcceptedEnvelope, now: number): MachineEvent => {
  const { event } = envelope
  const mail = () => ({
    envelope: envelope.id,
    hops: envelope.hops,
    signals: signalsOf(session, false),
    ...layersOf(session, event),
    ...settingsIfChanged(session)
  })
  switch (event.type) {
    case "message":
      return { type: "message", ...mail() }
    case "timer":
      return { type: "timer", name: event.name, ...mail() }
    case "sleep":
      return { type: "sleep", ...mail(), at: now, ...sleepMillis(event, now) }
    case "compact":
      return { type: "compact", at: now }
    case "delegate":
      return { type: "delegate", ...requestOf(orderCall(envelope.id), event, now) }
    case "report":
      return (
        newsOf(session, envelope.from, event, now) ?? {
          type: "report",
          ...defined({ call: event.call, tool: event.tool })
        }
      )
    case "approval":
      return {
        type: "approval",
        decision: event.decision,
        ...defined({ approval: event.approval })
      }
    case "halt":
      return { type: "halt", reason: event.reason ?? "halted by order" }
    case "retire":
      return { type: "retire", ...defined({ reason: event.reason }) }
    case "wake":
    case "resume":
    case "refresh":
    case "undoCompaction":
      return { type: event.type }
  }
}

/** Text of a report as the model is shown it. */
const reportOf = (envelope: AcceptedEnvelope): string | undefined => {
  if (envelope.event.type !== "report") return undefined
  // A sub-agent's own words say how it ended.
  if (envelope.event.assignment !== undefined) return envelope.event.content
  return envelope.event.outcome === "failed" ? `Failed: ${envelope.event.content}` : envelope.event.content
}

/** The task that an order from outside hands on. */
const handedOn = ({ event, id }: AcceptedEnvelope): ReadonlyArray<RecordChange> => {
  if (event.type !== "delegate") return []
  const { type: _type, ...request } = event
  return [writtenAssignment(orderCall(id), request)]
}

export const heard = (session: Session, envelope: AcceptedEnvelope, now: number): Heard => {
  const { id, lane, seq } = envelope
  const event = machineEventOf(session, envelope, now)
  const report = reportOf(envelope)
  const records = handedOn(envelope)
  return {
    event,
    turnInput: {
      cause: { kind: "envelope", lane, seq, id },
      event: event as unknown as Json,
      messages: messagesOf(session, envelope, now),
      ...defined({ report, records: records.length === 0 ? undefined : records }),
      // Mail that begins a tick settles when that ends; everything else with this commit.
      ...defined({
        settled: lane === "mail" && event.type !== "compact" ? undefined : { id, outcome: "handled" as const }
      })
    }
  }
}

/** What is written when an envelope is dead-lettered: its place is passed, its reason kept, the machine not moved. */
export const deadLetteringOf = (envelope: AcceptedEnvelope | UnreadableEnvelope, reason: string): TurnInput => {
  const { id, lane, seq } = envelope
  return {
    cause: { kind: "dead-letter", lane, seq, id },
    event: null,
    messages: [],
    settled: { id, outcome: "dead", reason }
  }
}

/** An envelope the present state ignores on purpose: its place is passed, and that is said. */
export const ignored = (turnInput: TurnInput, envelope: AcceptedEnvelope, status: string): TurnInput => ({
  ...turnInput,
  messages: [],
  settled: { id: envelope.id, outcome: "ignored", reason: `${envelope.event.type} means nothing in ${status}` }
})
