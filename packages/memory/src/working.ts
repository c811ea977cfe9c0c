// WorkingMemory: what the conversations of an assistant are about just now (F83).
// Owns the value: what is noted of a conversation, its topics, and when it is over. Leaves holding it to whoever runs the
// assistant: it is no record, so that a restart forgets it, and the ledger keeps all that was said anyway.
// W1  At most MAX_CONVERSATIONS, at most MAX_LINES lines of each, at most MAX_LINE_CHARS characters of a line. The
//     conversation in which nothing was noted for longest goes first.
// W2  Lines stand in the order in which they were noted.
// W3  A conversation is over when nothing was noted in it for the time to live, to the millisecond, and not before.
// W4  Topics are words that were said more than once lately; every line makes the others fade.

import { cleanLine } from "./integrity/clean-text.ts"
import { stopTerms } from "./text/stop-words.ts"
import { tokensOf } from "./text/tokens.ts"

/** Many times what an assistant can follow, and few enough to be looked through at every line. */
export const MAX_CONVERSATIONS = 64
export const MAX_LINES = 12
export const MAX_LINE_CHARS = 400
const MAX_SPEAKER_CHARS = 100
const READ_CHARS = 8 * MAX_LINE_CHARS

/**
 * A day: every night digests what was said, so that a conversation which is taken up again later is remembered from
 * there, and within the day a pause for work or sleep does not cut it off.
 */
export const WORKING_TTL_MILLIS = 24 * 3_600_000

/** What a word weighs is multiplied by this with each further line. */
const FADE = 0.95
/** A word that is said again while the first time still stands among the lines that are kept. */
const TOPICAL = 1.5
const MAX_WORDS = 32
const MAX_TOPICS = 5
const MIN_TOPIC_CHARS = 3

export interface WorkingLine {
  readonly speaker: string
  readonly text: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** A word that may become a topic. */
interface Weighed {
  readonly term: string
  /** As it was last said. */
  readonly word: string
  readonly weight: number
}

export interface Conversation {
  readonly lines: ReadonlyArray<WorkingLine>
  /** What it is about, the weightiest first. */
  readonly topics: ReadonlyArray<string>
  /** When the latest line was said, in milliseconds since the epoch. */
  readonly lastAt: number
  readonly words: ReadonlyArray<Weighed>
}

/** By conversation; the one in which a line was noted last stands last. */
export type WorkingMemory = ReadonlyMap<string, Conversation>

export const NOTHING_WORKING: WorkingMemory = new Map()

const bounded = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : `${text.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, "")}…`

const isTelling = (term: string): boolean =>
  term.length >= MIN_TOPIC_CHARS && !stopTerms.has(term) && !/^\p{N}+$/u.test(term)

const weighed = (before: ReadonlyArray<Weighed>, text: string): ReadonlyArray<Weighed> => {
  const words = new Map(before.map((each) => [each.term, { ...each, weight: each.weight * FADE }]))
  const said = new Map(tokensOf(text).map(({ term, word }) => [term, word]))
  for (const [term, word] of said) {
    if (isTelling(term)) words.set(term, { term, word, weight: (words.get(term)?.weight ?? 0) + 1 })
  }
  return [...words.values()].toSorted((a, b) => b.weight - a.weight).slice(0, MAX_WORDS)
}

const topicsOf = (words: ReadonlyArray<Weighed>): ReadonlyArray<string> =>
  words
    .filter(({ weight }) => weight >= TOPICAL)
    .slice(0, MAX_TOPICS)
    .map(({ word }) => word)

const NEW_CONVERSATION: Conversation = { lines: [], topics: [], lastAt: Number.NEGATIVE_INFINITY, words: [] }

/** With one more line. */
export const noteLine = (working: WorkingMemory, conversation: string, line: WorkingLine): WorkingMemory => {
  const { lastAt, lines, words: before } = working.get(conversation) ?? NEW_CONVERSATION
  // Of a long text only the beginning is cleaned: what can not be seen takes no room.
  const text = bounded(cleanLine(bounded(line.text, READ_CHARS)), MAX_LINE_CHARS)
  const words = weighed(before, text)
  const after = new Map(working)
  after.delete(conversation)
  after.set(conversation, {
    lines: [...lines, { speaker: bounded(cleanLine(line.speaker), MAX_SPEAKER_CHARS), text, at: line.at }].slice(
      -MAX_LINES
    ),
    topics: topicsOf(words),
    lastAt: Math.max(lastAt, line.at),
    words
  })
  for (const [silent] of after) {
    if (after.size <= MAX_CONVERSATIONS) break
    after.delete(silent)
  }
  return after
}

/** Without the conversations that are over; the same when none is. */
export const expired = (working: WorkingMemory, now: number, ttlMillis: number = WORKING_TTL_MILLIS): WorkingMemory => {
  const live = [...working].filter(([, { lastAt }]) => now - lastAt < ttlMillis)
  return live.length === working.size ? working : new Map(live)
}

/** As it stands in a prompt: the topics, then a line for each line, none of which can pass for another one. */
export const workingText = ({ lines, topics }: Pick<Conversation, "lines" | "topics">): string =>
  [
    ...(topics.length === 0 ? [] : [`Topics: ${topics.join(", ")}`]),
    ...lines.map(({ speaker, text }) => `- ${speaker}: ${text}`)
  ].join("\n")
