// Supervisor: one member leads, and hands out work until it answers.
// Owns the rounds between the supervisor and the others. Leaves what is handed out to the supervisor's own words.
// S1  The supervisor gets every question first, with the list of members that are available.
// S2  What it hands out are lines `@name: work`; an answer without such a line ends the question.
// S3  It hears of every piece of work once, when all of a round are in; after `maxRounds` rounds it has to answer.
// S4  Who is not there gets nothing: the supervisor learns of it in the same round.

import { describeMember } from "./dynamic.ts"
import {
  type Answer,
  asPlan,
  type Candidate,
  failing,
  type Gathered,
  gathered,
  inOrder,
  isAvailable,
  isComplete,
  isGood,
  leastLoaded,
  type Move,
  type Pattern,
  type Question,
  saidBy,
  type Table
} from "./team.ts"

export interface SupervisorOptions {
  /** Most times that work is handed out; 4 when not said. */
  readonly maxRounds?: number
  /** When the supervisor is away or fails: the question fails, or the least loaded member answers. `fail` when not said. */
  readonly fallback?: "fail" | "member"
}

interface Plan extends Gathered {
  readonly round: number
  readonly isFallback?: true
}

const LEAD = "supervisor"
const DEFAULT_ROUNDS = 4

const handOut =
  "To hand out work, write a line for each piece: `@name: what to do`. An answer without such a line is final."
const answerNow = "There are no more rounds: answer now, with what you have."

const leaderOf = ({ candidates }: Table): Candidate | undefined => candidates.find(({ role }) => role === LEAD)

const others = ({ candidates }: Table): ReadonlyArray<Candidate> =>
  candidates.filter((each) => each.role !== LEAD && isAvailable(each))

const openingOf = ({ text }: Question, table: Table): string =>
  [text, "", "Your team:", ...others(table).map(describeMember), handOut].join("\n")

interface Piece {
  readonly name: string
  readonly work: string
}

/** The work that a text hands out, line by line. */
const piecesIn = (text: string): ReadonlyArray<Piece> =>
  text.split("\n").flatMap((line) => {
    const [, name, work] = /^\s*(?:[-*]\s*)?@([^\s:,]+)\s*[:,]\s*(\S.*)$/u.exec(line) ?? []
    return name === undefined || work === undefined ? [] : [{ name, work: work.trim() }]
  })

const meant = (name: string, candidates: ReadonlyArray<Candidate>): Candidate | undefined =>
  candidates.find(({ id, names = [] }) =>
    [id, ...names].some((each) => each.normalize("NFC").toLowerCase() === name.normalize("NFC").toLowerCase())
  )

const fallBack = (question: Question, table: Table, fallback: SupervisorOptions["fallback"], why: string): Move => {
  const member = fallback === "member" ? leastLoaded(others(table)) : undefined
  if (member === undefined) return failing(why)
  return { plan: asPlan({ round: 0, said: [], isFallback: true }), asks: [{ member: member.id, text: question.text }] }
}

const report = ({ round, said }: Plan, leader: string, maxRounds: number): Move => {
  const results = said.map((each) => `- ${saidBy(each)}`)
  const text = ["What came back:", ...results, round >= maxRounds ? answerNow : handOut].join("\n")
  return { plan: asPlan({ round, said: [] }), asks: [{ member: leader, text, tag: LEAD }] }
}

/** What the supervisor wrote: work for others, or the answer. */
const directed = (plan: Plan, { member, outcome, text }: Answer, table: Table, maxRounds: number): Move => {
  const pieces = plan.round >= maxRounds ? [] : piecesIn(text)
  if (pieces.length === 0) {
    return { answer: { outcome: outcome === "silent" ? "silent" : "answered", text }, isOver: true }
  }
  const free = others(table)
  const asks = pieces.flatMap(({ name, work }) =>
    [meant(name, free)?.id ?? []].flat().map((id) => ({ member: id, text: work }))
  )
  const away = pieces.flatMap(({ name }): ReadonlyArray<Answer> =>
    meant(name, free) === undefined ? [{ member: name, outcome: "failed", text: "is not available in the team" }] : []
  )
  const next: Plan = { round: plan.round + 1, said: away }
  return asks.length === 0 ? report(next, member, maxRounds) : { plan: asPlan(next), asks: inOrder(asks) }
}

export const supervisor = ({ fallback = "fail", maxRounds = DEFAULT_ROUNDS }: SupervisorOptions = {}): Pattern => ({
  name: "supervisor",
  begin: (question, table) => {
    const leader = leaderOf(table)
    if (leader === undefined || !isAvailable(leader)) {
      return fallBack(question, table, fallback, `${leader?.id ?? "the supervisor"} is not available.`)
    }
    const text = openingOf(question, table)
    return { plan: asPlan({ round: 0, said: [] }), asks: [{ member: leader.id, text, tag: LEAD }] }
  },
  answered: (question, answer, table) => {
    const plan = question.plan as unknown as Plan
    if (plan.isFallback === true) {
      return isGood(answer)
        ? { answer: { outcome: "answered", text: answer.text }, isOver: true }
        : failing(saidBy(answer))
    }
    if (answer.tag === LEAD) {
      return isGood(answer)
        ? directed(plan, answer, table, maxRounds)
        : fallBack(question, table, fallback, saidBy(answer))
    }
    const so: Plan = { ...gathered(plan, answer), round: plan.round }
    if (!isComplete(question)) return { plan: asPlan(so) }
    const leader = leaderOf(table)
    return leader === undefined ? failing("The supervisor is gone.") : report(so, leader.id, maxRounds)
  }
})
