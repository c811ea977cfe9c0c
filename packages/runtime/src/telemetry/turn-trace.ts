// TurnTrace: one turn of work on an assistant as a span, from what is taken up until nothing runs for it any more.
// Owns that span (`invoke_agent`), whose trace it continues, and what is sent on of it. Leaves the verbs within to tick.ts
// and jobs.ts.
// T1  It continues the trace of the envelope that it takes up; work that goes on by itself continues its tick's.
// T2  It ends with the commit after which no job is open, however long the tick then waits for a person or a report; what
//     ends the waiting brings its own trace, and goes on in another turn.
// T3  Everything that leaves with a commit carries the turn's trace, or what its sender made of it. Without a tracer the
//     trace of the envelope in hand is passed on unchanged.

import { contextOf, type Decision } from "@reverie/assistant"
import type { AcceptedEnvelope, Entry, Envelope } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { CommitDraft } from "../commit/commit-draft.ts"
import type { Session } from "../session/session.ts"
import { measureTurn, measureWait } from "./measures.ts"
import { attributes } from "./names.ts"
import { below, endSpan, failedExit, isTraced, makeSpan } from "./spans.ts"
import { spanIn, traceparentOf } from "./traceparent.ts"
import type { CommitView } from "../commit/commit-view.ts"
import type { TurnTrace } from "./open-trace.ts"

/** Who works, in the words of the conventions. */
export const agentAttributes = ({ address, definition }: Pick<Session, "address" | "definition">) => ({
  [attributes.agentId]: address.assistant,
  [attributes.agentName]: definition.name,
  [attributes.tenant]: address.tenant
})

/** Begins a turn, unless one is going on. */
export const beginTurn = Effect.fnUntraced(function* (session: Session, arrival?: AcceptedEnvelope) {
  const { definition, trace } = session
  if (trace.startedAt !== undefined) return
  const now = yield* Clock.currentTimeMillis
  trace.startedAt = now
  if (arrival?.lane === "mail") {
    trace.carried = arrival.traceparent
    yield* measureWait(arrival.lane, now - arrival.acceptedAt)
  }
  trace.carried ??= arrival?.traceparent
  if (!(yield* isTraced)) return
  const request = {
    name: `invoke_agent ${definition.name}`,
    attributes: {
      [attributes.operation]: "invoke_agent",
      ...agentAttributes(session),
      ...(arrival === undefined ? {} : { [attributes.envelope]: arrival.id, [attributes.event]: arrival.event.type })
    }
  }
  trace.span = yield* makeSpan(request, spanIn(arrival?.traceparent) ?? spanIn(trace.carried))
})

const outcomeOf = ({ tickEnd }: Pick<Entry, "tickEnd">, isTickOpen: boolean): string =>
  tickEnd?.outcome ?? (isTickOpen ? "waiting" : "rest")

/** Ends the turn at hand when the commit of this entry leaves nothing to run, and begins one where something does. */
export const followTurn = Effect.fnUntraced(function* (
  session: Session,
  entry: Pick<Entry, "tickEnd" | "settled">,
  arrival?: AcceptedEnvelope
) {
  const { trace } = session
  if (session.jobs.length > 0) return yield* beginTurn(session, arrival)
  const { envelope, tick } = contextOf(session.decoded)
  const { span, startedAt } = trace
  if (startedAt !== undefined) {
    const outcome = outcomeOf(entry, envelope !== null)
    yield* measureTurn(outcome, (yield* Clock.currentTimeMillis) - startedAt)
    span?.attribute(attributes.tick, tick)
    span?.attribute(attributes.outcome, outcome)
    yield* closeTurn(trace, outcome === "failed" ? failedExit("failed") : Exit.void)
  }
  if (envelope === null) trace.carried = undefined
})

/** Ends the turn at hand, whatever it has come to. */
export const closeTurn = (trace: TurnTrace, exit: Exit.Exit<unknown, unknown>) =>
  Effect.suspend(() => {
    const { span } = trace
    trace.span = undefined
    trace.startedAt = undefined
    return span === undefined ? Effect.void : endSpan(span, exit)
  })

/** Puts work into the turn at hand; what an envelope brings about outside of one, below the envelope's own trace. */
export const inTurn = ({ trace }: Pick<Session, "trace">, arrival?: Pick<Envelope, "traceparent">) =>
  below(trace.span ?? arrival?.traceparent)

/** What leaves with a commit, with the trace that it belongs to. */
export const addTraces = ({ sends }: CommitDraft, _decision: Decision, view: CommitView): Partial<CommitDraft> => {
  const { arrival, session } = view
  const { trace } = session
  const own = trace.span === undefined ? undefined : traceparentOf(trace.span)
  const traceparent = own ?? trace.carried ?? arrival?.traceparent
  if (sends === undefined || traceparent === undefined) return {}
  return { sends: sends.map((send) => (send.traceparent === undefined ? { ...send, traceparent } : send)) }
}
