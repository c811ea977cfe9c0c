// Consolidating: journal and conversation become facts, a batch a step (F49).
// Owns what is written with a batch. Leaves which one is next to lived.ts, asking, reading and routing to `memory`.
// C1  A batch is read once: its facts, the importance of its entries, and the mark of how far the dream has come leave
//     with one commit.
// C2  An entry that a person weighed keeps its importance, and so does the archive of a compaction, whose importance is
//     given (F55); what a heuristic or a model guessed before is replaced by what the model says now.

import { contextOf, personaRejection } from "@reverie/assistant"
import {
  applyRoutes,
  asksFor,
  type Consolidated,
  type EntityProfile,
  expired,
  type Fact,
  isEntityProfile,
  isFact,
  namingPeople,
  NOTHING_WORKING,
  type Profiles,
  readConsolidated,
  readRoutes,
  type Route,
  routeAsk,
  routeQuestions,
  threadOf
} from "@reverie/memory"
import { Model } from "@reverie/model"
import {
  type Address,
  addressKey,
  type Ask,
  type Envelope,
  type Json,
  type RecordChange,
  type Usage
} from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Ledger } from "@reverie/ledger"
import { assemble, collect, contextIn, dataOf, openWindow, type Round, withRound } from "@reverie/context"
import { Conversations } from "../session/own-records.ts"
import { keepsApart } from "../session/person.ts"
import type { Session } from "../session/session.ts"
import { Faults } from "../jobs/job-end.ts"
import type { Batch } from "./lived.ts"

// Known: what memory holds, read for a step of a dream.
// K1  A record that does not fit is left alone: neither used nor overwritten nor taken away.

/** Every fact of whatever state, by its id. */
export const factsOf = Effect.fnUntraced(function* ({ address }: Session) {
  const rows = yield* (yield* Ledger).records(address, ["fact"])
  return new Map(rows.flatMap(({ value }) => (isFact(value) ? [[value.id, value] as const] : [])))
})

export const profilesOf = Effect.fnUntraced(function* ({ address }: Session) {
  const rows = yield* (yield* Ledger).records(address, ["entity"])
  const profiles: Profiles = new Map(
    rows.flatMap(({ value }) => (isEntityProfile(value) ? [[value.id, value] as const] : []))
  )
  return profiles
})

export const factChange = (fact: Fact): RecordChange => ({ kind: "fact", key: fact.id, value: fact as unknown as Json })

export const profileChange = (profile: EntityProfile): RecordChange => ({
  kind: "entity",
  key: profile.id,
  value: profile as unknown as Json
})

// Step: one step of a dream operation, and how the model is asked for it.
// S1  What a step changes, and its line in the report, leave with one commit: a crash repeats the step whole.
// S2  What is to be read stands in the user role, never beside the instructions, in as many asks as it needs.

/** What one step did. */
export interface DreamStep {
  /** Things looked at, things the model or a rule proposed, and things that came of it. */
  readonly read: number
  readonly proposed: number
  readonly accepted: number
  readonly records: ReadonlyArray<RecordChange>
  readonly usage: ReadonlyArray<Usage>
  readonly sends?: ReadonlyArray<Envelope>
  /** What it would put away if a person says so, as an account names items. */
  readonly wouldForget?: ReadonlyArray<string>
  /** The operation goes on with another step. */
  readonly more?: boolean
  /** What of it could not be done. */
  readonly error?: string
  /** Why there was nothing to do. */
  readonly skipped?: string
  /** What else is worth knowing of it. */
  readonly note?: string
}

export const nothingToDo = (skipped: string, records: ReadonlyArray<RecordChange> = []): DreamStep => ({
  read: 0,
  proposed: 0,
  accepted: 0,
  records,
  usage: [],
  skipped
})

const promptOf = ({ book, definition, rendering: { values } }: Session, { data, instructions }: Ask) => {
  const { maxContextTokens, reservedResponseTokens } = definition
  const context = contextIn(definition, "sleep_consolidate")
  const texts = { system_prompt: instructions, semantic_memories: dataOf(data) }
  const { absent, components } = collect({ context, texts, values, book })
  const window = openWindow([], maxContextTokens)
  return assemble({ components, absent, window, context, maxContextTokens, reservedResponseTokens, count: book.count })
}

/** An ask that is a part of a loop. `no`: the same for every attempt at it, and no other ask of any dream has it. */
type InLoop = Omit<Round, "toolTokens"> & { readonly no: number }

/** Asks the model. `name` tells the asks of one step apart. */
export const askModel = Effect.fnUntraced(function* (
  session: Session,
  ask: Ask,
  name: string = ask.task,
  loop?: InLoop
) {
  const model = yield* Model
  const assembled = yield* Effect.fromResult(yield* session.inSlices(() => promptOf(session, ask)))
  const around = loop === undefined ? undefined : { ...loop, toolTokens: session.book.toolTokens(loop.offers) }
  const { round, tick } = contextOf(session.decoded)
  const callPrefix = `dream.${tick}.${name}.${loop?.no ?? round}`
  const faults = yield* Faults
  yield* faults.at("before-model", session.address)
  const asked = yield* Effect.result(model.infer({ ...withRound(assembled, around), callPrefix }))
  yield* faults.at("after-model", session.address)
  return yield* Effect.fromResult(asked)
})

const routed = Effect.fnUntraced(function* (
  session: Session,
  facts: ReadonlyMap<string, Fact>,
  { proposed }: Consolidated,
  usage: Array<Usage>
) {
  const parts = keepsApart(session) ? [...Map.groupBy(proposed, threadOf)] : [[undefined, proposed] as const]
  const questions = parts.flatMap(([thread, ofOne]) => {
    const known = [...facts.values()].filter((fact) => !keepsApart(session) || threadOf(fact) === thread)
    return routeQuestions(known, ofOne)
  })
  const routes: Array<Route> = []
  for (const [part, ask] of asksFor(routeAsk, questions, session.definition).entries()) {
    const reply = yield* askModel(session, ask, `route.${part}`)
    usage.push(reply.usage)
    routes.push(...readRoutes(reply.text, questions).routes)
  }
  return routes
})

/** What came of the asks over a batch. */
export interface Answered {
  readonly text: string
  readonly usage: ReadonlyArray<Usage>
}

const noteOf = (counts: Readonly<Record<string, number>>): { readonly note?: string } => {
  const notes = Object.entries(counts).flatMap(([what, count]) => (count === 0 ? [] : [`${count} ${what}`]))
  return notes.length === 0 ? {} : { note: notes.join("; ") }
}

/** What becomes memory of a batch, by what was answered; it is read with that. */
export const consolidated = Effect.fnUntraced(function* (
  session: Session,
  { items, marks, more }: Batch,
  { text, usage: before }: Answered
) {
  const usage = [...before]
  const names = [session.address.assistant]
  const answer = readConsolidated(text, items, (fact) => personaRejection(fact, names))
  const facts = yield* factsOf(session)
  const heard = [...facts.values(), ...items].filter(({ origin }) => origin.type === "person" && origin.name !== "")
  const speakers = new Set(heard.map(({ origin }) => origin.name))
  const read = { ...answer, proposed: answer.proposed.map((each) => namingPeople(each, speakers)) }
  const routes = yield* routed(session, facts, read, usage)
  const moment = { tick: contextOf(session.decoded).tick, now: yield* Clock.currentTimeMillis }
  const { review } = session.definition
  const learnt = applyRoutes(facts.values(), read.proposed, routes, moment, review)
  const { added, changed, quarantined, waiting } = learnt
  const step: DreamStep = {
    read: items.length,
    proposed: read.proposed.length + read.dropped.length,
    accepted: added.length,
    records: [...changed.map(factChange), ...marks(read)],
    usage,
    more,
    ...noteOf({ "held back": quarantined.length, "wait for a person": waiting.length })
  }
  return step
})

/** Forgets the conversations that are over; tells how many there were and how many went. */
export const forgetStale = Effect.fnUntraced(function* (address: Address, now: number) {
  const held = yield* Conversations
  const key = addressKey(address)
  const working = held.get(key) ?? NOTHING_WORKING
  const live = expired(working, now)
  if (live.size === 0) held.delete(key)
  else held.set(key, live)
  return { known: working.size, gone: working.size - live.size }
})
