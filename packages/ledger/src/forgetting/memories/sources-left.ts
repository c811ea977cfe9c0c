// SourcesLeft: facts that were heard more than once, where not all of that is forgotten.
// Owns which of them stay, and with which sources. Leaves which sources go to forgotten-ticks.ts.
// S1  A fact stays with its other sources where it gives nothing away: each of its words is in what someone said in a source that stays. One that was known in these words before any forgotten source said it stays anyway.
// S2  What can not be compared stays for no one: a forgotten source that is no message, or has something attached.
// S3  It is theirs who said it in what stays, and holds since then.
// S4  What such a fact says is not sought where it was repeated, nor what someone said in the same words in a message that stays.

import { defined, FORGOTTEN, isJsonObject, type Json, type RecordChange, sendingAssistant } from "@reverie/protocol"
import { listOf, lowered } from "../hushing.ts"
import { sentencesOf } from "../sentences.ts"

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

interface Told {
  readonly no: number
  readonly messages: ReadonlyArray<object>
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

const textIn = (fact: Fields): string => (typeof fact["text"] === "string" ? fact["text"] : "")

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
  /** All sources that a fact ever had, by its key. */
  readonly #sources = new Map<string, Set<string>>()

  /** `ids`: what is forgotten; there may be more of it later. */
  constructor(ids: ReadonlySet<string>, entries: ReadonlyArray<Told>, changes: ReadonlyArray<RecordChange>) {
    this.#ids = ids
    this.#messages = new Map(
      entries.flatMap(({ messages, no }) =>
        messages.map((message, index) => [`m/${no}/${index}`, saidIn(message)] as const)
      )
    )
    for (const { key, kind, value } of changes) {
      if (kind !== "fact" || !isJsonObject(value)) continue
      if (!this.#first.has(key)) this.#first.set(key, value)
      this.#newest.set(key, value)
      const known = this.#sources.get(key) ?? new Set()
      this.#sources.set(key, known)
      for (const source of idsIn(value)) known.add(source)
    }
  }

  isLeft({ key, kind }: RecordChange): boolean {
    const newest = kind === "fact" ? this.#newest.get(key) : undefined
    return newest !== undefined && this.left(key, newest) !== null
  }

  /** A fact without the sources that are forgotten, null where it goes with them. */
  left(key: string, fact: Fields): Json | null {
    const forgotten = [...(this.#sources.get(key) ?? [])].filter((id) => this.#ids.has(id))
    if (forgotten.length === 0) return fact
    const gone = forgotten.map((id) => this.#messages.get(id))
    const sources = idsIn(fact).filter((id) => !this.#ids.has(id))
    const said = this.#saidBy(sources)
    const origin = originIn(fact["origin"], said)
    const first = this.#knownBefore(key, fact)
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
  #knownBefore(key: string, fact: Fields): Fields | undefined {
    const first = this.#first.get(key)
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
  spared(said: ReadonlySet<string>, isGone: (fact: string) => boolean): ReadonlyArray<string> {
    const forgotten = new Set([...this.#ids].flatMap((id) => wordsOf(this.#messages.get(id)?.content ?? "")))
    return [...this.#newest].flatMap(([key, fact]) => {
      const found = sentencesOf(textIn(fact)).filter((each) => said.has(each))
      if (found.length === 0 || isGone(key)) return []
      const isWithout = [...(this.#sources.get(key) ?? [])].some((id) => this.#ids.has(id))
      const by = this.#saidBy(idsIn(fact))
      const isOwn = by.length > 0 && givesNothingAway(textIn(fact), forgotten, this.#wordsBy(by))
      return isWithout || isOwn ? found : []
    })
  }
}
