// RoundRobin: one member a message, each in turn.
// Owns whose turn it is. Leaves asking to coordinate.ts.
// R1  A member is asked a second time only after every other available member has been asked.
// R2  Who is halted, retired or gone is passed over; who fails or is late is followed by the next one, each at most once.

import {
  type Answer,
  type Candidate,
  failing,
  isAvailable,
  isGood,
  type Move,
  NOBODY,
  type Pattern,
  type Question,
  saidBy,
  type Table
} from "./team.ts"

interface Turns {
  /** Who was asked last. */
  readonly last: string
}

interface Plan {
  readonly tried: ReadonlyArray<string>
}

/** The available ones in their order, beginning after the last. */
const inOrder = (candidates: ReadonlyArray<Candidate>, last: string | undefined): ReadonlyArray<Candidate> => {
  const place = candidates.findIndex(({ id }) => id === last) + 1
  return [...candidates.slice(place), ...candidates.slice(0, place)].filter(isAvailable)
}

const next = ({ text }: Question, { candidates, memory }: Table, tried: ReadonlyArray<string>, why: string): Move => {
  const turns = memory as unknown as Turns | null
  const member = inOrder(candidates, turns?.last).find(({ id }) => !tried.includes(id))
  if (member === undefined) return failing(why)
  const turn: Turns = { last: member.id }
  const plan: Plan = { tried: [...tried, member.id] }
  return { plan: { ...plan }, memory: { ...turn }, asks: [{ member: member.id, text }] }
}

export const roundRobin = (): Pattern => ({
  name: "round-robin",
  begin: (question, table) => next(question, table, [], NOBODY),
  answered: (question, answer: Answer, table) =>
    isGood(answer)
      ? { answer: { outcome: answer.outcome === "answered" ? "answered" : "silent", text: answer.text }, isOver: true }
      : next(question, table, (question.plan as unknown as Plan).tried, saidBy(answer))
})
