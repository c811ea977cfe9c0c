// SleepBlockers: what speaks against an assistant going to sleep in the middle of a tick.
// Owns reading it off the tick at hand. Leaves the rule to `assistant`.
// I1  Who spoke waits for an answer until a call that speaks has been made; a timer waits for nothing.

import { defined } from "@reverie/protocol"
import { type SleepBlockers, type Call, contextOf, isTagged, statusOf } from "@reverie/assistant"
import type { Session } from "../session/session.ts"

const isOpen = ({ category, phase }: Call): boolean =>
  phase === "asking" || phase === "waiting" || (category === "dangerous" && (phase === "ready" || phase === "running"))

const speaks = ({ category, phase }: Call): boolean =>
  category === "terminal" && (phase === "ready" || phase === "running" || phase === "done")

const speakerOf = ({ window }: Session): string | undefined => {
  const asked = window.messages.findLast(({ role }) => role === "user")
  return asked === undefined || asked.name === "clock" ? undefined : (asked.name ?? "somebody")
}

/** Seen from the call with this index. */
export const sleepBlockersOf = (session: Session, index: number): SleepBlockers => {
  const { calls } = contextOf(session.decoded)
  const others = calls.filter((_, at) => at !== index)
  const waitsForAnswer = others.some(speaks) ? undefined : speakerOf(session)
  return {
    isAsleep: isTagged(statusOf(session.decoded), "maintaining"),
    ...defined({ waitsForAnswer }),
    unfinished: others.filter(isOpen).map(({ tool }) => tool)
  }
}
