// SourcesLeft: facts that were heard more than once, and what a dream wrote of several things, where not all of that is forgotten.
// Owns which of them stay, and with which sources. Leaves which sources go to forgotten-ticks.ts.
// S1  A fact stays with its other sources where it gives nothing away: each of its words is in what someone said in a source that stays. One that was known in these words before any forgotten source said it stays anyway.
// S2  What can not be compared stays for no one: a forgotten source that is no message, or has something attached.
// S3  It is theirs who said it in what stays, and holds since then.
// S4  What such a fact says is not sought where it was repeated, nor what someone said in the same words in a message that stays.
// S5  So it is with what a dream wrote of its own accord (dreamt.ts): its sources are all that the dream had before it.

import { defined, FORGOTTEN, isJsonObject, type Json, type RecordChange, sendingAssistant } from "@reverie/protocol"
import { listOf, lowered, textsOf } from "../hushing.ts"
import { sentencesOf } from "../texts/sentences.ts"
import { batchesIn, type Told } from "./dreamt.ts"

type Fields = { readonly [key: string]: Json }

const CONTRACTION = /(?<=\p{L})['\u2019\u02bc](?:s|t|d|m|ll|re|ve)(?![\p{L}\p{N}])/giu
/** A letter of a script that puts no spaces between words stands for itself. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/gu
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu

const wordsOf = (text: string): ReadonlyArray<string> =>
  lowered(text).replace(CONTRACTION, "").replace(UNSPACED, " $& ").match(WORD) ?? []

/** In a shorter word an ending is most of it. */
const MIN_STEM_CHARS = 4

/** Whether they may be two forms of one word. */
const isLike = (a: string, b: string): boolean =>
  a === b || (Math.min(a.length, b.length) >= MIN_STEM_CHARS && (a.startsWith(b) || b.startsWith(a)))

/** A day that was said in other words, and words that say nothing by themselves. */
const SAYS_NOTHING =
  /^(?:\p{N}+|\p{L}{1,3}|said|told|asked|about|january|february|march|april|june|july|august|september|october|november|december)$/u

/** Whether a text says nothing of what is forgotten that is not said in what stays. A word that is in neither may stand for one that is. */
const givesNothingAway = (text: string, forgotten: ReadonlySet<string>, left: ReadonlySet<string>): boolean =>
  wordsOf(text).every((word) => {
    if (left.has(word)) return true
    const isIn = (words: ReadonlySet<string>): boolean => [...words].some((each) => isLike(each, word))
    return !forgotten.has(word) && (isIn(left) || (!isIn(forgotten) && SAYS_NOTHING.test(word)))
  })

/** A message of the life. */
interface Said {
  readonly at: number
  readonly content: string
  readonly name: string
  readonly isOfSomeone: boolean
  readonly isBare: boolean
}

const saidIn = (message: object): Said => {
  const { at, content, name, parts, role } = message as Fields
  return {
    at: typeof at === "number" ? at : 0,
    content: typeof content === "string" ? content : "",
    name: typeof name === "string" ? name : "",
    isOfSomeone: role === "user" && content !== FORGOTTEN,
    isBare: listOf(parts).length === 0
  }
}

const idsIn = (value: Json | null): ReadonlyArray<string> =>
  isJsonObject(value) ? listOf(value["sources"]).filter((each) => typeof each === "string") : []

/** All that a fact, a passage or an entry of the journal says. */
const textIn = (value: Fields): string => {
  const { content, metadata, related_projects, source_entity, tags, text } = value
  const besides = [
    ...listOf(tags),
    ...listOf(related_projects),
    ...(isJsonObject(metadata) ? Object.values(metadata) : [])
  ]
  return [text, content, source_entity, ...besides].filter((each) => typeof each === "string").join("\n")
}

const PREFIXES: Readonly<Record<string, string>> = { fact: "f", journal: "j", episode: "j", passage: "p" }

/** What it is called as a source; undefined where it is none. */
const idOf = ({ key, kind }: RecordChange): string | undefined => {
  const prefix = PREFIXES[kind]
  return prefix === undefined ? undefined : `${prefix}/${key}`
}

/** Whose it is; undefined where it is no one's of those who said it. */
const originIn = (origin: Json | undefined, said: ReadonlyArray<Said>): Json | undefined => {
  if (!isJsonObject(origin)) return undefined
  const types = said.map(({ name }) => ({
    type: sendingAssistant(name) === undefined ? "person" : "assistant",
    name: sendingAssistant(name) ?? name
  }))
  const alike = types.filter(({ type }) => type === origin["type"])
  return alike.some(({ name }) => name === origin["name"]) ? origin : alike[0]
}

/** The facts of a life, and what was said of them. */
export class SourcesLeft {
  readonly #ids: ReadonlySet<string>
  readonly #messages: ReadonlyMap<string, Said>
  readonly #first = new Map<string, Fields>()
  readonly #newest = new Map<string, Fields>()
  /** Of what a dream wrote before it was kept with it, all that the dream had before it. */
  readonly #batches: ReadonlyMap<string, ReadonlyArray<string>>
  /** All sources that something ever had, by its id. */
  readonly #sources = new Map<string, Set<string>>()

  /** `ids`: what is forgotten; there may be more of it later. */
  constructor(ids: ReadonlySet<string>, entries: ReadonlyArray<Told>, changes: ReadonlyArray<RecordChange>) {
    this.#ids = ids
    this.#messages = new Map(
      entries.flatMap(({ messages, no }) =>
        messages.map((message, index) => [`m/${no}/${index}`, saidIn(message)] as const)
      )
    )
    this.#batches = batchesIn(entries)
    for (const change of changes) {
      const id = idOf(change)
      if (id === undefined || !isJsonObject(change.value)) continue
      if (!this.#first.has(id)) this.#first.set(id, change.value)
      this.#newest.set(id, change.value)
      const known = this.#sources.get(id) ?? new Set()
      this.#sources.set(id, known)
      for (const source of this.of(change)) known.add(source)
    }
  }

  /** All that a memory was made of. */
  of(change: RecordChange): ReadonlyArray<string> {
    const evidence = isJsonObject(change.value) ? textsOf(change.value["evidence"]) : []
    return [...this.#read(change), ...evidence.map((each) => `j/${each}`)]
  }

  /** The sources of a memory; of an insight, whose evidence goes before it, none. */
  #read(change: RecordChange): ReadonlyArray<string> {
    const sources = idsIn(change.value)
    return sources.length > 0 ? sources : (this.#batches.get(idOf(change) ?? "") ?? [])
  }

  isLeft(change: RecordChange): boolean {
    const newest = this.#newest.get(idOf(change) ?? "")
    return newest !== undefined && this.left({ ...change, value: newest }) !== null
  }

  /** A memory without the sources that are forgotten, null where it goes with them. */
  left(change: RecordChange): Json | null {
    const [id, fact] = [idOf(change), change.value]
    if (id === undefined || !isJsonObject(fact)) return fact
    const forgotten = [...(this.#sources.get(id) ?? [])].filter((each) => this.#ids.has(each))
    if (forgotten.length === 0) return fact
    const gone = forgotten.map((each) => this.#messages.get(each))
    const sources = this.#read(change).filter((each) => !this.#ids.has(each))
    const said = this.#saidBy(sources)
    // What it wrote itself is no one's of those who said it.
    const origin = change.kind === "fact" ? originIn(fact["origin"], said) : fact["origin"]
    const first = this.#knownBefore(id, fact)
    if (first !== undefined && sources.length > 0) {
      const isTheirs = origin === fact["origin"]
      const theirs = isTheirs ? {} : defined({ origin: first["origin"], trust: first["trust"] })
      return { ...this.#withSources(fact, sources), ...theirs }
    }
    const isNoOnes = origin === undefined && fact["origin"] !== undefined
    if (isNoOnes || said.length === 0 || gone.some((each) => each?.isBare !== true)) return null
    const words = new Set(gone.flatMap((each) => wordsOf(each?.content ?? "")))
    return givesNothingAway(textIn(fact), words, this.#wordsBy(said))
      ? { ...this.#withSources(fact, sources), ...defined({ origin }) }
      : null
  }

  /** A fact as it was first, where it said the same and none of its sources is forgotten. */
  #knownBefore(id: string, fact: Fields): Fields | undefined {
    const first = this.#first.get(id)
    if (first === undefined || textIn(first) !== textIn(fact)) return undefined
    const sources = idsIn(first)
    return sources.length === 0 || sources.some((id) => this.#ids.has(id)) ? undefined : first
  }

  #saidBy(sources: ReadonlyArray<string>): ReadonlyArray<Said> {
    return sources.flatMap((id) => this.#messages.get(id) ?? []).filter(({ isOfSomeone }) => isOfSomeone)
  }

  #wordsBy(said: ReadonlyArray<Said>): ReadonlySet<string> {
    return new Set(said.flatMap(({ content, name }) => wordsOf(`${name} ${content}`)))
  }

  #withSources({ heard, ...fact }: Fields, sources: ReadonlyArray<string>): Fields {
    const before = idsIn(fact).length
    const times = (typeof heard === "number" ? heard : before) - (before - sources.length)
    const moments = sources.map((id) => this.#messages.get(id)?.at ?? 0)
    const { at } = fact
    return {
      ...fact,
      ...defined({ at: typeof at === "number" ? Math.max(at, Math.min(...moments)) : at }),
      sources: [...sources],
      ...defined({ heard: times > sources.length ? times : undefined })
    }
  }

  /** The sentences of what stays, which are not to be sought. */
  spared(said: ReadonlySet<string>, isGone: (id: string) => boolean): ReadonlyArray<string> {
    const forgotten = new Set([...this.#ids].flatMap((id) => wordsOf(this.#messages.get(id)?.content ?? "")))
    return [...this.#newest].flatMap(([id, fact]) => {
      const found = sentencesOf(textIn(fact)).filter((each) => said.has(each))
      if (found.length === 0 || isGone(id)) return []
      const isWithout = [...(this.#sources.get(id) ?? [])].some((each) => this.#ids.has(each))
      const by = this.#saidBy(idsIn(fact))
      const isOwn = by.length > 0 && givesNothingAway(textIn(fact), forgotten, this.#wordsBy(by))
      return isWithout || isOwn ? found : []
    })
  }
}
