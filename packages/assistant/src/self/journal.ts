// Journal: the diary of an assistant, its episodic memory.
// Owns the shape of an entry, its importance, its id and how many are at hand. Leaves reflecting on them to reflection.ts.
// I1  Ids are unique without chance: `entry_{tick}_{index}`, the index counting within the tick. Who gives an id of
//     another form answers for its being unique.
// I2  The journal is permanent. Beyond MAX_ENTRIES at hand the least important of those that a dream has consolidated are
//     put away, of equal ones the oldest. What no dream has read stays at hand, however many they are (F115).
// I3  A journal is read with the oldest entry first, in whatever order its records are held: by key they stand otherwise
//     than they were written, and a restart must not change what is looked at first.
// I4  The importance is 1 to 10: given by hand or by a model, or 5 by the heuristic, more or less by source and by what it
//     says. Its method tells which: only what a person gave is `manual`.
// I5  What is no longer at hand stands among the records of the kind `episode`, word for word: the change that takes an
//     entry from the journal puts it there.

import { defined, type Json, type RecordChange } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import type { Moment } from "./goals/goals.ts"
import { changesOf, fitting, isoTime, type Outcome, type Records, type Refusal } from "./projects.ts"

export const sourceTypes = ["direct", "observation", "inference", "environmental", "compaction"] as const
export type SourceType = (typeof sourceTypes)[number]

/** How far a source is believed. A compaction is a model's summary, so no better than an inference. */
const trustBySource: Readonly<Record<SourceType, number>> = {
  direct: 0.9,
  observation: 0.8,
  inference: 0.6,
  environmental: 0.3,
  compaction: 0.6
}

const weightBySource: Readonly<Record<SourceType, number>> = {
  direct: 2,
  observation: 1,
  inference: 0,
  environmental: -1,
  compaction: 0
}

/** An entry as it is kept: the names are those of the wire. */
export const JournalEntry = Schema.Struct({
  id: Schema.String,
  timestamp: Schema.String,
  content: Schema.String,
  source_type: Schema.Literals(sourceTypes),
  source_trust: Schema.Finite,
  /** Who or what it is about or from. */
  source_entity: Schema.NullOr(Schema.String),
  importance: Schema.Finite,
  importance_method: Schema.Literals(["heuristic", "llm", "manual"]),
  tags: Schema.Array(Schema.String),
  related_projects: Schema.Array(Schema.String),
  /** Of an insight: the entries it was drawn from. */
  evidence: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Of one that a dream wrote while it read: the ids of all that it had before it. */
  sources: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Of one that a dream has pruned: since when recall does not find it. */
  pruned_at: Schema.optionalKey(Schema.String),
  /** A person has declined to have it put away: no dream asks again. */
  kept: Schema.optionalKey(Schema.Boolean)
})
export type JournalEntry = typeof JournalEntry.Type

export interface Journal {
  readonly entries: ReadonlyMap<string, JournalEntry>
  /** Ids of entries that have become semantic memory. */
  readonly consolidated: ReadonlySet<string>
}

/** Most entries at hand, but where no dream has read them. */
export const MAX_ENTRIES = 100

/** Under this key of the kind `state` stand the ids of consolidated entries. */
export const CONSOLIDATED_KEY = "consolidated-entry-ids"

const isEntry = Schema.is(JournalEntry)

export const journalOf = (journal: Records, stateRecords: Records): Journal => {
  const entries = [...fitting(journal, isEntry)]
  const ids = stateRecords.get(CONSOLIDATED_KEY)
  return {
    entries: new Map(entries.toSorted(([, a], [, b]) => byAge(a, b))),
    consolidated: new Set(Array.isArray(ids) ? ids.filter((id): id is string => typeof id === "string") : [])
  }
}

/** What makes one journal of the other. What has left it is put away; `prunedAt`: because a dream has pruned it. */
export const journalChanges = (before: Journal, after: Journal, prunedAt?: number): ReadonlyArray<RecordChange> => {
  const ids: Json = [...after.consolidated]
  const mark = defined({ pruned_at: prunedAt === undefined ? undefined : isoTime(prunedAt) })
  const left = [...before.entries].filter(([id]) => !after.entries.has(id))
  return [
    ...changesOf("journal", before.entries, after.entries),
    ...left.map(([key, entry]): RecordChange => ({ kind: "episode", key, value: { ...entry, ...mark } })),
    ...(before.consolidated === after.consolidated
      ? []
      : [{ kind: "state", key: CONSOLIDATED_KEY, value: ids } satisfies RecordChange])
  ]
}

const placeOf = (id: string): ReadonlyArray<number> => (id.match(/\d+/g) ?? []).map(Number)

/** The oldest first. Within one second the ids tell: they count. */
export const byAge = (a: JournalEntry, b: JournalEntry): number => {
  if (a.timestamp !== b.timestamp) return a.timestamp < b.timestamp ? -1 : 1
  const [tickA = 0, indexA = 0] = placeOf(a.id)
  const [tickB = 0, indexB = 0] = placeOf(b.id)
  return tickA - tickB || indexA - indexB
}

export interface NewEntry {
  /** `entry_{tick}_{index}` when not said. */
  readonly id?: string
  readonly content: string
  readonly source_type: SourceType
  readonly source_entity?: string
  /** 1 to 10; without it the heuristic decides. */
  readonly importance?: number
  /** Who gave the importance; a person when not said. */
  readonly importance_method?: JournalEntry["importance_method"]
  readonly tags?: ReadonlyArray<string>
  readonly related_projects?: ReadonlyArray<string>
  readonly evidence?: ReadonlyArray<string>
}

/** What binds or threatens outlives the day. */
const binding =
  /\b(?:deadlines?|urgent(?:ly)?|promised?|promises|agreed|owes?|must|never|always|dangers?|dangerous|emergency|important|critical)\b/i

/** Shorter than this an entry says little, in UTF-16 units. */
const TERSE_CHARS = 20

const withinScale = (importance: number): number => Math.min(10, Math.max(1, Math.round(importance)))

/** 5, by source +2, +1, 0 or -1; +1 for words that bind or warn; +1 for a project; -1 for a terse line. */
export const heuristicImportance = ({ content, related_projects = [], source_type }: NewEntry): number =>
  withinScale(
    5 +
      weightBySource[source_type] +
      (binding.test(content) ? 1 : 0) +
      (related_projects.length > 0 ? 1 : 0) -
      (content.trim().length < TERSE_CHARS ? 1 : 0)
  )

const nextId = (entries: Journal["entries"], tick: number): string => {
  const prefix = `entry_${tick}_`
  let next = 0
  for (const id of entries.keys()) {
    const index = id.startsWith(prefix) ? Number(id.slice(prefix.length)) : -1
    if (Number.isInteger(index)) next = Math.max(next, index + 1)
  }
  return `${prefix}${next}`
}

/** The ids that are put away, in the order of I2. */
const surplus = ({ consolidated, entries }: Journal): ReadonlyArray<string> => {
  if (entries.size <= MAX_ENTRIES) return []
  return [...entries.values()]
    .filter(({ id }) => consolidated.has(id))
    .toSorted((a, b) => a.importance - b.importance || byAge(a, b))
    .slice(0, entries.size - MAX_ENTRIES)
    .map(({ id }) => id)
}

export interface Journaled {
  readonly success: true
  readonly entry: JournalEntry
  /** Entries that are no longer at hand: a dream has made memory of them, and recall finds them. */
  readonly put_away: ReadonlyArray<string>
}

const entryOf = (id: string, wanted: NewEntry, now: number): JournalEntry => ({
  id,
  timestamp: isoTime(now),
  content: wanted.content.trim(),
  source_type: wanted.source_type,
  source_trust: trustBySource[wanted.source_type],
  source_entity: wanted.source_entity ?? null,
  importance: wanted.importance === undefined ? heuristicImportance(wanted) : withinScale(wanted.importance),
  importance_method: wanted.importance === undefined ? "heuristic" : (wanted.importance_method ?? "manual"),
  tags: [...new Set(wanted.tags)],
  related_projects: [...new Set(wanted.related_projects)],
  ...defined({ evidence: wanted.evidence })
})

export const addEntry = (journal: Journal, wanted: NewEntry, { now, tick }: Moment): Outcome<Journal, Journaled> => {
  const entry = entryOf(wanted.id ?? nextId(journal.entries, tick), wanted, now)
  const entries = new Map(journal.entries).set(entry.id, entry)
  const putAway = surplus({ ...journal, entries })
  for (const id of putAway) entries.delete(id)
  const consolidated = putAway.length === 0 ? journal.consolidated : journal.consolidated.difference(new Set(putAway))
  return { state: { entries, consolidated }, result: { success: true, entry, put_away: putAway } }
}

/** Marks entries as turned into semantic memory; ids that no entry has are of no effect. */
export const markConsolidated = (journal: Journal, ids: Iterable<string>): Journal => {
  const fresh = [...ids].filter((id) => journal.entries.has(id) && !journal.consolidated.has(id))
  return fresh.length === 0 ? journal : { ...journal, consolidated: new Set([...journal.consolidated, ...fresh]) }
}

/** What entries are asked for; each condition given must hold. */
export interface JournalReview {
  readonly limit?: number
  readonly tag?: string
  readonly source_type?: SourceType
  readonly min_importance?: number
  /** Words that must all stand in the entry. */
  readonly text?: string
}

const DEFAULT_REVIEW = 10

/** Entries that are no longer at hand, out of their records. */
export const episodesIn = (values: ReadonlyArray<Json>): ReadonlyArray<JournalEntry> => values.filter(isEntry)

/** The newest first. `episodes`: those that are no longer at hand. */
export const reviewJournal = (journal: Journal, review: JournalReview, episodes: ReadonlyArray<JournalEntry> = []) => {
  const { limit = DEFAULT_REVIEW, min_importance = 0, source_type, tag, text = "" } = review
  const words = text.toLowerCase().split(/\s+/)
  const all = [...journal.entries.values(), ...episodes]
  const found = all
    .filter(
      (entry) =>
        entry.importance >= min_importance &&
        (source_type === undefined || entry.source_type === source_type) &&
        (tag === undefined || entry.tags.includes(tag)) &&
        words.every((word) => entry.content.toLowerCase().includes(word))
    )
    .toSorted((a, b) => byAge(b, a))
  const entries = found.slice(0, limit).map(({ sources: _, ...entry }) => entry)
  return { success: true as const, found: found.length, kept: all.length, entries }
}

// Persona: keeps what the assistant remembers about the world free of itself (F77, F78, A26).
// I1  Judged are whole words, in any case, outside quotation marks: what someone else said of themselves is a fact.
// I2  A numeral is no pronoun: "Henry I", "World War I", "I/O", "(i)".
// I3  In doubt it rejects: a rejected fact is put differently, an accepted confession stays for good.

export interface PersonaRejection extends Refusal {
  readonly suggestion: string
}

const rejection: PersonaRejection = {
  success: false,
  error: "Content appears to reference assistant actions or identity",
  suggestion:
    "Session memory should contain facts about the WORLD, PLAYERS, or EVENTS - not what you did. Rephrase in third-person."
}

const START = "(?<![\\p{L}\\p{N}_])"
const END = "(?![\\p{L}\\p{N}_])"
const words = (source: string): RegExp => new RegExp(`${START}(?:${source})${END}`, "iu")
const setOf = (list: string): ReadonlySet<string> => new Set(list.split(" "))

/** "us" and "mine" are left out: a country and a pit are written the same. */
const firstPerson = words("my|myself|me|we|our|ours|ourselves")

/** Other people are assistants too: the assistant manager is not meant. */
const offices = "manager|director|professor|coach|chef|cook|engineer|editor|librarian|keeper|teacher|pilot|captain"
const secondNature = words(
  `(?:the|this)\\s+(?:ai\\s+)?assistant(?!\\s+(?:${offices}|harbou?r\\s?master)${END})|as\\s+an?\\s+(?:ai|assistant|language\\s+model)`
)

const pronounI = new RegExp(`${START}I${END}`, "giu")

const determiners = setOf("the a an this that these those each every any some no his her its their your")
/** What is numbered with Roman numerals. After a determiner it is a place to be, not a number: "at the gate I met". */
const numbered = setOf(
  "chapter part act scene volume book war phase type level stage class section grade mark tier article appendix table " +
    "figure unit zone pier berth dock gate quay block wing series category schedule step index variable option paragraph"
)
const regnal = setOf(
  "henry charles james george elizabeth mary edward richard william louis francis philip frederick catherine peter " +
    "nicholas alexander pius leo napoleon john paul justinian constantine theodosius basil otto selim murad"
)
const titles = setOf("king queen emperor empress tsar tsarina pope sultan prince princess duke duchess khan patriarch")
/** Words that come before a speaking I, never before a numeral. */
const connectives = setOf(
  "and or but nor than as if so then because that which what when where while how why who since until although though " +
    "am was were is are do did does should would can could have had has will may might must said says say"
)

/** True when the I between these two texts numbers something, or is part of a longer sign. */
const isNumeral = (before: string, after: string): boolean => {
  if (/^[-/][\p{L}\p{N}]/u.test(after) || /[\p{L}\p{N}][-/]$/u.test(before)) return true
  if (/^\.\p{L}(?!\p{L})/u.test(after) || /(?<!\p{L})\p{L}\.$/u.test(before)) return true
  if (before.endsWith("(") && after.startsWith(")")) return true
  if (/(?:^|\n)\s*$/.test(before) && /^[.)]\s/.test(after)) return true
  const around = /(?:[\p{L}\p{N}]+\s+){1,3}$/u.exec(before)?.[0].trim().toLowerCase().split(/\s+/) ?? []
  const [first = "", second = "", third = ""] = around.toReversed()
  if (first === "" || connectives.has(first)) return false
  if (regnal.has(first)) return true
  if (numbered.has(first)) return !determiners.has(second)
  if (titles.has(second)) return !determiners.has(third)
  return /^\s+of\s/i.test(after)
}

/** As far back as a numeral can be recognised, in UTF-16 units. */
const LOOK_BACK_CHARS = 80

const speaksOfI = (text: string): boolean => {
  for (const { index } of text.matchAll(pronounI)) {
    if (!isNumeral(text.slice(Math.max(0, index - LOOK_BACK_CHARS), index), text.slice(index + 1))) return true
  }
  return false
}

const quotes =
  /"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|`[^`]*`|(?<![\p{L}\p{N}_])['‘](?=\S)(?:[^'’\n]|['’](?=[\p{L}\p{N}]))*['’](?![\p{L}\p{N}_])/gu

/**
 * As it is judged: one form of each letter, nothing quoted. What is invisible may stand between words or inside one, so
 * both readings are judged.
 */
const readings = (content: string): ReadonlyArray<string> =>
  ["", " "].map((gap) =>
    content
      .normalize("NFKC")
      .replace(/\p{Cf}/gu, gap)
      .replace(quotes, '""')
  )

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")

/** A name that is a plain word means the thing when a determiner stands before it: "the desk" is no assistant. */
const isNamed = (text: string, name: string): boolean => {
  const plain = /^[\p{L}\p{N}]+$/u.test(name)
  const notTheThing = plain ? `(?<!${START}(?:${[...determiners].join("|")})\\s+)` : ""
  return (
    name !== "" &&
    new RegExp(`${notTheThing}(?<![\\p{L}\\p{N}_-])${escaped(name)}(?![\\p{L}\\p{N}_-])`, "iu").test(text)
  )
}

const speaksOfSelf = (text: string, names: ReadonlyArray<string>): boolean =>
  firstPerson.test(text) ||
  secondNature.test(text) ||
  speaksOfI(text) ||
  names.some((name) => isNamed(text, name.trim()))

/** Why the text may not be remembered, or undefined. `names` are what the assistant itself is called. */
export const personaRejection = (content: string, names: ReadonlyArray<string> = []): PersonaRejection | undefined =>
  readings(content).some((text) => speaksOfSelf(text, names)) ? rejection : undefined
