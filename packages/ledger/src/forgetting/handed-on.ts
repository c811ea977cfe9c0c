// HandedOn: what turns that are forgotten sent to others, or to the assistant itself: questions of a team, tasks of sub-agents, answers, messages.
// Owns which of what was sent is theirs. Leaves which turns they are to forgotten-ticks.ts, asking those who were sent it to `reverie`.
// H1  What was sent in a turn is its own until the turn ends. What an order of someone else had sent meanwhile is not.
// H2  A team asks in turns of its own too, when a time is over: what it asked for a question that is forgotten is known by the question.
// H3  Only what says something is followed: messages and reports. Orders and times are not.

import { isJsonObject, type Json } from "@reverie/protocol"
import type { BundleHead, BundlePart } from "../bundle-part.ts"
import { hushedMail, listOf, recordsIn, textOf } from "./hushing.ts"

/** An envelope that was sent, as the one it was for knows it. */
export interface Letter {
  readonly id: string
  readonly to: string
}

/** What goes of a life. */
interface Going {
  readonly entries: ReadonlySet<number>
  readonly envelopes: ReadonlySet<string>
}

type Entry = Extract<BundlePart, { readonly kind: "entry" }>["entry"]
type Fields = { readonly [key: string]: Json }

const QUESTION = "question:"

const fieldsOf = (value: unknown): Fields => (isJsonObject(value as Json) ? (value as Fields) : {})

/** The envelope that an entry came of, and the lane it came on. */
export const causeOf = ({ cause }: Entry): { readonly id: string; readonly lane: string } | undefined => {
  const { id, kind, lane } = fieldsOf(cause)
  return kind === "envelope" ? { id: textOf(id), lane: textOf(lane) } : undefined
}

/** The questions that a team's entry is about. */
const questionsIn = (entry: Entry): ReadonlyArray<string> =>
  recordsIn({ kind: "entry", entry }).flatMap(({ key, kind }) =>
    kind === "team" && key.startsWith(QUESTION) ? [key.slice(QUESTION.length)] : []
  )

/** The turns of entries, and those of a team that are about questions which these began, and about no other one. */
export const ticksOf = (meant: ReadonlyArray<Entry>, all: ReadonlyArray<Entry>): ReadonlySet<number> => {
  const began = new Set(meant.map((entry) => causeOf(entry)?.id))
  const about = all.filter((entry) => {
    const questions = questionsIn(entry)
    return questions.length > 0 && questions.every((id) => began.has(id))
  })
  return new Set([...meant, ...about].map(({ tick }) => tick))
}

/** Asks that a team made for questions which go. */
const asksIn = (entry: Entry, envelopes: ReadonlySet<string>): ReadonlyArray<Letter> =>
  recordsIn({ kind: "entry", entry }).flatMap(({ key, kind, value }) =>
    kind === "team" && key.startsWith(QUESTION) && envelopes.has(key.slice(QUESTION.length))
      ? Object.entries(fieldsOf(fieldsOf(value)["asks"])).map(([id, ask]) => ({
          id,
          to: textOf(fieldsOf(ask)["member"])
        }))
      : []
  )

/** The sends of a life, with what is known of the turns they were sent in. */
class Sent {
  readonly #going: Going
  readonly #ends = new Map<number, number>()
  readonly #entries: ReadonlyMap<number, Entry>

  constructor(entries: ReadonlyArray<Entry>, going: Going) {
    this.#going = going
    this.#entries = new Map(entries.map((entry) => [entry.no, entry]))
    for (const entry of entries) if (Reflect.has(entry, "tickEnd")) this.#ends.set(entry.tick, entry.no)
  }

  /** Whether the order that an entry came of goes; undefined where it came of none. */
  #isOfOrder(entry: Entry): boolean | undefined {
    const { id, kind } = fieldsOf(entry.cause)
    // A job is called after the entry that began it.
    const began = kind === "job" ? this.#entries.get(Number.parseInt(textOf(id), 10)) : entry
    const cause = began === undefined ? undefined : causeOf(began)
    return cause?.lane === "control" ? this.#going.envelopes.has(cause.id) : undefined
  }

  isOfThem(entry: Entry): boolean {
    const isWithin = entry.no <= (this.#ends.get(entry.tick) ?? Infinity)
    return this.#isOfOrder(entry) ?? (isWithin && this.#going.entries.has(entry.no))
  }
}

const isAnswerTo = (event: Fields, envelopes: ReadonlySet<string>): boolean =>
  envelopes.has(textOf(fieldsOf(event["answers"])["envelope"]))

/** What was handed on by what goes of a life. */
export const lettersOf = (head: BundleHead, parts: ReadonlyArray<BundlePart>, going: Going): ReadonlyArray<Letter> => {
  if (head.kind === "tenant") return []
  const entries = parts.flatMap((part) => (part.kind === "entry" ? [part.entry] : []))
  const sent = new Sent(entries, going)
  const { assistant, tenant } = fieldsOf(head.address)
  return entries.flatMap((entry) => {
    const sends = listOf(Reflect.get(entry, "sends") as Json | undefined).flatMap((send) => {
      const { event, id, to } = fieldsOf(send)
      const { type } = fieldsOf(event)
      const isSaid = type === "message" || (type === "report" && fieldsOf(to)["assistant"] !== assistant)
      const isTheirs = isSaid && (sent.isOfThem(entry) || isAnswerTo(fieldsOf(event), going.envelopes))
      return isTheirs && fieldsOf(to)["tenant"] === tenant
        ? [{ id: textOf(id), to: textOf(fieldsOf(to)["assistant"]) }]
        : []
    })
    return [...sends, ...asksIn(entry, going.envelopes)]
  })
}

/** What was sent, without what it says where it is one of these. */
export const withoutLetters = (letters: ReadonlyArray<Letter>): ((send: Json) => Json) => {
  const names = new Set(letters.map(({ id, to }) => JSON.stringify([id, to])))
  return (send) => {
    const { id, to } = fieldsOf(send)
    return names.has(JSON.stringify([id, fieldsOf(to)["assistant"]])) ? hushedMail(send) : send
  }
}
