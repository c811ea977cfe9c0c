// Past: the messages of an assistant as the ledger has them.
// Owns reading them by place, page by page. Leaves what is shown of them to the window.
// I1  Every message that was ever committed is found, compacted or not; nothing is changed by reading.

import { historyHoldOf, type HistoryHold, historyStartOf, isCompaction, placedMessages } from "@reverie/context"
import { Ledger } from "@reverie/ledger"
import { isPassage, threadOfPassage } from "@reverie/memory"
import {
  type Address,
  isBefore,
  isJsonObject,
  type Json,
  type MessagePlace,
  type PlacedMessage
} from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { saidWith } from "../session/person.ts"
import { WINDOW_BEGIN } from "./blocks-in-view.ts"

const PAGE = 200

interface PastRequest {
  readonly limit?: number
  readonly to?: MessagePlace
  readonly person?: string | undefined
}

/** The messages from a place on, the oldest first: at most `limit`, none after `to`, and of one person's conversation only. */
export const readPast = Effect.fnUntraced(function* (
  address: Address,
  from: MessagePlace,
  { limit = Infinity, person, to }: PastRequest = {}
) {
  const ledger = yield* Ledger
  const found: Array<PlacedMessage> = []
  const isSaid = person === undefined ? () => true : saidWith(person)
  const isWanted = (each: PlacedMessage): boolean => (to === undefined || !isBefore(to, each.place)) && isSaid(each)
  for (let no = Math.max(1, from.no); found.length < limit; no += PAGE) {
    const rows = yield* ledger.entries(address, no, PAGE)
    for (const each of placedMessages(
      rows.map(({ entry }) => entry),
      from
    ))
      if (isWanted(each)) found.push(each)
    if (rows.length < PAGE || (to !== undefined && to.no < no + PAGE)) break
  }
  return found.length > limit ? found.slice(0, limit) : found
})

/** Every compaction of an assistant's history, in no order. */
export const readCompactions = Effect.fnUntraced(function* (address: Address) {
  const rows = yield* (yield* Ledger).records(address, ["compaction"])
  return rows.map(({ value }) => value).filter(isCompaction)
})

/** The first and the last message that a compaction has compacted. */
export const readCompacted = Effect.fnUntraced(function* (address: Address, compaction: string) {
  const rows = yield* (yield* Ledger).records(address, ["compaction"], { keys: [compaction] })
  return rows.map(({ value }) => value).find(isCompaction)?.range
})

/** Whether an assistant has put a passage of that id away, in one of these conversations where they are named. */
export const hasPassage = Effect.fnUntraced(function* (address: Address, id: string, threads?: ReadonlyArray<string>) {
  const rows = yield* (yield* Ledger).records(address, ["passage"], { keys: [id] })
  return rows.some(({ value }) => {
    const thread = threads === undefined || !isPassage(value) ? undefined : threadOfPassage(value)
    return threads === undefined || (thread !== undefined && threads.includes(thread))
  })
})

/** The entries of an assistant's journal that are no longer at hand, in no order. */
export const readEpisodes = Effect.fnUntraced(function* (address: Address) {
  return (yield* (yield* Ledger).records(address, ["episode"])).map(({ value }) => value)
})

/** The conversation as it stands now: what the triggers of a compaction go by. */
export interface HistoryNow {
  readonly history: ReadonlyArray<PlacedMessage>
  /** With the marker of what was compacted, and what stands beside its events. */
  readonly tokens: number
  readonly hold: HistoryHold | undefined
}

/** What a record of something shown beside an event costs. */
const costOf = (record: Json, from: MessagePlace): number => {
  if (!isJsonObject(record)) return 0
  const { index, no, tokens } = record
  if (typeof no !== "number" || typeof index !== "number" || typeof tokens !== "number") return 0
  return isBefore({ no, index }, from) ? 0 : tokens
}

/** Read from the store, without a claim: what an assistant at rest would go by. */
export const readHistoryNow = Effect.fnUntraced(function* (address: Address) {
  const ledger = yield* Ledger
  const rows = yield* ledger.records(address, ["state", "shown"])
  const state = new Map(rows.flatMap(({ key, kind, value }) => (kind === "state" ? [[key, value] as const] : [])))
  const start = historyStartOf(state)
  const history = yield* ledger.recent(address, Number.MAX_SAFE_INTEGER, start?.from)
  const begin = history[0]?.place ?? { no: 0, index: 0 }
  const beside = rows.reduce((sum, { key, kind, value }) => {
    return kind === "shown" && key !== WINDOW_BEGIN ? sum + costOf(value, begin) : sum
  }, 0)
  const said = history.reduce((sum, { message }) => sum + message.tokens, 0)
  const now: HistoryNow = { history, tokens: said + (start?.marker.tokens ?? 0) + beside, hold: historyHoldOf(state) }
  return now
})
