// Accepts: the events that mean something to an assistant as it stands.
// Owns the list for callers that offer them, e.g. as buttons. Leaves hearing to decide.ts and the reasons to ignored.ts.
// B1  The present state accepts what is listed. What is not listed would wait or mean nothing.

import { Event, type EventType, laneOf, type Event as AnyEvent } from "@reverie/protocol"
import { type AssistantContext, callOfApproval, callOfReport, settingsNow } from "../context.ts"
import { contextOf, type Decoded, receives, statusOf } from "../decide.ts"
import { whyIgnored } from "../chart/ignored.ts"

const eventTypes: ReadonlyArray<EventType> = Event.members.map((member) => member.fields.type.literal)

/** The chart passes them over because the runtime deals with them. */
const dealtWith: ReadonlySet<EventType> = new Set([
  "undoCompaction",
  "releaseHistory",
  "deletePassage",
  "releaseFact",
  "retireFact",
  "writeFact",
  "writeProfile",
  "undoDream",
  "acceptDream",
  "refresh",
  "remind"
])

/** What the state alone does not tell. */
const means = (type: EventType, context: AssistantContext, status: string): boolean => {
  switch (type) {
    case "approval":
      return callOfApproval(context, { type, decision: "denied" }) !== undefined
    case "report":
      return callOfReport(context, { type }) !== undefined
    case "delegate":
      return status !== "halted" && settingsNow(context).subAgents
    case "message":
    case "timer":
    case "sleep":
    case "remind":
    case "budget":
      // A sub-agent receives its task, and nothing else; its budget is part of another's.
      return context.assignment === null
    case "stop":
      return context.envelope !== null
    case "compact":
      return context.assignment === null && settingsNow(context).compactEnabled
    default:
      return true
  }
}

export const acceptsOf = (decoded: Decoded): ReadonlyArray<EventType> => {
  const status = statusOf(decoded)
  const heard = receives(decoded)
  const context = contextOf(decoded)
  return eventTypes.filter(
    (type) =>
      heard.includes(laneOf({ type } as AnyEvent)) &&
      (dealtWith.has(type) || whyIgnored(status, type) === undefined) &&
      means(type, context, status)
  )
}
