// Terms: what a question asks for, and what an entry says, as an index is told it.
// Owns the words that count in a question and the text that stands for an entry. Leaves their weight to `weights.ts`.
// T1  A question keeps its stop words only when nothing else is left of it.
// T2  However long a question is, it has at most MAX_QUERY_TERMS terms, each once.

import type { MemoryEntry } from "../entry.ts"
import { stopTerms } from "./stop-words.ts"
import { type Token, termsOf, tokensOf } from "./tokens.ts"
import type { Fields } from "./weights.ts"

export const MAX_QUERY_TERMS = 64

/** A question of this length has said what it is about; the rest is not read. */
const MAX_QUERY_CHARACTERS = 8_192

/** The terms of a question, each with the word by which it came in first. */
export const queryTerms = (text: string): ReadonlyArray<Token> => {
  const byTerm = new Map<string, Token>()
  for (const token of tokensOf(text.slice(0, MAX_QUERY_CHARACTERS))) {
    if (!byTerm.has(token.term)) byTerm.set(token.term, token)
  }
  const all = [...byTerm.values()]
  const telling = all.filter(({ term }) => !stopTerms.has(term))
  return (telling.length > 0 ? telling : all).slice(0, MAX_QUERY_TERMS)
}

const months = "January February March April May June July August September October November December".split(" ")

/** A day in words, so that a question for a day, a month or a year finds it: "8 May 2023", in UTC. */
export const dayInWords = (at: number): string => {
  const day = new Date(at)
  if (Number.isNaN(day.getTime())) return ""
  return `${day.getUTCDate()} ${months[day.getUTCMonth()] ?? ""} ${day.getUTCFullYear()}`
}

/** What an entry says: who said it, what, when, and what it is about as far as its text does not say so. */
export const bodyOf = ({ at, entities, speaker = "", tags, text }: MemoryEntry): string =>
  [speaker, text, dayInWords(at), ...[...entities, ...tags].filter((name) => !text.includes(name))]
    .filter((part) => part !== "")
    .join("\n")

/** What an entry means, for an embedder: who said what. */
export const meaningOf = ({ speaker, text }: Pick<MemoryEntry, "speaker" | "text">): string =>
  speaker === undefined ? text : `${speaker}: ${text}`

/** A fact that is attached to an entry. */
export interface AttachedFact {
  readonly id: string
  readonly text: string
}

/** The terms of an entry and of the facts that are attached to it, as an index holds them. */
export const fieldsOf = (entry: MemoryEntry, facts: ReadonlyArray<AttachedFact> = []): Fields => ({
  body: termsOf(bodyOf(entry)),
  context: termsOf(entry.context ?? ""),
  facts: facts.flatMap(({ text }) => termsOf(text))
})
