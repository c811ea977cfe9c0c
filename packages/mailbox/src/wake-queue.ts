// WakeQueue: disposable wake-ups: messages that an assistant has something to do.
// Owns the passing on of addresses. Leaves the truth to the store: a lost wake-up is found again through `Mailbox.due`.
// Q1  A wake-up given is handed out at least once, unless the process that it was given in ends first.
// Q2  Wake-ups for one assistant that no one has taken yet collapse into one, as urgent as the most urgent of them.
// Q3  A wake-up given while its assistant is being handled is handed out again, at once or when the handling is done: no
//     wake-up is lost.
// Q4  Wake-ups of the same urgency are handed out in the order in which they were first given, the more urgent first. Where
//     tenants share a queue, one with a backlog may stand behind one without.
// Q5  A wake-up for a later time is handed out when that time has come, not before. Of several for one assistant the
//     earliest counts.
// Q6  An order also reaches the one who handles its assistant at the moment, where the queue knows how.
// Q7  Asked to, a queue holds nothing any more of what the wake-ups of an assistant are about. They themselves stay.
// A wake-up may carry the trace of the one who gave it, so that the claim is seen in that trace before any envelope is read. No
// law asks for it: the envelope has its own, and a wake-up that is lost or collapses into another takes its trace with it.
// The same is true of the envelope that it is about: a queue may show it to those who look at what waits, and hands it to no one.

import type { Address, Envelope, Urgency } from "@reverie/protocol"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { MailboxUnavailable } from "./errors.ts"

export interface WakeUp {
  readonly address: Address
  /** The trace of the one who gave it, where the queue has kept one: the envelope has its own, and that one counts. */
  readonly trace?: string
  /** Says that whatever the wake-up asked for has been handled, well or not. Doing so twice is once. */
  readonly done: Effect.Effect<void>
}

export class WakeQueue extends Context.Service<
  WakeQueue,
  {
    /**
     * `trace`: the W3C trace context of the one who wakes. It may be lost; of wake-ups that collapse one's is handed on.
     * `about`: the envelope that it is given for.
     */
    readonly wake: (address: Address, urgency: Urgency, trace?: string, about?: Envelope) => Effect.Effect<void>
    /** A wake-up for `dueAt`, in milliseconds since the epoch by the store's clock; of routine. */
    readonly wakeAt: (address: Address, dueAt: number) => Effect.Effect<void>
    /** Waits for the next wake-up. */
    readonly take: Effect.Effect<WakeUp>
    /** Takes out what the wake-ups of these are about. Fails where that is not certain; doing so twice is once. */
    readonly redact: (addresses: ReadonlyArray<Address>) => Effect.Effect<void, MailboxUnavailable>
  }
>()("@reverie/mailbox/WakeQueue") {}

// Deal: whom to take of many that wait, so that no tenant hides another one.

/** At most `limit` of those that wait, in the order of waiting: one of each tenant, then the next one of each. */
export const dealt = <Row>(rows: ReadonlyArray<Row>, tenantOf: (row: Row) => string, limit: number): Array<Row> => {
  if (rows.length <= limit) return [...rows]
  const rounds: Array<Array<Row>> = []
  const dealtTo = new Map<string, number>()
  for (const row of rows) {
    const round = dealtTo.get(tenantOf(row)) ?? 0
    dealtTo.set(tenantOf(row), round + 1)
    const others = rounds[round]
    if (others === undefined) rounds.push([row])
    else others.push(row)
  }
  return rounds.flat().slice(0, limit)
}
