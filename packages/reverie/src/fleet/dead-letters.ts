// DeadLetters: dead letters, with what stood in it, and how it is sent again or discarded.
// Owns putting letter and reason together, and the ids of second tries. Leaves keeping both to the store.
// D1  The same letter sent again twice is sent once; a second try that was dead-lettered too can be tried again in its turn.
// D2  A letter that was sent again is discarded after that. After a crash in between it is still told; who sends it again
//     then sends nothing, and discards it.

import { createHash } from "node:crypto"
import { type DeadLetter, Ledger } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import {
  type AcceptedEnvelope,
  type Address,
  type AssistantId,
  type EnvelopeId,
  type EventType,
  type TenantId
} from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { DeadLetterUnknown } from "../errors.ts"
import { textOfEvent } from "../views/mail-view.ts"
import { clipped } from "../timeline/tick-view.ts"

export interface DeadLetterView extends DeadLetter {
  /** What was in it, where it can still be read. */
  readonly type?: EventType
  readonly from?: string
  readonly text?: string
}

const MAX_TEXT_CHARS = 2_000
const MAX_ID_CHARS = 256
/** How far back a letter is looked for among the dead ones of a tenant. */
const MAX_LOOK = 10_000

/** Envelopes of one assistant that can be read, by their ids. */
export const lettersBy = (address: Address, ids: ReadonlyArray<EnvelopeId>) =>
  Mailbox.use((mailbox) =>
    Effect.map(mailbox.accepted(address, ids), (found) =>
      Object.freeze(
        new Map(
          found.flatMap((letter): ReadonlyArray<[string, AcceptedEnvelope]> =>
            "unreadable" in letter ? [] : [[letter.id, letter]]
          )
        )
      )
    )
  )

const viewOf = (dead: DeadLetter, letter: AcceptedEnvelope | undefined): DeadLetterView => {
  if (letter === undefined) return dead
  const text = textOfEvent(letter.event)
  const words = text === undefined ? {} : { text: clipped(text, MAX_TEXT_CHARS) }
  return { ...dead, type: letter.event.type, from: letter.from, ...words }
}

/** The newest dead letters of a tenant, with what stood in them. */
export const deadLettersOf = Effect.fnUntraced(function* (tenant: TenantId, limit: number) {
  const dead = yield* (yield* Ledger).deadLetters(limit, { tenant, newestFirst: true })
  const byAssistant = Map.groupBy(dead, ({ address }) => address.assistant)
  const letters = new Map<AssistantId, ReadonlyMap<string, AcceptedEnvelope>>()
  for (const [assistant, own] of byAssistant) {
    const ids = own.map(({ envelope }) => envelope)
    letters.set(assistant, yield* lettersBy({ tenant, assistant }, ids))
  }
  return dead.map((each) => viewOf(each, letters.get(each.address.assistant)?.get(each.envelope)))
})

const AGAIN = /^again\/(.+)\/(\d+)$/s

/** The id under which a letter is sent again: `again/<id>/1`, and after that `again/<id>/2`. */
export const againId = (envelope: string): string => {
  const [, first = envelope, count = "0"] = AGAIN.exec(envelope) ?? []
  const next = `again/${first}/${Number(count) + 1}`
  return next.length <= MAX_ID_CHARS ? next : `again/${createHash("sha256").update(first).digest("hex")}/1`
}

const unknown = ({ assistant }: Address, envelope: string, what: string): DeadLetterUnknown =>
  new DeadLetterUnknown({
    assistant,
    envelope,
    message: `there is no dead letter ${JSON.stringify(envelope)} of ${assistant}${what}`
  })

/** A letter that was dead-lettered, to be sent again; or what it was sent again as, where it was discarded after that. */
export const deadLetterUnderId = Effect.fnUntraced(function* (address: Address, envelope: string) {
  const dead = yield* (yield* Ledger).deadLetters(MAX_LOOK, { tenant: address.tenant, newestFirst: true })
  const isIt = (each: DeadLetter) => each.address.assistant === address.assistant && each.envelope === envelope
  const id = dead.some(isIt) ? envelope : againId(envelope)
  const letter = (yield* lettersBy(address, [id as EnvelopeId])).get(id)
  return letter ?? (yield* unknown(address, envelope, " that can be sent again"))
})

/** Takes a letter off the list. */
export const discarded = Effect.fnUntraced(function* (address: Address, envelope: string) {
  const answer = yield* (yield* Ledger).discard(address, envelope as EnvelopeId)
  return answer === "unknown" ? yield* unknown(address, envelope, "") : answer
})
