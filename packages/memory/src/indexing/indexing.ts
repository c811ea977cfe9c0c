// Indexing: from entries of the ledger to changes of an index.
// Owns what was said around a message, and which module a record's change goes to. Leaves reading the ledger and
// applying the changes to the runtime.
// X1  In whatever batches the entries of an assistant come, what an index holds afterwards is the same.
// X2  Around what others said stand up to EARLIER things before it and LATER after it that others said, in the order in
//     which the assistant lived through them, and its own answer right before. Around an answer stands what it answers.
//     Short answers stand alone: found by the words of others, they would take the place of what they answer. What lies
//     more than AROUND_ENTRIES entries away is not around.
// X3  Changes follow the order of the ledger: a fact comes after the message it was drawn from.

import type { Entry, RecordChange } from "@reverie/protocol"
import type { MemoryEntry } from "../entry.ts"
import { factRecordChanges } from "../facts/index-changes.ts"
import { passageChanges } from "../passage.ts"
import { entityChanges } from "../profiles/profile-index.ts"
import type { IndexChange } from "../recall.ts"
import { episodeChanges } from "./episodes.ts"
import { bounded, isTimer, isWorthIndexing, messageEntry } from "./messages.ts"

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
  /** The assistant's own words right before it; empty when there are none. */
  readonly after: string
}

/** What has to be known of what went before. */
export interface IndexWindow {
  /** The last things that others said, the newest last. */
  readonly said: ReadonlyArray<Said>
  /** What the assistant has answered since. */
  readonly answer: { readonly no: number; readonly text: string }
  /** Who began the tick at hand; null for a timer, and when it is not known. */
  readonly thread: { readonly no: number; readonly name: string | null }
}

const NOWHERE = Number.NEGATIVE_INFINITY

export const NOTHING_SAID: IndexWindow = {
  said: [],
  answer: { no: NOWHERE, text: "" },
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
    for (const record of entry.records ?? []) draft.changes.push(...recordChanges(record))
  }
  return draft.done()
}

/** What a changed record means for an index. */
export const recordChanges = (change: RecordChange): ReadonlyArray<IndexChange> => {
  switch (change.kind) {
    case "journal":
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
    const { no } = entry
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
  #before(no: number, count: number): ReadonlyArray<string> {
    return this.#said
      .slice(-count)
      .filter((said) => areAround(said.no, no))
      .map(textOf)
  }

  #put(entry: MemoryEntry, around: ReadonlyArray<string>): void {
    this.changes.push({ type: "put", entry: withContext(entry, around) })
  }

  #hear(no: number, entry: MemoryEntry): void {
    this.#slots.push(this.changes.length)
    this.changes.push({ type: "put", entry })
    this.#said.push({ no, entry, after: areAround(this.#answer.no, no) ? this.#answer.text : "" })
    this.#answer = NOTHING_SAID.answer
  }

  #speak(no: number, entry: MemoryEntry, isAsked: boolean): void {
    this.#put(entry, isAsked && entry.text.length >= MIN_ANSWER_CHARS ? this.#before(no, 1) : [])
    this.#answer = { no, text: bounded(entry.text, MAX_AROUND_CHARS) }
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
    if (said === undefined) throw new Error("a message was told of that nobody said")
    const isAround = ({ no }: Said) => areAround(no, said.no)
    const earlier = this.#said
      .slice(Math.max(0, place - EARLIER), place)
      .filter(isAround)
      .map(textOf)
    const later = this.#said
      .slice(place + 1, place + 1 + LATER)
      .filter(isAround)
      .map(textOf)
    return { type: "put", entry: withContext(said.entry, [...earlier, said.after, ...later]) }
  }
}

const areAround = (one: number, other: number): boolean => Math.abs(one - other) <= AROUND_ENTRIES

const textOf = ({ entry }: Said): string => bounded(entry.text, MAX_AROUND_CHARS)

const withContext = (entry: MemoryEntry, around: ReadonlyArray<string>): MemoryEntry => {
  const context = around.filter((text) => text !== "").join("\n")
  return context === "" ? entry : { ...entry, context }
}
