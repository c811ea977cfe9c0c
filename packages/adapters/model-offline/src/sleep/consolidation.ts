// Consolidation: facts and importance of what was lived through.
// Owns who hears whom, and which line a question waits for. Leaves what a line states to statements.ts.
// C1  Every line that was given is weighed; each fact is made of that line, and of the question it answers.
// C2  What the offline model itself said is no fact, and neither is the head of a summary, which says who spoke and when.
// C3  Who speaks in another conversation is not heard: neither asked, nor answered, nor meant by "you". What the assistant answered waits
//     for no one.

import { ANSWERED, conversationLine, defined } from "@reverie/protocol"
import { isChatter, type Line, linesOf, saidIn, type SaidLine } from "../calls.ts"
import { namesIn } from "./names.ts"
import { isTakenBack } from "./stances.ts"
import { statementsOf, type Utterance } from "./statements.ts"

/** How a journal entry is distinguished from what someone said. */
const JOURNAL = "journal"
const isHead = (statement: string): boolean => /^.+ spoke(?: on \d.*| from \d.* to \d.*)?\.?$/.test(statement)
/** A question that is older than this is not what is answered. */
const ANSWER_MILLIS = 30 * 60_000

interface Heard extends Line {
  readonly said: SaidLine
  /** The assistant answered it. */
  readonly isAnswered: boolean
}

const isNear = (one: SaidLine, other: SaidLine): boolean =>
  one.at === undefined || other.at === undefined || Math.abs(one.at - other.at) <= ANSWER_MILLIS

const utteranceOf = ({ said }: Heard, before: Heard | undefined, listener: string | undefined): Utterance => {
  if (said.speaker === JOURNAL || said.speaker === "") return { ...said, speaker: "" }
  const asked = before === undefined || before.isAnswered ? undefined : before.said
  const mayAnswer =
    asked !== undefined && asked.speaker !== said.speaker && asked.speaker !== JOURNAL && isNear(asked, said)
  return {
    ...said,
    ...defined({ listener }),
    ...(mayAnswer ? { question: asked.text, asker: asked.speaker } : {})
  }
}

/** Whom a speaker talks to: the other one, where there is one other. */
const listenerOf = (speaker: string, speakers: ReadonlyArray<string>): string | undefined => {
  const others = speakers.filter((each) => each !== speaker)
  return others.length === 1 ? others[0] : undefined
}

/** The speaker takes back what was said, with the next line or the one after it. */
const isJoke = (heard: ReadonlyArray<Heard>, place: number): boolean => {
  const speaker = heard[place]?.said.speaker
  const next = heard.slice(place + 1, place + 3).find(({ said }) => said.speaker === speaker)
  return next !== undefined && isTakenBack(next.said.text)
}

const isHeading = (row: string): boolean => row === conversationLine(Number(/\d+/.exec(row)?.[0] ?? 0))

/** The lines of each conversation; without a heading all are of one. */
const conversationsIn = (data: string): ReadonlyArray<ReadonlyArray<Heard>> => {
  const conversations: Array<Array<Heard>> = [[]]
  for (const row of data.split("\n")) {
    const last = conversations.at(-1) ?? []
    const before = last.at(-1)
    if (isHeading(row)) {
      conversations.push([])
    } else if (row === ANSWERED && before !== undefined) {
      last.splice(-1, 1, { ...before, isAnswered: true })
    } else {
      last.push(...linesOf(row).map((line): Heard => ({ ...line, said: saidIn(line.text), isAnswered: false })))
    }
  }
  return conversations
}

const itemsOf = (heard: ReadonlyArray<Heard>) => {
  const speakers = [...new Set(heard.map(({ said }) => said.speaker))].filter((name) => name !== "" && name !== JOURNAL)
  const known = new Set(heard.flatMap(({ said }) => namesIn(said.text, speakers)))
  return heard.map((line, place) => {
    const { id, said } = line
    if (isChatter(said.text) || isJoke(heard, place)) return { id, importance: 1, facts: [] }
    const { importance, statements } = statementsOf(
      utteranceOf(line, heard[place - 1], listenerOf(said.speaker, speakers))
    )
    const told = said.speaker === JOURNAL ? statements.filter((text) => !isHead(text)) : statements
    return { id, importance, facts: told.map((text) => ({ text, entities: namesIn(text, speakers, known) })) }
  })
}

export const consolidatedFrom = (data: string): string => JSON.stringify(conversationsIn(data).flatMap(itemsOf))
