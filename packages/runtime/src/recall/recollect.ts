// Recollect: what comes to an assistant's mind by itself when something is said to it.
// Owns when it is worth asking, and what of the answer is shown: memories, and profiles of whom it deals with. Leaves asking to recaller.ts, its place to the prompt.
// C1  Once a tick: every model call of it is shown the same, whatever is remembered in the meantime.
// C2  What stands in the window is never shown a second time.
// C3  No one asks where nothing can be found: no journal, no fact and no passage, and the whole history in the window.
// C4  It is bounded in hits and in tokens, and what was shown stands in the ledger by its ids.
// C5  It never fails: an assistant without memories works.

import { contextOf } from "@reverie/assistant"
import { type Content, dataOf, PLACES } from "@reverie/context"
import {
  asData,
  entityIdOf,
  type EntityProfile,
  entryId,
  episodicKinds,
  type Hit,
  idsIn,
  lineOfHit,
  type MemoryKind,
  type MemoryLine,
  namedIn,
  placeOfId,
  profileNamed,
  profileText,
  Recall,
  spokenKinds,
  toldBy
} from "@reverie/memory"
import { Ledger } from "@reverie/ledger"
import { addressKey, type AssistantId, defined, isBefore, type MessagePlace } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Clock from "effect/Clock"
import { recordsOf } from "../session/own-records.ts"
import { windowBegin } from "../prompt/blocks-in-view.ts"
import { contextTypeNow } from "../prompt/layers.ts"
import { personOf, threadsNow } from "../session/person.ts"
import type { Session } from "../session/session.ts"
import { pageAt } from "./index-parts.ts"
import { blocksToldQuietly, catchUpQuietly } from "./indexer.ts"
import { keptMemories, knownOf, profilesIn } from "./recollection.ts"
import { scopeOf } from "./scopes.ts"
import { recallFor } from "./recaller.ts"

// Acquainted: the profiles of those an assistant deals with in the tick at hand: who speaks, and whom he speaks of.
// A1  Of many profiles only those are read that the words at hand name: who has met thousands pays for those in the room.
//     Few are read at once, and found by their other names too.
// A2  That there are many is remembered while the process runs. When they become few again, some are found by one name only.

// Remembered: hits as a model is shown them.
// M1  What is shown costs no more than there is room for; what is left out is the least of it.

/** Of each hit, in UTF-16 units. */
const MAX_HIT_CHARS = 600
/** Of a score that is recorded, four behind the point. */
const SCORE_DIGITS = 10_000

interface Room {
  readonly maxTokens: number
  /** What a line costs with its line break. */
  readonly tokensOf: (line: string) => number
}

interface Remembered {
  readonly content: Content
  readonly lines: ReadonlyArray<MemoryLine>
  /** Of what is shown; those of another assistant with its name before them. */
  readonly ids: ReadonlyArray<string>
  /** How well each fits what was said, where it was searched for. */
  readonly scores?: ReadonlyArray<number>
}

const lineOf = (hit: Hit, self: AssistantId): MemoryLine => {
  const line = lineOfHit(hit)
  const { text } = line
  const shown = text.length <= MAX_HIT_CHARS ? text : `${text.slice(0, MAX_HIT_CHARS - 1).toWellFormed()}…`
  return { ...line, text: shown, ...defined({ kind: hit.owner === self ? undefined : `${line.kind} of ${hit.owner}` }) }
}

/** The hits that there is room for, the best first; undefined when there is none. */
const remembered = (
  hits: ReadonlyArray<Hit>,
  self: AssistantId,
  { maxTokens, tokensOf }: Room
): Remembered | undefined => {
  if (hits.length === 0) return undefined
  const memories = hits.map((hit) => lineOf(hit, self))
  const written = asData(memories).split("\n")
  // Each memory is one line; the others open and close the whole.
  const frame = written.length - memories.length
  const before = frame - 1
  const frameTokens = [...written.slice(0, before), ...written.slice(-1)].reduce((sum, line) => sum + tokensOf(line), 0)
  let tokens = frameTokens
  const kept = memories.findIndex((_, index) => {
    tokens += tokensOf(written[before + index] ?? "")
    return tokens > maxTokens
  })
  const count = kept === -1 ? memories.length : kept
  if (count === 0) return undefined
  return {
    content: dataOf(asData(memories.slice(0, count))),
    lines: memories.slice(0, count),
    ids: hits.slice(0, count).map(({ entry, owner }) => (owner === self ? entry.id : `${owner} ${entry.id}`)),
    scores: hits.slice(0, count).map(({ score }) => Math.round(score * SCORE_DIGITS) / SCORE_DIGITS)
  }
}

const profileLine = (profile: EntityProfile, now: number): MemoryLine => {
  const { attributes, observations, relationship } = profile
  const trusts = [...attributes, ...observations].map(({ trust }) => trust)
  return {
    kind: "profile",
    at: relationship.last_at,
    trust: trusts.length === 0 ? 0 : Math.min(...trusts),
    text: profileText(profile, now)
  }
}

/** What is known of those it deals with; undefined when nothing is. */
const knownProfilesOf = (profiles: ReadonlyArray<EntityProfile>, now: number): Remembered | undefined => {
  if (profiles.length === 0) return undefined
  const lines = profiles.map((profile) => profileLine(profile, now))
  return { content: dataOf(asData(lines)), lines, ids: profiles.map(({ id }) => entryId("profile", id)) }
}

/** So many are few. */
const FEW_PROFILES = 16
/** Of those that are dealt with, and of what is said, looked through for their names, in UTF-16 units. */
const MAX_PROFILES = 3
const MAX_NAMED_CHARS = 4_000

/** Assistants of which it is remembered that they have many profiles. */
const MAX_KEPT = 1_024
const haveMany = new WeakMap<Ledger["Service"], Set<string>>()

const manyIn = (ledger: Ledger["Service"]): Set<string> => {
  const known = haveMany.get(ledger) ?? new Set<string>()
  haveMany.set(ledger, known)
  return known
}

/** All profiles, where they are few; undefined where they are many. */
const fewProfiles = Effect.fnUntraced(function* ({ address, recollection }: Session) {
  const ledger = yield* Ledger
  const many = manyIn(ledger)
  const key = addressKey(address)
  if (recollection.known === undefined && many.has(key)) recollection.known = "many"
  if (recollection.known === undefined) {
    const rows = yield* ledger.records(address, ["entity"], { limit: FEW_PROFILES + 1 })
    recollection.known = rows.length > FEW_PROFILES ? "many" : profilesIn(rows)
    if (rows.length > FEW_PROFILES) {
      if (many.size >= MAX_KEPT) many.clear()
      many.add(key)
    }
  }
  return recollection.known === "many" ? undefined : recollection.known
})

const namedAmongMany = Effect.fnUntraced(function* ({ address }: Session, speaker: string, said: string) {
  const own = entityIdOf(speaker)
  const ids = [...(own === undefined ? [] : [own]), ...idsIn(said)]
  const found = profilesIn(yield* (yield* Ledger).records(address, ["entity"], { keys: ids }))
  return ids.map((id) => found.get(id))
})

/** The profiles of the speaker, and of those that the message names. */
const profilesOf = Effect.fnUntraced(function* (session: Session, question: string) {
  const speaker = session.window.messages.findLast(({ role }) => role === "user")?.name
  if (speaker === undefined) return undefined
  const said = question.slice(0, MAX_NAMED_CHARS)
  const known = yield* fewProfiles(session)
  if (known?.size === 0) return undefined
  const named =
    known === undefined
      ? yield* namedAmongMany(session, speaker, said)
      : [profileNamed(known, speaker), ...namedIn(said, known.values())]
  const profiles = [...new Set(named.filter((profile) => profile !== undefined))].slice(0, MAX_PROFILES)
  const person = personOf(session)
  const shown = person === undefined ? profiles : profiles.map((profile) => toldBy(profile, person))
  return knownProfilesOf(shown, yield* Clock.currentTimeMillis)
})

const DEFAULT_MAX_HITS = 8
const DEFAULT_MAX_TOKENS = 1_500
/** Entries that the index may be behind by and still be brought up to date while someone waits for an answer. */
const WAITED_ENTRIES = 256

const PAGE = 16

/** Where the history of an assistant begins. What cannot be read is taken for a part of it: an index may have it. */
const historyBegin = Effect.fnUntraced(function* ({ address, version }: Session) {
  for (let from = 1; from <= version; from += PAGE) {
    const { entries, lost } = yield* pageAt(address, from, PAGE)
    const said = entries.filter(({ messages }) => messages.length > 0)
    const no = Math.min(...said.map((entry) => entry.no), ...lost.map((span) => span.from))
    if (no !== Infinity) return { no, index: 0 }
  }
  return undefined
})

/** Where there is something to find: in messages that the window does not show, and among what is kept. */
const places = Effect.fnUntraced(function* (session: Session, begin: MessagePlace | undefined) {
  const { address, own, recollection } = session
  recollection.begin ??= yield* historyBegin(session)
  recollection.hasMemories ??= (yield* (yield* Ledger).records(address, keptMemories, { limit: 1 })).length > 0
  const first = recollection.begin
  return {
    inHistory: first !== undefined && (begin === undefined || isBefore(first, begin)),
    inKept: recollection.hasMemories || recordsOf(own, "journal").size > 0
  }
})

/** What was said, without what Reverie put around a timer's note. */
const questionOf = ({ window }: Session): string => {
  const message = window.messages.findLast(({ role }) => role === "user")
  if (message === undefined) return ""
  return message.name === "clock"
    ? message.content.replace(/^\[timer [^\]]*\] (?:It is time\.$)?/, "")
    : message.content
}

const isInWindow = (session: Session, begin: MessagePlace | undefined, { entry, owner }: Hit): boolean => {
  if (owner !== session.address.assistant || begin === undefined) return false
  const place = placeOfId(entry.id)
  return place !== undefined && !isBefore(place, begin)
}

/** The index knows whatever the window does not show, as far as that can be waited for. */
const broughtUp = Effect.fnUntraced(function* (session: Session, begin: MessagePlace | undefined) {
  const { address, recollection } = session
  const { indexed, isBehind } = recollection
  // What stands in the window need not be found.
  if (!isBehind && indexed !== undefined && indexed.no >= (begin?.no ?? session.version + 1) - 1) return
  const caught = yield* catchUpQuietly(address, { maxEntries: WAITED_ENTRIES, ...knownOf(recollection) })
  // The blocks of this process are reported once more where no one has told them: those of an index may be of another life.
  if (caught !== undefined && indexed === undefined) yield* blocksToldQuietly(address, caught.position)
  recollection.indexed = caught?.position
  recollection.isBehind = caught?.isWhole !== true
})

const isSpoken = (kind: MemoryKind): boolean => spokenKinds.some((each) => each === kind)

/** The best hits that are not in the window. */
const unseenHits = Effect.fnUntraced(function* (session: Session, question: string, limit: number) {
  const begin = windowBegin(session)
  const { inHistory, inKept } = yield* places(session, begin)
  if (!inHistory && !inKept) return []
  yield* broughtUp(session, begin)
  // An index that could not be held against the ledger is not asked.
  const from = session.recollection.indexed === undefined ? { isUnknown: true } : { asIs: true }
  const { kinds: wanted = episodicKinds, minTrust, mode } = session.definition.memory ?? {}
  const thread = threadsNow(session)
  const how = { limit, scope: scopeOf(session.definition), ...from, ...defined({ minTrust, mode, thread }) } as const
  // Messages of the window are mostly what is nearest to the question, and must not displace the rest.
  const kinds = wanted.filter((kind) => (isSpoken(kind) ? inHistory : inKept))
  if (kinds.length === 0) return []
  const inView = begin === undefined ? {} : { messagesUntil: oldestAt(session) }
  const { hits } = yield* recallFor(session.address, question, { ...how, kinds, ...inView })
  return hits.filter((hit) => !isInWindow(session, begin, hit))
})

const oldestAt = ({ window }: Session): number => window.messages.find(({ role }) => role !== "system")?.at ?? 0

const isShown = (session: Session, place: { readonly id: number }): boolean =>
  contextTypeNow(session).enabledComponents.includes(place.id)

const recalled = Effect.fnUntraced(function* (session: Session, question: string) {
  const isAsked = question !== "" && isShown(session, PLACES.semanticMemories)
  if (!isAsked || Option.isNone(yield* Effect.serviceOption(Recall))) return undefined
  const { maxHits = DEFAULT_MAX_HITS, maxTokens = DEFAULT_MAX_TOKENS } = session.definition.memory ?? {}
  const hits = yield* unseenHits(session, question, maxHits)
  const tokensOf = (line: string) => session.book.pieceTokens(line, "\n")
  return remembered(hits, session.address.assistant, { maxTokens, tokensOf })
})

/** Calls to mind what belongs to the event of the tick at hand, once. */
export const recollect = Effect.fnUntraced(function* (session: Session) {
  const { definition, recollection } = session
  const { tick } = contextOf(session.decoded)
  if (recollection.tick === tick || definition.memory?.recall === "off") return
  const question = questionOf(session).trim()
  const dealtWith = isShown(session, PLACES.entityContext) ? profilesOf(session, question) : Effect.undefined
  const found = yield* Effect.all([dealtWith, recalled(session, question)]).pipe(
    Effect.catchTag(["LedgerUnavailable", "UnreadableRecord"], (failure) =>
      Effect.as(Effect.logWarning(`nothing could be called to mind: ${failure.message}`), [])
    )
  )
  const [profiles, memories] = found
  recollection.tick = tick
  recollection.profiles = profiles?.content ?? ""
  recollection.profileLines = new Map(profiles?.ids.map((id, index) => [id, profiles.lines[index] as MemoryLine]))
  recollection.memories = memories?.content ?? ""
  recollection.ids = [...(profiles?.ids ?? []), ...(memories?.ids ?? [])]
  const { ids = [], scores = [] } = memories ?? {}
  recollection.scores = Object.fromEntries(ids.map((id, index) => [id, scores[index] ?? 0]))
})
