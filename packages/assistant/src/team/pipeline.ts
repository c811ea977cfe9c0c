// Pipeline: one member after the other, each working on what the one before has made.
// Owns the order and what happens when a stage fails. Leaves the work to the members.
// P1  A stage gets the answer of the stage before it; the first one gets the question.
// P2  A stage that fails, is late or is away is skipped (its input goes on), retried, done by its fallback, or ends it all.

import { defined } from "@reverie/protocol"
import {
  type Answer,
  asPlan,
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

/** One stage of a pipeline: which member it is, and what becomes of its failure. */
export interface Stage {
  /** The id of the member that works on it. */
  readonly member: string
  /** Said before what it works on. */
  readonly instruction?: string
  /** `abort` when not said. */
  readonly onFailure?: "skip" | "retry" | "abort" | { readonly fallback: string }
  /** How often a stage with `retry` is tried again; once when not said. After that it aborts. */
  readonly retries?: number
  /** How long the member has, in milliseconds; the team's `answerMs` when not said. */
  readonly timeoutMs?: number
}

interface Plan {
  readonly stage: number
  /** What the stage at hand works on. */
  readonly input: string
  readonly tries: number
  readonly isFallback: boolean
}

interface Line {
  readonly stages: ReadonlyArray<Stage>
  readonly question: Question
  readonly table: Table
}

const ask = (stage: Stage, member: string, plan: Plan): Move => ({
  plan: asPlan(plan),
  asks: [
    {
      member,
      text: stage.instruction === undefined ? plan.input : `${stage.instruction}\n\n${plan.input}`,
      ...defined({ withinMs: stage.timeoutMs })
    }
  ]
})

const away = ({ table }: Line, member: string): string | undefined => {
  const candidate = table.candidates.find(({ id }) => id === member)
  if (candidate !== undefined && isAvailable(candidate)) return undefined
  return `${member} is ${candidate?.availability ?? "no member that answers"}`
}

/** Begins a stage, or ends the line behind the last one. */
const enter = (line: Line, stage: number, input: string): Move => {
  const at = line.stages[stage]
  if (at === undefined) return { answer: { outcome: "answered", text: input }, isOver: true }
  const plan: Plan = { stage, input, tries: 1, isFallback: false }
  const why = away(line, at.member)
  return why === undefined ? ask(at, at.member, plan) : recover(line, plan, why)
}

const recover = (line: Line, plan: Plan, why: string): Move => {
  const at = line.stages[plan.stage]
  if (at === undefined) return failing(why)
  const { onFailure = "abort", retries = 1 } = at
  const ended = failing(`Stage ${plan.stage + 1} of ${line.stages.length} failed: ${why}.`)
  if (onFailure === "skip") return enter(line, plan.stage + 1, plan.input)
  if (onFailure === "retry") {
    const isLast = plan.tries > retries || away(line, at.member) !== undefined
    return isLast ? ended : ask(at, at.member, { ...plan, tries: plan.tries + 1 })
  }
  if (onFailure === "abort" || plan.isFallback) return ended
  const reason = away(line, onFailure.fallback)
  return reason === undefined
    ? ask(at, onFailure.fallback, { ...plan, isFallback: true })
    : failing(`Stage ${plan.stage + 1} of ${line.stages.length} failed: ${why}, and ${reason}.`)
}

const namedBy = ({ member, onFailure }: Stage): ReadonlyArray<string> =>
  typeof onFailure === "object" ? [member, onFailure.fallback] : [member]

export const pipeline = ({ stages }: { readonly stages: ReadonlyArray<Stage> }): Pattern => ({
  name: "pipeline",
  needs: stages.flatMap(namedBy),
  begin: (question, table) => enter({ stages, question, table }, 0, question.text),
  answered: (question, { member, outcome, text }, table) => {
    const plan = question.plan as unknown as Plan
    const line: Line = { stages, question, table }
    if (outcome === "answered") return enter(line, plan.stage + 1, text)
    return recover(
      line,
      plan,
      outcome === "late" ? `${member} gave no answer in time` : `${member} gave no answer: ${text}`
    )
  }
})

// RoundRobin: one member a message, each in turn.
// Owns whose turn it is. Leaves asking to coordinate.ts.
// R1  A member is asked a second time only after every other available member has been asked.
// R2  Who is halted, retired or gone is passed over; who fails or is late is followed by the next one, each at most once.

interface Turns {
  /** Who was asked last. */
  readonly last: string
}

interface Round {
  readonly tried: ReadonlyArray<string>
}

/** The available ones in their order, beginning after the last. */
const inOrder = (candidates: ReadonlyArray<Candidate>, last: string | undefined): ReadonlyArray<Candidate> => {
  const place = candidates.findIndex(({ id }) => id === last) + 1
  return [...candidates.slice(place), ...candidates.slice(0, place)].filter(isAvailable)
}

const nextInTurn = (
  { text }: Question,
  { candidates, memory }: Table,
  tried: ReadonlyArray<string>,
  why: string
): Move => {
  const turns = memory as unknown as Turns | null
  const member = inOrder(candidates, turns?.last).find(({ id }) => !tried.includes(id))
  if (member === undefined) return failing(why)
  const turn: Turns = { last: member.id }
  const plan: Round = { tried: [...tried, member.id] }
  return { plan: { ...plan }, memory: { ...turn }, asks: [{ member: member.id, text }] }
}

export const roundRobin = (): Pattern => ({
  name: "round-robin",
  begin: (question, table) => nextInTurn(question, table, [], NOBODY),
  answered: (question, answer: Answer, table) =>
    isGood(answer)
      ? { answer: { outcome: answer.outcome === "answered" ? "answered" : "silent", text: answer.text }, isOver: true }
      : nextInTurn(question, table, (question.plan as unknown as Round).tried, saidBy(answer))
})
