// Memories: what is kept of the kinds of memory, for reading only.
// Owns reading records back as what they are, `fleet.memory`, and the readings of `fleet.compactions`.
// M1  A record that does not fit its kind is left out: one damaged memory hides no other.

import {
  type EntityProfile,
  type Fact,
  isEntityProfile,
  isFact,
  isPassage,
  type Passage,
  recordChanges,
  Recall,
  RecallUnavailable
} from "@reverie/memory"
import {
  type Compaction,
  compactionConfig,
  type HistoryHold,
  historyHoldOf,
  type HistoryStart,
  historyStartOf,
  planCompaction,
  retained,
  type Retained,
  skipReasons,
  type WindowPart,
  windowParts
} from "@reverie/context"
import { settingsOf } from "@reverie/assistant"
import { Ledger } from "@reverie/ledger"
import { UnknownAssistant } from "@reverie/mailbox"
import type { Recalled, RecallOptions } from "@reverie/memory"
import { type Address, defined, type PlacedMessage, type RecordKind, type RecordRow } from "@reverie/protocol"
import {
  type DreamReport,
  entryHistory,
  isDreamReport,
  readCompactions,
  readHistoryNow,
  readNight,
  readPast,
  RecallRefused,
  rebuildIndex,
  recallFor
} from "@reverie/runtime"
import type { AssistantDefinition } from "../define-assistant.ts"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type DreamAccount, dreamAccount } from "../views/dream-account.ts"
import { type MemoryIndex, memoryIndexIn } from "../checks/memory-index.ts"
import { flawOfShape, recallShape } from "../options/shape.ts"
import type { Core, RunReading } from "./entry-source.ts"

const fitting =
  <A>(isOne: (value: unknown) => value is A) =>
  (rows: ReadonlyArray<RecordRow>): ReadonlyArray<A> =>
    rows.flatMap(({ value }) => (isOne(value) ? [value] : []))

const factsIn: (rows: ReadonlyArray<RecordRow>) => ReadonlyArray<Fact> = fitting(isFact)
const profilesIn: (rows: ReadonlyArray<RecordRow>) => ReadonlyArray<EntityProfile> = fitting(isEntityProfile)
const passagesIn: (rows: ReadonlyArray<RecordRow>) => ReadonlyArray<Passage> = fitting(isPassage)

/** One reading, so that a fleet that is closed waits for it as a whole. */
const recalled = Effect.fnUntraced(function* (address: Address, question: string, options: RecallOptions) {
  const record = yield* Ledger.use((ledger) => ledger.inspect(address))
  if (record === undefined) return yield* new UnknownAssistant({ address })
  return yield* recallFor(address, question, options)
})

/** What a rebuilt index was made from, and holds. */
export interface Rebuilt {
  /** Whose index it is. */
  readonly assistant: string
  /** Ledger entries gone through. */
  readonly entries: number
  /** What the index holds of it now. */
  readonly memories: number
}

/** Makes the index of an assistant anew from its ledger. */
const rebuilt = Effect.fnUntraced(function* (address: Address) {
  const found = yield* Effect.serviceOption(Recall)
  if (Option.isNone(found)) {
    return yield* new RecallUnavailable({ operation: "rebuild", message: "there is no index of memories here" })
  }
  const recall = found.value
  const { entries } = yield* Effect.provideService(rebuildIndex(address), Recall, recall)
  const memories = yield* recall.count(address)
  return { assistant: address.assistant, entries, memories } satisfies Rebuilt
})

/** `fleet.memory`: what assistants remember. Each rejects with IdInvalid when the id can be none. */
export interface FleetMemory {
  /**
   * What an assistant remembers of a question, the best first. Without an index, or while it does not answer, only the newest
   * of it, and `degraded` says so. Rejects with IdInvalid, with UnknownAssistant, and with RecallRefused about an option that there is none
   * of or a value outside its range.
   * @example const { hits } = await fleet.memory.recall("desk", "Which berth has the Birch?")
   */
  readonly recall: (id: string, question: string, options?: RecallOptions) => Promise<Recalled>
  /** Every fact, those that hold no longer among them. */
  readonly facts: (id: string) => Promise<ReadonlyArray<Fact>>
  /** What is known of those an assistant deals with. */
  readonly profiles: (id: string) => Promise<ReadonlyArray<EntityProfile>>
  /** Texts that were put away to be searched for. */
  readonly passages: (id: string) => Promise<ReadonlyArray<Passage>>
  /** Reports of its dreams, the newest first; one that can not be read is left out. */
  readonly dreams: (id: string) => Promise<ReadonlyArray<DreamReport>>
  /**
   * What one of its dreams learnt, linked, changed and forgot, each with its sources, read from its ledger; undefined where there was
   * no such dream.
   * @example const account = await fleet.memory.dream("desk", "dream_12")
   */
  readonly dream: (id: string, dream: DreamReport["id"]) => Promise<DreamAccount | undefined>
  /** What an assistant keeps about itself and its work; everything when no kinds are named. */
  readonly records: (id: string, kinds?: ReadonlyArray<RecordKind>) => Promise<ReadonlyArray<RecordRow>>
  /** Makes the index of an assistant anew from its ledger; of every one when none is named. Rejects with RecallUnavailable. */
  readonly rebuild: (id?: string) => Promise<ReadonlyArray<Rebuilt>>
  /** The index of all of it, as those who run it see it. */
  readonly index: MemoryIndex
}

/** Callers without types give what they like. */
const scopeIn = (options: RecallOptions | null): NonNullable<RecallOptions["scope"]> => options?.scope ?? "shared"

export const memoryIn = ({ address, entries, records, views }: Core, run: RunReading): FleetMemory => ({
  recall: async (id, question, options = {}) => {
    const isText = typeof question === "string"
    const flaw = isText ? flawOfShape("options", options, recallShape) : "the question must be a text"
    if (flaw !== undefined) throw new RecallRefused({ scope: scopeIn(options), message: `recall: ${flaw}` })
    return run(recalled(address(id), question, options))
  },
  facts: async (id) => factsIn(await records(id, ["fact"])),
  profiles: async (id) => profilesIn(await records(id, ["entity"])),
  passages: async (id) => passagesIn(await records(id, ["passage"])),
  dreams: async (id) =>
    (await records(id, ["dream"]))
      .flatMap(({ value }) => (isDreamReport(value) ? [value] : []))
      .toSorted((a, b) => b.ended_at - a.ended_at),
  dream: async (id, dream) => {
    const night = await run(Effect.flatMap(entryHistory(address(id)), (history) => readNight(history, dream)))
    if (night === undefined) return undefined
    const rows = await records(id, ["fact", "dream", "journal"])
    const report = rows.find(({ key, kind }) => kind === "dream" && key === dream)?.value
    return dreamAccount({
      night,
      facts: factsIn(rows),
      report: isDreamReport(report) ? report : undefined,
      journal: rows.filter(({ kind }) => kind === "journal"),
      read: async (no) => (await entries(id, no, 1))[0]?.entry
    })
  },
  records,
  index: memoryIndexIn(run),
  rebuild: async (id) => {
    const ids = id === undefined ? (await views()).map((view) => view.id) : [id]
    const all: Array<Rebuilt> = []
    for (const each of ids) all.push(await run(rebuilt(address(each))))
    return all
  }
})

/** How full an assistant's window is now, whatever its last prompt was. */
export interface WindowNow {
  /** Tokens of the conversation, with the marker of what was compacted and what stands beside its events. */
  readonly tokens: number
  /** Messages that stand in it. */
  readonly messages: number
  /** The undo that holds the history. */
  readonly hold?: HistoryHold
  /** The rest is known where the definition is. */
  readonly maxTokens?: number
  /** The tokens as a share of `maxTokens`. */
  readonly share?: number
  /** The shares at which a sleeper compacts, and anyone before a tick. */
  readonly sleepShare?: number
  /** The share at which an assistant that is awake compacts before its next tick. */
  readonly emergencyShare?: number
  /** What an order would compact now, and what would stay. */
  readonly would?: { readonly compact: number; readonly keep: number }
  /** Why an order would compact nothing. */
  readonly skipped?: string
}

/** The definitions that are known. */
export type Definitions = ReadonlyArray<AssistantDefinition>

const windowOf = Effect.fnUntraced(function* (address: Address, definition: AssistantDefinition | undefined) {
  const { history, hold, tokens } = yield* readHistoryNow(address)
  const known: WindowNow = { tokens, messages: history.length, ...defined({ hold }) }
  if (definition === undefined) return known
  const { maxContextTokens } = definition
  const settings = settingsOf(definition.settings)
  const window = compactionConfig(definition.compaction).compactPreserveWindow
  const enabled = settings.compactEnabled
  const share = tokens / maxContextTokens
  const plan = planCompaction({ history, window, enabled, ratio: share, threshold: 0, force: true, maxContextTokens })
  const now: WindowNow = {
    ...known,
    maxTokens: maxContextTokens,
    share,
    sleepShare: settings.compactSleepRatio,
    emergencyShare: settings.compactEmergencyRatio,
    ...defined({
      skipped: plan.skipped ? skipReasons[plan.reason] : undefined,
      would: plan.skipped ? undefined : { compact: plan.compacted.length, keep: plan.preserved.length }
    })
  }
  return now
})

/** What a compaction left of the messages that it took out of sight. */
export interface CompactionOutcome extends Retained {
  /** The tokens of the window, part by part, before and after. */
  readonly parts: ReadonlyArray<WindowPart>
}

/** What recall searches besides messages, and the entry that holds the summary itself. */
const remembered = (rows: ReadonlyArray<RecordRow>, { journal_entry: own }: Compaction) =>
  rows
    .filter(({ key, kind }) => key !== own || (kind !== "journal" && kind !== "episode"))
    .flatMap((row) => recordChanges(row))
    .flatMap((change) => (change.type === "put" ? [{ id: change.entry.id, text: change.entry.text }] : []))

const REMEMBERED = ["fact", "entity", "passage", "journal", "episode"] as const

/** The readings of `fleet.compactions`. Each rejects with IdInvalid when the id can be none. */
export interface CompactionReadings {
  /** Every compaction of an assistant's history, the oldest first, those that were taken back among them. */
  readonly list: (id: string) => Promise<ReadonlyArray<Compaction>>
  /** The messages that a compaction took out of sight, as they were committed. */
  readonly messages: (id: string, compaction: Pick<Compaction, "range">) => Promise<ReadonlyArray<PlacedMessage>>
  /**
   * Where the facts, names, numbers and dates of the compacted messages stand now: in the summary, only in memory, or nowhere any more
   * (the messages themselves stay in the ledger); and the tokens of the window, part by part. Names are found by their capital
   * letters. Undefined where there was no such compaction.
   * @example const left = await fleet.compactions.outcome("desk", "compact_20251206_171500")
   */
  readonly outcome: (id: string, compaction: Compaction["id"]) => Promise<CompactionOutcome | undefined>
  /** Where the history that an assistant's model is shown begins; undefined when nothing is compacted. */
  readonly historyStart: (id: string) => Promise<HistoryStart | undefined>
  /** The undo that holds its history; undefined when none does. */
  readonly hold: (id: string) => Promise<HistoryHold | undefined>
  /**
   * How full its window is now, and what an order to compact would do; an unknown assistant has an empty one. A reader beside
   * a store knows no definitions: it is given them.
   */
  readonly window: (id: string, definitions?: Definitions) => Promise<WindowNow>
}

const byKey = (rows: ReadonlyArray<RecordRow>) => new Map(rows.map(({ key, value }) => [key, value]))

export const compactionsIn = (
  { address, inspect, records, run }: Core,
  known: Definitions = []
): CompactionReadings => ({
  list: async (id) => {
    const found = await run(readCompactions(address(id)))
    return found.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
  },
  messages: async (id, { range }) => run(readPast(address(id), range.from, { to: range.to })),
  outcome: async (id, wanted) => {
    const compaction = (await run(readCompactions(address(id)))).find((each) => each.id === wanted)
    if (compaction === undefined) return undefined
    const { range, summary } = compaction
    const compacted = await run(readPast(address(id), range.from, { to: range.to }))
    const rows = await records(id, REMEMBERED)
    const left = retained({ compacted, summary, facts: factsIn(rows), memories: remembered(rows, compaction) })
    return { ...left, parts: windowParts(compaction, compacted) }
  },
  historyStart: async (id) => historyStartOf(byKey(await records(id, ["state"]))),
  hold: async (id) => historyHoldOf(byKey(await records(id, ["state"]))),
  window: async (id, definitions = known) => {
    const name = (await inspect(id))?.state.definition
    const definition = definitions.find((each) => each.name === name)
    return run(windowOf(address(id), definition))
  }
})
