// Indexing: from entries of the ledger to changes of an index.
// Owns what was said around a message, and which module a record's change goes to. Leaves reading the ledger and
// applying the changes to the runtime.
// X1  In whatever batches the entries of an assistant come, what an index holds afterwards is the same.
// X2  Around what others said stand up to EARLIER things before it and LATER after it that others said, in the order in
//     which the assistant lived through them, and its own answer right before. Around an answer stands what it answers.
//     Short answers stand alone: found by the words of others, they would take the place of what they answer. What lies
//     more than AROUND_ENTRIES entries away is not around.
// X3  Changes follow the order of the ledger: a fact comes after the message it was drawn from.

import { defined, type Entry, type RecordChange } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import { bounded, entryId, isTimer, isWorthIndexing, type MemoryEntry, messageEntry } from "./messages.ts"
import { type IndexChange, passageChanges } from "../recall.ts"
import { entityChanges } from "../profiles/profile.ts"
import { cleanText } from "../integrity/clean-text.ts"
import { type Fact, isFact } from "../fact.ts"

// IndexChanges: what a fact means for the index in which it is recalled.
// X1  A fact that holds is found by itself and by each of its sources; any other is found by neither.
// X2  Made from what a fact is now alone, the changes are enough: it names also the sources that were taken back (O1 of a fact). With
//     what it was before, they are the fewest; links and marks change nothing.
// X3  A fact is its owner's alone.
// X4  It belongs to the conversation of whom it was learnt of first. What an operator wrote says itself whose it is, no matter who repeats it.

/** The conversation that a fact belongs to; undefined where that is no one's to tell. */
export const threadOf = ({ origin: { name, type }, thread }: Pick<Fact, "origin" | "thread">): string | undefined => {
  if (thread !== undefined) return thread
  return (type === "person" || type === "assistant") && name !== "" ? name : undefined
}

const entryOf = (fact: Fact): MemoryEntry => {
  const { at, entities, id, importance, origin, text, trust } = fact
  return {
    id: entryId("fact", id),
    kind: "fact",
    at,
    text,
    ...defined({ speaker: origin.name === "" ? undefined : origin.name, thread: threadOf(fact) }),
    entities,
    tags: [],
    trust,
    importance,
    readers: "owner"
  }
}

const attached = (fact: Fact): ReadonlyMap<string, string | null> =>
  new Map([
    ...(fact.withdrawn ?? []).map((source) => [source, null] as const),
    ...fact.sources.map((source) => [source, fact.state === "active" ? fact.text : null] as const)
  ])

const isSameEntry = (a: Fact, b: Fact): boolean =>
  a.state === b.state && JSON.stringify(entryOf(a)) === JSON.stringify(entryOf(b))

/** What a changed fact means for an index; without the fact as it was, everything about it is said anew. */
export const factChanges = (before: Fact | undefined, after: Fact): ReadonlyArray<IndexChange> => {
  const was = before === undefined ? new Map<string, string | null>() : attached(before)
  const is = attached(after)
  const entry: ReadonlyArray<IndexChange> =
    before !== undefined && isSameEntry(before, after)
      ? []
      : [
          after.state === "active"
            ? { type: "put", entry: entryOf(after) }
            : { type: "remove", id: entryId("fact", after.id) }
        ]
  const gone = [...was.keys()].filter((source) => !is.has(source)).map((source) => [source, null] as const)
  const texts = [...gone, ...[...is].filter(([source, text]) => was.get(source) !== text)]
  return [...entry, ...texts.map(([of, text]): IndexChange => ({ type: "fact", of, fact: after.id, text }))]
}

/** What a changed record of the kind `fact` means for an index. */
export const factRecordChanges = ({ key, value }: RecordChange): ReadonlyArray<IndexChange> =>
  isFact(value) ? factChanges(undefined, value) : [{ type: "remove", id: entryId("fact", key) }]

// Episodes: how a journal entry stands in an index.
// E1  An entry is found whether it is at hand or put away, as one and the same; one that a dream has pruned is not.

/** As much of a journal entry as an index needs. */
const Episode = Schema.Struct({
  timestamp: Schema.String,
  content: Schema.String,
  source_trust: Schema.Finite,
  source_entity: Schema.NullOr(Schema.String),
  importance: Schema.Finite,
  tags: Schema.Array(Schema.String),
  related_projects: Schema.Array(Schema.String),
  pruned_at: Schema.optionalKey(Schema.String)
})

const isEpisode = Schema.is(Episode)

const episodeChanges = ({ key, value }: RecordChange): ReadonlyArray<IndexChange> => {
  const id = entryId("episode", key)
  const at = isEpisode(value) ? Date.parse(value.timestamp) : Number.NaN
  if (!isEpisode(value) || Number.isNaN(at) || value.pruned_at !== undefined) return [{ type: "remove", id }]
  const { content, importance, related_projects, source_entity, source_trust, tags } = value
  return [
    {
      type: "put",
      entry: {
        id,
        kind: "episode",
        at,
        text: cleanText(content),
        entities: source_entity === null ? [] : [source_entity],
        tags: [...new Set([...tags, ...related_projects])],
        trust: source_trust,
        importance,
        readers: "owner"
      }
    }
  ]
}

/** It leaves the journal for the records of the kind `episode`: the other change says what becomes of it. */
const isPutAway = ({ key, kind, value }: RecordChange, records: ReadonlyArray<RecordChange>): boolean =>
  kind === "journal" && value === null && records.some((other) => other.kind === "episode" && other.key === key)

const EARLIER = 3
const LATER = 2
/** Bounds how far back anybody has to read who has forgotten what was said. */
const AROUND_ENTRIES = 256
/** Of each text around, in UTF-16 units. */
const MAX_AROUND_CHARS = 400
/** An answer that is shorter says nothing that its question would find. */
const MIN_ANSWER_CHARS = 40

/** Something that others said. */
interface Said {
  readonly no: number
  readonly entry: MemoryEntry
  /** The assistant's own words right before it. */
  readonly after: MemoryEntry | undefined
}

/** What has to be known of what went before. */
export interface IndexWindow {
  /** The last things that others said, the newest last. */
  readonly said: ReadonlyArray<Said>
  /** What the assistant has answered since. */
  readonly answer: { readonly no: number; readonly entry: MemoryEntry | undefined }
  /** Who began the tick at hand; null for a timer, and when it is not known. */
  readonly thread: { readonly no: number; readonly name: string | null }
}

const NOWHERE = Number.NEGATIVE_INFINITY

export const NOTHING_SAID: IndexWindow = {
  said: [],
  answer: { no: NOWHERE, entry: undefined },
  thread: { no: NOWHERE, name: null }
}

/** True when nothing that was said before so many entries can make a difference any more. */
export const isWindowWhole = ({ said }: IndexWindow, entriesRead: number): boolean =>
  said.length === EARLIER + LATER || entriesRead >= 2 * AROUND_ENTRIES

export interface Indexed {
  readonly changes: ReadonlyArray<IndexChange>
  readonly window: IndexWindow
}

/** The changes that entries bring about, and the window for those that follow. */
export const indexOf = (entries: ReadonlyArray<Entry>, before: IndexWindow, self: string): Indexed => {
  const draft = new Draft(before, self)
  for (const entry of entries) {
    draft.tell(entry)
    const { records = [] } = entry
    for (const record of records) if (!isPutAway(record, records)) draft.changes.push(...recordChanges(record))
  }
  return draft.done()
}

/** What a changed record means for an index. */
export const recordChanges = (change: RecordChange): ReadonlyArray<IndexChange> => {
  switch (change.kind) {
    case "journal":
    case "episode":
      return episodeChanges(change)
    case "fact":
      return factRecordChanges(change)
    case "entity":
      return entityChanges(change)
    case "passage":
      return passageChanges(change)
    default:
      return []
  }
}

class Draft {
  readonly changes: Array<IndexChange> = []
  readonly #self: string
  readonly #said: Array<Said>
  /** How many of them were known before. */
  readonly #known: number
  /** For each thing that was newly said, its place among the changes. */
  readonly #slots: Array<number> = []
  #answer: IndexWindow["answer"]
  #thread: IndexWindow["thread"]

  constructor({ answer, said, thread }: IndexWindow, self: string) {
    this.#self = self
    this.#said = [...said]
    this.#known = said.length
    this.#answer = answer
    this.#thread = thread
  }

  tell(entry: Entry): void {
    const { deleted, no } = entry
    // In the place of its words stands that they were deleted.
    if (deleted !== undefined) return
    for (const [index, message] of entry.messages.entries()) {
      if (message.role === "user") this.#thread = { no, name: isTimer(entry) ? null : (message.name ?? null) }
      if (!isWorthIndexing(entry, message)) continue
      const thread = areAround(this.#thread.no, no) ? this.#thread.name : null
      const put = messageEntry(message, { no, index }, this.#self, thread ?? undefined)
      if (message.role === "user") this.#hear(no, put)
      else if (message.role === "tool") this.#put(put, this.#before(no, EARLIER))
      else this.#speak(no, put, thread !== null)
    }
  }

  done(): Indexed {
    for (const [at, slot] of this.#slots.entries()) this.changes[slot] = this.#heard(this.#known + at)
    return {
      // Those before have now heard what came after them.
      changes: [...this.#heardMore(), ...this.changes],
      window: { said: this.#said.slice(-(EARLIER + LATER)), answer: this.#answer, thread: this.#thread }
    }
  }

  /** The last things that others said before an entry and around it. */
  #before(no: number, count: number): ReadonlyArray<MemoryEntry> {
    return this.#said
      .slice(-count)
      .filter((said) => areAround(said.no, no))
      .map(({ entry }) => entry)
  }

  #put(entry: MemoryEntry, around: ReadonlyArray<MemoryEntry>): void {
    this.changes.push(putting(entry, around))
  }

  #hear(no: number, entry: MemoryEntry): void {
    this.#slots.push(this.changes.length)
    this.changes.push({ type: "put", entry })
    this.#said.push({ no, entry, after: areAround(this.#answer.no, no) ? this.#answer.entry : undefined })
    this.#answer = NOTHING_SAID.answer
  }

  #speak(no: number, entry: MemoryEntry, isAsked: boolean): void {
    this.#put(entry, isAsked && entry.text.length >= MIN_ANSWER_CHARS ? this.#before(no, 1) : [])
    this.#answer = { no, entry }
  }

  #heardMore(): ReadonlyArray<IndexChange> {
    const next = this.#said[this.#known]
    if (next === undefined) return []
    const changes: Array<IndexChange> = []
    for (let place = Math.max(0, this.#known - LATER); place < this.#known; place++) {
      if (areAround(this.#said[place]?.no ?? NOWHERE, next.no)) changes.push(this.#heard(place))
    }
    return changes
  }

  /** The change for something that was said, with what was said around it. */
  #heard(place: number): IndexChange {
    const said = this.#said[place]
    if (said === undefined) throw new Error("a message was reported that no one said")
    const isAround = ({ no }: Said) => areAround(no, said.no)
    const earlier = this.#said
      .slice(Math.max(0, place - EARLIER), place)
      .filter(isAround)
      .map(({ entry }) => entry)
    const later = this.#said
      .slice(place + 1, place + 1 + LATER)
      .filter(isAround)
      .map(({ entry }) => entry)
    const { after } = said
    return putting(said.entry, [...earlier, ...(after === undefined ? [] : [after]), ...later])
  }
}

const areAround = (one: number, other: number): boolean => Math.abs(one - other) <= AROUND_ENTRIES

/** What was said around an entry, of the texts of those that say it. */
export const contextOf = (texts: ReadonlyArray<string>): string =>
  texts
    .map((text) => bounded(text, MAX_AROUND_CHARS))
    .filter((text) => text !== "")
    .join("\n")

const putting = (entry: MemoryEntry, neighbours: ReadonlyArray<MemoryEntry>): IndexChange => {
  const context = contextOf(neighbours.map(({ text }) => text))
  if (context === "") return { type: "put", entry }
  return { type: "put", entry: { ...entry, context }, around: neighbours.map(({ id }) => id) }
}
