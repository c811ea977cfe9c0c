// Inbox: from an accepted envelope to a machine event and what is written with it.
// Owns that translation. Leaves the decision to `assistant`.
// I1  The machine event carries control data; the text goes into the history, once.

import { contextOf, holdsSettings, type MachineEvent } from "@reverie/assistant"
import { type Content, contextIn, dataOf, textOf } from "@reverie/context"
import { Mailbox, WakeQueue } from "@reverie/mailbox"
import { cleanLine, expired, workingText } from "@reverie/memory"
import {
  type AcceptedEnvelope,
  type Address,
  defined,
  type Entry,
  type Envelope,
  type Event,
  type Json,
  longWork,
  type RecordChange,
  textWithParts,
  type UnreadableEnvelope,
  urgencyOf
} from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { TurnInput, UncountedMessage } from "../commit/commit-draft.ts"
import { REFLECTION_TIMER } from "../commit/replies.ts"
import { Faults } from "../jobs/job-end.ts"
import { reflectionQuestion } from "../prompt/blocks.ts"
import { contextTypeOf, restrictionOf } from "../prompt/layers.ts"
import { noteSaid, workingOf } from "../session/own-records.ts"
import { senderOf } from "../session/person.ts"
import { noteShown, type Session, signalsOf } from "../session/session.ts"
import { newsOf, orderCall, requestOf, writtenAssignment } from "../sub-agents/assignments.ts"
import { below, inSpan, runningTraceparent } from "../telemetry/spans.ts"

interface Heard {
  readonly event: MachineEvent
  readonly turnInput: TurnInput
}

/** `settings` go along only when the definition has changed since the machine last heard of them. */
const settingsIfChanged = (session: Session) => {
  const { settings } = session.definition
  return holdsSettings(contextOf(session.decoded).settings, settings) ? {} : { settings }
}

/** Said only where they differ from those of an ordinary event. */
const layersOf = (session: Session, event: AcceptedEnvelope["event"]) => {
  const contextType = contextTypeOf(session, event)
  const kind = contextIn(session.definition, contextType) ?? contextIn(session.definition, "tick_event")
  const restriction = restrictionOf(session, kind)
  return defined({
    contextType: contextType === "tick_event" ? undefined : contextType,
    restriction: Object.keys(restriction).length === 0 ? undefined : restriction
  })
}

/** What a timer says: a reflection without a note of its own asks its questions, a reminder its own text, any other one its name. */
const timerText = (
  session: Session,
  { name, note, reminder }: Extract<AcceptedEnvelope["event"], { readonly type: "timer" }>
): string => {
  if (name === REFLECTION_TIMER && note === undefined) return reflectionQuestion(session)
  return reminder === undefined || note === undefined ? `[timer ${name}] ${note ?? "It is time."}` : note
}

const messagesOf = (session: Session, envelope: AcceptedEnvelope, now: number): ReadonlyArray<UncountedMessage> => {
  const { event, from } = envelope
  switch (event.type) {
    case "message": {
      const { at = now, blocks, output, parts, text } = event
      const asked = defined({ blocks: blocks?.length === 0 ? undefined : blocks, output, parts })
      return [{ role: "user", content: text, name: from, at, ...asked }]
    }
    case "timer":
      return [{ role: "user", content: timerText(session, event), name: "clock", at: now }]
    default:
      return []
  }
}

const sleepMs = ({ forMs, until }: Extract<Event, { readonly type: "sleep" }>, now: number) => {
  const millis = until === undefined ? forMs : Math.max(1, until - now)
  return millis === undefined ? {} : { forMs: millis }
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
      return { type: "sleep", ...mail(), at: now, ...sleepMs(event, now) }
    case "compact":
      return { type: "compact", at: now }
    case "budget":
      return event
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
    case "stop":
      return { type: "stop", tick: event.tick }
    case "retire":
      return { type: "retire", ...defined({ reason: event.reason }) }
    case "wake":
    case "resume":
    case "refresh":
    case "remind":
    case "undoCompaction":
    case "releaseHistory":
    case "deletePassage":
    case "releaseFact":
    case "retireFact":
    case "writeFact":
    case "writeProfile":
    case "undoDream":
    case "acceptDream":
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

// Conversation: what was said in the sitting at hand, for as long as the process runs (F83).
// C1  A conversation is a channel, or one who speaks directly. Nothing of it is written down: a restart forgets it.
// C2  A prompt learns its topics where the words themselves have been compacted away.

/** Notes a message that began a tick. */
export const noteHeard = ({ address }: Session, { event, from }: AcceptedEnvelope, now: number) =>
  event.type === "message"
    ? noteSaid(address, from, { speaker: from, text: textWithParts(event.text, event.parts), at: now })
    : Effect.void

/** Notes what was answered in the tick that ended with this entry. */
export const noteAnswered = (session: Session, { at, tickEnd }: Entry) => {
  const { address } = session
  const reply = tickEnd?.reply ?? ""
  const conversation = reply === "" ? undefined : senderOf(session)
  return conversation === undefined
    ? Effect.void
    : noteSaid(address, conversation, { speaker: address.assistant, text: reply, at })
}

/**
 * What the conversation of the tick at hand is about, once the beginning of the history has been compacted away; empty when
 * nothing stands out. Before that it would change with every tick, and every prompt would begin anew.
 */
export const noteTopics = (session: Session) =>
  Effect.suspend(() => {
    if (session.topics !== "") noteShown(session, { topics: "" })
    // Only what was compacted is pinned before a window.
    return session.window.pinned === 0 ? Effect.void : notedTopics(session)
  })

const notedTopics = Effect.fnUntraced(function* (session: Session) {
  const conversation = senderOf(session) ?? ""
  const now = yield* Clock.currentTimeMillis
  const working = expired(yield* workingOf(session.address), now).get(conversation)
  if (working === undefined || working.topics.length === 0) return
  const lately = workingText({ lines: [], topics: working.topics })
  noteShown(session, { topics: `With ${cleanLine(conversation)}, lately. ${lately}` })
})

/** The people of the conversation: their profiles, and its recent topics. */
export const acquaintances = ({ recollection, topics }: Session): Content => {
  const known = recollection.profiles
  return topics === "" ? known : dataOf([textOf(known), topics].filter((text) => text !== "").join("\n\n"))
}

// FrontDoor: where envelopes come in.
// I1  An envelope is acknowledged only after it is durable; the wake-up that follows may be lost.
// I2  Who is halted is fenced as soon as the order is durable: the one who holds it writes nothing more, and its next claim
//     hears the order first.
// I3  A long text waits until the event loop has room for it.

/** An assistant that does not exist any more has no writer to fence. */
const fenced = (mailbox: Mailbox["Service"], address: Address) =>
  Effect.catchTag(mailbox.fence(address), "UnknownAssistant", () => Effect.void)

/** Accepts an envelope in its own trace, or in the one that is running; the one who takes it up continues that one. */
const accepted = (mailbox: Mailbox["Service"], envelope: Envelope) => {
  const acceptedIn = (traceparent: string | undefined) =>
    Effect.map(mailbox.accept(traceparent === undefined ? envelope : { ...envelope, traceparent }), (receipt) => ({
      receipt,
      traceparent
    }))
  const accepting = inSpan("mailbox.accept")(() =>
    envelope.traceparent === undefined
      ? Effect.flatMap(runningTraceparent, acceptedIn)
      : acceptedIn(envelope.traceparent)
  )
  return below(envelope.traceparent)(accepting)
}

const lengthOf = ({ event }: Envelope): number =>
  event.type === "message" ? event.text.length : event.type === "report" ? event.content.length : 0

/** Accepts an envelope, does what has to be done before it is heard, and wakes its assistant. */
export const arrive = Effect.fnUntraced(function* <E = never, R = never>(
  envelope: Envelope,
  first: Effect.Effect<void, E, R> = Effect.void as Effect.Effect<void, E, R>
) {
  const faults = yield* Faults
  const mailbox = yield* Mailbox
  const queue = yield* WakeQueue
  yield* faults.at("before-accept", envelope.to)
  yield* longWork.begin(lengthOf(envelope))
  const { receipt, traceparent } = yield* accepted(mailbox, envelope)
  yield* faults.at("after-accept", envelope.to)
  if (receipt.outcome !== "accepted") return receipt
  yield* first
  const wakeUp = queue
    .wake(envelope.to, urgencyOf(envelope), traceparent, envelope)
    .pipe(inSpan("queue.wake"), below(traceparent))
  const fencing = envelope.event.type === "halt" ? yield* Effect.result(fenced(mailbox, envelope.to)) : undefined
  // The order is durable: the wake-up is given also when no one could be fenced.
  yield* wakeUp
  if (fencing !== undefined) yield* Effect.fromResult(fencing)
  return receipt
})
