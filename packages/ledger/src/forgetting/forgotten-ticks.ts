// ForgottenTicks: a life without what someone said, without one message, or without a span of time.
// Owns what goes with those ticks. Leaves which they were to meant-ticks.ts, what is left of it to hushing.ts, taking texts out to
// forgetting.ts.
// K1  With a message goes its whole tick: what was answered, called, returned and written down. Numbers, references and
//     what the statechart was told stay, so that the life replays and counts as before.
// K2  What was learnt of it goes wherever it stands: facts and insights by their sources (of several: sources-left.ts), observations by their
//     facts, attributes by their observations. Of a person also every fact about it, its profile, and its name.
// K3  What these ticks changed is as it was before them; what they began is gone, with all that became of it. What stands beside events
//     for the cache's sake is made of what was known then, so all of it goes.
// K4  A summary that covers something of it is forgotten whole, and what was written down for one (forgotten-summaries.ts).
// K6  Of a person goes what was written without a message too, whatever is left of the mail: edits of facts and profiles, notes of reminders,
//     reasons and notes of orders, and blocks that no one else wrote in. A block of several stays, without the name.
// K5  Where the assistant repeated a sentence of it, or of what was learnt, in an answer or in its memory, that goes too. What stands there
//     in other words is found by its text (`withoutText`). What others said themselves stays, and is sought nowhere (others-words.ts).
// K8  What these ticks sent to others is theirs: it goes here, and is named to those who look for it there (handed-on.ts).
// K7  With a memory goes what was ordered about it, no matter who ordered it (forgotten-orders.ts).

import { FORGOTTEN, isJsonObject, type Json, type RecordChange } from "@reverie/protocol"
import type { Bundle, BundlePart, PartOf } from "../bundle-part.ts"
import { blockOfAnswer } from "../packing.ts"
import {
  blocksOf,
  lowered,
  changed,
  hushedEntry,
  hushedMail,
  isName,
  listOf,
  nameless,
  saying,
  textOf,
  textsOf,
  textsOfOrder
} from "./hushing.ts"
import { causeOf, type Letter, lettersOf, ticksOf, withoutLetters } from "./handed-on.ts"
import {
  afterTicks,
  isMeant,
  isOfItself,
  isOfLetter,
  isOfTime,
  isReminder,
  notesIn,
  type Ticks
} from "./meant-ticks.ts"
import { withoutEmptied } from "./emptied.ts"
import { ForgottenSummaries } from "./forgotten-summaries.ts"
import { withFactsLeft } from "./memories/facts-left.ts"
import { REMEMBERED, withoutSought } from "./forgetting.ts"
import { type BlockRemaking, withoutInBlocks } from "./forgotten-blocks.ts"
import { withoutCalls } from "./memories/dreamt.ts"
import { withoutObservations, withoutSayings, withoutSources } from "./memories/forgotten-memories.ts"
import { namesGone, ordersAbout } from "./forgotten-orders.ts"
import { othersWords } from "./memories/others-words.ts"
import { sentences, sentencesOf } from "./texts/sentences.ts"
import { SourcesLeft } from "./memories/sources-left.ts"

type Entry = PartOf<"entry">["entry"] & { readonly records?: ReadonlyArray<RecordChange> }

const entriesIn = (parts: ReadonlyArray<BundlePart>): ReadonlyArray<Entry> =>
  parts.flatMap((part) => (part.kind === "entry" ? [part.entry as unknown as Entry] : []))

const textsIn = (value: Json): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  if (Array.isArray(value)) return (value as ReadonlyArray<Json>).flatMap(textsIn)
  return isJsonObject(value) ? Object.values(value).flatMap(textsIn) : []
}

// Prefixes of ids by which memories name what they were made of.
const PREFIXES: Readonly<Record<string, string>> = { fact: "f", journal: "j", episode: "j", passage: "p", entity: "e" }

/** What an assistant writes down for itself in a tick, and calls by no id. */
const NOTES: ReadonlySet<string> = new Set(["goal", "observation", "project"])

const nameOf = ({ key, kind }: Pick<RecordChange, "key" | "kind">): string => `${kind} ${key}`

/** A record as it was first, and the entry that made it. */
interface Begun {
  readonly change: RecordChange
  readonly no: number
}

/** What is to go of a life, found before anything is changed. */
class Going {
  readonly ticks: ReadonlySet<number>
  readonly entries = new Set<number>()
  readonly envelopes = new Set<string>()
  /** Records that go whole, by kind and key. */
  readonly records = new Set<string>()
  /** Records on which work leans, and which these ticks began. */
  readonly leantOn = new Set<string>()
  /** Ids of messages and memories that go. */
  readonly ids = new Set<string>()
  readonly summaries: ForgottenSummaries
  readonly said = new Set<string>()
  /** Texts of orders, as they stand. */
  readonly ordered = new Set<string>()
  /** Sentences that others say still: none of them is sought. */
  readonly others: ReadonlySet<string>
  readonly blocks: ReadonlySet<string>
  readonly isNaming: (reason: string) => boolean
  /** Who is forgotten altogether. */
  readonly person: string | undefined
  readonly sources: SourcesLeft
  /** What these ticks sent, to the assistant itself among others. */
  readonly sent: ReadonlyArray<Letter>

  constructor({ head, parts }: Bundle, what: Ticks) {
    const isWhole = what.messages === undefined && what.since === undefined && what.until === undefined
    this.person = isWhole && what.person !== undefined ? lowered(what.person) : undefined
    const entries = entriesIn(parts)
    const changes = entries.flatMap(({ no, records = [] }) => records.map((change) => ({ change, no })))
    const kept = parts.flatMap((part) =>
      part.kind === "record" ? [{ kind: part.of, key: part.key, value: part.value } as unknown as RecordChange] : []
    )
    const set = [...changes.map(({ change }) => change), ...kept].filter((change) => this.isSetBy(change))
    const notes = notesIn(set.map(({ value }) => value))
    const isReminded = ({ messages }: Entry) => messages.some((message) => isReminder(message, notes))
    const meant = entries.filter((entry) => isMeant(entry, what) || isReminded(entry))
    this.ticks = ticksOf(meant, entries)
    for (const part of parts) this.#mail(part, what)
    const after = afterTicks(entries, this.envelopes)
    const isAfter = (entry: Entry) => after.has(entry.no) && !isOfTime(entry, what)
    const isOfTick = (entry: Entry) => this.ticks.has(entry.tick) && !isAfter(entry) && !isOfItself(entry, what)
    for (const entry of entries) if (isOfTick(entry) || isOfLetter(entry, what)) this.#take(entry)
    this.sent = lettersOf(head, parts, this)
    this.blocks = blocksOf(parts, this.person)
    const began = new Map<string, Begun>()
    for (const { change, no } of changes)
      if (change.value !== null && !began.has(nameOf(change))) began.set(nameOf(change), { change, no })
    this.#begun([...began.values()].filter(({ no }) => this.entries.has(no)))
    const all = [...changes.map(({ change }) => change), ...kept].filter(({ value }) => value !== null)
    // The note of a reminder is said again whenever it is due.
    for (const change of all) if (this.isSetBy(change)) this.#order(change.value ?? undefined)
    this.summaries = new ForgottenSummaries(this.entries, entries, all)
    this.#summed(all)
    this.#begun([...began.values()].filter(({ no }) => this.summaries.extractions.has(no)))
    this.sources = new SourcesLeft(this.ids, entries, all)
    while (all.filter((change) => this.#isOfThem(change)).length > 0) continue
    this.#profiles(all)
    for (const { body, id } of ordersAbout(parts, this)) {
      this.envelopes.add(id)
      if (isJsonObject(body)) this.#saidIn(textsOfOrder(body["event"]))
    }
    this.isNaming = namesGone(this)
    this.others = othersWords(parts, this)
    for (const each of this.others) this.said.delete(each)
    for (const each of this.sources.spared(this.said, (id) => this.ids.has(id))) this.said.delete(each)
  }

  #take(entry: Entry): void {
    const { messages, no, settled = [] } = entry
    this.entries.add(no)
    const cause = causeOf(entry)
    if (cause !== undefined) this.envelopes.add(cause.id)
    for (const each of settled) this.envelopes.add(each.id)
    for (const [index, { content, role }] of messages.entries()) {
      this.ids.add(`m/${no}/${index}`)
      if (role === "user") this.#saidIn([content])
    }
  }

  /** What these entries began. */
  #begun(changes: ReadonlyArray<Begun>): void {
    for (const { change } of changes) {
      if (change.kind === "entity" || change.kind === "state") continue
      if (REMEMBERED.has(change.kind)) this.#drop(change)
      else this.leantOn.add(nameOf(change))
    }
  }

  /** What the journal has of a summary. */
  #summed(all: ReadonlyArray<RecordChange>): void {
    for (const key of this.summaries.compactions)
      for (const kind of ["journal", "episode"] as const) {
        const kept = all.find((change) => change.kind === kind && change.key === key)
        if (kept !== undefined) this.#drop(kept, false)
      }
  }

  /** What waits, or was never answered, has no tick. */
  #mail(part: BundlePart, { letters }: Ticks): void {
    if (part.kind !== "envelope" || !isJsonObject(part.body)) return
    if (!isName(part.body["from"], this.person) && letters?.has(part.id) !== true) return
    this.envelopes.add(part.id)
    this.#order(part.body["event"])
  }

  #order(order: Json | undefined): void {
    for (const text of textsOfOrder(order)) this.ordered.add(text)
    this.#saidIn(textsOfOrder(order))
  }

  /** Whether a reminder was set by the person. */
  isSetBy({ kind, value }: RecordChange): boolean {
    return kind === "reminder" && isJsonObject(value) && isName(value["setBy"], this.person)
  }

  /** `isSought`: what it says is sought elsewhere too. */
  #drop({ key, kind, value }: RecordChange, isSought = true): void {
    this.records.add(nameOf({ kind, key }))
    const prefix = PREFIXES[kind]
    if (prefix !== undefined) this.ids.add(`${prefix}/${key}`)
    // What was called to mind, and what a summary says, is of others too: it goes, and is sought nowhere else.
    if ((prefix === undefined && !NOTES.has(kind)) || !isSought) return
    // Why a fact holds no more is said by the order, or by Reverie.
    this.#saidIn(textsIn(kind === "fact" ? changed(value, { reason: () => undefined }) : value))
  }

  #saidIn(texts: Iterable<string>): void {
    for (const text of texts) for (const each of sentencesOf(text)) this.said.add(each)
  }

  /** True when a memory goes now that did not go before. */
  #isOfThem(change: RecordChange): boolean {
    const { kind, value } = change
    if (this.records.has(nameOf(change)) || !isJsonObject(value) || !REMEMBERED.has(kind)) return false
    const { name, origin } = value
    const isAbout =
      kind === "entity"
        ? isName(name, this.person) || listOf(value["aliases"]).some((each) => isName(each, this.person))
        : listOf(value["entities"]).some((each) => isName(each, this.person)) ||
          isName(value["source_entity"], this.person) ||
          (isJsonObject(origin) && isName(origin["name"], this.person))
    const isOfIt = kind !== "entity" && this.sources.of(change).some((each) => this.ids.has(each))
    const isGoing = isAbout || (isOfIt && !this.sources.isLeft(change))
    if (isGoing) this.#drop(change)
    return isGoing
  }

  /** A profile of which nothing is left that was heard goes: its name was heard there. */
  #profiles(all: ReadonlyArray<RecordChange>): void {
    const newest = new Map(all.map((change) => [nameOf(change), change]))
    const told = [...newest.values()].filter(({ kind }) => kind === "fact")
    const namedBy = (changes: ReadonlyArray<RecordChange>) =>
      new Set(changes.flatMap(({ value }) => (isJsonObject(value) ? textsOf(value["entities"]) : [])).map(lowered))
    const isGone = (change: RecordChange) => this.records.has(nameOf(change))
    const [gone, still] = [namedBy(told.filter(isGone)), namedBy(told.filter((change) => !isGone(change)))]
    for (const change of newest.values()) {
      const { kind, value } = change
      if (kind !== "entity" || !isJsonObject(value) || isGone(change)) continue
      const left = withoutObservations(value, this)
      const { attributes, observations } = left
      this.#saidIn(new Set(textsIn(value)).difference(new Set(textsIn(left))))
      if (listOf(attributes).length + listOf(observations).length > 0) continue
      const name = lowered(textOf(value["name"]))
      if (!still.has(name) && (gone.has(name) || listOf(value["observations"]).length > 0)) this.#drop(change)
    }
  }
}

const cleaned = (going: Going, change: RecordChange): Json | null => {
  const { kind } = change
  const value = withoutCalls(change, going.ids)
  // What a replay goes on from holds names, and is made again in time.
  if (going.records.has(nameOf(change)) || kind === "checkpoint") return null
  if (going.leantOn.has(nameOf(change)) || going.isSetBy(change)) return saying(value)
  // A state may name what goes, as the active project.
  if (typeof value === "string") return kind === "state" && going.records.has(`project ${value}`) ? null : value
  if (!isJsonObject(value)) return value
  if (kind === "shown") return textsIn(value).length > 0 ? null : value
  if (kind === "entity") return withoutObservations(value, going)
  const left = going.sources.left(change)
  if (kind === "fact") return isJsonObject(left) ? withoutSources(left, going.ids) : left
  return going.summaries.without({ ...change, value: left === change.value ? value : left })
}

/** Work leans on what a state counts or measures, and not on what it names. */
const isTakenBack = ({ kind, value }: RecordChange, before: Json): boolean =>
  REMEMBERED.has(kind) || (kind === "state" && [value, before].some((each) => typeof each === "string"))

/** Records as they are without what goes: each change, and what stands in the end. */
class Ledgered {
  readonly #going: Going
  readonly #standing = new Map<string, Json | null>()

  constructor(going: Going) {
    this.#going = going
  }

  changes(entry: Entry): ReadonlyArray<RecordChange> {
    return (entry.records ?? []).map((change) => {
      const name = nameOf(change)
      const before = this.#standing.get(name) ?? null
      const { entries, summaries } = this.#going
      const isOfIt = entries.has(entry.no) || summaries.extractions.has(entry.no)
      const isUndone = isOfIt && isTakenBack(change, before)
      const value = isUndone ? before : cleaned(this.#going, change)
      this.#standing.set(name, value)
      return { ...change, value }
    })
  }

  standing({ key, of, value }: PartOf<"record">): Json | null {
    const change = { kind: of, key, value } as unknown as RecordChange
    const stands = this.#standing.get(nameOf(change))
    return stands === undefined ? cleaned(this.#going, change) : stands
  }
}

/** What became of an order names what it was about. */
const withoutReason = (settled: Json, { envelopes, isNaming }: Going): Json =>
  isJsonObject(settled) && (envelopes.has(textOf(settled["id"])) || isNaming(textOf(settled["reason"])))
    ? changed(settled, { reason: () => FORGOTTEN })
    : settled

const withoutGoing =
  (going: Going, records: Ledgered) =>
  (part: BundlePart): ReadonlyArray<BundlePart> => {
    switch (part.kind) {
      case "entry": {
        const entry = part.entry as unknown as Entry
        const changes = (): Json => records.changes(entry) as unknown as Json
        // A replay hears the same order as the snapshot has heard.
        const left = changed(entry as unknown as Json, {
          records: changes,
          sends: (sends) => listOf(sends).map(withoutLetters(going.sent)),
          event: (event) => saying(event, going.ordered),
          settled: (settled) => listOf(settled).map((each) => withoutReason(each, going))
        })
        return [
          { kind: "entry", entry: going.entries.has(entry.no) ? hushedEntry(left) : left } as unknown as BundlePart
        ]
      }
      case "record": {
        const value = records.standing(part)
        return value === null ? [] : [{ ...part, value }]
      }
      case "envelope":
        return [going.envelopes.has(part.id) ? { ...part, body: hushedMail(part.body) } : part]
      case "send":
        return [
          { ...part, envelope: withoutLetters(going.sent)(part.envelope as unknown as Json) } as unknown as BundlePart
        ]
      case "dead-letter":
        return [going.envelopes.has(part.envelope) ? { ...part, reason: FORGOTTEN } : part]
      case "block":
        return going.blocks.has(part.id) ? [] : [part]
      case "block-version": {
        const isHis = isJsonObject(part.body) && isName(part.body["by"], going.person)
        const body = isHis ? changed(part.body, { message: () => undefined }) : part.body
        return going.blocks.has(part.block) ? [] : [{ ...part, body }]
      }
      case "block-snapshot":
        return going.blocks.has(part.block) ? [] : [part]
      case "block-answer":
        return going.blocks.has(blockOfAnswer(part.answer) ?? "") ? [] : [part]
      default:
        return [part]
    }
  }

/** The same without the name of a person. */
const withoutPerson = ({ head, parts }: Bundle, { ordered, person }: Going): Bundle => {
  if (person === undefined || head.kind === "tenant") return { head, parts }
  const snapshot = nameless(saying(head.state.snapshot, ordered), person)
  const left = parts.map((part) => nameless(part as unknown as Json, person) as unknown as BundlePart)
  return { head: { ...head, state: { ...head.state, snapshot } }, parts: left }
}

/** What a person is named in besides what goes. */
const isNamed = ({ parts }: Bundle, { person }: Going): boolean =>
  person !== undefined &&
  parts.some((part) => {
    const json = part as unknown as Json
    return JSON.stringify(nameless(json, person)) !== JSON.stringify(json)
  })

/** A life without these ticks; a tenant's own things are left as they are. `tell` learns what they sent: letters, to those whom it was for. */
export const withoutTicks =
  (what: Ticks, remaking?: BlockRemaking, tell?: (sent: ReadonlyArray<Letter>) => void) =>
  (life: Bundle): Bundle => {
    if (life.head.kind === "tenant") return life
    const going = new Going(life, what)
    tell?.(going.sent)
    const isNone = going.entries.size === 0 && going.envelopes.size === 0 && going.records.size === 0
    if (isNone && !isNamed(life, going)) return life
    const records = new Ledgered(going)
    const parts = withFactsLeft(
      life.parts,
      withoutEmptied(life.parts, life.parts.flatMap(withoutGoing(going, records)))
    )
    const left = { head: life.head, parts }
    const made = remaking === undefined ? left : withoutInBlocks(left, going, remaking)
    const sought = sentences(going.said)
    return withoutPerson(withoutSought(sought, { ...made, parts: withoutSayings(sought, made.parts) }), going)
  }
