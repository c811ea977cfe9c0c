// RowWords: which words of a row are Reverie's own, and which someone said, told, decided or kept.
// Owns where texts of anyone may stand, and which words, ids and names of members are made by Reverie. Leaves what is sought to
// forgetting.ts.
// R1  Under a member of a closed list, in a snapshot and in an id that Reverie made, no text of anyone stands: no forgetting changes it.
// R2  The name of a member is a word of Reverie, but where people, models and tools name members themselves.
//     What the statechart tells is of the first kind, no matter who tells something beside it.
// R3  A bare word is a name or an id. What of it is a word of Reverie, the name of an assistant or of a tool is no text of anyone.

import { isJsonObject, type Json, recordKinds } from "@reverie/protocol"
import { isOfChart } from "../../archive.ts"

export type Fields = { readonly [name: string]: Json }

/** Where a value stands. */
export interface Place {
  /** The member that it is under. */
  readonly name: string
  /** The member that is around it. */
  readonly around: string
  /** No text of anyone stands here. */
  readonly isClosed: boolean
  /** People, models or tools have named what stands here. */
  readonly isFree: boolean
  /** A text here may be JSON that a tool has made. */
  readonly isResult: boolean
}

export const ROOT: Place = { name: "", around: "", isClosed: false, isFree: false, isResult: false }

/** What a message says stands under these, and goes whole. */
export const SAID: ReadonlySet<string> = new Set(["content", "text", "reasoning"])

const wordsIn = (text: string): ReadonlyArray<string> => text.split(/\s+/).filter(Boolean)

/** Under these stand words of closed lists, ids that Reverie makes, and control data. */
const CLOSED = new Set(
  wordsIn(`
    v type kind of role lane status outcome src receives digest state tool category actorId finish model server provider recovery
    permission tier importance_method source_type catchUp onlyWhen timeZone operation mode contextType compactingFrom dreamNext phase
    priority trigger ended_by end insulation failure skipped hook did point readers shares traceparent call approval decision print
    peer mediaType definition assistant tenant owner parent settings signals restriction pattern usage spent place snapshot children
  `)
)

/** The same under a member that is around it; `*` for all that is there. */
const CLOSED_IN: Readonly<Record<string, ReadonlySet<string>>> = {
  absent: new Set(["key", "reason"]),
  leftOut: new Set(["key", "reason"]),
  parts: new Set(["key"]),
  step: new Set(["id", "name"]),
  jobs: new Set(["id", "name"]),
  timers: new Set(["name"]),
  lines: new Set(["note"]),
  schema: new Set(["kind"]),
  context: new Set(["context"]),
  outage: new Set(["others"]),
  emitted: new Set(["others"]),
  marks: new Set(["*"])
}

/** Those who wrote what stands under these have named its members. */
const FREE = new Set(["arguments", "metadata", "output", "fields", "items", "log", "emitted"])
/** The members of these are named by ids of messages, memories and assistants. */
const KEYED = new Set(["marks", "asks", "out", "scores"])
/** What a snapshot says; all else in it is control data. */
const SAID_IN_CONTEXT = new Set(["haltReason", "envelope"])

const isClosedIn = (around: string, name: string): boolean => {
  const closed = Object.hasOwn(CLOSED_IN, around) ? CLOSED_IN[around] : undefined
  return closed?.has(name) === true || closed?.has("*") === true
}

const isToldByChart = (place: Place, fields: Fields): boolean => place.name === "emitted" && isOfChart(fields)

/** Where a member stands of what stands at a place. */
export const placeIn = (place: Place, name: string, fields: Fields): Place => {
  const around = place.name
  if (place.isFree && !isToldByChart(place, fields)) return { ...place, name, around }
  const isContext = around === "context" && place.around === "snapshot"
  if (isContext && SAID_IN_CONTEXT.has(name)) return { ...ROOT, name, around }
  // A machine event is control data; what a message, a tick and a call have for output is not.
  const isNamed = FREE.has(name) && !(name === "output" && around === "event")
  const isFree = !place.isClosed && (isNamed || (name === "before" && around === "hooks"))
  const ofTool = fields["role"] === "tool"
  const isClosed =
    place.isClosed ||
    (!isFree && CLOSED.has(name)) ||
    isClosedIn(around, name) ||
    (name === "name" && (ofTool || fields["type"] === "self"))
  return { name, around, isClosed, isFree, isResult: SAID.has(name) && (ofTool || fields["type"] === "report") }
}

/** Whether the members of what stands at a place have names that someone gave them. */
export const hasGivenNames = (place: Place, fields: Fields): boolean => {
  const { around, isFree, name } = place
  // The first members of arguments are those of the tool's own form.
  const isOfForm = name === "arguments" && around === "calls"
  return KEYED.has(name) || (isFree && !isOfForm && !isToldByChart(place, fields))
}

/** Words of Reverie that stand in ids, keys, results of its tools, and forms of answers. */
const WORDS = wordsIn(`
  person assistant itself self journal definition system default created deleted report remind reminder reminders reflection sleep
  wake infer tool child assess dream compact coordinate xstate done error actor session role group team lived until start tool calls
  active project consolidated entry ids message timer halt stop resume refresh retire delegate approval news state text fields items
  log list count loro section handled ignored dead answered silent failed success reason memories results entries found certainty
  characters put away pending changed when who why note label completed goals projects facts passages blocks query matches
  total limit scope version versions block mode hits score degraded properties required additional additionalproperties enum items
  description title string number integer boolean object array null true false format minimum maximum minlength maxlength pattern
  anyof oneof allof const ref defs schema auto generated parent id subtask progress rolled up related created key kind importance method
  source entity trust tags readers timestamp
`)

/** What Reverie makes, bounded by what is neither a letter nor a digit: ids, places of messages, moments, ids of calls, random ids. */
const MADE = [
  "(?:[a-z]/)?(?:fact|entry|goal|dream|passage|compact|obs|blk|apr)_p?[0-9a-f]+(?:_[0-9]+)*",
  "m/[0-9]+/[0-9]+",
  "[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]+Z?)?",
  "[0-9]+(?:\\.[0-9]+){2}",
  "(?:[a-z]/)?[0-9a-f]{16,}"
]
/** The same of a whole id: of a job, of what stands beside a message, and of what a call has sent, which names whose it is. */
const WHOLE = ["[0-9]+/(?:infer|tool|dream|assess|compact|coordinate|child)[0-9.#]*", "[0-9]+/[0-9]+"]
const SENT = "^[^/\\s]+/[^/\\s]+/[0-9]+(?:\\.[0-9]+){2}(?![^#])"
const made = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:${MADE.join("|")})(?![\\p{L}\\p{N}])|^(?:${WHOLE.join("|")})$|${SENT}`,
  "gu"
)
const WORD = /[\p{L}\p{N}]+/gu

const blank = (text: string): string => " ".repeat(text.length)

const tokensOf = (text: string): ReadonlyArray<string> => text.toLowerCase().match(WORD) ?? []

/** A longer value of a closed list is a digest. */
const MAX_WORD_CHARS = 64

/** The words of Reverie in a life: those of its lists, and the names of its members, assistants and tools. */
export class OwnWords {
  readonly #words = new Set<string>([...WORDS, ...recordKinds.map((kind) => kind.toLowerCase())])
  /** Those that a name may be of too, and still is one: of assistants and tools. */
  readonly #names = new Set<string>(wordsIn("person assistant itself self journal definition system the fleet"))

  learn(value: Json, place: Place = ROOT): void {
    if (typeof value === "string") {
      if (!place.isClosed || place.around === "marks" || value.length > MAX_WORD_CHARS) return
      for (const token of tokensOf(value)) this.#words.add(token)
      if (["tool", "assistant", "tenant", "owner", "definition"].includes(place.name)) {
        for (const token of tokensOf(value)) this.#names.add(token)
      }
      return
    }
    if (Array.isArray(value)) for (const member of value as ReadonlyArray<Json>) this.learn(member, place)
    if (!isJsonObject(value)) return
    const isGiven = hasGivenNames(place, value)
    for (const [name, inner] of Object.entries(value)) {
      if (!isGiven) for (const token of tokensOf(name)) this.#words.add(token)
      this.learn(inner, placeIn(place, name, value))
    }
  }

  /** A name or an id, blanks in the place of each word that is Reverie's own. */
  others(text: string, { isFree, name }: Place): string {
    const own = !isFree && NAMED.has(name) ? this.#names : this.#words
    return text.replace(made, blank).replace(WORD, (word) => (own.has(word.toLowerCase()) ? blank(word) : word))
  }
}

/** Under these stand names that people have given. */
const NAMED = new Set([
  "name",
  "entities",
  "aliases",
  "from",
  "speaker",
  "by",
  "setBy",
  "tags",
  "label",
  "source_entity",
  "thread"
])

const OF_DOCUMENTS = /(?<![\p{L}\p{N}])(?:loro|text|fields|items|log|list|count)(?![\p{L}\p{N}])/gu

/** What can be read of the bytes of a document, blanks in the place of what its containers are called. */
export const withoutContainers = (text: string): string => text.replace(OF_DOCUMENTS, blank)
