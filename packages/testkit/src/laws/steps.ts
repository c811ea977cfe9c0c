// Steps: what laws of a store do over and over, said once.
// Owns the short forms over the two ports. Leaves every assertion to the law that makes it.

import * as assert from "node:assert/strict"
import { type CreationEntry, Ledger } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import {
  type AcceptedEnvelope,
  type Address,
  type AssistantState,
  type Claim,
  type Entry,
  type Envelope,
  type Lane,
  LANES
} from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { aState, anAddress, anEntry, anEnvelope } from "../fixtures.ts"

export const LEASE_MILLIS = 30_000

/** The assistants of the laws. */
export const ada = anAddress("ada")
export const bob = anAddress("bob")

const creationOf = (address: Address, state: Partial<AssistantState>): CreationEntry => ({
  address,
  state: aState(state),
  entry: anEntry()
})

/** Lets an assistant be created, with the given state. */
export const give = (address: Address, state: Partial<AssistantState> = {}) =>
  Ledger.use((ledger) => ledger.create(creationOf(address, state)))

export const send = (envelope: Envelope) => Mailbox.use((mailbox) => mailbox.accept(envelope))

/** Sends one message for each id, in order. */
export const sendAll = (to: Address, ids: ReadonlyArray<string>) =>
  Effect.forEach(ids, (id) => send(anEnvelope({ id, to })))

export const claimBy = (worker: string, address: Address = ada, leaseMillis: number = LEASE_MILLIS) =>
  Mailbox.use((mailbox) => mailbox.claim({ address, worker, leaseMillis }))

export const release = (claim: Claim) => Mailbox.use((mailbox) => mailbox.release(claim))

export const pendingOf = (address: Address, lanes: ReadonlyArray<Lane> = LANES, limit = 64) =>
  Mailbox.use((mailbox) => mailbox.pending(address, lanes, limit))

export const pendingIds = (address: Address, lanes?: ReadonlyArray<Lane>, limit?: number) =>
  Effect.map(pendingOf(address, lanes, limit), (rows) => rows.map(({ id }) => String(id)))

export const dueNow = (limit = 100) => Mailbox.use((mailbox) => mailbox.due(limit))

/** Who is due by a time to come. */
export const dueBy = (until: number, limit = 100) => Mailbox.use((mailbox) => mailbox.due(limit, until))

export const nextDue = Mailbox.use((mailbox) => mailbox.nextDue)

export interface CommitRequest {
  readonly entry?: Partial<Entry>
  readonly state?: Partial<AssistantState>
}

/** Commits the next entry after version `version`, made by a job unless the request says otherwise. */
export const commitOn = (claim: Claim, version: number, { entry, state }: CommitRequest = {}) =>
  Ledger.use((ledger) =>
    ledger.commit(claim, {
      entry: anEntry({ no: version + 1, epoch: claim.epoch, cause: { kind: "job", id: "1/infer" }, ...entry }),
      state: aState(state)
    })
  )

type Letter = Pick<AcceptedEnvelope, "id" | "lane" | "seq">

/** The cause of beginning with one envelope, whose end comes with a later commit. */
export const startingWith = ({ id, lane, seq }: Letter): Partial<Entry> => ({
  cause: { kind: "envelope", lane, seq, id }
})

/** The cause and the settlement of handling one envelope at once. */
export const handling = ({ id, lane, seq }: Letter): Partial<Entry> => ({
  cause: { kind: "envelope", lane, seq, id },
  settled: [{ id, outcome: "handled" }]
})

/** The cause and the settlement of giving one envelope up. */
export const burying = ({ id, lane, seq }: Letter, reason: string): Partial<Entry> => ({
  cause: { kind: "dead-letter", lane, seq, id },
  settled: [{ id, outcome: "dead", reason }]
})

/** Claims, handles the first waiting envelope in one commit, releases. */
export const handleNext = (address: Address, worker = "worker-1") =>
  Effect.gen(function* () {
    const { claim, version } = yield* claimBy(worker, address)
    const [first] = yield* pendingOf(address)
    assert.ok(first, "nothing is pending to be handled")
    yield* commitOn(claim, version, { entry: handling(first) })
    yield* release(claim)
    return first.id
  })

/** The envelopes with which laws about lanes are made, one for each lane. */
export const inLane: Readonly<Record<Lane, (id: string, to?: Address) => Envelope>> = {
  control: (id, to = ada) => anEnvelope({ id, to, event: { type: "halt" } }),
  reply: (id, to = ada) => anEnvelope({ id, to, event: { type: "report", outcome: "reported", content: id } }),
  mail: (id, to = ada) => anEnvelope({ id, to })
}

/** Every fact that the two ports show of some assistants; two of them differ when anything has changed. */
export const witness = (...addresses: ReadonlyArray<Address>) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger
    const mailbox = yield* Mailbox
    return {
      assistants: yield* ledger.list(undefined, 1_000),
      outbox: yield* ledger.outbox(0, 1_000),
      sends: yield* ledger.openSends(1_000),
      deadLetters: yield* ledger.deadLetters(1_000),
      totals: yield* ledger.totals,
      due: yield* mailbox.due(1_000),
      nextDue: yield* mailbox.nextDue,
      each: yield* Effect.forEach(addresses, (address) =>
        Effect.all({
          inspected: ledger.inspect(address),
          entries: ledger.entries(address, 0, 1_000),
          messages: ledger.recent(address, 1_000_000),
          pending: mailbox.pending(address, LANES, 64)
        })
      )
    }
  })

/** Texts that a careless store damages: NUL, lone surrogates, quotes, controls, unpaired direction marks, astral signs. */
export const hostileTexts: ReadonlyArray<string> = [
  "",
  "a\u0000b",
  "lone \ud800 high",
  "lone \udc00 low",
  "\udc00\ud800",
  "'; drop table entries; --",
  '"\\\n\r\t\b\u2028\u2029\u202e',
  "e\u0301 is not \u00e9",
  "\u{1f469}\u200d\u{1f680} \u{10ffff}",
  '{"__proto__": 1}'
]

export const aMegabyte = "0123456789abcdef".repeat(65_536)

/** Commits one entry for each request, under one claim. */
export const commitAll = (address: Address, requests: ReadonlyArray<CommitRequest>) =>
  Effect.gen(function* () {
    const { claim, version } = yield* claimBy("worker-1", address)
    return yield* Effect.forEach(requests, (request, index) => commitOn(claim, version + index, request))
  })

/** Reads page after page until one is empty. Ends in any case: a wrong store may turn in a circle. */
export const pageThrough = <A, E, R>(
  size: number,
  read: (last: A | undefined) => Effect.Effect<ReadonlyArray<A>, E, R>
) =>
  Effect.gen(function* () {
    const all: Array<A> = []
    for (let pages = 0; pages < 100; pages++) {
      const page = yield* read(all.at(-1))
      assert.ok(page.length <= size, "a page is longer than its limit")
      if (page.length === 0) break
      all.push(...page)
    }
    return all
  })
