// Recollect: what comes to an assistant's mind by itself when something is said to it.
// Owns when it is worth asking, and what of the answer is shown: memories, and profiles of whom it deals with. Leaves asking to recaller.ts, its place to the prompt.
// C1  Once a tick: every model call of it is shown the same, whatever is remembered in the meantime.
// C2  What stands in the window is never shown a second time.
// C3  Nobody asks where nothing can be found: no journal, no fact and no passage, and the whole history in the window.
// C4  It is bounded in hits and in tokens, and what was shown stands in the ledger by its ids.
// C5  It never fails: an assistant without memories works.

import { contextOf } from "@reverie/assistant"
import { PLACES } from "@reverie/context"
import { episodicKinds, type Hit, placeOfId, Recall, spokenKinds } from "@reverie/memory"
import { Ledger } from "@reverie/ledger"
import { isBefore, type MessagePlace } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { recordsOf } from "../session/own-records.ts"
import { contextTypeNow } from "../prompt/layers.ts"
import type { Session } from "../session/session.ts"
import { blocksToldQuietly, catchUpQuietly } from "./indexer.ts"
import { profilesOf } from "./acquainted.ts"
import { keptMemories, knownOf } from "./recollection.ts"
import { remembered } from "./remembered.ts"
import { recallFor } from "./recaller.ts"
import { scopeOf } from "./scopes.ts"

const DEFAULT_MAX_HITS = 8
const DEFAULT_MAX_TOKENS = 1_500
/** Entries that the index may be behind by and still be brought up to date while somebody waits for an answer. */
const WAITED_ENTRIES = 256

/** Where the messages begin that the model sees; undefined when it sees none. */
const windowBegin = ({ places, window }: Session): MessagePlace | undefined => {
  const first = window.messages.find(({ role }) => role !== "system")
  return first === undefined ? undefined : places.get(first)
}

const PAGE = 16

/** Where the history of an assistant begins. */
const historyBegin = Effect.fnUntraced(function* ({ address, version }: Session) {
  const ledger = yield* Ledger
  for (let from = 1; from <= version; from += PAGE) {
    for (const { entry } of yield* ledger.entries(address, from, PAGE)) {
      if (entry.messages.length > 0) return { no: entry.no, index: 0 }
    }
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
  // The blocks of this process are told once more where nobody has told them: those of an index may be of another life.
  if (caught !== undefined && indexed === undefined) yield* blocksToldQuietly(address, caught.position)
  recollection.indexed = caught?.position
  recollection.isBehind = caught?.isWhole !== true
})

const keptKinds = episodicKinds.filter((kind) => !spokenKinds.some((each) => each === kind))

/** The best hits that are not in the window. */
const unseenHits = Effect.fnUntraced(function* (session: Session, question: string, limit: number) {
  const begin = windowBegin(session)
  const { inHistory, inKept } = yield* places(session, begin)
  if (!inHistory && !inKept) return []
  yield* broughtUp(session, begin)
  // An index that could not be held against the ledger is not asked.
  const from = session.recollection.indexed === undefined ? { isUnknown: true } : { asIs: true }
  const how = { limit, scope: scopeOf(session.definition), ...from } as const
  // Messages of the window are mostly what is nearest to the question, and must not displace the rest.
  const kinds = [...(inHistory ? spokenKinds : []), ...(inKept ? keptKinds : [])]
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
  recollection.memories = memories?.content ?? ""
  recollection.ids = [...(profiles?.ids ?? []), ...(memories?.ids ?? [])]
})
