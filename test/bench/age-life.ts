// AgeLife: the past of a very old assistant.
// Owns writing it through the ports of a store, under one claim: an envelope and two entries a message, as its ticks would
// have left them, and what nights and compactions keep beside them. Leaves the sayings to age-sayings.ts, living on to the
// fleet, and comparing it with a life that was lived to age-likeness.ts.
// L1  However old it is, the same share of the history is in the window: the rest lies behind the marker of a compaction.

import type { HistoryStart } from "@reverie/context"
import { Ledger } from "@reverie/ledger"
import { Mailbox, MAX_PENDING } from "@reverie/mailbox"
import { type Fact, messageId, newProfile } from "@reverie/memory"
import {
  type Address,
  AssistantId,
  type Claim,
  DEFAULT_TENANT,
  type AcceptedEnvelope,
  type Entry,
  ENTRY_VERSION,
  ENVELOPE_VERSION,
  EnvelopeId,
  type Json,
  type Message,
  type RecordChange
} from "@reverie/protocol"
import { creationOf, type Definition } from "@reverie/runtime"
import * as Effect from "effect/Effect"
import type { Layer } from "effect/Layer"
import type { Saying, Sayings } from "./age-sayings.ts"

/** Messages whose commits are under way at the same time: they share what waits for the disk. */
const TOGETHER = MAX_PENDING
const LEASE_MILLIS = 3_600_000
/** A conversation of two lines a minute, which ended a minute ago. */
const STEP_MILLIS = 30_000

const NIGHT_MESSAGES = 100
const FACTS_A_NIGHT = 25
const VISITOR_MESSAGES = 200
const OBSERVATIONS = 20
const COMPACTION_MESSAGES = 40
/** What the extraction before a compaction writes down at most, and what a journal has at hand. */
const EXTRACTED_ENTRIES = 10
const JOURNAL_ENTRIES = 90
const SHOWN_MESSAGES = 20
/** As many letters as the summary of a compaction may have behind a window of 8,000 tokens. */
const SUMMARY_CHARS = 3_200

const report = {
  context: "tick_event",
  parts: ["system_prompt", "character_context", "semantic_memories", "conversation_history", "pending_event"].map(
    (key, id) => ({ id: 1_000 * id, key, messages: 1, tokens: 400 })
  ),
  toolTokens: 38,
  tokens: 5_000,
  limit: 6_000,
  share: 0.8,
  absent: ["entity_context", "context_buffer", "goals"].map((key) => ({ key, reason: "empty" })),
  leftOut: [],
  cuts: [],
  interrupted: []
}

const pattern = {
  mode: "react_loop",
  max_iterations: 5,
  allowed_categories: null,
  terminal_ends_loop: true,
  dangerous_requires_confirm: true,
  multi_tool_enabled: true,
  sub_agents_enabled: false,
  source_layers: { mode: "context", max_iterations: "static", multi_tool_enabled: "allowed" }
}

/** Memories that a tick was shown. */
const recalledAt = (place: number): ReadonlyArray<string> =>
  Array.from({ length: 8 }, (_, index) => messageId({ no: arrivalOf(Math.max(0, place - 7 * index)), index: 0 }))

interface Past {
  readonly sayings: Sayings
  readonly messages: number
  readonly now: number
}

/** The numbers of the two entries that a message leaves; the first one is the creation. */
const arrivalOf = (place: number): number => 2 + 2 * place

const timeOf = ({ messages, now }: Past, place: number): number => now - (messages - place + 2) * STEP_MILLIS

const answerTo = ({ from, text }: Saying): string => `I hear you, ${from}: ${text.slice(0, 60)} That is noted.`

const tokensOf = (text: string): number => Math.ceil(text.length / 4)

const said = (role: Message["role"], content: string, at: number, name?: string): Message => ({
  role,
  content,
  at,
  tokens: tokensOf(content),
  ...(name === undefined ? {} : { name })
})

const factOf = (past: Past, place: number): Fact => {
  const { from, text } = past.sayings.at(place)
  return {
    id: `fact_${place + 1}_0`,
    text: `${from} said: ${text}`.slice(0, 200),
    at: timeOf(past, place),
    learnt_at: timeOf(past, place),
    sources: [messageId({ no: arrivalOf(place), index: 0 })],
    origin: { type: "person", name: from },
    trust: 0.9,
    importance: 5,
    entities: [from],
    links: [],
    state: "active",
    linked: true,
    profiled: true
  }
}

/** What is known of someone it met that day, and hardly ever again. */
const profileAfter = (past: Past, place: number): ReadonlyArray<RecordChange> => {
  const name = `Visitor ${place}`
  const profile = newProfile(name, timeOf(past, place), "person")
  if (profile === undefined || place % VISITOR_MESSAGES !== VISITOR_MESSAGES - 1) return []
  const observations = Array.from({ length: OBSERVATIONS }, (_, index) => ({
    id: `observation_${place}_${index}`,
    text: past.sayings.at(Math.max(0, place - index)).text,
    at: timeOf(past, place),
    source: messageId({ no: arrivalOf(place), index: 0 }),
    origin: { type: "person", name },
    trust: 0.9,
    digested: true
  }))
  return [{ kind: "entity", key: profile.id, value: { ...profile, observations } as unknown as Json }]
}

/** What the night after a message has kept of the day. */
const nightAfter = (past: Past, place: number): ReadonlyArray<RecordChange> =>
  place % NIGHT_MESSAGES === NIGHT_MESSAGES - 1
    ? [
        ...Array.from({ length: FACTS_A_NIGHT }, (_, index): RecordChange => {
          const fact = factOf(past, place - index * Math.floor(NIGHT_MESSAGES / FACTS_A_NIGHT))
          return { kind: "fact", key: fact.id, value: fact as unknown as Json }
        }),
        ...profileAfter(past, place)
      ]
    : []

const summaryOf = (past: Past, place: number): string =>
  Array.from({ length: 30 }, (_, index) => past.sayings.at(Math.max(0, place - index)).text)
    .join("\n")
    .slice(0, SUMMARY_CHARS)

const startAt = (past: Past, place: number, first: number): HistoryStart => {
  const summary = summaryOf(past, place)
  const from = { no: arrivalOf(first), index: 0 }
  const origin = { no: arrivalOf(0), index: 0 }
  return {
    compaction: `compact_${place}`,
    from,
    marker: { role: "system", content: `[CONTEXT SUMMARY]\n${summary}`, at: timeOf(past, place), tokens: 830 },
    summary,
    account: {
      count: 2 * first,
      from: origin,
      since: timeOf(past, 0),
      results: [],
      newest: [],
      unfinished: [],
      moreUnfinished: 0
    }
  }
}

/** A compaction after a message, with all that its record holds. */
const compactionAfter = (past: Past, place: number): ReadonlyArray<RecordChange> => {
  if (place % COMPACTION_MESSAGES !== COMPACTION_MESSAGES - 1) return []
  const start = startAt(past, place, place + 1)
  const at = timeOf(past, place)
  const [from, to] = [place + 1 - COMPACTION_MESSAGES, place].map((each) => ({ no: arrivalOf(each), index: 0 }))
  const value = {
    id: start.compaction,
    at,
    trigger: "emergency",
    strategy: "recursive-summarization",
    threshold: 0.8,
    ratio: 0.81,
    model: null,
    pieces: 3,
    extraction: null,
    range: { from, to, since: at - COMPACTION_MESSAGES * STEP_MILLIS, until: at },
    compacted_count: 2 * COMPACTION_MESSAGES,
    preserved_count: 0,
    before: { messages: 2 * COMPACTION_MESSAGES, tokens: 6_500, start },
    after: { messages: 1, tokens: 830, from: start.from },
    summary: start.summary,
    marker: start.marker,
    journal_entry: start.compaction
  }
  return [{ kind: "compaction", key: start.compaction, value: value as unknown as Json }]
}

/** Its records at the end: the newest journal, and where the history begins that it is shown. */
const recordsAtTheEnd = (past: Past): ReadonlyArray<RecordChange> => {
  const { messages } = past
  const extracted = EXTRACTED_ENTRIES * Math.floor(messages / COMPACTION_MESSAGES)
  const places = Array.from({ length: Math.min(JOURNAL_ENTRIES, extracted) }, (_, index) => messages - 1 - index)
  const journal = places.map((place): RecordChange => ({
    kind: "journal",
    key: `entry_${place}_0`,
    value: {
      id: `entry_${place}_0`,
      timestamp: new Date(timeOf(past, place)).toISOString(),
      content: past.sayings.at(place).text,
      source_type: "direct",
      source_trust: 0.9,
      source_entity: null,
      importance: 6,
      importance_method: "heuristic",
      tags: ["talk"],
      related_projects: []
    }
  }))
  const start = startAt(past, messages - 1, Math.max(0, messages - SHOWN_MESSAGES))
  return [...journal, { kind: "state", key: "history-start", value: start as unknown as Json }]
}

type EntryPart = Pick<Entry, "no" | "at" | "messages" | "event" | "cause" | "status"> & Partial<Entry>

const entriesOf = (past: Past, place: number, { id: envelope, seq }: AcceptedEnvelope): ReadonlyArray<EntryPart> => {
  const saying = past.sayings.at(place)
  const at = timeOf(past, place)
  const no = arrivalOf(place)
  const reply = answerTo(saying)
  const isLast = place === past.messages - 1
  const records = [
    ...nightAfter(past, place),
    ...compactionAfter(past, place),
    ...(isLast ? recordsAtTheEnd(past) : [])
  ]
  const heard: EntryPart = {
    no,
    at,
    iteration: 0,
    cause: { kind: "envelope", lane: "mail", seq, id: envelope },
    event: { type: "message", envelope, hops: 0, signals: { tokenRatio: 0.5, mailWaiting: false } },
    status: "awake.thinking.inferring",
    messages: [said("user", saying.text, at, saying.from)]
  }
  const answered: EntryPart = {
    no: no + 1,
    at: at + 1_000,
    iteration: 1,
    cause: { kind: "job", id: `${no}/infer` },
    event: { type: "xstate.done.actor.infer", output: { calls: [] }, actorId: "infer" },
    status: "awake.idle",
    messages: [said("assistant", reply, at + 1_000)],
    step: {
      id: `${no}/infer`,
      kind: "infer",
      name: "infer",
      ok: true,
      elapsedMs: 900,
      usage: { inputTokens: 5_000, outputTokens: 20, source: "counted" },
      detail: { model: "reverie-offline", finish: "stop", context: report, pattern, recalled: recalledAt(place) }
    },
    settled: [{ id: envelope, outcome: "handled" }],
    tickEnd: { envelope, outcome: "answered", iterations: 1, reply },
    ...(records.length === 0 ? {} : { records })
  }
  return [heard, answered]
}

/** Sends what was said at some places, and answers how it was accepted, in that order. */
const accepted = Effect.fnUntraced(function* (to: Address, past: Past, places: ReadonlyArray<number>) {
  const mailbox = yield* Mailbox
  yield* Effect.forEach(
    places,
    (place) => {
      const { from, text } = past.sayings.at(place)
      const id = EnvelopeId.make(`m${place}`)
      return mailbox.accept({ v: ENVELOPE_VERSION, id, to, from, event: { type: "message", text }, hops: 0 })
    },
    { concurrency: "unbounded", discard: true }
  )
  return (yield* mailbox.pending(to, ["mail"], MAX_PENDING)).filter((each) => "event" in each)
})

const written = Effect.fnUntraced(function* (
  claim: Claim,
  past: Past,
  creation: Effect.Success<ReturnType<typeof creationOf>>
) {
  const ledger = yield* Ledger
  for (let first = 0; first < past.messages; first += TOGETHER) {
    const places = Array.from({ length: Math.min(TOGETHER, past.messages - first) }, (_, index) => first + index)
    const heard = yield* accepted(claim.address, past, places)
    const commits = heard.flatMap((each, index) =>
      entriesOf(past, first + index, each).map((part) => ({
        entry: { v: ENTRY_VERSION, epoch: claim.epoch, tick: first + index + 1, iteration: 0, ...part } as const,
        state: creation.state
      }))
    )
    yield* Effect.forEach(commits, (commit) => ledger.commit(claim, commit), {
      concurrency: "unbounded",
      discard: true
    })
  }
})

export interface Life extends Past {
  readonly id: string
  readonly definition: Definition
}

/** Creates the assistant and writes its past. The store is opened for it and closed afterwards. */
export const seedLife = <E>(life: Life, store: Layer<Ledger | Mailbox, E>): Promise<void> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const address: Address = { tenant: DEFAULT_TENANT, assistant: AssistantId.make(life.id) }
      const mailbox = yield* Mailbox
      const creation = yield* creationOf(address, life.definition)
      yield* (yield* Ledger).create(creation)
      const { claim } = yield* mailbox.claim({ address, worker: "seed", leaseMillis: LEASE_MILLIS })
      yield* written(claim, life, creation)
      yield* mailbox.release(claim)
    }).pipe(Effect.provide(store))
  )
