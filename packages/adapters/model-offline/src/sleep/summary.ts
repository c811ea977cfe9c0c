// Summary: a long conversation in its own sentences.
// Owns choosing them. Leaves what is compacted, and reading it again, to the caller.
// S1  Every sentence is word for word what someone said, with who said it and on what day: names and numbers are exact.
// S2  The sentences come to at most MAX_SHARE of the words, and to MAX_WORDS; one stands in every summary that has any.
// S3  They stand in the order in which they were said.
// S4  An earlier summary that is read along (lines `[summary]`) is part of the next one, as far as there is room.
// S5  It is prose of who said what: no call and no shred of JSON, nothing the offline model says at a loss or of a tool's
//     report, no note of the clock; what a tool reported in words stands under the name of the tool.

import { defined } from "@reverie/protocol"
import { isChatter, saidIn, type SaidLine } from "../calls.ts"
import { dayInWords } from "./grammar.ts"
import { tellingSentences } from "./statements.ts"

const MAX_SHARE = 0.15
const MAX_WORDS = 560
const MAX_NAMES = 8

const wordsIn = (text: string): number => text.match(/\S+/g)?.length ?? 0

/** How an earlier summary of this kind begins, and how it says what someone said. */
const headPattern = /^(.+) spoke(?: on (.+?)| from (.+?) to (.+?))?\.$/
const keptPattern = /^(.+?) \((\d{1,2} \p{L}+ \d{4})\): (.+)$/u
const HEADING = "What was said, word for word:"
const SUMMARY = "summary"
const GAP = "[…]"
const NO_NAME = "Somebody"

/** What an assistant called, as a line of a record has it behind what it said. */
const callsPattern = /\s*\[calls [\w-]+ [[{"].*$/u
/** What the offline model makes of a tool's report: its words are the tool's, and stand there. */
const retoldPattern = /^[a-z]+(?:_[a-z]+)+(?::| is done\.)/
const failurePattern = /^(?:Refused|Interrupted|Failed|Error)\b/
const resultPattern = /^result of (.+)$/

/** A piece of data, or of one, and no sentence. */
const isShred = (text: string): boolean => /[{}]|\\"|"\s*[:,\]]|[[,:]\s*"|^\W*$/u.test(text)

/** Who said it and what, when it is something that was said. */
const toldIn = (said: SaidLine): ReadonlyArray<SaidLine> => {
  const text = said.text.replace(callsPattern, "").trim()
  const [, tool] = resultPattern.exec(said.speaker) ?? []
  if (text === "" || (tool !== undefined && (/^\s*[[{"]/.test(text) || failurePattern.test(text)))) return []
  if (said.speaker === "clock" && !text.startsWith("[timer ")) return []
  if (isChatter(text) || retoldPattern.test(text)) return []
  const speaker = tool ?? (said.speaker === NO_NAME ? "" : said.speaker)
  return [{ ...said, speaker, text }]
}

interface Heard extends SaidLine {
  /** It stood in an earlier summary. */
  readonly isKept: boolean
}

const dayOf = (words: string | undefined): number => Date.parse(`${words ?? ""} UTC`)

const speaking = (speaker: string, day: string | undefined, text: string = ""): Heard => {
  const at = dayOf(day)
  return { speaker, text, isKept: true, ...defined({ at: Number.isNaN(at) ? undefined : at }) }
}

/** What an earlier summary says: its head names who spoke and when, the lines below it what they said. */
const keptIn = (line: string): ReadonlyArray<Heard> => {
  const [, names, on, from, to] = headPattern.exec(line) ?? []
  if (names !== undefined) {
    const [first = "", ...others] = names.replace(/ and \d+ more$/, "").split(", ")
    return [speaking(first, on ?? from), ...others.map((name) => speaking(name, on ?? to)), speaking("", on ?? to)]
  }
  const [, speaker, day, text] = keptPattern.exec(line) ?? []
  if (speaker !== undefined) return [speaking(speaker, day, text)]
  if (line === HEADING || line === GAP) return []
  return toldIn(saidIn(line)).map((said) => ({ ...said, isKept: true }))
}

/** A line with or without an id before it. */
const heardIn = (line: string): ReadonlyArray<Heard> => {
  const [, id = "", text = ""] = /^\s*(?:[-*]\s+)?(?:\[([^\]\s]{1,200})\]\s+)?(.*)$/.exec(line) ?? []
  if (text.trim() === "") return []
  return id === SUMMARY ? keptIn(text.trim()) : toldIn(saidIn(text)).map((said) => ({ ...said, isKept: false }))
}

interface Sentence {
  readonly said: Heard
  readonly sentence: string
  readonly telling: number
  readonly words: number
  readonly place: number
}

const chosenOf = (sentences: ReadonlyArray<Sentence>, share: number): ReadonlyArray<Sentence> => {
  const room = Math.min(MAX_WORDS, share)
  const chosen: Array<Sentence> = []
  let words = 0
  for (const each of sentences.toSorted((a, b) => b.telling - a.telling || b.place - a.place)) {
    const cost = each.words
    if (chosen.length > 0 && words + cost > room) continue
    if (cost > MAX_WORDS) continue
    chosen.push(each)
    words += cost
  }
  return chosen.toSorted((a, b) => a.place - b.place)
}

const headOf = (lines: ReadonlyArray<Heard>): string => {
  const speakers = [...new Set(lines.map(({ speaker }) => speaker))].filter((name) => name !== "")
  const days = lines.flatMap(({ at }) => at ?? [])
  const [first, last] = [days[0], days.at(-1)].map((at) => (at === undefined ? "" : dayInWords(at)))
  const more = speakers.length > MAX_NAMES ? ` and ${speakers.length - MAX_NAMES} more` : ""
  const who = speakers.length === 0 ? "Nobody is named" : `${speakers.slice(0, MAX_NAMES).join(", ")}${more} spoke`
  if (first === "" || first === undefined) return `${who}.`
  return first === last ? `${who} on ${first}.` : `${who} from ${first} to ${last}.`
}

const lineOf = ({ said, sentence }: Pick<Sentence, "said" | "sentence">): string => {
  const day = said.at === undefined ? "" : ` (${dayInWords(said.at)})`
  return `- ${said.speaker === "" ? NO_NAME : said.speaker}${day}: ${sentence}`
}

const telling = (line: Heard) =>
  line.isKept && line.text !== ""
    ? [{ sentence: line.text, telling: tellingSentences(line.text, line.at)[0]?.telling ?? 1 }]
    : tellingSentences(line.text, line.at)

export const summaryOf = (data: string): string => {
  const lines = data.split("\n").flatMap(heardIn)
  const sentences = lines
    .flatMap((said) => telling(said).map((each) => ({ ...each, said })))
    .filter(({ sentence }) => !isShred(sentence) && !isChatter(sentence))
    .map((each, place) => ({ ...each, place, words: wordsIn(lineOf(each)) }))
  const kept = sentences.reduce((sum, { said, words }) => sum + (said.isKept ? words : 0), 0)
  const fresh = lines.reduce((sum, { isKept, text }) => sum + (isKept ? 0 : wordsIn(text)), 0)
  const chosen = chosenOf(sentences, kept + Math.floor(MAX_SHARE * fresh))
  const told = chosen.length === 0 ? ["Nothing was said that tells anything."] : [HEADING, ...chosen.map(lineOf)]
  return [headOf(lines), ...told].join("\n")
}
