// Coordinate: one step of a team.
// Owns which question an event belongs to, deadlines, the bound on asks, and what observers learn. Leaves whom to ask and
// when a question is answered to the pattern, sending and keeping the state to the runtime.
// C1  A step is a pure function of state, event and standings: made again after a crash it is the same step.
// C2  An ask is answered once, by whom it was made to. What comes for no open ask changes nothing.
// C3  A question makes at most `maxAsks` asks, and each has a time after which it counts as late: every question ends.
// C4  The asker is answered once. Observers learn the question and the answer, and are never asked.
// C5  Deadlines are kept by the order of the mailbox: an answer that was accepted before the timer is in time.

import { type AnswerOutcome, type Json, MAX_MESSAGE_CHARS, defined } from "@reverie/protocol"
import type { Answer, Ask, Candidate, Conclusion, Move, OpenAsk, Question, Standing, Table, Team } from "./team.ts"

export interface TeamState {
  readonly memory: Json
  /** When the pattern wants to be asked again. */
  readonly wakeAt: number | null
  /** Open questions, the oldest first. */
  readonly questions: ReadonlyMap<string, Question>
}

export const NEW_TEAM: TeamState = { memory: null, wakeAt: null, questions: new Map() }

export type TeamEvent =
  | ({ readonly type: "asked" } & Pick<Question, "id" | "text" | "from" | "hops" | "wantsAnswer" | "at">)
  | {
      readonly type: "answered"
      readonly ask: string
      readonly from: string
      readonly outcome: AnswerOutcome
      readonly text: string
      readonly at: number
    }
  | { readonly type: "due"; readonly id: string; readonly at: number }

export interface Surroundings {
  readonly standings: ReadonlyMap<string, Standing>
  /** The id of the n-th envelope that this step sends; no other step of the team has it. */
  readonly nameSend: (index: number) => string
}

export interface TeamSend {
  readonly id: string
  readonly to: string
  readonly text: string
  readonly hops: number
  /** An ask wants an answer; a copy is only to be overheard. */
  readonly kind: "ask" | "copy"
}

export interface TeamAnswer extends Conclusion {
  readonly question: Question
}

export interface TeamStep {
  readonly state: TeamState
  readonly sends: ReadonlyArray<TeamSend>
  readonly answers: ReadonlyArray<TeamAnswer>
  /** What was done, in a sentence or two. */
  readonly note: string
}

interface Work {
  readonly team: Team
  readonly around: Surroundings
  readonly questions: Map<string, Question>
  memory: Json
  wakeAt: number | null
  readonly sends: Array<TeamSend>
  readonly answers: Array<TeamAnswer>
  readonly notes: Array<string>
}

const MISSING: Standing = { availability: "missing", waiting: 0 }

const candidatesOf = ({ around, questions, team }: Work): ReadonlyArray<Candidate> => {
  const open = [...questions.values()].flatMap(({ asks }) => Object.values(asks))
  return team.members.flatMap((member) =>
    member.role === "observer"
      ? []
      : [
          {
            ...member,
            ...(around.standings.get(member.id) ?? MISSING),
            openAsks: open.filter((ask) => ask.member === member.id).length
          }
        ]
  )
}

const tableOf = (work: Work, seed: string, now: number): Table => ({
  now,
  seed,
  memory: work.memory,
  candidates: candidatesOf(work)
})

const clipped = (text: string): string => text.slice(0, MAX_MESSAGE_CHARS)

const send = (work: Work, to: string, text: string, hops: number, kind: TeamSend["kind"]): string => {
  const id = work.around.nameSend(work.sends.length)
  work.sends.push({ id, to, text: clipped(text), hops, kind })
  return id
}

const copyToObservers = (work: Work, { hops }: Question, text: string): void => {
  for (const { id, role } of work.team.members) if (role === "observer") send(work, id, text, hops + 1, "copy")
}

const answer = (work: Work, question: Question, conclusion: Conclusion): Question => {
  if (question.isAnswered) return question
  work.answers.push({ question, ...conclusion, text: clipped(conclusion.text) })
  copyToObservers(work, question, `Answer of ${work.team.id}: ${conclusion.text}`)
  return { ...question, isAnswered: true }
}

const asksOf = (work: Work, question: Question, asks: ReadonlyArray<Ask>, now: number): Question => {
  const open: { [id: string]: OpenAsk } = { ...question.asks }
  for (const { member, tag, text, withinMs = work.team.answerMs } of asks) {
    const id = send(work, member, text, question.hops + 1, "ask")
    open[id] = { member, until: now + withinMs, ...defined({ tag }) }
  }
  if (asks.length > 0) work.notes.push(`Asked ${[...new Set(asks.map(({ member }) => member))].join(", ")}.`)
  return { ...question, asks: open, asked: question.asked + asks.length }
}

const tooMany = ({ team }: Work): Conclusion => ({
  outcome: "failed",
  text: `The team ${team.id} made ${team.maxAsks} asks for this, as many as it may, and has no answer.`
})

/** Does what the pattern wants. */
const follow = (work: Work, before: Question, move: Move, now: number): void => {
  if (move.memory !== undefined) work.memory = move.memory
  if (move.wakeAt !== undefined) work.wakeAt = move.wakeAt
  const asks = move.asks ?? []
  const isOver = before.asked + asks.length > work.team.maxAsks
  let question = move.plan === undefined ? before : { ...before, plan: move.plan }
  if (isOver) question = answer(work, question, tooMany(work))
  else {
    question = asksOf(work, question, asks, now)
    if (move.answer !== undefined) {
      question = answer(work, question, move.answer)
      work.notes.push(move.answer.text)
    }
  }
  if (isOver || move.isOver === true || Object.keys(question.asks).length === 0) {
    // A pattern that neither asks nor answers would leave its asker without a word.
    answer(work, question, { outcome: "silent", text: "" })
    work.questions.delete(question.id)
  } else work.questions.set(question.id, question)
}

const begin = (work: Work, question: Question): void => {
  if (work.questions.has(question.id)) return
  copyToObservers(work, question, `${question.from} to ${work.team.id}: ${question.text}`)
  follow(work, question, work.team.pattern.begin(question, tableOf(work, question.id, question.at)), question.at)
}

const settle = (
  work: Work,
  question: Question,
  id: string,
  what: Omit<Answer, "member" | "tag">,
  now: number
): void => {
  const { [id]: ask, ...asks } = question.asks
  if (ask === undefined) return
  const rest = { ...question, asks }
  work.questions.set(question.id, rest)
  const said: Answer = { member: ask.member, ...defined({ tag: ask.tag }), ...what }
  follow(
    work,
    rest,
    work.team.pattern.answered(rest, said, tableOf(work, `${question.id}#${question.asked}`, now)),
    now
  )
}

const questionOf = (work: Work, ask: string, from: string): Question | undefined =>
  [...work.questions.values()].find(({ asks }) => asks[ask]?.member === from)

const expire = (work: Work, now: number): void => {
  for (const id of work.questions.keys()) {
    const asks = Object.entries(work.questions.get(id)?.asks ?? {})
    for (const [ask, { until }] of asks) {
      const question = work.questions.get(id)
      if (until <= now && question !== undefined) settle(work, question, ask, { outcome: "late", text: "" }, now)
    }
  }
}

const ownQuestion = ({ team }: Work, id: string, at: number): Question => ({
  id,
  text: "",
  from: team.id,
  hops: 0,
  wantsAnswer: false,
  at,
  isAnswered: true,
  asks: {},
  asked: 0,
  plan: null
})

const wake = (work: Work, id: string, now: number): void => {
  const { woken } = work.team.pattern
  if (work.wakeAt === null || work.wakeAt > now) return
  work.wakeAt = null
  if (woken !== undefined) follow(work, ownQuestion(work, id, now), woken(tableOf(work, id, now)), now)
}

/** The next time at which something is due by itself; undefined when nothing is. */
export const nextDue = ({ questions, wakeAt }: TeamState): number | undefined => {
  const times = [...questions.values()].flatMap(({ asks }) => Object.values(asks).map(({ until }) => until))
  const all = wakeAt === null ? times : [...times, wakeAt]
  return all.length === 0 ? undefined : all.reduce((soonest, time) => Math.min(soonest, time))
}

export const coordinate = (team: Team, state: TeamState, event: TeamEvent, around: Surroundings): TeamStep => {
  const work: Work = {
    team,
    around,
    questions: new Map(state.questions),
    memory: state.memory,
    wakeAt: state.wakeAt,
    sends: [],
    answers: [],
    notes: []
  }
  switch (event.type) {
    case "asked": {
      const { type: _, ...asked } = event
      begin(work, { ...asked, isAnswered: false, asks: {}, asked: 0, plan: null })
      break
    }
    case "answered": {
      const question = questionOf(work, event.ask, event.from)
      if (question === undefined) work.notes.push(`An answer of ${event.from} came for nothing that is open.`)
      else settle(work, question, event.ask, event, event.at)
      break
    }
    case "due":
      expire(work, event.at)
      wake(work, event.id, event.at)
  }
  return {
    state: { memory: work.memory, wakeAt: work.wakeAt, questions: work.questions },
    sends: work.sends,
    answers: work.answers,
    note: work.notes.join("\n")
  }
}
