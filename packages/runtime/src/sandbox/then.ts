// Then: what a worker had in memory when a tick began, as far as the ledger and the report of then tell it.
// Owns standing in for what no store keeps: which memories came to mind, how much of the history was in the window, what
// the conversations of the process were about. Leaves judging how near that comes to the code that compares the reports.
// T1  What came to mind is what the ledger says by its ids, in that order, and nothing else.
// T2  A window that had shrunk is as small again, and one that had not is not made larger than it was.

import { HISTORY_START_KEY, PLACES, type Report } from "@reverie/context"
import type { Ledger } from "@reverie/ledger"
import type { Hit, MemoryEntry, Recall } from "@reverie/memory"
import { type Address, type Entry, isJsonObject, type PlacedMessage } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { Conversations, noteSaid } from "../session/own-records.ts"
import type { RecordedTick } from "./recorded-tick.ts"

const reportIn = ({ asks }: RecordedTick): Report | undefined => {
  const [ask] = asks
  const report = ask?.entry.step?.detail?.["context"]
  return ask?.iteration === 1 && isJsonObject(report) ? (report as unknown as Report) : undefined
}

const NO_REASON: Hit["why"] = { terms: [], facts: [], boosts: [] }

/** What came to mind, by its ids; undefined where no report was left. */
const recalledIn = (recorded: RecordedTick): ReadonlyArray<string> | undefined => {
  if (reportIn(recorded) === undefined) return undefined
  const ids = recorded.asks[0]?.entry.step?.detail?.["recalled"]
  return Array.isArray(ids) ? ids.map(String) : []
}

/** An index that finds what was found then. What was found of others' memories is not in it. */
export const recallOfThen = (inner: Recall["Service"], recorded: RecordedTick, { assistant }: Address) => {
  const ids = recalledIn(recorded)
  if (ids === undefined) return inner
  const kept = new Map<string, MemoryEntry>()
  // Both rounds at once would be answered by what is found now.
  const { searchInRounds: _, ...verbs } = inner
  const recall: Recall["Service"] = {
    ...verbs,
    apply: (address, changes, position) => {
      for (const change of changes) if (change.type === "put") kept.set(change.entry.id, change.entry)
      return inner.apply(address, changes, position)
    },
    search: (_, { kinds }) =>
      Effect.succeed(
        ids.flatMap((id, index): ReadonlyArray<Hit> => {
          const entry = kept.get(id)
          const isAsked = entry !== undefined && (kinds === undefined || kinds.includes(entry.kind))
          return isAsked ? [{ owner: assistant, entry, score: ids.length - index, why: NO_REASON }] : []
        })
      )
  }
  return recall
}

/** How many messages of history were in the window when the tick began; undefined where no one says. */
const shownIn = (recorded: RecordedTick): number | undefined => {
  const part = reportIn(recorded)?.parts.find(({ id }) => id === PLACES.conversationHistory.id)
  if (part === undefined) return undefined
  const isCompacted = recorded.records.some(({ key, kind }) => kind === "state" && key === HISTORY_START_KEY)
  return Math.max(0, part.messages - (isCompacted ? 1 : 0))
}

/** Where those begin that so many messages of a prompt were made of: one that was not accepted has its reason behind it. */
const firstOf = (placed: ReadonlyArray<PlacedMessage>, shown: number): number => {
  let left = shown
  return placed.findLastIndex(({ message }) => (left -= message.rejected === undefined ? 1 : 2) < 0) + 1
}

/** A ledger whose newest messages are those that the window showed; the whole history is there when it is asked for. */
export const ledgerOfThen = (inner: Ledger["Service"], recorded: RecordedTick): Ledger["Service"] => {
  const shown = shownIn(recorded)
  if (shown === undefined) return inner
  return {
    ...inner,
    recent: (address, maxTokens, since) =>
      Effect.map(inner.recent(address, maxTokens, since), (placed) =>
        maxTokens === Number.MAX_SAFE_INTEGER ? placed : placed.slice(firstOf(placed, shown))
      )
  }
}

const speakerIn = ({ cause, messages }: Entry): string | undefined => {
  const [said] = messages
  return cause.kind === "envelope" && said?.role === "user" && said.name !== "clock" ? said.name : undefined
}

/** Notes what was said before, as a process would have that lived through all of it. */
const noteAll = Effect.fnUntraced(function* (address: Address, { prefix }: RecordedTick) {
  let conversation: string | undefined
  for (const entry of prefix) {
    const { at, cause, messages, tickEnd } = entry
    const [said] = messages
    if (cause.kind === "envelope" && said?.role === "user") conversation = speakerIn(entry)
    if (conversation === undefined) continue
    if (cause.kind === "envelope" && said !== undefined) {
      yield* noteSaid(address, conversation, { speaker: conversation, text: said.content, at })
    }
    if (tickEnd !== undefined && tickEnd.reply !== "") {
      yield* noteSaid(address, conversation, { speaker: address.assistant, text: tickEnd.reply, at })
    }
  }
})

/** Gives a piece of work the conversations of then. */
export const withConversations =
  (address: Address, recorded: RecordedTick) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() =>
      Effect.provideService(Effect.andThen(noteAll(address, recorded), work), Conversations, new Map())
    )
