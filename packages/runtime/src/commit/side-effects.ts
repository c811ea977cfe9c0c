// Consequences: what a finished run brings about besides its result.
// Owns the report an asynchronous tool owes, the counters of calls, the beginning of a reflection and of a sleep.
// Leaves making them durable to the commit of the result.
// I1  Their ids follow from the key of the run: a run repeated after a crash brings about the same ones.

import {
  callCounted,
  countersOf,
  isReflectionDue,
  reflectionOf,
  SESSION_START_KEY,
  sessionBegun,
  SLEEP_ORDER_KEY
} from "@reverie/assistant"
import {
  type Address,
  ENVELOPE_VERSION,
  type Envelope,
  EnvelopeId,
  type Event,
  type RecordChange,
  type ToolCall
} from "@reverie/protocol"
import type { ToolResult } from "@reverie/tools"
import { recordsOf } from "../session/own-records.ts"
import type { Session } from "../session/session.ts"

/** The timer that begins a reflection. */
export const REFLECTION_TIMER = "reflection"
/** Who sends it when the journal has gathered enough. */
const JOURNAL_SENDER = "journal"

/** True of the timer by which a journal asks to be looked back upon; whoever else sends one has reasons of their own. */
export const isJournalsReflection = ({ event, from }: Pick<Envelope, "event" | "from">): boolean =>
  event.type === "timer" && event.name === REFLECTION_TIMER && from === JOURNAL_SENDER

interface SideEffects {
  readonly sends: ReadonlyArray<Envelope>
  readonly records: ReadonlyArray<RecordChange>
}

const toItself = (to: Address, id: string, from: string, hops: number, event: Event): Envelope => ({
  v: ENVELOPE_VERSION,
  id: EnvelopeId.make(id.slice(0, 256)),
  to,
  from,
  event,
  hops
})

const reportOf = (session: Session, call: ToolCall, key: string, hops: number, { report }: ToolResult) =>
  report === undefined
    ? []
    : [
        toItself(session.address, `${key}#report`, call.tool, hops, {
          type: "report",
          call: call.id,
          outcome: "reported",
          content: report
        })
      ]

/** Enough has gathered since the last reflection, and this run is what made it enough. */
const reflectionAfter = (session: Session, key: string, hops: number, { records = [] }: ToolResult) => {
  const before = recordsOf(session.own, "reflection")
  const after = new Map(before)
  for (const { key: name, kind, value } of records) if (kind === "reflection" && value !== null) after.set(name, value)
  return isReflectionDue(reflectionOf(after)) && !isReflectionDue(reflectionOf(before))
    ? [toItself(session.address, `${key}#reflection`, JOURNAL_SENDER, hops, { type: "timer", name: REFLECTION_TIMER })]
    : []
}

const isSleepOrder = ({ key, kind }: RecordChange): boolean => kind === "state" && key === SLEEP_ORDER_KEY

/** The order that `go_to_sleep` has put among the records. */
const sleepOrderOf = (session: Session, key: string, hops: number, { records = [] }: ToolResult) => {
  const order = records.find(isSleepOrder)?.value as { readonly forMillis?: number } | undefined
  return order === undefined
    ? []
    : [toItself(session.address, `${key}#sleep`, "itself", hops, { type: "sleep", ...order })]
}

/** Counted only for assistants that can ask for the count. */
const counted = (session: Session, ok: boolean, now: number): ReadonlyArray<RecordChange> => {
  if (session.definition.toolkit.get("get_system_status") === undefined) return []
  const own = recordsOf(session.own, "state")
  return [...(own.has(SESSION_START_KEY) ? [] : sessionBegun(now)), callCounted(countersOf(own), ok)]
}

export const sideEffectsOf = (
  session: Session,
  call: ToolCall,
  run: { readonly key: string; readonly hops: number; readonly now: number },
  result: ToolResult
): SideEffects => ({
  sends: [
    ...result.sends,
    ...sleepOrderOf(session, run.key, run.hops, result),
    ...reportOf(session, call, run.key, run.hops, result),
    ...reflectionAfter(session, run.key, run.hops, result)
  ],
  records: [
    ...(result.records ?? []).filter((change) => !isSleepOrder(change)),
    ...counted(session, result.ok, run.now)
  ]
})
