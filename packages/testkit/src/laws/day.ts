// Day: a day of work made of random deeds, played on any store.
// Owns the deeds and the diary of what the store told. Leaves comparing two diaries to the law.
// D1  The same seed gives the same deeds on two stores for as long as they tell the same.
// D2  A diary holds nothing that stores may choose freely: no epoch, no place in the outbox, no absolute time.
// D3  In the evening everybody rests and nothing is open, so that a next day can follow in the same store.

import {
  type Address,
  type AssistantState,
  type Claim,
  type Entry,
  type Lane,
  LANES,
  type OpenTimer,
  type StepRecord
} from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { aJob, aMessage, anAddress, anEntry, anEnvelope, aState } from "../fixtures.ts"
import type { Store } from "../memory-store.ts"
import { type Fate, fateOf } from "../world/fate.ts"
import { ada, burying, inLane, startingWith } from "./steps.ts"

const DEEDS = 80
const DEEDS_BETWEEN_LOOKS = 8
const LONGEST_LEASE_MILLIS = 4_000

interface Day {
  readonly fate: Fate
  readonly store: Store
  readonly start: number
  readonly everyone: ReadonlyArray<Address>
  readonly claims: Array<Claim>
  readonly diary: Array<string>
}

type Deed = (day: Day) => Effect.Effect<void, unknown>

const note = ({ diary }: Day, what: string, told: unknown): void => {
  diary.push(`${what}: ${JSON.stringify(told)}`)
}

/** Notes how a verb ended: what it answered, as far as all stores must agree on it, or how it failed. */
const noted = <A, E extends { readonly _tag: string }>(
  day: Day,
  what: string,
  verb: Effect.Effect<A, E>,
  facts: (answer: A) => unknown
) =>
  Effect.map(Effect.result(verb), (outcome) => {
    note(day, what, Result.isSuccess(outcome) ? facts(outcome.success) : outcome.failure._tag)
    return outcome
  })

const aTimer = ({ fate }: Day, now: number, name: string): OpenTimer => ({
  name,
  dueAt: now + fate.between(-500, 5_000),
  event: { type: "timer", name }
})

const hearings: ReadonlyArray<ReadonlyArray<Lane>> = [[], ["control"], ["control", "reply"], ["mail"], LANES, LANES]

const anyState = (day: Day, now: number): AssistantState => {
  const { fate } = day
  const names = ["tea", "lunch"].slice(0, fate.pick([0, 0, 0, 1, 2]))
  return aState({
    snapshot: { mood: fate.between(0, 1_000) },
    jobs: fate.chance(0.25) ? [aJob()] : [],
    timers: names.map((name) => aTimer(day, now, name)),
    receives: fate.pick(hearings)
  })
}

/** A state in a few words, its times counted from the start of the day. */
const shapeOf = ({ start }: Day, state: AssistantState | undefined) =>
  state === undefined
    ? []
    : [
        state.snapshot,
        state.jobs.map(({ name }) => name),
        state.timers.map(({ name, dueAt }) => [name, dueAt - start]),
        state.receives
      ]

const send: Deed = (day) => {
  const { fate, store, everyone } = day
  const to = fate.pick([...everyone, anAddress("nobody", everyone[0]?.tenant)])
  const letter = inLane[fate.pick(LANES)](`e-${fate.between(0, 40)}`, to)
  const what = `send ${letter.id} to ${to.assistant}`
  return noted(day, what, store.mailbox.accept(letter), ({ outcome }) => outcome)
}

const claim: Deed = (day) => {
  const { fate, store, start, claims } = day
  const address = fate.pick(day.everyone)
  const worker = `worker-${fate.between(1, 3)}`
  const leaseMillis = fate.between(500, LONGEST_LEASE_MILLIS)
  const verb = store.mailbox.claim({ address, worker, leaseMillis })
  const what = `${worker} claims ${address.assistant}`
  return Effect.map(
    noted(day, what, verb, ({ claim: { leaseUntil }, ...hold }) => [
      leaseUntil - start,
      hold.version,
      hold.attempts,
      hold.note,
      shapeOf(day, hold.state)
    ]),
    (outcome) => {
      if (Result.isSuccess(outcome)) claims.push(outcome.success.claim)
    }
  )
}

/** Mostly the newest claim, now and then a stale one. */
const anyClaim = ({ fate, claims }: Day): Claim | undefined =>
  claims.length === 0 ? undefined : fate.chance(0.7) ? claims.at(-1) : fate.pick(claims)

const renew: Deed = (day) => {
  const { fate, store, start } = day
  const held = anyClaim(day)
  if (held === undefined) return Effect.void
  const verb = store.mailbox.renew(held, fate.between(500, LONGEST_LEASE_MILLIS))
  return noted(day, `renew ${held.address.assistant}`, verb, ({ leaseUntil }) => leaseUntil - start)
}

const release: Deed = (day) => {
  const held = anyClaim(day)
  if (held === undefined) return Effect.void
  return noted(day, `release ${held.address.assistant}`, day.store.mailbox.release(held), () => "released")
}

const leaveNote: Deed = (day) => {
  const held = anyClaim(day)
  if (held === undefined) return Effect.void
  const text = `note ${day.diary.length}`
  return noted(day, `note on ${held.address.assistant}`, day.store.mailbox.note(held, text), () => text)
}

const anyCause = ({ fate, store }: Day, address: Address) =>
  Effect.map(store.mailbox.pending(address, [fate.pick(LANES)], 1), ([letter]): Partial<Entry> => {
    if (letter === undefined || fate.chance(0.3)) return { cause: { kind: "job", id: "1/infer" } }
    if (fate.chance(0.2)) return burying(letter, "poison")
    const { id } = letter
    return { ...startingWith(letter), ...(fate.chance(0.5) ? { settled: [{ id, outcome: "handled" as const }] } : {}) }
  })

/** What the entry of this number used. It draws no lots: the deeds of a day are the same with it. */
const callOf = (no: number): StepRecord => ({
  id: "1/infer",
  kind: no % 3 === 0 ? "compact" : "infer",
  name: "call",
  ok: true,
  elapsedMs: 1,
  spent: ["small", "large"].slice(no % 2).map((model) => ({
    model,
    calls: 1,
    inputTokens: no * 10,
    cachedTokens: no,
    outputTokens: no + 1,
    reasoningTokens: 0,
    costMicros: no,
    unpricedCalls: 0
  }))
})

const commit: Deed = (day) =>
  Effect.gen(function* () {
    const { fate, store, start, everyone } = day
    const held = anyClaim(day)
    if (held === undefined) return
    const { address, epoch } = held
    const now = yield* Clock.currentTimeMillis
    const version = (yield* store.ledger.inspect(address))?.version ?? 0
    const no = version + fate.pick([1, 1, 1, 1, 1, 1, 0, 2])
    const words = ["one", "two", "three"].slice(fate.between(0, 3))
    const sends = words.filter(() => fate.chance(0.3))
    const entry = anEntry({
      no,
      epoch,
      at: now - start,
      ...(yield* anyCause(day, address)),
      step: callOf(no),
      messages: words.map((word) => aMessage(`${word} of ${no}`, { tokens: fate.between(1, 9) })),
      sends: sends.map((word) => anEnvelope({ id: `${address.assistant}-${no}-${word}`, to: fate.pick(everyone) }))
    })
    const verb = store.ledger.commit(held, { entry, state: anyState(day, now) })
    yield* noted(day, `commit ${no} of ${address.assistant} after ${version}`, verb, () => "written")
  })

const openSends = ({ store, everyone }: Day) =>
  Effect.map(store.ledger.openSends(1_000), (sends) =>
    sends.filter(({ envelope }) => envelope.to.tenant === everyone[0]?.tenant)
  )

const settle: Deed = (day) =>
  Effect.gen(function* () {
    const some = (yield* openSends(day)).filter(() => day.fate.chance(0.4))
    yield* day.store.ledger.settleSends(some.map(({ seq }) => seq))
    note(
      day,
      "settle",
      some.map(({ envelope }) => envelope.id)
    )
  })

const wait: Deed = (day) => {
  const millis = day.fate.between(0, 3_000)
  note(day, "wait", millis)
  return TestClock.adjust(millis)
}

const glance: Deed = (day) =>
  Effect.gen(function* () {
    const { store, start } = day
    const now = yield* Clock.currentTimeMillis
    const due = yield* store.mailbox.due(1_000)
    const first = yield* store.mailbox.due(1)
    const next = yield* store.mailbox.nextDue
    const when = next === undefined ? "at rest" : Math.max(next, now) - start
    note(day, "due", [due.map(({ assistant }) => assistant).toSorted(), first.length, when])
  })

const look: Deed = (day) =>
  Effect.gen(function* () {
    const { fate, store, everyone } = day
    for (const address of everyone) {
      const record = yield* store.ledger.inspect(address)
      const pending = yield* store.mailbox.pending(address, LANES, fate.between(1, 12))
      const entries = yield* store.ledger.entries(address, fate.between(0, 9), fate.between(1, 9))
      const recent = yield* store.ledger.recent(address, fate.between(0, 60))
      note(day, `look at ${address.assistant}`, [
        [record?.version, record?.waiting, shapeOf(day, record?.state)],
        pending.map(({ id, lane }) => [lane, id]),
        entries.map(({ entry: { no, at, messages, settled } }) => [no, at, messages.length, settled]),
        recent.map(({ message, place }) => [message.content, place.no, place.index])
      ])
    }
    const letters = (yield* store.ledger.deadLetters(1_000)).filter(
      ({ address }) => address.tenant === everyone[0]?.tenant
    )
    note(
      day,
      "sends",
      (yield* openSends(day)).map(({ envelope }) => envelope.id)
    )
    note(day, "dead", letters.map(({ address, envelope }) => `${address.assistant} ${envelope}`).toSorted())
    note(day, "totals", yield* store.ledger.totals)
    const tenant = everyone[0]?.tenant ?? ada.tenant
    note(day, "usage", yield* store.ledger.usage({ tenant, by: ["assistant", "model", "purpose"], limit: 100 }))
  })

const goHome: Deed = (day) =>
  Effect.gen(function* () {
    const { mailbox, ledger } = day.store
    yield* TestClock.adjust(LONGEST_LEASE_MILLIS)
    for (const address of day.everyone) {
      const { claim, version } = yield* mailbox.claim({ address, worker: "evening", leaseMillis: 1 })
      const state = aState({ status: "retired", receives: [] })
      yield* ledger.commit(claim, { entry: anEntry({ no: version + 1, cause: { kind: "job", id: "rest" } }), state })
      yield* mailbox.release(claim)
    }
    yield* ledger.settleSends((yield* openSends(day)).map(({ seq }) => seq))
    yield* glance(day)
  })

const deeds: ReadonlyArray<Deed> = [
  send,
  send,
  send,
  claim,
  claim,
  renew,
  leaveNote,
  release,
  commit,
  commit,
  commit,
  settle,
  wait,
  wait
]

/** Plays one day; answers its diary. */
export const playDay = (seed: number, store: Store): Effect.Effect<ReadonlyArray<string>, unknown> =>
  Effect.gen(function* () {
    const fate = fateOf(seed)
    const start = yield* Clock.currentTimeMillis
    const everyone = ["ada", "bob", "cleo"].map((name) => anAddress(name, `day-${seed}`))
    const day: Day = { fate, store, start, everyone, claims: [], diary: [] }
    for (const address of everyone) {
      yield* store.ledger.create({ address, state: anyState(day, start), entry: anEntry() })
    }
    for (let count = 1; count <= DEEDS; count++) {
      yield* fate.pick(deeds)(day)
      yield* glance(day)
      if (count % DEEDS_BETWEEN_LOOKS === 0) yield* look(day)
    }
    yield* goHome(day)
    return day.diary
  })
