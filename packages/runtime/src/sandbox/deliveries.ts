// Deliveries: what reached an assistant from outside while a tick was in hand, and what came due.
// Owns finding it in the entries, and which of it a waiting assistant receives next. Leaves handing it over to drive.ts.
// D1  What was recorded is delivered at most once, in the recorded order of its kind.

import type { Entry, Envelope, EnvelopeId } from "@reverie/protocol"
import type { RecordedTick } from "./recorded-tick.ts"

export type Delivery =
  | { readonly kind: "envelope"; readonly no: number; readonly at: number; readonly envelope: Envelope }
  | { readonly kind: "timer"; readonly no: number; readonly at: number; readonly name: string }

/** An envelope by its id, as it was accepted or made again; undefined when that can not be. */
export type FindEnvelope = (id: EnvelopeId, entry: Entry) => Envelope | undefined

/** Everything after the beginning of the tick that no job brought about. */
export const deliveriesOf = ({ entries }: RecordedTick, find: FindEnvelope): ReadonlyArray<Delivery> =>
  entries.slice(1).flatMap((entry): ReadonlyArray<Delivery> => {
    const { at, cause, no } = entry
    if (cause.kind === "timer") return [{ kind: "timer", no, at, name: cause.name }]
    if (cause.kind !== "envelope") return []
    const envelope = find(cause.id, entry)
    return envelope === undefined ? [] : [{ kind: "envelope", no, at, envelope }]
  })

const isHeardIn = (status: string, delivery: Delivery): boolean => {
  if (delivery.kind === "timer") return delivery.name.endsWith(`.${status}`)
  const { type } = delivery.envelope.event
  if (status === "awake.awaitingApproval") return type === "approval"
  return status === "awake.awaitingReports" && type === "report"
}

/** What an assistant that waits is handed next; undefined when nothing that was recorded helps it on. */
export const nextFor = (status: string, left: ReadonlyArray<Delivery>): Delivery | undefined =>
  left.find((delivery) => isHeardIn(status, delivery))

/** The same decision on whatever is asked first: the id of an approval is bound to the call that it was asked for. */
export const onOldest = (envelope: Envelope): Envelope => {
  const { event } = envelope
  if (event.type !== "approval") return envelope
  const { approval: _, ...decision } = event
  return { ...envelope, event: decision }
}
