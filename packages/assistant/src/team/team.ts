// Team: the words of a group that works on a question together.
// Owns their shapes. Leaves which step follows to coordinate.ts and the patterns, sending to the runtime.
// T1  Everything here is JSON or pure: a team is durable as any assistant, and a step made twice is the same step.

import type { AnswerOutcome, Json } from "@reverie/protocol"
import type { TeamRole } from "./directory.ts"

/** One member of a team. */
export interface TeamMember {
  /** The id of the assistant. */
  readonly id: string
  /** What it is called besides its id. */
  readonly names?: ReadonlyArray<string>
  /** Its role in the team: `role:<role>` addresses all who have it. */
  readonly role: TeamRole
  /** What a specialist is for. */
  readonly domain?: string
  /** Words for what it can do, for a pattern that chooses by them. */
  readonly capabilities?: ReadonlyArray<string>
}

/** How a member stands when the team takes its step. */
export interface Standing {
  readonly availability: "available" | "halted" | "retired" | "missing"
  /** Envelopes that wait for it. */
  readonly waiting: number
}

/** A member that can be asked: no observer. */
export interface Candidate extends TeamMember, Standing {
  /** What this team has asked it and has no answer to. */
  readonly openAsks: number
}

/** What one member was asked and owes. */
export interface OpenAsk {
  readonly member: string
  /** After this its answer is late; milliseconds since the epoch. */
  readonly until: number
  /** What the pattern calls it. */
  readonly tag?: string
}

/** What someone asked the team, and how far it has come. */
export interface Question {
  /** The envelope that brought it. */
  readonly id: string
  /** What was asked. */
  readonly text: string
  /** The id of the sender. */
  readonly from: string
  /** How many assistants passed it on before. */
  readonly hops: number
  /** The sender is an assistant or a person that waits for an answer. */
  readonly wantsAnswer: boolean
  /** When it was accepted, in milliseconds since the epoch. */
  readonly at: number
  /** The asker has been answered; what goes on is the team's own affair. */
  readonly isAnswered: boolean
  /** By the id of the envelope that asked. */
  readonly asks: { readonly [id: string]: OpenAsk }
  /** How many asks were made for it, open or not. */
  readonly asked: number
  /** What the pattern remembers of it. */
  readonly plan: Json
}

/** A question to a member. */
export interface Ask {
  /** The id of the member that is asked. */
  readonly member: string
  /** What it is asked. */
  readonly text: string
  /** A name by which the pattern knows the answer again. */
  readonly tag?: string
  /** The team's own deadline when not given. */
  readonly withinMs?: number
}

/** What came of an ask. `late`: nothing, in its time. */
export interface Answer {
  /** The id of the member that was asked. */
  readonly member: string
  /** What the pattern called the ask. */
  readonly tag?: string
  /** `answered`, `silent` when it had nothing to say, `failed`, or `late`. */
  readonly outcome: AnswerOutcome | "late"
  /** What it said; of a failure why, else empty. */
  readonly text: string
}

export interface Conclusion {
  readonly outcome: AnswerOutcome
  readonly text: string
}

/** What a pattern wants done. */
export interface Move {
  /** What the pattern remembers of this question; as before when not said. */
  readonly plan?: Json
  /** Questions to members, sent with the commit of this step. */
  readonly asks?: ReadonlyArray<Ask>
  /** Answers the asker. Without open asks it is also the end of the question. */
  readonly answer?: Conclusion
  /** The end of the question, whatever is still open. */
  readonly isOver?: boolean
  /** What the team remembers from one question to the next; as before when not said. */
  readonly memory?: Json
  /** When the pattern wants to be asked again; null: not at all; as before when not said. */
  readonly wakeAt?: number | null
}

/** What a pattern decides on. */
export interface Table {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** The members, each with how it stands. */
  readonly candidates: ReadonlyArray<Candidate>
  /** What the team remembers from earlier questions; null at first. */
  readonly memory: Json
  /** Differs from question to question and is the same at every attempt. */
  readonly seed: string
}

/** How a team comes to an answer: pure steps over the replies of its members. */
export interface Pattern {
  /** The name of the pattern, for pages and logs. */
  readonly name: string
  /** The first step for a new question. */
  readonly begin: (question: Question, table: Table) => Move
  /** `question.asks` no longer holds what was answered. */
  readonly answered: (question: Question, answer: Answer, table: Table) => Move
  /** The time that a move named in `wakeAt` has come. With asks, a question of the team's own begins. */
  readonly woken?: (table: Table) => Move
  /** The members that it names; a definition without one of them is refused. */
  readonly needs?: ReadonlyArray<string>
}

/** The members of a team, their pattern and its limits. */
export interface Team {
  /** Its address. */
  readonly id: string
  /** In the order of the definition. */
  readonly members: ReadonlyArray<TeamMember>
  /** How it comes to an answer. */
  readonly pattern: Pattern
  /** How long a member has for an answer. */
  readonly answerMs: number
  /** Most asks for one question. */
  readonly maxAsks: number
}

export const isAvailable = ({ availability }: Standing): boolean => availability === "available"

/** Open work: what waits for it, and what this team waits for. */
const loadOf = ({ openAsks, waiting }: Candidate): number => openAsks + waiting

/** The least loaded, the first of equals; undefined when there are none. */
export const leastLoaded = (candidates: ReadonlyArray<Candidate>): Candidate | undefined =>
  candidates.reduce<Candidate | undefined>(
    (least, each) => (least === undefined || loadOf(each) < loadOf(least) ? each : least),
    undefined
  )

export const NOBODY = "Nobody of the team is available."

export const failing = (text: string): Move => ({ answer: { outcome: "failed", text }, isOver: true })

export const isGood = ({ outcome }: Answer): boolean => outcome === "answered" || outcome === "silent"

/** What an answer is in a report to people: its text, or what came instead. */
export const saidBy = ({ member, outcome, text }: Answer): string => {
  if (outcome === "answered") return `${member}: ${text}`
  const instead = { silent: "had nothing to say", failed: `could not answer: ${text}`, late: "gave no answer in time" }
  return `${member} ${instead[outcome]}`
}

// Gathering: the same question to several members, and one answer made of theirs.
// G1  It ends when every member has answered, failed or is late; one good answer makes a good result.
// G2  Answers stand in the order of the asks, whichever came first.

export interface Gathered {
  readonly said: ReadonlyArray<Answer>
}

/** The asks, tagged with their places. */
export const inOrder = (asks: ReadonlyArray<Ask>): ReadonlyArray<Ask> =>
  asks.map((ask, place) => ({ ...ask, tag: String(place) }))

export const asking = (members: ReadonlyArray<Candidate>, text: string): Pick<Move, "asks"> => ({
  asks: inOrder(members.map(({ id }) => ({ member: id, text })))
})

const placeOf = ({ tag = "" }: Answer): number => Number(tag)

/** With one more, in the order in which they were asked. */
export const gathered = (so: Gathered, { member, outcome, tag = "0", text }: Answer): Gathered => ({
  said: [...so.said, { member, outcome, tag, text }].toSorted((one, other) => placeOf(one) - placeOf(other))
})

export const isComplete = ({ asks }: Question): boolean => Object.keys(asks).length === 0

/** One speaks for itself; several are named. */
export const together = ({ said }: Gathered): Conclusion => {
  const outcome = said.some((each) => each.outcome === "answered")
    ? "answered"
    : said.some((each) => each.outcome === "silent")
      ? "silent"
      : "failed"
  const [only, ...others] = said
  return only !== undefined && others.length === 0 && only.outcome === "answered"
    ? { outcome, text: only.text }
    : { outcome, text: said.map(saidBy).join("\n") }
}

export const asPlan = (plan: object): Json => plan as Json
