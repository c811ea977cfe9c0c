// Reflection: what gathers until the journal is worth looking back upon, and what is learnt then.
// Owns the threshold, the three questions, the evidence and the insights. Leaves asking the model to the runtime.
// I1  Each entry of the journal adds its importance; insights add nothing, or one reflection would bring on the next.
// I2  A reflection that was recorded, with insights or without, sets the sum and the count back to zero.
// I3  A question has at most MAX_EVIDENCE hits. An insight cites entries that exist, at least one, or is not kept.
// I4  No insight speaks of the assistant itself.
// I5  An entry is shown once, and at most MAX_EVIDENCE_CHARS of it: what is asked stays in the conversation, and a few long
//     entries would fill the window that the question shares with it.

import { type Entry, isJsonObject, type Json, linesIn, listIn, type RecordChange } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import type { Moment } from "./goals/goals.ts"
import { addEntry, byAge, type Journal, type JournalEntry, personaRejection } from "./journal.ts"
import { isoTime, oneLine, type Outcome, type Records } from "./projects.ts"

// Topic: what journal entries are about, by their words.
// I1  Equal entries give equal questions; there are always three, and no two are the same.

const empty = new Set(
  (
    "about after again against also always another because been before being between both came come coming could does doing " +
    "down during each either else entries ever every expected from going gone have having here himself herself into itself " +
    "just keeps like made make many might more most much must need never next nobody none nothing often only other others " +
    "over perhaps same seems several shall should show shows since some somebody something sometimes still such taken than " +
    "that their them then there these they this those though through together toward under until upon very want wants well " +
    "went were what when where whether which while whom whose will with within without would back badly around come " +
    "keep deserves remembered tell tells"
  ).split(" ")
)

/** Shortest word that can tell one topic from another, in letters. */
const MIN_LETTERS = 4

/** The words that say what a text is about, in small letters. */
const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => word.length >= MIN_LETTERS && !empty.has(word))
  )

/** The topics that carry most importance; each counts only entries that no weightier one has covered. */
const topicsOf = (entries: ReadonlyArray<JournalEntry>, count: number): ReadonlyArray<string> => {
  let open = entries.map((entry) => ({
    importance: entry.importance,
    words: new Set([...wordsOf(entry.content), ...entry.tags.map((tag) => tag.toLowerCase())])
  }))
  const topics: Array<string> = []
  while (topics.length < count && open.length > 0) {
    const weights = new Map<string, number>()
    for (const { importance, words } of open) {
      for (const word of words) weights.set(word, (weights.get(word) ?? 0) + importance)
    }
    const [heaviest] = [...weights].toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    if (heaviest === undefined) break
    topics.push(heaviest[0])
    open = open.filter(({ words }) => !words.has(heaviest[0]))
  }
  return topics
}

const askedOf = [
  (topic: string) => `What keeps coming back about "${topic}"?`,
  (topic: string) => `What went well or badly around "${topic}", and why?`,
  (topic: string) => `What should be expected next of "${topic}"?`
] as const

const askedOfAll = [
  "What of all this deserves to be remembered?",
  "What do several of these entries tell only when they are taken together?",
  "What should be expected next?"
] as const

/** Three questions about what the entries weigh most upon. */
export const reflectionQuestions = (entries: Iterable<JournalEntry>): ReadonlyArray<string> => {
  const topics = topicsOf([...entries], askedOf.length)
  return askedOf.map((ask, index) => {
    const topic = topics[index]
    return topic === undefined ? (askedOfAll[index] ?? "") : ask(topic)
  })
}

const textOf = (value: Json): string => (typeof value === "string" ? oneLine(value) : "")

/** Three questions out of a model's answer, filled up with `otherwise` where it gave fewer. */
export const readQuestions = (answer: string, otherwise: ReadonlyArray<string>): ReadonlyArray<string> => {
  const found = (listIn(answer)?.map(textOf) ?? linesIn(answer)).filter((question) => question !== "")
  return [...new Set([...found, ...otherwise])].slice(0, askedOf.length)
}

/** What has gathered, as it is kept: the names are those of the wire. */
export const Reflection = Schema.Struct({
  threshold: Schema.Finite,
  cumulative_importance: Schema.Finite,
  entries_since_reflection: Schema.Finite,
  last_reflection: Schema.NullOr(Schema.String)
})
export type Reflection = typeof Reflection.Type

const DEFAULT_THRESHOLD = 150
export const MAX_EVIDENCE = 10
/** Of one entry. A summary of a compaction is an entry too, and as long as a tenth of the window. */
const MAX_EVIDENCE_CHARS = 400
const QUESTIONS = 3
/** Three for each question. */
const MAX_INSIGHTS = 9

/** Under this key of the kind `reflection` stands what has gathered. */
const REFLECTION_KEY = "state"

const isReflection = Schema.is(Reflection)

export const reflectionOf = (records: Records): Reflection => {
  const kept = records.get(REFLECTION_KEY)
  if (isReflection(kept)) return kept
  return {
    threshold: DEFAULT_THRESHOLD,
    cumulative_importance: 0,
    entries_since_reflection: 0,
    last_reflection: null
  }
}

/** What an entry writes down of it; undefined where it writes nothing. */
export const reflectionIn = ({ records = [] }: Pick<Entry, "records">): Reflection | undefined => {
  const change = records.findLast(({ key, kind }) => kind === "reflection" && key === REFLECTION_KEY)
  return change === undefined || change.value === null
    ? undefined
    : reflectionOf(new Map([[REFLECTION_KEY, change.value]]))
}

export const reflectionChanges = (before: Reflection, after: Reflection): ReadonlyArray<RecordChange> =>
  before === after ? [] : [{ kind: "reflection", key: REFLECTION_KEY, value: after }]

/** One more entry of the journal. */
export const gathered = (reflection: Reflection, { importance }: JournalEntry): Reflection => ({
  ...reflection,
  cumulative_importance: reflection.cumulative_importance + importance,
  entries_since_reflection: reflection.entries_since_reflection + 1
})

export const isReflectionDue = ({ cumulative_importance, threshold }: Reflection): boolean =>
  cumulative_importance >= threshold

/** The entries that speak to a question, by the words they have in common with it; without any, the weightiest. */
export const evidenceFor = (question: string, entries: Iterable<JournalEntry>): ReadonlyArray<JournalEntry> => {
  const asked = wordsOf(question)
  const scored = [...entries].map((entry) => {
    const said = wordsOf(`${entry.content} ${entry.tags.join(" ")}`)
    return { entry, overlap: [...asked].filter((word) => said.has(word)).length }
  })
  const hits = scored.filter(({ overlap }) => overlap > 0)
  return (hits.length > 0 ? hits : scored)
    .toSorted((a, b) => b.overlap - a.overlap || b.entry.importance - a.entry.importance || byAge(b.entry, a.entry))
    .slice(0, MAX_EVIDENCE)
    .map(({ entry }) => entry)
}

const evidenceLine = ({ content, id, importance }: JournalEntry): string => {
  const line = oneLine(content)
  const shown = line.length <= MAX_EVIDENCE_CHARS ? line : `${line.slice(0, MAX_EVIDENCE_CHARS - 1).toWellFormed()}…`
  return `[${id}] (importance ${importance}) ${shown}`
}

/** What the model is asked: the questions, the evidence for each, and the form of the answer. */
export const reflectionText = (journal: Journal, questions: ReadonlyArray<string>): string => {
  const entries = [...journal.entries.values()]
  const shown = new Set<string>()
  const once = (entry: JournalEntry): string => {
    if (shown.has(entry.id)) return `[${entry.id}] (as above)`
    shown.add(entry.id)
    return evidenceLine(entry)
  }
  const asked = questions
    .slice(0, QUESTIONS)
    .map((question, index) =>
      [
        `Question ${index + 1}: ${question}`,
        "Journal entries that bear on it:",
        ...evidenceFor(question, entries).map(once)
      ].join("\n")
    )
  return [
    "Look back on your journal. Answer each question with what the entries show when they are taken together.",
    "",
    asked.join("\n\n"),
    "",
    "State insights about the world, the people in it and how things go there, never about yourself; write in the third person.",
    'Answer with a JSON array of at most nine objects: {"insight": "one sentence", "evidence": ["the ids of the entries it rests on"]}.',
    "An insight without the id of an entry is of no use."
  ].join("\n")
}

export interface Insight {
  readonly content: string
  readonly evidence: ReadonlyArray<string>
}

const entryIds = /\b(?:entry|compact)_\d+_\d+(?:_\d+)*\b/g

const insightOf = (value: Json): Insight => {
  if (!isJsonObject(value)) return typeof value === "string" ? insightIn(value) : { content: "", evidence: [] }
  const said = value["insight"] ?? value["content"] ?? value["text"]
  const cited = value["evidence"] ?? value["citations"]
  const evidence = Array.isArray(cited) ? cited.filter((id): id is string => typeof id === "string") : []
  return { content: typeof said === "string" ? oneLine(said) : "", evidence }
}

/** A line that names its evidence: `Trade is slow in winter (because of entry_3_0, entry_9_1)`. */
const insightIn = (line: string): Insight => ({
  content: oneLine(line.replace(/\s*[([][^()[\]]*\b(?:entry|compact)_\d[^()[\]]*[)\]]/g, "")),
  evidence: line.match(entryIds) ?? []
})

/** The insights in the model's answer. Citations of what is not in the journal are dropped. */
export const readInsights = (answer: string, journal: Journal): ReadonlyArray<Insight> => {
  const found = listIn(answer)?.map(insightOf) ?? linesIn(answer).map(insightIn)
  return found
    .filter(({ content }) => content !== "")
    .map(({ content, evidence }) => ({
      content,
      evidence: [...new Set(evidence)].filter((id) => journal.entries.has(id))
    }))
}

export interface Reflected {
  readonly success: true
  /** Ids of the journal entries that hold the insights. */
  readonly insights: ReadonlyArray<string>
  /** Insights not kept because they cite no entry, or speak of the assistant. */
  readonly uncited: number
  readonly rejected: number
}

export interface Reflecting {
  readonly journal: Journal
  readonly reflection: Reflection
}

/** Keeps the insights of the answer as journal entries with their evidence, and begins to gather anew. */
export const recordReflection = (
  { journal, reflection }: Reflecting,
  answer: string,
  names: ReadonlyArray<string>,
  moment: Moment
): Outcome<Reflecting, Reflected> => {
  const all = readInsights(answer, journal)
  const cited = all.filter(({ evidence }) => evidence.length > 0)
  const worldly = cited.filter(({ content }) => personaRejection(content, names) === undefined)
  let kept = journal
  const insights: Array<string> = []
  for (const { content, evidence } of worldly.slice(0, MAX_INSIGHTS)) {
    const added = addEntry(kept, { content, source_type: "inference", tags: ["reflection"], evidence }, moment)
    kept = added.state
    insights.push(added.result.entry.id)
  }
  return {
    state: {
      journal: kept,
      reflection: {
        ...reflection,
        cumulative_importance: 0,
        entries_since_reflection: 0,
        last_reflection: isoTime(moment.now)
      }
    },
    result: {
      success: true,
      insights,
      uncited: all.length - cited.length,
      rejected: cited.length - worldly.length
    }
  }
}
