// DeadLetters: dead letters, with what stood in it, and how it is sent again or discarded.
// Owns putting letter and reason together, and the ids of second tries. Leaves keeping both to the store.
// D1  The same letter sent again twice is sent once; a second try that was dead-lettered too can be tried again in its turn.
// D2  A letter that was sent again is discarded after that. After a crash in between it is still told; who sends it again
//     then sends nothing, and discards it.
// D3  Nothing is sent again to an assistant that has retired: the list says so of each letter of it.

import { createHash } from "node:crypto"
import { type DeadLetter, Ledger, type OutboxRow } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import {
  type AcceptedEnvelope,
  type Address,
  type AssistantId,
  defined,
  type EnvelopeId,
  type EventType,
  type Json,
  type Receipt,
  type TenantId
} from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { DeadLetterRefused, DeadLetterUnknown } from "../errors.ts"
import { textOfEvent } from "../views/mail-view.ts"
import { clipped } from "../timeline/tick-view.ts"
import type { Core } from "./entry-source.ts"
import type { Post } from "./ordering.ts"

/** A dead letter, with what stood in it. */
export interface DeadLetterView extends DeadLetter {
  /** What was in it, where it can still be read. */
  readonly type?: EventType
  /** Who sent it. */
  readonly from?: string
  /** What it said, where it is a message. */
  readonly text?: string
  /** Its assistant has retired: it can be discarded, and not sent again. */
  readonly isRetired?: true
}

/** One dead letter as a whole. */
export interface DeadLetterDetail extends DeadLetterView {
  /** The event that was in it, nothing of it cut; absent where it can not be read. */
  readonly event?: Json
  /** When it was accepted, in milliseconds since the epoch; absent where it can not be read. */
  readonly acceptedAt?: number
  /** The tick that ended with it; absent where it was refused before one began, and where 2,000 entries came since. */
  readonly tick?: number
}

/** Entries that are looked at for the one that dead-lettered a letter. */
const MAX_ENTRIES = 2_000
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

const viewOf = (dead: DeadLetter, letter: AcceptedEnvelope | undefined, isRetired: boolean): DeadLetterView => {
  const whose = defined({ isRetired: isRetired ? (true as const) : undefined })
  if (letter === undefined) return { ...dead, ...whose }
  const text = textOfEvent(letter.event)
  const words = text === undefined ? {} : { text: clipped(text, MAX_TEXT_CHARS) }
  return { ...dead, type: letter.event.type, from: letter.from, ...words, ...whose }
}

/** Of one whose record can not be read nothing is said. */
const hasRetired = (address: Address) =>
  Ledger.use((ledger) => ledger.inspect(address)).pipe(
    Effect.map((record) => record?.state.status === "retired"),
    Effect.catchTag("UnreadableRecord", () => Effect.succeed(false))
  )

/** The newest dead letters of a tenant, with what stood in them. */
const deadLettersOf = Effect.fnUntraced(function* (tenant: TenantId, limit: number) {
  const dead = yield* (yield* Ledger).deadLetters(limit, { tenant, newestFirst: true })
  const byAssistant = Map.groupBy(dead, ({ address }) => address.assistant)
  const letters = new Map<AssistantId, ReadonlyMap<string, AcceptedEnvelope>>()
  const retired = new Set<AssistantId>()
  for (const [assistant, own] of byAssistant) {
    const ids = own.map(({ envelope }) => envelope)
    letters.set(assistant, yield* lettersBy({ tenant, assistant }, ids))
    if (yield* hasRetired({ tenant, assistant })) retired.add(assistant)
  }
  return dead.map((each) => {
    const { assistant } = each.address
    return viewOf(each, letters.get(assistant)?.get(each.envelope), retired.has(assistant))
  })
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
const deadLetterUnderId = Effect.fnUntraced(function* (address: Address, envelope: string) {
  const dead = yield* (yield* Ledger).deadLetters(MAX_LOOK, { tenant: address.tenant, newestFirst: true })
  const isIt = (each: DeadLetter) => each.address.assistant === address.assistant && each.envelope === envelope
  const id = dead.some(isIt) ? envelope : againId(envelope)
  const letter = (yield* lettersBy(address, [id as EnvelopeId])).get(id)
  return letter ?? (yield* unknown(address, envelope, " that can be sent again"))
})

/** A dead letter with all that is known of it, but for the tick. */
const deadLetterOf = Effect.fnUntraced(function* (address: Address, envelope: string) {
  const dead = yield* (yield* Ledger).deadLetters(MAX_LOOK, { tenant: address.tenant, newestFirst: true })
  const one = dead.find((each) => each.address.assistant === address.assistant && each.envelope === envelope)
  if (one === undefined) return yield* unknown(address, envelope, "")
  const letter = (yield* lettersBy(address, [one.envelope])).get(one.envelope)
  const view = viewOf(one, letter, yield* hasRetired(address))
  if (letter === undefined) return view
  const { acceptedAt, event } = letter
  return { ...view, acceptedAt, event: event as unknown as Json }
})

/** The tick in whose entry a letter was dead-lettered, as far as one looks back. */
const tickOf = async (newest: AsyncIterable<OutboxRow>, envelope: string): Promise<number | undefined> => {
  let looked = 0
  for await (const { entry } of newest) {
    const isIt = entry.settled?.some((each) => each.outcome === "dead" && each.id === envelope) === true
    // Without a result that failed it had begun no tick: it was refused, or waited for one who has retired.
    if (isIt) return entry.cause.kind === "job" ? entry.tick : undefined
    if (++looked >= MAX_ENTRIES) return undefined
  }
  return undefined
}

/** Takes a letter off the list. */
const discarded = Effect.fnUntraced(function* (address: Address, envelope: string) {
  const answer = yield* (yield* Ledger).discard(address, envelope as EnvelopeId)
  return answer === "unknown" ? yield* unknown(address, envelope, "") : answer
})

/** The reading of `fleet.deadLetters`. */
export interface DeadLetterReadings {
  /** The newest dead letters of the tenant, at most `limit` (100 when left out), with the reason and what stood in them. */
  readonly list: (limit?: number) => Promise<ReadonlyArray<DeadLetterView>>
  /** One of them as a whole, with the tick that ended with it where that is known. Rejects with DeadLetterUnknown. */
  readonly inspect: (id: string, envelope: string) => Promise<DeadLetterDetail>
}

export const deadLettersIn = ({ address, newest, run, tenant }: Core): DeadLetterReadings => ({
  list: (limit = 100) => run(deadLettersOf(tenant, limit)),
  inspect: async (id, envelope): Promise<DeadLetterDetail> => {
    const found = await run(deadLetterOf(address(id), envelope))
    return { ...found, ...defined({ tick: await tickOf(newest(id), envelope) }) }
  }
})

/** `fleet.deadLetters`: messages that could not be handled, and what becomes of them. */
export interface FleetDeadLetters extends DeadLetterReadings {
  /**
   * Sends a dead letter again as it was, under `again/<its id>/1`, so that doing it twice sends it once; a second try that was
   * dead-lettered too goes on as `again/<its id>/2`. It is no dead letter any more after that. Rejects with DeadLetterUnknown, and
   * with DeadLetterRefused for an assistant that has retired.
   * @example for (const { address, envelope } of await fleet.deadLetters.list()) await fleet.deadLetters.retry(address.assistant, envelope)
   */
  readonly retry: (id: string, envelope: string) => Promise<Receipt>
  /**
   * Takes a dead letter off the list without sending it. That it was dead-lettered, and why, stays in the history. Resolves
   * with `already` when it was discarded before. Rejects with DeadLetterUnknown.
   */
  readonly discard: (id: string, envelope: string) => Promise<"discarded" | "already">
}

export const openDeadLetters = (core: Core, post: Post): FleetDeadLetters => ({
  ...deadLettersIn(core),
  retry: async (id, envelope) => {
    const address = core.address(id)
    const { event, from } = await core.run(deadLetterUnderId(address, envelope))
    if (await core.run(hasRetired(address))) {
      const { assistant } = address
      const message = `${assistant} has retired: its dead letters can be discarded, and are not sent again`
      throw new DeadLetterRefused({ assistant, envelope, message })
    }
    const receipt = await post(id, event, { id: againId(envelope), from })
    // A second try finds it discarded, and that is no failure.
    await core.run(Ledger.use((ledger) => ledger.discard(address, envelope as EnvelopeId)))
    return receipt
  },
  discard: async (id, envelope) => core.run(discarded(core.address(id), envelope))
})
