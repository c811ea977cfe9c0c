// Voting: the members vote, and the team answers with what was decided.
// Owns ballots out, votes in, and the end. Leaves reading and counting to votes.ts.
// V1  Ballots go to everybody who is available, at once, with one deadline. What comes after it does not count.
// V2  One vote a member: its first answer. Whoever answers without a vote has abstained.
// V3  A quorum that is a share is a share of all who may vote, whether they are available or not.

import { defined } from "@reverie/protocol"
import { asPlan } from "./gathering.ts"
import {
  type Answer,
  type Candidate,
  failing,
  isAvailable,
  type Move,
  NOBODY,
  type Pattern,
  type Table
} from "./team.ts"
import { ballotOf, choicesIn, countVotes, type TieBreaker, type Verdict, type Vote, voteIn } from "./votes.ts"

export interface VotingOptions {
  /** What can be voted for; what the question lists, or yes and no, when not said. */
  readonly choices?: ReadonlyArray<string>
  /** Votes that are needed: a number of them, or below 1 a share of all who may vote. Half of them when not said. */
  readonly quorum?: number
  /** How long there is to vote; 5 minutes when not said. */
  readonly deadlineMillis?: number
  /** `no_decision` when not said. */
  readonly tieBreaker?: TieBreaker
  /** Who decides under `specific_member`. */
  readonly decider?: string
}

interface Plan {
  readonly choices: ReadonlyArray<string>
  readonly votes: ReadonlyArray<Vote>
  readonly abstained: ReadonlyArray<string>
  readonly quorum: number
}

const DEADLINE_MILLIS = 300_000

const quorumOf = (quorum: number, candidates: ReadonlyArray<Candidate>): number =>
  Math.max(1, quorum < 1 ? Math.ceil(quorum * candidates.length) : Math.floor(quorum))

const whyIn: Readonly<Record<Verdict["why"], string>> = {
  majority: "",
  "tie-broken": ", by the tie-breaker",
  tie: "a tie",
  "no-quorum": "too few votes"
}

const inWords = ({ choice, counts, why }: Verdict, { abstained, quorum, votes }: Plan): string => {
  const totals = counts.map(([each, count]) => {
    const by = votes.flatMap((vote) => (vote.choice === each ? [vote.member] : [])).toSorted()
    return `${each}: ${count}${count === 0 ? "" : ` (${by.join(", ")})`}`
  })
  const head = choice === undefined ? `No decision: ${whyIn[why]}.` : `Decision: ${choice}${whyIn[why]}.`
  const silent = abstained.length === 0 ? [] : [`No vote: ${abstained.toSorted().join(", ")}.`]
  return [head, `Votes: ${totals.join("; ")}. Needed: ${quorum}.`, ...silent].join("\n")
}

const noted = (plan: Plan, { member, outcome, text }: Answer): Plan => {
  const choice = outcome === "answered" ? voteIn(text, plan.choices) : undefined
  return choice === undefined
    ? { ...plan, abstained: [...plan.abstained, member] }
    : { ...plan, votes: [...plan.votes, { member, choice }] }
}

const begin = (options: VotingOptions, text: string, { candidates }: Table): Move => {
  const { choices = choicesIn(text), deadlineMillis = DEADLINE_MILLIS, quorum = 0.5 } = options
  const voters = candidates.filter(isAvailable)
  if (voters.length === 0) return failing(NOBODY)
  const plan: Plan = { choices, votes: [], abstained: [], quorum: quorumOf(quorum, candidates) }
  const ballot = ballotOf(text, choices)
  return {
    plan: asPlan(plan),
    asks: voters.map(({ id }) => ({ member: id, text: ballot, withinMillis: deadlineMillis }))
  }
}

export const voting = (options: VotingOptions = {}): Pattern => {
  const { decider, tieBreaker = "no_decision" } = options
  return {
    name: "voting",
    ...defined({ needs: decider === undefined ? undefined : [decider] }),
    begin: ({ text }, table) => begin(options, text, table),
    answered: (question, answer) => {
      const plan = noted(question.plan as unknown as Plan, answer)
      if (Object.keys(question.asks).length > 0) return { plan: asPlan(plan) }
      const verdict = countVotes({
        ...plan,
        tieBreaker,
        seed: question.id,
        ...defined({ decider })
      })
      return { answer: { outcome: "answered", text: inWords(verdict, plan) }, isOver: true }
    }
  }
}
