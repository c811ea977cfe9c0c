// Profiling: what was learnt of someone becomes part of that one's profile, a batch a step (F49, O-Mem).
// Owns the batches: profiles hear what they have room for, then one of them a step is asked about, and so on until nothing
// is left. Leaves profiles to `memory`.
// P1  A fact is marked in the commit with which the last of its profiles has read it, and no sooner; a pending observation is
//     taken away in the commit that keeps it in a profile, where it stays until it was read.
// P2  A night reads everything: nothing gives way unread, and the profile that is asked about is the one with most to read.
// P4  Where people are kept apart, an ask is about what one of them said, and shows no more of the profile.
// P3  A profile about which no answer can be had is postponed to another night. It keeps what it has heard, and holds up no one.

import { contextOf, type DreamOperation } from "@reverie/assistant"
import {
  digest,
  type EntityProfile,
  type Fact,
  gather,
  nextNews,
  pendingObservations,
  profileAsk,
  type Profiles,
  readProfileAnswer,
  roomFor,
  threadOfObservation,
  waitingIn
} from "@reverie/memory"
import { defined, isJsonObject, type RecordChange, type RecordRow, type Usage } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { recordsOf } from "../session/own-records.ts"
import { keepsApart } from "../session/person.ts"
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

/** Facts and observations that are heard in one step. */
const NEWS = 50

/** Under this key of the kind `state` stands which profiles were postponed, and in which night. */
const POSTPONED_KEY = "profiles-postponed"

const postponedTonight = ({ decoded, own }: Session): ReadonlySet<string> => {
  const kept = recordsOf(own, "state").get(POSTPONED_KEY)
  if (kept === undefined || !isJsonObject(kept) || kept["night"] !== contextOf(decoded).tick) return new Set()
  const { profiles } = kept
  return new Set(Array.isArray(profiles) ? profiles.filter((id) => typeof id === "string") : [])
}

/** Ids of what waits in some profile to be read. */
const waitingFor = (profiles: Profiles): ReadonlySet<string> =>
  new Set([...profiles.values()].flatMap((profile) => waitingIn(profile).map(({ id }) => id)))

/** Everything that one step looks at. */
interface Scene {
  readonly profiles: Profiles
  readonly facts: ReadonlyMap<string, Fact>
  readonly postponed: ReadonlySet<string>
  /** What no profile has heard yet. */
  readonly news: Parameters<typeof nextNews>[1]
}

const sceneOf = Effect.fnUntraced(function* (session: Session) {
  const profiles = yield* profilesOf(session)
  const facts = yield* factsOf(session)
  const waiting = waitingFor(profiles)
  const unheard = [...facts.values()].filter(
    ({ id, profiled, state }) => state === "active" && !profiled && !waiting.has(id)
  )
  const pending = pendingObservations(recordsOf(session.own, "observation"))
  const news = { facts: unheard, pending, self: [session.address.assistant] }
  const scene: Scene = { profiles, facts, postponed: postponedTonight(session), news }
  return scene
})

/** The profile with the most to read; of equal ones the first by id, so that every run chooses alike. */
const nextOf = (profiles: Profiles, postponed: ReadonlySet<string>): EntityProfile | undefined =>
  [...profiles.values()]
    .filter((profile) => !postponed.has(profile.id) && waitingIn(profile).length > 0)
    .toSorted((a, b) => waitingIn(b).length - waitingIn(a).length || (a.id < b.id ? -1 : 1))[0]

/** The marks of those that no profile has to read any more. */
const marksOf = (facts: ReadonlyArray<Fact>, profiles: Profiles): ReadonlyArray<RecordChange> => {
  const waiting = waitingFor(profiles)
  return facts
    .filter(({ id, profiled }) => !profiled && !waiting.has(id))
    .map((fact) => factChange({ ...fact, profiled: true }))
}

const hear = ({ postponed, news, profiles }: Scene, heard: Scene["news"]): DreamStep => {
  const gathered = gather(profiles, heard)
  const changed = gathered.changed.flatMap((id) => gathered.profiles.get(id) ?? [])
  const left = news.facts.length - heard.facts.length + news.pending.length - heard.pending.length
  return {
    // Nothing is put to the model in this step.
    read: 0,
    proposed: 0,
    accepted: 0,
    records: [
      ...marksOf(heard.facts, gathered.profiles),
      ...heard.pending.map(({ key }): RecordChange => ({ kind: "observation", key, value: null })),
      ...changed.map(profileChange)
    ],
    usage: [],
    more: left > 0 || nextOf(gathered.profiles, postponed) !== undefined
  }
}

const postpone = (
  session: Session,
  { postponed, news, profiles }: Scene,
  { id, name }: EntityProfile,
  why: string
): DreamStep => {
  const all = new Set([...postponed, id])
  const value = { night: contextOf(session.decoded).tick, profiles: [...all] }
  const more = news.facts.length + news.pending.length > 0 || nextOf(profiles, all) !== undefined
  return {
    read: 0,
    proposed: 0,
    accepted: 0,
    records: [{ kind: "state", key: POSTPONED_KEY, value }],
    usage: [],
    more,
    note: `${name} is left for another night: ${why}`
  }
}

/** What of a profile is of the conversation that the oldest of its news is of. */
const ofOneThread = (profile: EntityProfile): EntityProfile => {
  const [first] = waitingIn(profile).toSorted((a, b) => a.at - b.at)
  const thread = first === undefined ? undefined : threadOfObservation(first)
  const observations = profile.observations.filter((each) => threadOfObservation(each) === thread)
  const own = new Set(observations.map(({ id }) => id))
  const attributes = profile.attributes.filter(({ evidence }) => evidence.every((id) => own.has(id)))
  return { ...profile, aliases: [], observations, attributes }
}

export const profiling = Effect.fnUntraced(function* (session: Session) {
  const scene = yield* sceneOf(session)
  const { postponed, facts, news, profiles } = scene
  const heard = nextNews(profiles, news, postponed, NEWS)
  if (heard.facts.length + heard.pending.length > 0) return hear(scene, heard)
  const profile = nextOf(profiles, postponed)
  const shown = profile === undefined || !keepsApart(session) ? profile : ofOneThread(profile)
  const ask = shown === undefined ? undefined : profileAsk(shown, roomFor(session.definition))
  if (profile === undefined || ask === undefined) return nothingToDo("nothing new was heard of anybody")
  const asked = yield* askModel(session, ask, `profile.${profile.id}`).pipe(
    Effect.map((reply) => ({ reply })),
    Effect.catchTags({
      ModelRefused: ({ message }) => Effect.succeed({ refused: message }),
      ReplyUnusable: ({ message }) => Effect.succeed({ refused: message })
    })
  )
  if ("refused" in asked) return postpone(session, scene, profile, asked.refused)
  const { text, usage } = asked.reply
  const answer = readProfileAnswer(text, ask)
  if (answer === undefined)
    return { ...postpone(session, scene, profile, "the answer was none"), read: ask.asked.length, usage: [usage] }
  const { added, profile: after, updated } = digest(profile, ask, answer.operations, yield* Clock.currentTimeMillis)
  const all = new Map(profiles).set(after.id, after)
  const read = ask.asked.flatMap((id) => facts.get(id) ?? [])
  const step: DreamStep = {
    read: ask.asked.length,
    proposed: answer.operations.length + answer.dropped,
    accepted: added.length + updated.length,
    records: [profileChange(after), ...marksOf(read, all)],
    usage: [usage],
    more: news.facts.length + news.pending.length > 0 || nextOf(all, postponed) !== undefined
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
  lines: Schema.Array(DreamLine),
  /** What it would have put away, and waits for a person's word, as its account names it. */
  would_forget: Schema.optionalKey(Schema.Array(Schema.String)),
  /** When all of it was taken back, in milliseconds since the epoch. */
  undone_at: Schema.optionalKey(count),
  /** What of it was taken back alone, as its account names it. */
  undone_items: Schema.optionalKey(Schema.Array(Schema.String))
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
  readonly wouldForget?: ReadonlyArray<string>
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
  return { ...report, ended_at: mark.endedAt, lines, ...defined({ would_forget: mark.wouldForget }) }
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
