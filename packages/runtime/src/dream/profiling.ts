// Profiling: what was learnt of someone becomes part of that one's profile, a batch a step (F49, O-Mem).
// Owns the batches: first everybody hears the news, then one profile a step is asked about. Leaves profiles to `memory`.
// P1  News are heard once: facts are marked, pending observations taken away, in the commit that keeps what was heard.
// P2  A profile is asked about until nothing of it is undigested; an answer that is none leaves it for another night.

import { contextOf, type DreamOperation } from "@reverie/assistant"
import {
  digest,
  type EntityProfile,
  type Fact,
  gather,
  pendingObservations,
  profileAsk,
  type Profiles,
  readProfileAnswer
} from "@reverie/memory"
import { defined, type RecordChange, type RecordRow, type Usage } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { recordsOf } from "../session/own-records.ts"
import type { Session } from "../session/session.ts"
import {
  askModel,
  type DreamStep,
  factChange,
  factsOf,
  nothingToDo,
  profileChange,
  profilesOf
} from "./consolidating.ts"

/** Facts that are heard in one step. */
const NEWS = 50

const undigested = ({ observations }: EntityProfile): number => observations.filter(({ digested }) => !digested).length

const hasWaiting = (profiles: Profiles): boolean => [...profiles.values()].some((profile) => undigested(profile) > 0)

const hear = (
  session: Session,
  profiles: Profiles,
  news: ReadonlyArray<Fact>,
  pending: ReturnType<typeof pendingObservations>,
  isMoreNews: boolean
): DreamStep => {
  const gathered = gather(profiles, { facts: news, pending, self: [session.address.assistant] })
  const heard: ReadonlyArray<RecordChange> = [
    ...news.map((fact) => factChange({ ...fact, profiled: true })),
    ...pending.map(({ key }): RecordChange => ({ kind: "observation", key, value: null }))
  ]
  const changed = gathered.changed.flatMap((id) => gathered.profiles.get(id) ?? [])
  return {
    read: news.length + pending.length,
    proposed: 0,
    accepted: 0,
    records: [...heard, ...changed.map(profileChange)],
    usage: [],
    more: isMoreNews || hasWaiting(gathered.profiles)
  }
}

/**
 * The profile with the most to digest; of equal ones the first by id, so that every run chooses alike. Another one on
 * another night: a profile whose answers can not be read must not keep the others waiting for ever.
 */
const nextOf = (profiles: Profiles, night: number): EntityProfile | undefined => {
  const waiting = [...profiles.values()]
    .filter((profile) => undigested(profile) > 0)
    .toSorted((a, b) => undigested(b) - undigested(a) || (a.id < b.id ? -1 : 1))
  return waiting[night % Math.max(1, waiting.length)]
}

export const profiling = Effect.fnUntraced(function* (session: Session) {
  const profiles = yield* profilesOf(session)
  const facts = yield* factsOf(session)
  const pending = pendingObservations(recordsOf(session.own, "observation"))
  const unheard = [...facts.values()].filter(({ profiled, state }) => state === "active" && !profiled)
  const news = unheard.slice(0, NEWS)
  if (news.length > 0 || pending.length > 0) return hear(session, profiles, news, pending, unheard.length > NEWS)
  const profile = nextOf(profiles, contextOf(session.decoded).tick)
  const ask = profile === undefined ? undefined : profileAsk(profile)
  if (profile === undefined || ask === undefined) return nothingToDo("nothing new was heard of anybody")
  const reply = yield* askModel(session, ask, `profile.${profile.id}`)
  const answer = readProfileAnswer(reply.text, ask)
  const unread: DreamStep = { read: ask.asked.length, proposed: 0, accepted: 0, records: [], usage: [reply.usage] }
  if (answer === undefined) return { ...unread, skipped: "the answer was none" }
  const { added, profile: after, updated } = digest(profile, ask, answer.operations, yield* Clock.currentTimeMillis)
  const step: DreamStep = {
    read: ask.asked.length,
    proposed: answer.operations.length + answer.dropped,
    accepted: added.length + updated.length,
    records: [profileChange(after)],
    usage: [reply.usage],
    more: hasWaiting(new Map(profiles).set(after.id, after))
  }
  return step
})

// Report: what one night's dream did, operation by operation.
// R1  Every step leaves its mark: read, proposed, accepted, tokens and time add up over the steps of an operation.
// R2  At most MAX_REPORTS nights are at hand; older ones stand in the ledger.

const MAX_REPORTS = 30

const count = Schema.Finite

const DreamLine = Schema.Struct({
  operation: Schema.String,
  steps: count,
  read: count,
  proposed: count,
  accepted: count,
  tokens: count,
  elapsed_ms: count,
  skipped: Schema.optionalKey(Schema.String),
  error: Schema.optionalKey(Schema.String)
})
/** One step of a dream, as its report tells it. */
export type DreamLine = typeof DreamLine.Type

/** As it is kept, under its id, as a record of the kind `dream`. */
const DreamReport = Schema.Struct({
  id: Schema.String,
  began_at: count,
  ended_at: count,
  lines: Schema.Array(DreamLine)
})
/** What a dream read, proposed and accepted. */
export type DreamReport = typeof DreamReport.Type

export const isDreamReport = Schema.is(DreamReport)

export const dreamId = (tick: number): string => `dream_${tick}`

/** The report of one step. */
export interface StepMark {
  readonly operation: DreamOperation
  readonly startedAt: number
  readonly endedAt: number
  readonly read: number
  readonly proposed: number
  readonly accepted: number
  readonly usage: ReadonlyArray<Usage>
  readonly skipped?: string
  readonly error?: string
}

export const tokensOf = (usage: ReadonlyArray<Usage>): number =>
  usage.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0)

const added = (line: DreamLine | undefined, mark: StepMark): DreamLine => ({
  operation: mark.operation,
  steps: (line?.steps ?? 0) + 1,
  read: (line?.read ?? 0) + mark.read,
  proposed: (line?.proposed ?? 0) + mark.proposed,
  accepted: (line?.accepted ?? 0) + mark.accepted,
  tokens: (line?.tokens ?? 0) + tokensOf(mark.usage),
  elapsed_ms: (line?.elapsed_ms ?? 0) + mark.endedAt - mark.startedAt,
  // An operation that has done something and then found nothing left was not skipped.
  ...defined({
    skipped:
      mark.skipped === undefined || (line !== undefined && line.skipped === undefined) ? undefined : mark.skipped,
    error: mark.error
  })
})

const withMark = (report: DreamReport, mark: StepMark): DreamReport => {
  const known = report.lines.some(({ operation }) => operation === mark.operation)
  const lines = known
    ? report.lines.map((line) => (line.operation === mark.operation ? added(line, mark) : line))
    : [...report.lines, added(undefined, mark)]
  return { ...report, ended_at: mark.endedAt, lines }
}

const surplus = (rows: ReadonlyArray<RecordRow>, kept: number): ReadonlyArray<RecordChange> =>
  rows
    .flatMap(({ key, value }) => (isDreamReport(value) ? [{ key, endedAt: value.ended_at }] : []))
    .toSorted((a, b) => b.endedAt - a.endedAt)
    .slice(kept)
    .map(({ key }) => ({ kind: "dream", key, value: null }))

/** The report of the night with one more step in it; what is too old leaves. `rows` are the reports at hand. */
export const markStep = (rows: ReadonlyArray<RecordRow>, id: string, mark: StepMark): ReadonlyArray<RecordChange> => {
  const present = rows.find(({ key }) => key === id)?.value
  const begun = { id, began_at: mark.startedAt, ended_at: mark.endedAt, lines: [] }
  const report = withMark(isDreamReport(present) ? present : begun, mark)
  const others = rows.filter(({ key }) => key !== id)
  return [
    { kind: "dream", key: id, value: { ...report, lines: [...report.lines] } },
    ...surplus(others, MAX_REPORTS - 1)
  ]
}
