// Profiling: what was learnt of somebody becomes part of that one's profile, a batch a step (F49, O-Mem).
// Owns the batches: first everybody hears the news, then one profile a step is asked about. Leaves profiles to `memory`.
// P1  News are heard once: facts are marked, pending observations taken away, in the commit that keeps what was heard.
// P2  A profile is asked about until nothing of it is undigested; an answer that is none leaves it for another night.

import { contextOf } from "@reverie/assistant"
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
import type { RecordChange } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { recordsOf } from "../session/own-records.ts"
import type { Session } from "../session/session.ts"
import { factChange, factsOf, profileChange, profilesOf } from "./known.ts"
import { askModel, type DreamStep, nothingToDo } from "./step.ts"

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
