// Consolidation: facts and importance of what was lived through.
// Owns reading the lines of the ask and its answer. Leaves what is a fact to `statements.ts`.
// C1  Every line that was given is weighed; each fact is made of that line, and of the question it answers.
// C2  What the offline model itself said is no fact.

import { defined } from "@reverie/protocol"
import { isChatter } from "../chatter.ts"
import { type Line, linesOf, type SaidLine, saidIn } from "./lines.ts"
import { namesIn } from "./names.ts"
import { statementsOf, type Utterance } from "./statements.ts"

/** How a journal entry is told from what somebody said. */
const JOURNAL = "journal"
/** A question that is older than this is not what is answered. */
const ANSWER_MILLIS = 30 * 60_000

interface Heard extends Line {
  readonly said: SaidLine
}

const isNear = (one: SaidLine, other: SaidLine): boolean =>
  one.at === undefined || other.at === undefined || Math.abs(one.at - other.at) <= ANSWER_MILLIS

const utteranceOf = ({ said }: Heard, before: SaidLine | undefined, listener: string | undefined): Utterance => {
  if (said.speaker === JOURNAL || said.speaker === "") return { ...said, speaker: "" }
  const answers =
    before !== undefined && before.speaker !== said.speaker && before.speaker !== JOURNAL && isNear(before, said)
  return {
    ...said,
    ...defined({ listener }),
    ...(answers ? { question: before.text, asker: before.speaker } : {})
  }
}

/** Whom a speaker talks to: the other one, where there is one other. */
const listenerOf = (speaker: string, speakers: ReadonlyArray<string>): string | undefined => {
  const others = speakers.filter((each) => each !== speaker)
  return others.length === 1 ? others[0] : undefined
}

export const consolidated = (data: string): string => {
  const heard = linesOf(data).map((line): Heard => ({ ...line, said: saidIn(line.text) }))
  const speakers = [...new Set(heard.map(({ said }) => said.speaker))].filter((name) => name !== "" && name !== JOURNAL)
  const items = heard.map((line, place) => {
    const { id, said } = line
    if (isChatter(said.text)) return { id, importance: 1, facts: [] }
    const { importance, statements } = statementsOf(
      utteranceOf(line, heard[place - 1]?.said, listenerOf(said.speaker, speakers))
    )
    return { id, importance, facts: statements.map((text) => ({ text, entities: namesIn(text, speakers) })) }
  })
  return JSON.stringify(items)
}
