// Votes: ballots, what an answer votes for, and who has won.
// Owns reading and counting. Leaves asking to voting.ts.
// V1  A vote is the last line `VOTE: choice`, or an answer that is nothing but a choice. Everything else is no vote.
// V2  A tie is broken as the definition says, and not otherwise; without quorum nothing is decided.

import { drawn } from "./draw.ts"

export interface Vote {
  readonly member: string
  readonly choice: string
}

export const tieBreakers = ["first_vote", "specific_member", "no_decision", "random"] as const
export type TieBreaker = (typeof tieBreakers)[number]

export interface Verdict {
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
export const choicesIn = (question: string): ReadonlyArray<string> => {
  const listed = question
    .split("\n")
    .flatMap((line) => /^\s*(?:\d{1,2}[.)]|[-*•])\s+(\S.*)$/.exec(line)?.[1]?.trim() ?? [])
  const different = listed.filter((each, index) => listed.findIndex((other) => plain(other) === plain(each)) === index)
  return different.length < 2 ? DEFAULT_CHOICES : different
}

export const ballotOf = (question: string, choices: ReadonlyArray<string>): string =>
  [
    question,
    "",
    "You are asked to vote. Say why if you like, and end with one line `VOTE: ` and one of these choices, as it is",
    "written here. Your first answer counts and can not be changed.",
    ...choices.map((choice) => `- ${choice}`)
  ].join("\n")

/** What an answer votes for; undefined when it is no vote. */
export const voteIn = (answer: string, choices: ReadonlyArray<string>): string | undefined => {
  const lines = answer.split("\n").map((line) => line.replaceAll(/[*_`]/g, "").trim())
  const cast = lines.findLast((line) => /^vote\s*:/i.test(line))?.replace(/^vote\s*:/i, "") ?? answer
  return choices.find((choice) => plain(choice) === plain(cast))
}

export interface Count {
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

export const countVotes = (count: Count): Verdict => {
  const { choices, quorum, votes } = count
  const counts = choices.map((choice) => [choice, votes.filter((vote) => vote.choice === choice).length] as const)
  if (votes.length < quorum) return { choice: undefined, why: "no-quorum", counts }
  const most = Math.max(0, ...counts.map(([, number]) => number))
  const first = counts.flatMap(([choice, number]) => (number === most && most > 0 ? [choice] : []))
  if (first.length === 1) return { choice: first[0], why: "majority", counts }
  const choice = broken(count, first)
  return { choice, why: choice === undefined ? "tie" : "tie-broken", counts }
}
