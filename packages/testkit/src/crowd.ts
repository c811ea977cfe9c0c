// Crowd: assistants by the thousand, written through the ports of a store without a fleet.
// Owns their creation and the model calls that they are said to have made. Leaves the store, and looking at it, to callers.
// C1  Everything goes by the ports: what a store keeps beside its entries, it keeps of these too.
// C2  Entries are written in the order of their moments, as by a fleet that worked for so long.

import { Ledger } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import { type Address, type AssistantState, type Claim, HOUR_MILLIS, type ModelUse } from "@reverie/protocol"
import { creationOf } from "@reverie/runtime"
import * as Effect from "effect/Effect"
import { anAddress, anEntry } from "./fixtures.ts"

export interface CrowdRequest {
  readonly count: number
  readonly tenant: string
  readonly definition: Parameters<typeof creationOf>[1]
  /** Milliseconds since the epoch: the last of the days in which they worked. */
  readonly now: number
  /** On how many of the 30 days up to now each of them made a model call. */
  readonly days: number
}

const DAYS = 30
const DAY_MILLIS = 24 * HOUR_MILLIS
const AT_ONCE = 1_024
const LEASE_MILLIS = 3_600_000

export const crowdId = (index: number): string => `crowd-${String(index).padStart(6, "0")}`

interface Member {
  readonly index: number
  readonly address: Address
  readonly claim: Claim
  readonly state: AssistantState
}

/** What one of them used on a day: no two days are the same, and the price of every tenth model is not known. */
const useOf = (index: number, day: number): ModelUse => {
  const tokens = 200 + ((index * 31 + day * 17) % 4_000)
  const isPriced = (index + day) % 10 !== 0
  return {
    model: isPriced ? "small" : "large",
    calls: 1,
    inputTokens: tokens,
    cachedTokens: Math.floor(tokens / 2),
    outputTokens: 40,
    reasoningTokens: 0,
    costMicros: isPriced ? tokens : 0,
    unpricedCalls: isPriced ? 0 : 1
  }
}

const create = Effect.fnUntraced(function* ({ days, definition, now, tenant }: CrowdRequest, index: number) {
  const address = anAddress(crowdId(index), tenant)
  const creation = yield* creationOf(address, definition)
  const entry = { ...creation.entry, at: now - DAYS * DAY_MILLIS }
  yield* Ledger.use((ledger) => ledger.create({ ...creation, entry }))
  if (days === 0) return undefined
  const request = { address, worker: "crowd", leaseMillis: LEASE_MILLIS }
  const { claim } = yield* Mailbox.use((mailbox) => mailbox.claim(request))
  return { index, address, claim, state: creation.state } satisfies Member
})

const work = (member: Member, day: number, no: number, at: number) =>
  Ledger.use((ledger) =>
    ledger.commit(member.claim, {
      entry: anEntry({
        no,
        at,
        epoch: member.claim.epoch,
        cause: { kind: "job", id: `${no}/infer` },
        event: { type: "done" },
        step: {
          id: `${no}/infer`,
          kind: "infer",
          name: "infer",
          ok: true,
          elapsedMs: 400,
          spent: [useOf(member.index, day)]
        }
      }),
      state: member.state
    })
  )

/** Creates them, and lets each make a model call on so many of the last 30 days, at another hour each. */
export const gather = Effect.fnUntraced(function* (request: CrowdRequest) {
  const { count, days, now } = request
  const all = Array.from({ length: count }, (_, index) => index)
  const created = yield* Effect.forEach(all, (index) => create(request, index), { concurrency: AT_ONCE })
  const members = created.filter((member) => member !== undefined)
  for (let day = 0; day < days; day++) {
    const begins = now - Math.floor(((days - day) * DAYS * DAY_MILLIS) / days)
    const hours = (index: number): number => Math.floor((index / count) * 24) * HOUR_MILLIS
    yield* Effect.forEach(
      members,
      (member) => work(member, day, day + 2, Math.min(now, begins + hours(member.index))),
      { concurrency: AT_ONCE, discard: true }
    )
  }
  yield* Effect.forEach(members, ({ claim }) => Mailbox.use((mailbox) => mailbox.release(claim)), {
    concurrency: AT_ONCE,
    discard: true
  })
})
