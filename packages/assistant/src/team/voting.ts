// Voting: the members vote, and the team answers with what was decided.
// Owns ballots out, votes in, and the end. Leaves reading and counting to voting.ts.
// V1  Every available member gets a ballot at once, with one deadline. Later votes do not count.
// V2  One vote a member: its first answer. An answer without a vote is an abstention.
// V3  A quorum that is a share is a share of all who may vote, whether they are available or not.

import { createHash } from "node:crypto"
import { defined } from "@reverie/protocol"
import {
  type Answer,
  asPlan,
  type Candidate,
  failing,
  isAvailable,
  type Move,
  NOBODY,
  type Pattern,
  type Table
} from "./team.ts"

// Draw: a choice that looks random and is the same at every attempt. The seed is the id of an envelope.

/** A whole number from 0 to below `count`. */
const draw = (seed: string, count: number): number =>
  count <= 1 ? 0 : createHash("sha256").update(seed).digest().readUIntBE(0, 6) % count

export const drawn = <A>(seed: string, from: ReadonlyArray<A>): A | undefined => from[draw(seed, from.length)]

// Votes: ballots, what an answer votes for, and who has won.
// V1  A vote is the last line `VOTE: choice`, or an answer that is nothing but a choice. Everything else is no vote.
// V2  A tie is broken as the definition says, and not otherwise; without quorum nothing is decided.

interface Vote {
  readonly member: string
  readonly choice: string
}

export const tieBreakers = ["first_vote", "specific_member", "no_decision", "random"] as const
export type TieBreaker = (typeof tieBreakers)[number]

interface Verdict {
  /** Undefined: nothing was decided. */
  readonly choice: string | undefined
  readonly why: "majority" | "tie-broken" | "tie" | "no-quorum"
  /** Votes by choice, in the order of the choices. */
  readonly counts: ReadonlyArray<readonly [choice: string, count: number]>
}

const plain = (text: string): string =>
  text
    .normalize("NFC")
    .toLowerCase()
    .replaceAll(/[*_`"'.!()]/g, "")
    .replaceAll(/\s+/g, " ")
    .trim()

const DEFAULT_CHOICES = ["yes", "no"]

/** The choices that a question lists, by bullet or number; yes and no when it lists none. */
const choicesIn = (question: string): ReadonlyArray<string> => {
  const listed = question
    .split("\n")
    .flatMap((line) => /^\s*(?:\d{1,2}[.)]|[-*•])\s+(\S.*)$/.exec(line)?.[1]?.trim() ?? [])
  const different = listed.filter((each, index) => listed.findIndex((other) => plain(other) === plain(each)) === index)
  return different.length < 2 ? DEFAULT_CHOICES : different
}

const ballotOf = (question: string, choices: ReadonlyArray<string>): string =>
  [
    question,
    "",
    "You are asked to vote. Say why if you like, and end with one line `VOTE: ` and one of these choices, as it is",
    "written here. Your first answer counts and can not be changed.",
    ...choices.map((choice) => `- ${choice}`)
  ].join("\n")

/** What an answer votes for; undefined when it is no vote. */
const voteIn = (answer: string, choices: ReadonlyArray<string>): string | undefined => {
  const lines = answer.split("\n").map((line) => line.replaceAll(/[*_`]/g, "").trim())
  const cast = lines.findLast((line) => /^vote\s*:/i.test(line))?.replace(/^vote\s*:/i, "") ?? answer
  return choices.find((choice) => plain(choice) === plain(cast))
}

interface Count {
  readonly votes: ReadonlyArray<Vote>
  readonly choices: ReadonlyArray<string>
  /** Votes without which nothing is decided. */
  readonly quorum: number
  readonly tieBreaker: TieBreaker
  /** Who decides under `specific_member`. */
  readonly decider?: string
  readonly seed: string
}

const broken = ({ decider, seed, tieBreaker, votes }: Count, tied: ReadonlyArray<string>): string | undefined => {
  switch (tieBreaker) {
    case "first_vote":
      return votes.find(({ choice }) => tied.includes(choice))?.choice
    case "specific_member": {
      const vote = votes.find(({ member }) => member === decider)
      return vote !== undefined && tied.includes(vote.choice) ? vote.choice : undefined
    }
    case "random":
      return drawn(`${seed} tie`, tied)
    case "no_decision":
      return undefined
  }
}

const countVotes = (count: Count): Verdict => {
  const { choices, quorum, votes } = count
  const counts = choices.map((choice) => [choice, votes.filter((vote) => vote.choice === choice).length] as const)
  if (votes.length < quorum) return { choice: undefined, why: "no-quorum", counts }
  const most = Math.max(0, ...counts.map(([, number]) => number))
  const first = counts.flatMap(([choice, number]) => (number === most && most > 0 ? [choice] : []))
  if (first.length === 1) return { choice: first[0], why: "majority", counts }
  const choice = broken(count, first)
  return { choice, why: choice === undefined ? "tie" : "tie-broken", counts }
}

export interface VotingOptions {
  /** What can be voted for; what the question lists, or yes and no, when not said. */
  readonly choices?: ReadonlyArray<string>
  /** Votes that are needed: a number of them, or below 1 a share of all who may vote. Half of them when not said. */
  readonly quorum?: number
  /** How long there is to vote; 5 minutes when not said. */
  readonly deadlineMs?: number
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
  const { choices = choicesIn(text), deadlineMs: deadlineMillis = DEADLINE_MILLIS, quorum = 0.5 } = options
  const voters = candidates.filter(isAvailable)
  if (voters.length === 0) return failing(NOBODY)
  const plan: Plan = { choices, votes: [], abstained: [], quorum: quorumOf(quorum, candidates) }
  const ballot = ballotOf(text, choices)
  return {
    plan: asPlan(plan),
    asks: voters.map(({ id }) => ({ member: id, text: ballot, withinMs: deadlineMillis }))
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
